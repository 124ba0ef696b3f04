package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/socialdata/socialdata/internal/testsize"
	"github.com/socialdata/socialdata/records/recordstest"
)

// TestSoak runs the shipped server under mixed traffic, good and bad, through restarts, with a clock that passes every
// lifetime of its data: all that has expired is removed, without failing a call. After the first tenth of the time its
// memory, files and goroutines do not grow; after the traffic it returns to its idle state; in the end every answer has
// been charged once. Latencies are reported but not checked, since they depend on the machine, except for the limit of
// a call.
func TestSoak(t *testing.T) {
	t.Parallel()
	testsize.NoRace(t)
	if testing.Short() || runtime.GOOS != "linux" {
		t.Skip("starts a server, and reads /proc")
	}
	long := testsize.Of(10*time.Second, time.Hour)
	dir := t.TempDir()
	bin, db, ahead := os.Args[0], filepath.Join(dir, "soak.db"), filepath.Join(dir, "clock")
	addr, debug := freeAddr(t), freeAddr(t)
	env := []string{"SOCIALDATA_DEBUG_ADDR=" + debug, clockVariable + "=" + ahead}
	c := &clock{file: ahead}
	s := startServer(t, bin, db, addr, env...)
	idle := footprintOf(t, s, debug)
	l := &load{t: t, base: "http://" + addr, secret: s.secret, answered: map[string]string{}}
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var clients sync.WaitGroup
	for range 4 {
		clients.Go(func() { l.run(ctx) })
	}
	for i := range 4 {
		clients.Go(func() { l.trouble(ctx, addr, i) })
	}
	const lives = 2 // with a restart in between
	for life := range lives {
		var seen []footprint
		for i := range 10 {
			time.Sleep(long / lives / 10) // a soak takes real time
			if i == 2 || i == 4 {
				wantRecords(t, db, c, func(dead, all int) bool { return all > dead })
				c.advance(t, longestLife)
			}
			f := footprintOf(t, s, debug)
			f.p99 = l.p99()
			seen = append(seen, f)
		}
		t.Logf("life %d: %v", life+1, seen)
		early, last := seen[1], seen[len(seen)-1]
		if last.memory > early.memory*3/2+32<<20 {
			t.Errorf("memory grew from %d to %d MB", early.memory>>20, last.memory>>20)
		}
		if last.files > early.files+32 {
			t.Errorf("open files grew from %d to %d", early.files, last.files)
		}
		if last.goroutines > early.goroutines+64 { // for the current connections, and waiting calls
			t.Errorf("goroutines grew from %d to %d", early.goroutines, last.goroutines)
		}
		if last.p99 > patienceOfACall {
			t.Errorf("one answer in a hundred took %v", last.p99)
		}
		wantRecords(t, db, c, func(dead, _ int) bool { return dead == 0 })
		if life < lives-1 {
			if err := s.cmd.Process.Signal(syscall.SIGTERM); err != nil {
				t.Fatal(err)
			}
			if err := s.cmd.Wait(); err != nil {
				t.Errorf("after SIGTERM the server ended with %v, want nil", err)
			}
			s.wantNoErrors()
			s = startServer(t, bin, db, addr, env...)
		}
	}
	stop()
	clients.Wait()
	http.DefaultClient.CloseIdleConnections() //nolint:forbidigo // a test
	rest := footprintOf(t, s, debug)
	for until := time.Now().Add(comesToRest); rest.goroutines > idle.goroutines+1 && time.Now().Before(until); time.Sleep(10 * time.Millisecond) {
		rest = footprintOf(t, s, debug)
	}
	t.Logf("before: %v; after: %v", idle, rest)
	if rest.goroutines > idle.goroutines+1 { // it may be busy with this very request
		t.Errorf("%d goroutines are left of the traffic", rest.goroutines-idle.goroutines)
	}
	s.kill()
	s.wantNoErrors()
	l.check(db)
}

// clockVariable names the file with the offset of a server's clock; the server is then this test binary.
const clockVariable = "SOAK_CLOCK"

// jumpsVariable says that the clock is set, and that no time passes.
const jumpsVariable = "SOAK_CLOCK_JUMPS"

// longestLife is longer than the lifetime of everything that a server stores, except its own secret.
const longestLife = 40 * 24 * time.Hour

// clock is ahead of the real one by the duration in a file, which does not exist at first.
type clock struct {
	file  string
	jumps bool // its monotonic reading stays, as when a machine's clock is set
	mu    sync.Mutex
	by    time.Duration
	read  time.Time
}

// now reads the file at most ten times a second.
func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := time.Now()
	if now.Sub(c.read) > 100*time.Millisecond {
		c.read = now
		if text, err := os.ReadFile(c.file); err == nil {
			if by, err := time.ParseDuration(string(text)); err == nil {
				c.by = by
			}
		}
	}
	if c.jumps {
		return recordstest.Ahead(now, c.by)
	}
	return now.Add(c.by)
}

// advance sets the clock ahead for everything that reads the file.
func (c *clock) advance(t *testing.T, by time.Duration) {
	t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.by += by
	if err := errors.Join(os.WriteFile(c.file+".new", []byte(c.by.String()), 0o600), os.Rename(c.file+".new", c.file)); err != nil {
		t.Fatal(err)
	}
}

// wantRecords waits until the numbers of records in the file, all and expired ones, are as expected.
func wantRecords(t *testing.T, file string, c *clock, as func(dead, all int) bool) {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+file+"?_busy_timeout=5000&_query_only=on")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close() //nolint:errcheck // only read
	var dead, all int
	for until := time.Now().Add(comesToRest); time.Now().Before(until); time.Sleep(100 * time.Millisecond) {
		err := db.QueryRowContext(t.Context(), "SELECT count(*) FILTER (WHERE expires <= ?), count(*) FROM records",
			c.now().UnixNano()).Scan(&dead, &all)
		if err != nil {
			t.Fatal(err)
		}
		if as(dead, all) {
			return
		}
	}
	t.Errorf("of %d records, %d are dead", all, dead)
}

// wantNoErrors checks that the log of a server that has ended has no errors of the store's own work. A call in progress
// when the clock is set loses its claim on an idempotency key, and logs that.
func (p *process) wantNoErrors() {
	p.t.Helper()
	for line := range strings.Lines(p.log.String()) {
		if strings.Contains(line, `level=ERROR msg="sqlite: `) {
			p.t.Errorf("the server logged %s", line)
			return
		}
	}
}

// comesToRest is enough for everything that the traffic leaves behind: calls end in a quarter of that time.
const (
	comesToRest     = time.Minute
	patienceOfACall = 15 * time.Second
)

// p99 returns the 99th percentile of the latencies since its last call.
func (l *load) p99() time.Duration {
	l.mu.Lock()
	took := l.took
	l.took = nil
	l.mu.Unlock()
	if len(took) == 0 {
		return 0
	}
	slices.Sort(took)
	return took[len(took)*99/100]
}

// footprint is what a process uses, and how fast it answers.
type footprint struct {
	memory, files, goroutines int64
	p99                       time.Duration
}

// String formats it briefly.
func (f footprint) String() string {
	return fmt.Sprintf("%d MB %d files %d goroutines p99 %v", f.memory>>20, f.files, f.goroutines, f.p99.Round(100*time.Microsecond))
}

// footprintOf measures a process, and reads its goroutines from debug.
func footprintOf(t *testing.T, p *process, debug string) footprint {
	t.Helper()
	proc := "/proc/" + strconv.Itoa(p.cmd.Process.Pid)
	statm, err := os.ReadFile(proc + "/statm")
	if err != nil {
		t.Fatal(err)
	}
	pages, err := strconv.ParseInt(strings.Fields(string(statm))[1], 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	files, err := os.ReadDir(proc + "/fd")
	if err != nil {
		t.Fatal(err)
	}
	return footprint{memory: pages * int64(os.Getpagesize()), files: int64(len(files)), goroutines: goroutinesOf(t, debug)}
}

// goroutinesOf reads the number of goroutines from a server that serves profiles at addr, and closes the connection.
func goroutinesOf(t *testing.T, addr string) (n int64) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+addr+"/debug/pprof/goroutine?debug=1", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Close = true
	res, err := http.DefaultClient.Do(req) //nolint:forbidigo // a test
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close() //nolint:errcheck // the first line is enough
	if _, err := fmt.Fscanf(res.Body, "goroutine profile: total %d", &n); err != nil {
		t.Fatal(err)
	}
	return n
}

// trouble makes calls that cost nothing, whatever their result, until ctx ends.
func (l *load) trouble(ctx context.Context, addr string, n int) {
	paths := []string{
		"/v1/mock/profile?handle=not_found", "/v1/mock/posts?handle=upstream_error", "/v1/me", "/health", "/v1/usage", "/v1/mock/nothing",
		"/v1/mock/profile?handle=a&nothing=b", "/openapi.json", "/v1/raw/mock/../x", "/v1/mock/profile?cursor=forged&handle=a",
	}
	for i := n; ctx.Err() == nil; i++ {
		if i%20 == 0 { // a client that sends nothing, or half a request
			if conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", addr); err == nil {
				_, _ = io.WriteString(conn, "GET /v1/me HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n"[:i%40])
				_ = conn.Close()
			}
		}
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, l.base+paths[i%len(paths)], nil)
		if err != nil {
			l.t.Error(err)
			return
		}
		req.Header.Set("Authorization", "Bearer "+l.secret)
		res, err := http.DefaultClient.Do(req) //nolint:forbidigo // a test
		if err != nil {
			continue // the server is restarting
		}
		_, _ = io.Copy(io.Discard, res.Body)
		_ = res.Body.Close()
		if !slices.Contains([]int{200, 400, 404, 429, 503}, res.StatusCode) {
			l.t.Errorf("%s: got %d, want 200, 400, 404, 429 or 503", req.URL, res.StatusCode)
		}
	}
}
