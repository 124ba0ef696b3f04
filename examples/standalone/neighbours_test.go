package main

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/socialdata/socialdata/internal/await"
	"github.com/socialdata/socialdata/internal/testsize"
	"github.com/socialdata/socialdata/keys"
)

// TestCallersAreAnsweredBesideWaitingOnes measures what a paying caller notices of others: of those who wait for an
// earlier call with their Idempotency-Key, and of those with unknown keys. It also measures how soon a replica shows
// what fresh=true has read on another. It checks that the paying caller is always answered and that the calls that wait
// are charged once; times depend on the machine, and are only reported. For figures:
//
//	SIZE=full go test -v -timeout 20m -run TestCallersAreAnsweredBesideWaitingOnes ./examples/standalone
func TestCallersAreAnsweredBesideWaitingOnes(t *testing.T) {
	testsize.NoRace(t)
	if testing.Short() {
		t.Skip("starts databases and servers")
	}
	long, crowds, waiters, rounds := 300*time.Millisecond, []int{16}, 50, 2
	if testsize.Full() {
		long, crowds, waiters, rounds = 2*time.Second, []int{16, 64, 256}, 600, 20
	}
	c := &cluster{}
	c.startStores(t, "redis-server", "initdb", "postgres")
	c.slowUpstream(t, 5*time.Second)
	for range 3 {
		c.addReplica(t)
	}
	for i := range c.replicas {
		c.ready(t, i)
	}
	c.command(t, "account", "create", "neighbour", "--credits", "1000000")
	paying := payer{addr: c.direct[0], secret: c.command(t, "key", "create", "--account", "neighbour")}
	paying.p50(t, long) // the answer is cached
	for _, n := range crowds {
		compare(t, fmt.Sprintf("%d callers with unknown keys", n), long, paying, func(ctx context.Context) { c.strangers(ctx, n) })
	}
	compare(t, fmt.Sprintf("%d callers that wait under one Idempotency-Key", waiters), long, paying, func(ctx context.Context) {
		c.waiters(ctx, t, waiters)
	})
	c.freshness(t, rounds)
}

// payer is a caller that pays for cached answers, one after the other, over one connection.
type payer struct{ addr, secret string }

func (p payer) p50(t *testing.T, long time.Duration) time.Duration {
	t.Helper()
	client := &http.Client{Transport: &http.Transport{}}
	defer client.CloseIdleConnections()
	var took []time.Duration
	for until := time.Now().Add(long); time.Now().Before(until) || len(took) < 10; {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+p.addr+"/v1/mock/profile?handle=ann", nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer "+p.secret)
		began := time.Now()
		res, err := client.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		_, err = io.Copy(io.Discard, res.Body)
		_ = res.Body.Close()
		if took = append(took, time.Since(began)); err != nil || res.StatusCode != http.StatusOK {
			t.Fatalf("a paying caller is answered %d, %v", res.StatusCode, err)
		}
	}
	slices.Sort(took)
	return took[len(took)/2]
}

// compare reports the payer's p50 alone and beside others, by turns.
func compare(t *testing.T, what string, long time.Duration, p payer, others func(context.Context)) {
	t.Helper()
	var alone, beside []time.Duration
	for range 3 {
		alone = append(alone, p.p50(t, long))
		ctx, stop := context.WithCancel(t.Context())
		var crowd sync.WaitGroup
		crowd.Go(func() { others(ctx) })
		time.Sleep(long / 10) // they begin
		beside = append(beside, p.p50(t, long))
		stop()
		crowd.Wait()
	}
	slices.Sort(alone)
	slices.Sort(beside)
	t.Logf("%s: a paying caller's p50 is %v alone and %v beside them, %.2f times", what, alone[1].Round(time.Microsecond),
		beside[1].Round(time.Microsecond), float64(beside[1])/float64(alone[1]))
}

// strangers calls with unknown keys until ctx ends.
func (c *cluster) strangers(ctx context.Context, n int) {
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: n}}
	defer client.CloseIdleConnections()
	var crowd sync.WaitGroup
	for range n {
		crowd.Go(func() {
			for ctx.Err() == nil {
				secret, _, err := keys.Mint(keys.Live)
				if err != nil {
					return
				}
				req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+c.direct[0]+"/v1/me", nil)
				if err != nil {
					return
				}
				req.Header.Set("Authorization", "Bearer "+secret)
				if res, err := client.Do(req); err == nil {
					_, _ = io.Copy(io.Discard, res.Body)
					_ = res.Body.Close()
				}
			}
		})
	}
	crowd.Wait()
}

// waiters lets n callers wait under one Idempotency-Key, spread over the replicas, again and again until ctx ends.
// Each key is charged once.
func (c *cluster) waiters(ctx context.Context, t *testing.T, n int) {
	t.Helper()
	for ctx.Err() == nil {
		key := "neighbours-" + rand.Text()
		before := c.balance(t)
		var crowd sync.WaitGroup
		for i := range n {
			crowd.Go(func() {
				if r := request(t.Context(), c.direct[i%len(c.direct)], "/v1/github/search?query=tea&fresh=true", c.secret, key); !r.ok() {
					t.Errorf("a call that waits: %s", r)
				}
			})
		}
		crowd.Wait()
		if paid := before - c.balance(t); paid != 2 {
			t.Errorf("%d calls with one key were charged %d credits; want 2", n, paid)
		}
	}
}

// slowUpstream has an upstream of its own for the replicas that are added next, which answers after d.
func (c *cluster) slowUpstream(t *testing.T, d time.Duration) {
	t.Helper()
	fast, err := url.Parse(c.upstream)
	if err != nil {
		t.Fatal(err)
	}
	proxy := httputil.NewSingleHostReverseProxy(fast)
	slow := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		time.Sleep(d)
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(slow.Close)
	c.upstream = slow.URL
}

// balance returns what the account of the load can spend.
func (c *cluster) balance(t *testing.T) int64 {
	t.Helper()
	r := request(t.Context(), c.direct[0], "/v1/me", c.secret, "")
	var me struct {
		Meta struct {
			Credits int64 `json:"credits_remaining"`
		} `json:"meta"`
	}
	if err := json.Unmarshal(r.body, &me); err != nil || !r.ok() {
		t.Errorf("/v1/me: %s", r)
	}
	return me.Meta.Credits
}

// freshness reads with fresh=true on one replica, and waits until the other shows that.
func (c *cluster) freshness(t *testing.T, n int) {
	t.Helper()
	const path = "/v1/mock/profile?handle=carl"
	fetched := func(i int, path string) string {
		var got struct {
			Data struct {
				FetchedAt string `json:"fetched_at"`
			} `json:"data"`
		}
		r := request(t.Context(), c.direct[i], path, c.secret, "")
		if err := json.Unmarshal(r.body, &got); err != nil || !r.ok() {
			t.Fatalf("%s: %s", path, r)
		}
		return got.Data.FetchedAt
	}
	var took []time.Duration
	for range n {
		fetched(1, path)                    // it is in the memory of both
		time.Sleep(1100 * time.Millisecond) // times have whole seconds
		want := fetched(0, path+"&fresh=true")
		began := time.Now()
		await.Until(t, "what fresh=true has read", func() bool { return fetched(1, path) >= want })
		took = append(took, time.Since(began))
	}
	slices.Sort(took)
	t.Logf("fresh=true is shown by the other replica after %v, at most %v, in %d rounds", took[n/2].Round(time.Microsecond),
		took[n-1].Round(time.Microsecond), n)
}
