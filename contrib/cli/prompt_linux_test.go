package cli

import (
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/socialdata/socialdata/internal/await"
)

// openTerminal returns the two ends of a terminal: what a person types into, and what a program reads from.
func openTerminal(t *testing.T) (person, program *os.File) {
	t.Helper()
	person, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Skipf("this system has no terminals: %v", err)
	}
	t.Cleanup(func() { _ = person.Close() })
	if err := unix.IoctlSetPointerInt(int(person.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	n, err := unix.IoctlGetInt(int(person.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	if program, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|syscall.O_NOCTTY, 0); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = program.Close() })
	return person, program
}

// TestThePromptOfATerminal types, and waits for what is printed. A name with ^ is a key.
func TestThePromptOfATerminal(t *testing.T) {
	person, program := openTerminal(t)
	var out, log output
	status := make(chan int, 1)
	go func() {
		status <- Run(t.Context(), shipped, []string{"sql", "-o", "csv"}, Streams{program, &out, &log}, func(string) string { return "" })
	}()
	printed := 0
	for _, tt := range []struct{ name, keys, out, log string }{
		{"a query of two lines", "SELECT handle FROM profile\rWHERE platform = 'mock' AND handle = 'ann';\r", "handle\nann\n", "1 call"},
		{"the last query again", "\x1b[A\r", "handle\nann\n", "1 call"},
		{"one completion", "SELECT 1 AS followi\t;\r", "following\n1\n", ""},
		{"several completions, and the line is given up", "SELECT 2 AS follow\t\x03SELECT 3;\r", "3\n3\n", "followers  following"},
		{"a query that is given up", "SELECT '\r;\x03SELECT 4;\r", "4\n4\n", ""},
		{"a semicolon in a text", "SELECT ';\r';\r", "\";\n\"\n", ""},
		{"a pasted query with a tab", "\x1b[200~SELECT 5,\r\t6;\x1b[201~\r", "5,6\n5,6\n", ""},
		{"an error", "SELECT * FROM posts;\r", "", "without platform and handle"},
		{"a query that is interrupted", "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT 1 FROM n) SELECT count(*) FROM n;\r^C", "", "interrupted"},
		{"the next query", "SELECT 7;\r", "7\n7\n", ""},
	} {
		await.Until(t, "a prompt before "+tt.name, func() bool { return strings.HasSuffix(log.String(), "sql> ") })
		before := len(log.String())
		keys, interrupt := strings.CutSuffix(tt.keys, "^C")
		if _, err := person.WriteString(keys); err != nil {
			t.Fatal(err)
		}
		if interrupt {
			if err := syscall.Kill(os.Getpid(), syscall.SIGINT); err != nil {
				t.Fatal(err)
			}
		}
		await.Until(t, tt.name, func() bool {
			return strings.HasSuffix(out.String()[printed:], tt.out) && strings.Contains(log.String()[before:], tt.log)
		})
		printed = len(out.String())
	}
	if _, err := person.WriteString("\x04"); err != nil {
		t.Fatal(err)
	}
	if s := <-status; s != 0 {
		t.Errorf("it ends with %d: %s", s, log.String())
	}
}
