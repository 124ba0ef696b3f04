package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// children are the started servers. All of them end with this program.
type children []*exec.Cmd

func (cs *children) start(cmd *exec.Cmd) error {
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = 5 * time.Second
	if err := cmd.Start(); err != nil {
		return err
	}
	*cs = append(*cs, cmd)
	return nil
}

func (cs *children) stop() {
	for _, cmd := range *cs {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		_ = cmd.Wait()
	}
}

// started starts a server and returns the submatches of the line in its output that says that it serves.
func started(cmd *exec.Cmd, running *children, form *regexp.Regexp) ([]string, error) {
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := running.start(cmd); err != nil {
		return nil, err
	}
	var all strings.Builder
	for lines := bufio.NewScanner(out); lines.Scan(); {
		all.WriteString(lines.Text() + "\n")
		if found := form.FindStringSubmatch(all.String()); found != nil {
			go func() { _, _ = io.Copy(io.Discard, out) }()
			return found, nil
		}
	}
	return nil, fmt.Errorf("%s does not say where it serves:\n%s", cmd.Path, &all)
}

var (
	serves = regexp.MustCompile(`serves on http://(\S+) `)
	secret = regexp.MustCompile(`(?s)Authorization: (Bearer \S+)".*serves on http://(\S+) `)
)

// command returns the shipped server with its database in a file, and limits that are never reached.
func (c *cli) command(ctx context.Context, db string) *exec.Cmd {
	args := []string{
		"serve", "--addr", "127.0.0.1:0", "--db", db, "--rate-capacity", "1000000000", "--rate-refill", "1000000000",
		"--in-flight", "32768", "--connections", "4096", "--log-level", c.LogLevel,
	}
	if c.DebugAddr != "" {
		args = append(args, "--debug-addr", c.DebugAddr)
	}
	return exec.CommandContext(ctx, c.Program, args...)
}

// serve starts the shipped server.
func (c *cli) serve(ctx context.Context, dir string, running *children) (target, error) {
	cmd := c.command(ctx, filepath.Join(dir, "start.db"))
	found, err := started(cmd, running, serves)
	if err != nil {
		return target{}, err
	}
	return target{name: "socialdata", addr: found[1], pid: cmd.Process.Pid}, nil
}

// ours starts the shipped server with an account that can pay for all requests.
func (c *cli) ours(ctx context.Context, dir, name string, running *children, flags ...string) (target, error) {
	db := filepath.Join(dir, name+".db")
	cmd := c.command(ctx, db)
	cmd.Args = append(cmd.Args, flags...)
	found, err := started(cmd, running, secret)
	if err != nil {
		return target{}, err
	}
	grant := exec.CommandContext(ctx, c.Program, "account", "grant", "default", "1000000000", "--reason", "load", "--db", db)
	if out, err := grant.CombinedOutput(); err != nil {
		return target{}, fmt.Errorf("%w: %s", err, out)
	}
	return target{name, found[2], request("/v1/mock/profile?handle="+c.Handle, found[2], "Authorization: "+found[1]), cmd.Process.Pid}, nil
}

// request returns the bytes of a request.
func request(path, host string, fields ...string) []byte {
	lines := append([]string{"GET " + path + " HTTP/1.1", "Host: " + host}, fields...)
	return []byte(strings.Join(lines, "\r\n") + "\r\n\r\n")
}

// once returns an answer from the cache.
func once(ctx context.Context, t target) (reply, error) {
	for range 2 { // the first one fills it
		resp, err := ask(ctx, t)
		if err != nil || resp.hit {
			return resp, err
		}
	}
	return reply{}, fmt.Errorf("%s: the second answer is not from the cache", t.name)
}

type reply struct {
	header http.Header
	body   []byte
	hit    bool
}

// ask makes one request.
func ask(ctx context.Context, t target) (reply, error) {
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", t.addr)
	if err != nil {
		return reply{}, err
	}
	defer func() { _ = conn.Close() }()
	if _, err := conn.Write(t.request); err != nil {
		return reply{}, err
	}
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		return reply{}, err
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s: %s", t.name, resp.Status, body)
	}
	return reply{resp.Header, body, resp.Header.Get("X-Cache") == "HIT"}, err
}

var says = regexp.MustCompile(`serves on (\S+)`)

// startBare starts this program as a bare handler that writes the body of an answer, and with full its header fields
// and a log line too.
func startBare(ctx context.Context, of reply, full bool, running *children) (target, error) {
	self, err := os.Executable()
	if err != nil {
		return target{}, err
	}
	name, what := "bare net/http", same{Body: of.body}
	if full {
		name = "same fields, log"
		what.Header = of.header.Clone()
		what.Header.Del("Date") // net/http adds these
		what.Header.Del("Content-Length")
	}
	in, err := json.Marshal(what)
	if err != nil {
		return target{}, err
	}
	cmd := exec.CommandContext(ctx, self, "--bare")
	cmd.Stdin = bytes.NewReader(in)
	found, err := started(cmd, running, says)
	if err != nil {
		return target{}, err
	}
	return target{name, found[1], request("/v1/mock/profile?handle=ann", found[1]), cmd.Process.Pid}, nil
}

// same is what a bare handler writes.
type same struct {
	Header http.Header // nil for the least, and then it logs nothing
	Body   []byte
}

// bare serves the answer in in on every path, with the least code that net/http and log/slog need. The log has the
// attributes of the server's own line.
func bare(ctx context.Context, in io.Reader, out, log io.Writer) error {
	var what same
	if err := json.NewDecoder(in).Decode(&what); err != nil {
		return err
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintf(out, "serves on %s\n", listener.Addr()); err != nil {
		return err
	}
	h := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(what.Body)
	})
	if what.Header != nil {
		lines := slog.New(slog.NewTextHandler(log, nil))
		h = func(w http.ResponseWriter, r *http.Request) {
			began := time.Now()
			for name, values := range what.Header {
				for _, v := range values {
					w.Header().Add(name, v)
				}
			}
			_, _ = w.Write(what.Body)
			lines.LogAttrs(r.Context(), slog.LevelInfo, "request",
				slog.String("request_id", what.Header.Get("X-Request-Id")), slog.String("method", r.Method),
				slog.String("operation", "profile"), slog.String("platform", "mock"),
				slog.String("key_id", "key_0123456789ABCDEFGHIJ"), slog.Int("status", http.StatusOK),
				slog.Int("bytes", len(what.Body)), slog.Duration("took", time.Since(began)))
		}
	}
	web := &http.Server{ReadHeaderTimeout: 5 * time.Second, Handler: h}
	defer context.AfterFunc(ctx, func() { _ = web.Close() })()
	if err := web.Serve(listener); ctx.Err() == nil {
		return err
	}
	return nil
}

// conf makes nginx answer from its cache what the bare handler has returned once.
const conf = `daemon off;
master_process on;
worker_processes auto;
error_log stderr error;
pid %[1]s/nginx.pid;
events { worker_connections 4096; }
http {
	access_log off;
	keepalive_requests 1000000000;
	client_body_temp_path %[1]s/body;
	proxy_temp_path %[1]s/temp;
	fastcgi_temp_path %[1]s/fastcgi;
	uwsgi_temp_path %[1]s/uwsgi;
	scgi_temp_path %[1]s/scgi;
	proxy_cache_path %[1]s/cache keys_zone=answers:10m;
	server {
		listen %[2]s;
		location / {
			proxy_pass http://%[3]s;
			proxy_cache answers;
			proxy_cache_valid 200 1h;
		}
	}
}
`

// startNginx starts nginx as a cache in front of the bare handler.
func startNginx(ctx context.Context, program, dir, upstream string, running *children) (target, error) {
	addr, err := unused(ctx)
	if err != nil {
		return target{}, err
	}
	name := filepath.Join(dir, "nginx.conf")
	if err := os.WriteFile(name, fmt.Appendf(nil, conf, dir, addr, upstream), 0o600); err != nil {
		return target{}, err
	}
	if os.Getuid() == 0 { // its workers run as another user
		if err := os.Chmod(dir, 0o711); err != nil {
			return target{}, err
		}
	}
	cmd := exec.CommandContext(ctx, program, "-p", dir, "-c", name)
	cmd.Stderr = os.Stderr
	return connected(ctx, cmd, running, target{name: "nginx proxy_cache", addr: addr, request: request("/v1/mock/profile?handle=ann", addr)})
}

// startHandmade starts ../shared/tools/handmade, which writes each charge to SQLite before it answers, as the server does.
func startHandmade(ctx context.Context, program, dir string, of reply, running *children) (target, error) {
	addr, err := unused(ctx)
	if err != nil {
		return target{}, err
	}
	body := filepath.Join(dir, "handmade.json")
	if err := os.WriteFile(body, of.body, 0o600); err != nil {
		return target{}, err
	}
	cmd := exec.CommandContext(ctx, program, addr, filepath.Join(dir, "handmade.db"), body, "sync")
	return connected(ctx, cmd, running, target{
		name: "handmade", addr: addr, request: request("/v1/mock/profile?handle=ann", addr, "Authorization: Bearer secret"),
	})
}

// unused returns an address on loopback that nothing serves on.
func unused(ctx context.Context) (string, error) {
	free, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return free.Addr().String(), free.Close()
}

// connected starts a server and waits until it accepts connections.
func connected(ctx context.Context, cmd *exec.Cmd, running *children, t target) (target, error) {
	if err := running.start(cmd); err != nil {
		return target{}, err
	}
	t.pid = cmd.Process.Pid
	for range 100 {
		conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", t.addr)
		if err == nil {
			return t, conn.Close()
		}
		time.Sleep(50 * time.Millisecond)
	}
	return target{}, fmt.Errorf("%s does not serve on %s", t.name, strconv.Quote(t.addr))
}
