package attacks

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/socialdata/socialdata/examples/internal/shipped"
	"github.com/socialdata/socialdata/internal/testsize"
)

func TestMain(m *testing.M) { os.Exit(shipped.Main(m)) }

// times returns n, or ten times as much with SIZE=full.
func times(n int) int { return testsize.Of(n, 10*n) }

// output collects what a process writes, and can be read meanwhile.
type output struct {
	mu sync.Mutex
	b  bytes.Buffer
}

// Write implements [io.Writer].
func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.b.Write(p)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.b.String()
}

func (o *output) len() int { return len(o.String()) }

// victim is a running server, with an account that has a key and credits.
type victim struct {
	t            *testing.T
	cmd          *exec.Cmd
	addr, db     string
	secret       string // the key of the first start
	admin        string // its secret
	out, log     *output
	web          *http.Client
	stopped      sync.Once
	firstStarted time.Time
}

var (
	keyForm   = regexp.MustCompile(`sk_live_\w+`)
	adminForm = regexp.MustCompile(`admin_\w+`)
	addrForm  = regexp.MustCompile(`serves on http://(\S+) `)
)

// attacked starts the program on a database of its own. Settings are of the form NAME=VALUE, or flags, which begin with
// two dashes.
func attacked(t *testing.T, settings ...string) *victim {
	t.Helper()
	return attackedAt(t, filepath.Join(t.TempDir(), "t.db"), settings...)
}

func attackedAt(t *testing.T, db string, settings ...string) *victim {
	t.Helper()
	v := &victim{
		t: t, db: db, out: &output{}, log: &output{}, firstStarted: time.Now(),
		web: &http.Client{
			Transport:     &http.Transport{MaxIdleConnsPerHost: 16},
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
	}
	args, env := []string{"--db", db, "serve", "--addr", "127.0.0.1:0"}, append(clean(), "SOCIALDATA_RATE_CAPACITY=1000000", "SOCIALDATA_RATE_REFILL=1000000")
	for _, s := range settings {
		if strings.HasPrefix(s, "--") {
			args = append(args, s)
		} else {
			env = append(env, s)
		}
	}
	v.cmd = exec.CommandContext(t.Context(), shipped.Program(t), args...)
	v.cmd.Env, v.cmd.Stderr = env, v.log
	out, err := v.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := v.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(v.stop)
	for lines := bufio.NewScanner(out); lines.Scan(); {
		_, _ = fmt.Fprintln(v.out, lines.Text())
		if m := addrForm.FindStringSubmatch(lines.Text()); m != nil {
			v.addr = m[1]
			break
		}
	}
	if v.addr == "" {
		t.Fatalf("the server did not start: %v\n%s%s", v.cmd.Wait(), v.out, v.log)
	}
	v.secret, v.admin = keyForm.FindString(v.out.String()), adminForm.FindString(v.out.String())
	return v
}

// clean returns the environment without settings.
func clean() []string {
	var env []string
	for _, s := range os.Environ() {
		if !strings.HasPrefix(s, "SOCIALDATA_") {
			env = append(env, s)
		}
	}
	return env
}

func (v *victim) stop() {
	v.stopped.Do(func() {
		_ = v.cmd.Process.Kill()
		_ = v.cmd.Wait()
	})
}

// tool runs a command of the program and returns its exit status and its output.
func tool(t *testing.T, env []string, args ...string) (status int, out, log string) {
	t.Helper()
	var o, l bytes.Buffer
	cmd := exec.CommandContext(t.Context(), shipped.Program(t), args...)
	cmd.Env, cmd.Stdout, cmd.Stderr = append(clean(), env...), &o, &l
	if err := cmd.Run(); err != nil && cmd.ProcessState == nil {
		t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), o.String(), l.String()
}

// tenant creates an account with that many credits, and a key with further flags.
func (v *victim) tenant(name string, credits int, key ...string) (secret string) {
	v.t.Helper()
	for _, args := range [][]string{
		{"account", "create", name, "--credits", strconv.Itoa(credits)},
		append([]string{"key", "create", "--account", name}, key...),
	} {
		status, out, log := tool(v.t, nil, append([]string{"--db", v.db}, args...)...)
		if status != 0 {
			v.t.Fatalf("%v: %s", args, log)
		}
		secret = strings.TrimSpace(out)
	}
	return secret
}

// heard is a response.
type heard struct {
	status int
	header http.Header
	body   string
	took   time.Duration
}

// ask makes a GET request.
func (v *victim) ask(path, secret string) heard {
	v.t.Helper()
	got, err := v.try(v.t.Context(), http.MethodGet, path, secret, "", nil)
	if err != nil {
		v.t.Fatalf("%s: %v", path, err)
	}
	return got
}

func (v *victim) try(ctx context.Context, method, path, secret, body string, header http.Header) (heard, error) {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	began := time.Now()
	req, err := http.NewRequestWithContext(ctx, method, "http://"+v.addr+path, strings.NewReader(body))
	if err != nil {
		return heard{}, err
	}
	maps.Copy(req.Header, header)
	if host := header.Get("Host"); host != "" {
		req.Host = host
	}
	if secret != "" {
		req.Header.Set("Authorization", "Bearer "+secret)
	}
	res, err := v.web.Do(req)
	if err != nil {
		return heard{}, err
	}
	defer res.Body.Close() //nolint:errcheck // read whole
	b, err := io.ReadAll(res.Body)
	return heard{res.StatusCode, res.Header, string(b), time.Since(began)}, err
}

// paying calls as an honest tenant does, until the returned function is called, which fails the test when a call was
// not answered with 200. Path may have a %d, which is incremented.
func (v *victim) paying(path, secret string) (done func()) {
	ctx, stop := context.WithCancel(v.t.Context())
	var wg sync.WaitGroup
	var calls int
	var bad []string
	wg.Go(func() {
		for ; ctx.Err() == nil; calls++ {
			asked := path
			if strings.Contains(path, "%d") {
				asked = fmt.Sprintf(path, calls)
			}
			got, err := v.try(context.WithoutCancel(ctx), http.MethodGet, asked, secret, "", nil)
			if err != nil || got.status != http.StatusOK {
				bad = append(bad, fmt.Sprintf("%s: %d %.300s %v", asked, got.status, got.body, err))
			}
			select {
			case <-ctx.Done():
			case <-time.After(10 * time.Millisecond):
			}
		}
	})
	return func() {
		v.t.Helper()
		stop()
		wg.Wait()
		if len(bad) > 0 || calls == 0 {
			v.t.Errorf("of %d paying calls %d failed, the first with %s", calls, len(bad), append(bad, "")[0])
		}
	}
}

// memory returns the resident memory of the server, in bytes.
func (v *victim) memory() int64 {
	v.t.Helper()
	return proc(v.t, v.cmd.Process.Pid, "statm", 1) * int64(os.Getpagesize())
}

// processor returns the CPU time of the server.
func (v *victim) processor() time.Duration {
	v.t.Helper()
	pid := v.cmd.Process.Pid
	return time.Duration(proc(v.t, pid, "stat", 13)+proc(v.t, pid, "stat", 14)) * (time.Second / 100)
}

func proc(t *testing.T, pid int, file string, field int) int64 {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), file))
	if errors.Is(err, os.ErrNotExist) {
		t.Fatal("the server has ended")
	}
	if err != nil {
		t.Fatal(err)
	}
	n, err := strconv.ParseInt(strings.Fields(string(b))[field], 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// peak watches the memory of the server until the returned function is called, which returns the maximum.
func (v *victim) peak() (most func() int64) {
	ctx, stop := context.WithCancel(v.t.Context())
	var wg sync.WaitGroup
	var top int64
	wg.Go(func() {
		for ctx.Err() == nil {
			top = max(top, v.memory())
			time.Sleep(5 * time.Millisecond)
		}
	})
	return func() int64 {
		stop()
		wg.Wait()
		return top
	}
}

// atOnce calls do n times, at most wide at a time.
func atOnce(n, wide int, do func(i int)) {
	next := make(chan int)
	var wg sync.WaitGroup
	for range wide {
		wg.Go(func() {
			for i := range next {
				do(i)
			}
		})
	}
	for i := range n {
		next <- i
	}
	close(next)
	wg.Wait()
}
