package valkey_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/socialdata/socialdata/contrib/valkey"
	"github.com/socialdata/socialdata/internal/await"
)

// address returns the address of the server that tests share. Without one it skips the test.
func address(tb testing.TB) string {
	tb.Helper()
	addr := os.Getenv("SOCIALDATA_TEST_VALKEY")
	if addr == "" || testing.Short() {
		tb.Skip("SOCIALDATA_TEST_VALKEY names no server of Valkey or Redis, such as 127.0.0.1:6379")
	}
	return addr
}

// open returns a server with a prefix. Tests with the same prefix share keys.
func open(tb testing.TB, addr, prefix string) *valkey.Server {
	tb.Helper()
	s, err := valkey.Open(context.Background(), valkey.Config{Address: addr, Prefix: prefix})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(s.Close)
	return s
}

// unique returns a prefix that no other test uses. Everything that is stored expires.
func unique() string { return "test-" + rand.Text() }

// process is a server that only one test uses, and may kill.
type process struct {
	tb   testing.TB
	addr string
	dir  string
	cmd  *exec.Cmd
}

// start starts a server on a port of its own. Without the program it skips the test.
func start(tb testing.TB) *process {
	tb.Helper()
	if _, err := exec.LookPath("redis-server"); err != nil || testing.Short() {
		tb.Skip("there is no redis-server to start and kill: apt-get install redis-server")
	}
	l, err := (&net.ListenConfig{}).Listen(tb.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	p := &process{tb: tb, addr: l.Addr().String(), dir: tb.TempDir()}
	if err := l.Close(); err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(p.kill)
	p.run()
	return p
}

// run starts the server, empty, and returns when it answers.
func (p *process) run() {
	p.tb.Helper()
	_, port, _ := net.SplitHostPort(p.addr)
	p.cmd = exec.CommandContext(context.Background(), "redis-server",
		"--port", port, "--bind", "127.0.0.1", "--save", "", "--appendonly", "no", "--dir", p.dir)
	if err := p.cmd.Start(); err != nil {
		p.tb.Fatal(err)
	}
	await.Until(p.tb, "the server to listen", func() bool {
		conn, err := (&net.Dialer{}).DialContext(p.tb.Context(), "tcp", p.addr)
		if err == nil {
			_ = conn.Close()
		}
		return err == nil
	})
}

func (p *process) kill() {
	if p.cmd != nil && p.cmd.ProcessState == nil {
		_ = p.cmd.Process.Kill()
		_ = p.cmd.Wait()
	}
}

// journal keeps log lines for a test.
type journal struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (j *journal) Write(b []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.b.Write(b)
}

func (j *journal) String() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.b.String()
}

func TestAnUnavailableServerLogsTwoLines(t *testing.T) {
	t.Parallel()
	p := start(t)
	p.kill()
	log := &journal{}
	s, err := valkey.Open(t.Context(), valkey.Config{Address: p.addr, Logger: slog.New(slog.NewTextHandler(log, nil))})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if s.Ping(t.Context()) == nil {
		t.Error("a dead server answers")
	}
	p.run()
	await.Until(t, "the server to answer", func() bool { return s.Ping(t.Context()) == nil })
	if got := log.String(); strings.Count(got, "\n") != 2 || !strings.Contains(got, "is unavailable") ||
		!strings.Contains(got, "is available again") {
		t.Errorf("log:\n%s", got)
	}
}

func TestAnInvalidAddress(t *testing.T) {
	t.Parallel()
	for _, addr := range []string{
		"http://user:secret@a.example", "valkey://:secret@a.example/x", "valkey://user:secret@[::1",
	} {
		_, err := valkey.Open(t.Context(), valkey.Config{Address: addr})
		if err == nil || strings.Contains(err.Error(), "secret") || !strings.Contains(err.Error(), "host:port") {
			t.Errorf("%s: %v", addr, err)
		}
	}
}

// stop suspends the server; resume continues it.
func (p *process) stop()   { _ = p.cmd.Process.Signal(syscall.SIGSTOP) }
func (p *process) resume() { _ = p.cmd.Process.Signal(syscall.SIGCONT) }
