package main

import (
	"context"
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
)

// soakFor is how long the soak takes; SOCIALDATA_SOAK, such as 1h, overrides it.
const soakFor = 20 * time.Second

// TestSoak runs the server as it is shipped under mixed traffic, good and bad, through restarts. From the second tenth of
// the time on its memory, its files and its goroutines do not grow; when the traffic has ended it comes to rest as it began;
// in the end every answer has been charged once. How long answers took is told: it is the machine's affair, but for the
// limit of a call.
func TestSoak(t *testing.T) {
	t.Parallel()
	if testing.Short() || runtime.GOOS != "linux" || underRace > 1 {
		t.Skip("takes its time, and reads /proc")
	}
	long := soakFor
	if d, err := time.ParseDuration(os.Getenv("SOCIALDATA_SOAK")); err == nil {
		long = d
	}
	dir := t.TempDir()
	bin, db := built(t), filepath.Join(dir, "soak.db")
	addr, debug := freeAddr(t), freeAddr(t)
	s := startServer(t, bin, db, addr, "SOCIALDATA_DEBUG_ADDR="+debug)
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
	const lives = 2 // a restart between them
	for life := range lives {
		var seen []footprint
		for range 10 {
			time.Sleep(long / lives / 10) // a soak takes the time it takes
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
		if last.goroutines > early.goroutines+64 { // of the connections of the moment, and of who waits
			t.Errorf("goroutines grew from %d to %d", early.goroutines, last.goroutines)
		}
		if last.p99 > patienceOfACall {
			t.Errorf("one answer in a hundred took %v", last.p99)
		}
		if life < lives-1 {
			if err := s.cmd.Process.Signal(syscall.SIGTERM); err != nil {
				t.Fatal(err)
			}
			if err := s.cmd.Wait(); err != nil {
				t.Errorf("SIGTERM came to %v", err)
			}
			s = startServer(t, bin, db, addr, "SOCIALDATA_DEBUG_ADDR="+debug)
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
	if rest.goroutines > idle.goroutines+1 { // it may be busy with what it asks for just now
		t.Errorf("%d goroutines are left of the traffic", rest.goroutines-idle.goroutines)
	}
	s.kill()
	l.check(db)
}

// comesToRest is enough for whatever the traffic has left: calls end in a quarter of that.
const (
	comesToRest     = time.Minute
	patienceOfACall = 15 * time.Second
)

// p99 returns how long one in a hundred answers took at least, of those since the last call.
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

// footprint is what a process holds, and how fast it answers.
type footprint struct {
	memory, files, goroutines int64
	p99                       time.Duration
}

// String says it in a few words.
func (f footprint) String() string {
	return fmt.Sprintf("%d MB %d files %d goroutines p99 %v", f.memory>>20, f.files, f.goroutines, f.p99.Round(100*time.Microsecond))
}

// footprintOf looks at a process, and asks it at debug for its goroutines.
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

// goroutinesOf asks a server that shows profiles at addr. The connection of the question is closed behind it.
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

// trouble makes calls that cost nothing, however they end, until ctx ends.
func (l *load) trouble(ctx context.Context, addr string, n int) {
	paths := []string{
		"/v1/mock/profile?handle=not_found", "/v1/mock/posts?handle=upstream_error", "/v1/me", "/health", "/v1/usage", "/v1/mock/nothing",
		"/v1/mock/profile?handle=a&nothing=b", "/openapi.json", "/v1/raw/mock/../x", "/v1/mock/profile?cursor=forged&handle=a",
	}
	for i := n; ctx.Err() == nil; i++ {
		if i%20 == 0 { // one who says nothing, or half of it
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
			continue // it restarts
		}
		_, _ = io.Copy(io.Discard, res.Body)
		_ = res.Body.Close()
		if !slices.Contains([]int{200, 400, 404, 429, 503}, res.StatusCode) {
			l.t.Errorf("%s came to %d", req.URL, res.StatusCode)
		}
	}
}
