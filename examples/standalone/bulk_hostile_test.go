package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/socialdata/socialdata/examples/internal/shipped"
	"github.com/socialdata/socialdata/internal/await"
	"github.com/socialdata/socialdata/internal/testsize"
	"github.com/socialdata/socialdata/schema"
	"github.com/socialdata/socialdata/store/sqlite"
)

// TestHostileFilesOfBulkJobs sends files to a server that are made to use up its memory, or that never end. Each is
// refused with a problem that says why, or its good lines are a job, and nothing else is left of it.
func TestHostileFilesOfBulkJobs(t *testing.T) {
	testsize.NoRace(t)
	const (
		good      = `{"platform":"mock","operation":"profile","params":{"handle":"salma"}}` + "\n"
		mostBytes = 100 << 20
	)
	db, addr := filepath.Join(t.TempDir(), "t.db"), freeAddr(t)
	p := startServer(t, shipped.Program(t), db, addr, "GOGC=100") // without it the heap grows to 100 MB before it is collected
	key, err := exec.CommandContext(t.Context(), shipped.Program(t), "--db", db, "key", "create", "--account", "default", "--manage").Output()
	if err != nil {
		t.Fatal(err)
	}
	secret := strings.TrimSpace(string(key))
	if err := os.WriteFile(fmt.Sprintf("/proc/%d/clear_refs", p.cmd.Process.Pid), []byte("5"), 0); err != nil { // resets the peak
		t.Skip(err)
	}
	idle := peakOf(t, p)
	for _, tt := range []struct {
		name   string
		file   io.Reader
		whole  bool // else the last chunk of the body does not come
		status int  // 0: the caller closes the connection and gets no answer
		want   string
	}{
		{"long-line", repeated("x", 256<<20), true, 400, "no line can be read, of 1; line 1: the line is longer than 64 KiB"},
		{"long-file", repeated("x", 256<<20+1), true, 400, "the file is longer than 256 MiB"},
		{"long-line-and-good", io.MultiReader(repeated("x", 200<<20), strings.NewReader("\n"+good)), true, 201, `"accepted":1,"refused":[{"line":1,`},
		{"empty-lines", repeated("\n", 1_000_000), true, 400, "the file has no lines"},
		{"empty-lines-and-good", io.MultiReader(repeated("\n", 1_000_000), strings.NewReader(good)), true, 201, `"accepted":1,"refused":[]`},
		{"too-many-lines", repeated("\n", 2_000_001), true, 400, "the file has more than 2000000 lines"},
		{"half-a-line", strings.NewReader(good + good[:20]), true, 201, `"accepted":1,"refused":[{"line":2,`},
		{"half-a-line", strings.NewReader(good + good[:20]), true, 200, `"accepted":1,"refused":[{"line":2,`}, // the same job
		{"closed", strings.NewReader(good + good[:20]), false, 0, ""},
		{"stalls", strings.NewReader(good + good[:20]), false, 400, "the file is incomplete"},
	} {
		conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		status, body := sendFile(t, conn, tt.name, secret, tt.file, tt.whole, tt.status == 0)
		_ = conn.Close()
		if status != tt.status || !strings.Contains(body, tt.want) {
			t.Errorf("%s: %d %.300s; want %d and %q", tt.name, status, body, tt.status, tt.want)
		}
	}
	grown := peakOf(t, p) - idle
	t.Logf("the memory of the server grew by %d MB", grown>>20)
	if grown > mostBytes {
		t.Errorf("the memory of the server grew by %d MB; want at most %d", grown>>20, mostBytes>>20)
	}
	var list schema.Envelope[[]schema.BulkJob]
	await.Until(t, "the jobs to be done", func() bool {
		b, err := bulkRequest(t.Context(), http.MethodGet, addr, "/v1/bulk", secret, nil)
		if err != nil || json.Unmarshal(b, &list) != nil {
			t.Fatalf("%v: %s", err, b)
		}
		for _, j := range list.Data {
			if j.State != "done" || j.Lines != 1 || j.Found != 1 {
				return false
			}
		}
		return true
	})
	var names []string
	for _, j := range list.Data {
		names = append(names, j.ID)
	}
	if got := strings.Join(names, " "); got != "empty-lines-and-good half-a-line long-line-and-good" {
		t.Errorf("the jobs are %s", got)
	}
	p.kill()
	wantOnlyJobs(t, db, len(names))
}

// repeated reads n times the character.
func repeated(character string, n int64) io.Reader {
	part := strings.Repeat(character, 1<<20)
	var all []io.Reader
	for ; n > 0; n -= int64(len(part)) {
		all = append(all, strings.NewReader(part[:min(n, int64(len(part)))]))
	}
	return io.MultiReader(all...)
}

// sendFile sends a file, and its end if it is whole. It returns the answer, unless the caller leaves.
func sendFile(t *testing.T, conn net.Conn, name, secret string, file io.Reader, whole, leaves bool) (int, string) {
	t.Helper()
	_ = conn.SetDeadline(time.Now().Add(2 * time.Minute))
	out := bufio.NewWriterSize(conn, 1<<16)
	_, _ = fmt.Fprintf(out, "PUT /manage/bulk/%s HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer %s\r\n", name, secret)
	_, _ = fmt.Fprintf(out, "Content-Type: application/x-ndjson\r\nTransfer-Encoding: chunked\r\n\r\n")
	part := make([]byte, 1<<20)
	for {
		n, err := io.ReadFull(file, part)
		if n > 0 {
			_, _ = fmt.Fprintf(out, "%x\r\n%s\r\n", n, part[:n])
		}
		if err != nil {
			break
		}
	}
	if whole {
		_, _ = io.WriteString(out, "0\r\n\r\n")
	}
	_ = out.Flush() // if the server does not read it all, its answer says why
	if leaves {
		return 0, ""
	}
	answer, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	defer answer.Body.Close() //nolint:errcheck // read whole
	body, _ := io.ReadAll(answer.Body)
	return answer.StatusCode, string(body)
}

// peakOf returns the most memory that a process has had since that was reset, in bytes.
func peakOf(t *testing.T, p *process) int64 {
	t.Helper()
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.cmd.Process.Pid))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(b), "VmHWM:")
	kb, err := strconv.ParseInt(strings.Fields(rest)[0], 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return kb << 10
}

// wantOnlyJobs checks that a database has that many jobs, and neither chunks nor the rows of a file that was not read to
// its end.
func wantOnlyJobs(t *testing.T, path string, jobs int) {
	t.Helper()
	db, err := sqlite.Open(t.Context(), sqlite.Config{Path: path})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	var all, chunks int
	if err := db.Readers().QueryRowContext(t.Context(), `SELECT (SELECT count(*) FROM bulk_jobs),
		(SELECT count(*) FROM bulk_chunks)`).Scan(&all, &chunks); err != nil {
		t.Fatal(err)
	}
	if all != jobs || chunks != 0 {
		t.Errorf("the database has %d jobs and %d chunks; want %d and none", all, chunks, jobs)
	}
}
