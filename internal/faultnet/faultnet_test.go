package faultnet_test

import (
	"bufio"
	"errors"
	"net"
	"os"
	"testing"
	"time"

	"github.com/socialdata/socialdata/internal/faultnet"
)

// echo returns the lines that it receives, until the test ends.
func echo(t *testing.T) (addr string) {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				lines := bufio.NewReader(c)
				for {
					line, err := lines.ReadString('\n')
					if err != nil {
						_ = c.Close()
						return
					}
					_, _ = c.Write([]byte(line))
				}
			}()
		}
	}()
	return l.Addr().String()
}

func open(t *testing.T) (*faultnet.Proxy, func() *client) {
	t.Helper()
	p, err := faultnet.Listen(echo(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Close() })
	return p, func() *client {
		t.Helper()
		c, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", p.Addr())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = c.Close() })
		return &client{c, bufio.NewReader(c)}
	}
}

type client struct {
	net.Conn
	lines *bufio.Reader
}

// ask sends a line and returns the answer, which must come within the given time.
func (c *client) ask(line string, within time.Duration) (string, error) {
	if line != "" {
		if _, err := c.Write([]byte(line + "\n")); err != nil {
			return "", err
		}
	}
	if err := c.SetReadDeadline(time.Now().Add(within)); err != nil {
		return "", err
	}
	return c.lines.ReadString('\n')
}

const soon, long = 50 * time.Millisecond, 30 * time.Second

func want(t *testing.T, what, got, want string, err, wantErr error) {
	t.Helper()
	if got != want || !errors.Is(err, wantErr) {
		t.Errorf("%s: %q, %v; want %q, %v", what, got, err, want, wantErr)
	}
}

func TestWhatTheNetworkDoes(t *testing.T) {
	t.Parallel()
	p, dial := open(t)
	c := dial()
	got, err := c.ask("one", long)
	want(t, "as it is", got, "one\n", err, nil)

	p.Delay(20 * time.Millisecond)
	begun := time.Now()
	got, err = c.ask("two", long)
	want(t, "delayed", got, "two\n", err, nil)
	if took := time.Since(begun); took < 40*time.Millisecond {
		t.Errorf("there and back took %v", took)
	}
	p.Delay(0)
	if n := p.RoundTrips(); n != 2 {
		t.Errorf("%d round trips; want 2", n)
	}

	p.Freeze(true)
	got, err = c.ask("three", soon)
	want(t, "frozen", got, "", err, os.ErrDeadlineExceeded)
	p.Freeze(false)
	got, err = c.ask("", long)
	want(t, "thawed", got, "three\n", err, nil)

	p.LoseAnswers(true)
	got, err = c.ask("four", soon)
	want(t, "lost", got, "", err, os.ErrDeadlineExceeded)
	p.LoseAnswers(false)
	if _, err = c.ask("", long); err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("a connection that has lost an answer: %v; want it closed", err)
	}

	p.Refuse(true)
	if _, err = dial().ask("five", long); err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("refused: %v; want it closed", err)
	}
	p.Refuse(false)
	c = dial()
	got, err = c.ask("six", long)
	want(t, "again", got, "six\n", err, nil)
	p.Cut()
	if _, err = c.ask("seven", long); err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("cut: %v; want it closed", err)
	}
}
