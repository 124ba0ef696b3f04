package attacks

import (
	"context"
	"database/sql"
	"fmt"
	"io"
	"net"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/socialdata/socialdata/internal/testsize"
)

// TestPayingCallersAreServedDuringAttacks measures how long paying calls take alone, and then beside tenants that waste
// the operator's resources, callers that do not read, and records that expire continuously. No paying call may fail.
// With SIZE=full it takes an hour, for which the machine must not be used otherwise, and none may take more than three
// times the 99th percentile from before.
func TestPayingCallersAreServedDuringAttacks(t *testing.T) {
	if testing.Short() || runtime.GOOS != "linux" {
		t.Skip("starts a server")
	}
	long, alone := testsize.Of(8*time.Second, time.Hour), testsize.Full()
	u := platforms(t, map[string]http.HandlerFunc{"/hacker-news.firebaseio.com/v0/user/": func(w http.ResponseWriter, r *http.Request) {
		switch {
		case strings.Contains(r.URL.Path, "honest"):
			member(w, r)
		case strings.Contains(r.URL.Path, "slow"):
			<-r.Context().Done()
		default:
			_, _ = io.WriteString(w, "null")
		}
	}})
	v := attacked(t, "SOCIALDATA_HACKERNEWS_BASE_URL="+u.url+"/hacker-news.firebaseio.com/v0", "--timeout=2s")
	p := &payers{v: v, secret: v.tenant("honest", 1_000_000_000), took: map[string][]time.Duration{}}
	p.call(t.Context(), 0) // what only the first call needs
	p.forget()
	p.run(long / 4)
	before := p.forget()
	ctx, stop := context.WithTimeout(t.Context(), long*3/4)
	defer stop()
	var all sync.WaitGroup
	all.Go(func() { expire(ctx, t, v.db) })
	for _, path := range []string{
		"/v1/hackernews/profile?handle=absent%d", "/v1/hackernews/profile?handle=slow%d", "/v1/mock/profile?handle=upstream_error&fresh=true&n=%d",
		"/v1/mock/profile?handle=hang", "/v1/usage?platform=x%d", "/v1/raw/hackernews/user/absent%d.json",
	} {
		secret := v.tenant("tenant "+path, 1000)
		all.Go(func() { v.tenantAsks(ctx, path, secret) })
	}
	for n := range 64 {
		all.Go(func() { v.neverReads(ctx, time.Duration(n)*100*time.Millisecond) })
	}
	p.run(long * 3 / 4)
	all.Wait()
	for path, beside := range p.forget() {
		was := before[path]
		most := 3 * percentile(was, 99)
		over, _ := slices.BinarySearch(beside, most+1)
		t.Logf("%s: alone %d calls, p99 %v, longest %v; beside attackers %d calls, p99 %v, longest %v, %d over %v",
			path, len(was), percentile(was, 99), was[len(was)-1],
			len(beside), percentile(beside, 99), beside[len(beside)-1], len(beside)-over, most)
		if alone && over < len(beside) {
			t.Errorf("%s: %d calls took more than %v", path, len(beside)-over, most)
		}
	}
	if len(p.bad) > 0 {
		t.Errorf("%d paying calls failed, the first with %s", len(p.bad), p.bad[0])
	}
}

// payers are callers who pay, and the latencies of their calls.
type payers struct {
	v      *victim
	secret string

	mu   sync.Mutex
	took map[string][]time.Duration // by path
	bad  []string
}

// run makes four of them call for a time.
func (p *payers) run(long time.Duration) {
	ctx, stop := context.WithTimeout(p.v.t.Context(), long)
	defer stop()
	var wg sync.WaitGroup
	for n := range 4 {
		wg.Go(func() {
			for i := n * 100_000_000; ctx.Err() == nil; i++ {
				p.call(context.WithoutCancel(ctx), i)
				time.Sleep(20 * time.Millisecond) // their rate
			}
		})
	}
	wg.Wait()
}

// call makes one call of each kind.
func (p *payers) call(ctx context.Context, i int) {
	for _, path := range []string{"/v1/mock/profile?handle=ann", "/v1/hackernews/profile?handle=honest%d", "/v1/me"} {
		asked := path
		if strings.Contains(path, "%d") {
			asked = fmt.Sprintf(path, i)
		}
		got, err := p.v.try(ctx, http.MethodGet, asked, p.secret, "", nil)
		p.mu.Lock()
		p.took[path] = append(p.took[path], got.took)
		if err != nil || got.status != http.StatusOK {
			p.bad = append(p.bad, fmt.Sprintf("%s: %d %.300s %v", asked, got.status, got.body, err))
		}
		p.mu.Unlock()
	}
}

// forget returns the times by path, shortest first, and starts over.
func (p *payers) forget() map[string][]time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	took := p.took
	p.took = map[string][]time.Duration{}
	for _, times := range took {
		slices.Sort(times)
	}
	return took
}

func percentile(sorted []time.Duration, n int) time.Duration { return sorted[len(sorted)*n/100] }

// tenantAsks sends ten requests a second that cost the tenant nothing, whatever the answers are.
func (v *victim) tenantAsks(ctx context.Context, path, secret string) {
	var wg sync.WaitGroup
	defer wg.Wait()
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for i := 0; ; i++ {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		asked := path
		if strings.Contains(path, "%d") {
			asked = fmt.Sprintf(path, i)
		}
		wg.Go(func() { _, _ = v.try(ctx, http.MethodGet, asked, secret, "", nil) }) // the answer does not matter
	}
}

// neverReads requests, without a key, more than the kernel buffers, starting after a delay, and does not read it.
func (v *victim) neverReads(ctx context.Context, from time.Duration) {
	for wait := from; ctx.Err() == nil; wait = 0 {
		select {
		case <-ctx.Done():
			return
		case <-time.After(wait):
		}
		conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", v.addr)
		if err != nil {
			continue
		}
		end := context.AfterFunc(ctx, func() { _ = conn.Close() })
		_, _ = io.WriteString(conn, strings.Repeat("GET /openapi.json HTTP/1.1\r\nHost: a\r\n\r\n", 20))
		select {
		case <-ctx.Done():
		case <-time.After(10 * time.Second):
		}
		end()
		_ = conn.Close()
	}
}

// expire puts expired records into the database.
func expire(ctx context.Context, t *testing.T, file string) {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+file+"?_busy_timeout=5000")
	if err != nil {
		t.Error(err)
		return
	}
	defer db.Close() //nolint:errcheck // a test
	for i := 0; ctx.Err() == nil; i++ {
		_, err := db.ExecContext(context.WithoutCancel(ctx), "INSERT INTO records (key, owner, value, version, expires, subjects) VALUES (CAST(? AS BLOB), '', x'00', 1, 1, x'')",
			fmt.Sprint("dead ", i))
		if err != nil {
			t.Error(err)
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
}
