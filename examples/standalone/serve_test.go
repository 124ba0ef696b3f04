package main

import (
	"bufio"
	"io"
	"net"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/socialdata/socialdata/examples/internal/shipped"
)

// TestTheServerStopsCleanlyWithSlowCallers sends SIGTERM to a server with connections that are busy but make no
// progress.
func TestTheServerStopsCleanlyWithSlowCallers(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	bin, addr := shipped.Program(t), freeAddr(t)
	s := startServer(t, bin, filepath.Join(dir, "t.db"), addr)
	for _, text := range []string{
		"", "GET / HTTP/1.1\r\n", "GET /v1/me HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\n",
		strings.Repeat("GET /openapi.json HTTP/1.1\r\nHost: a\r\n\r\n", 100), // more than the kernel buffers
	} {
		conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = conn.Close() })
		if _, err := io.WriteString(conn, text); err != nil {
			t.Fatal(err)
		}
	}
	if got := request(t.Context(), addr, "/v1/mock/profile?handle=ann", s.secret, ""); !got.ok() {
		t.Errorf("an ordinary call: got %s, want a profile", got)
	}
	began := time.Now()
	if err := s.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := s.cmd.Wait(); err != nil {
		t.Errorf("after SIGTERM the server ended with %v, want nil", err)
	}
	if took := time.Since(began); took > 25*time.Second { // without limits: 30 s and exit status 1
		t.Errorf("it took %v", took)
	}
}

// TestASecondSignalEndsADrainAtOnce sends SIGTERM twice to a server that would drain for ten minutes.
func TestASecondSignalEndsADrainAtOnce(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	bin := shipped.Program(t)
	cmd := exec.CommandContext(t.Context(), bin, "--db", filepath.Join(dir, "t.db"), "serve", "--addr", "127.0.0.1:0", "--drain-notice", "10m")
	log, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for _, wait := range []struct {
		in    io.Reader
		words string
	}{{out, "socialdata serves"}, {log, "stopping"}} {
		for lines := bufio.NewScanner(wait.in); ; {
			if !lines.Scan() {
				t.Fatalf("it has not said %q", wait.words)
			}
			if strings.Contains(lines.Text(), wait.words) {
				break
			}
		}
		if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
	}
	if err := cmd.Wait(); err == nil || !strings.Contains(err.Error(), "terminated") {
		t.Errorf("after the second SIGTERM the server ended with %v", err)
	}
}
