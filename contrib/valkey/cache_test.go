package valkey_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/socialdata/socialdata/cache"
	"github.com/socialdata/socialdata/cache/cachetest"
	"github.com/socialdata/socialdata/contrib/valkey"
	"github.com/socialdata/socialdata/internal/await"
	"github.com/socialdata/socialdata/schema"
)

func TestCache(t *testing.T) {
	t.Parallel()
	addr := address(t)
	cachetest.Run(t, func(t *testing.T, now func() time.Time) cache.Store {
		t.Helper()
		return open(t, addr, unique()).Cache(valkey.CacheConfig{Now: now})
	})
}

// TestCacheFromTheServer runs the suite with a memory that is too small for any entry.
func TestCacheFromTheServer(t *testing.T) {
	t.Parallel()
	addr := address(t)
	cachetest.Run(t, func(t *testing.T, now func() time.Time) cache.Store {
		t.Helper()
		return open(t, addr, unique()).Cache(valkey.CacheConfig{Now: now, Bytes: 1})
	})
}

func TestCacheIsShared(t *testing.T) {
	t.Parallel()
	addr := address(t)
	cachetest.RunShared(t, func(t *testing.T) (a, b cache.Shared) {
		t.Helper()
		prefix := unique()
		return open(t, addr, prefix).Cache(valkey.CacheConfig{}), open(t, addr, prefix).Cache(valkey.CacheConfig{})
	})
}

// twin returns two caches with the same server and clock.
func twin(t *testing.T, addr string) (a, b *valkey.Cache, now *cachetest.Clock) {
	t.Helper()
	prefix, c := unique(), cachetest.NewClock()
	cfg := valkey.CacheConfig{Now: c.Now}
	return open(t, addr, prefix).Cache(cfg), open(t, addr, prefix).Cache(cfg), c
}

// put stores an entry that was just read.
func put(t *testing.T, s cache.Store, c *cachetest.Clock, key, data string) {
	t.Helper()
	if err := s.Set(t.Context(), key, &cache.Entry{Data: data, FetchedAt: c.Now(), TTL: time.Hour},
		time.Hour); err != nil {
		t.Fatal(err)
	}
}

// holds returns the data under key, "" if there is none.
func holds(t *testing.T, s cache.Store, key string) string {
	t.Helper()
	e, err := s.Get(t.Context(), key)
	if err != nil {
		t.Fatal(err)
	}
	if e == nil {
		return ""
	}
	return e.Data
}

func TestEntriesReplacedByAnotherReplicaAreReadAgain(t *testing.T) {
	t.Parallel()
	a, b, now := twin(t, address(t))
	put(t, a, now, "k", "old")
	if got := holds(t, b, "k"); got != "old" {
		t.Fatalf("the other replica has %q", got)
	}
	for _, data := range []string{"new", "newer", "newest"} { // the first may be found because b has just begun to listen
		now.Advance(time.Millisecond)
		put(t, a, now, "k", data)
		await.Until(t, "the other replica to hold the entry", func() bool { return holds(t, b, "k") == data }) // before b would compare it with the server
	}
}

func TestEveryByteIsPreserved(t *testing.T) {
	t.Parallel()
	a, b, _ := twin(t, address(t))
	want := &cache.Entry{Data: "[1]", Raw: []string{"\"\xff\xfe no UTF-8 \x00\"", ""}, Page: "\xc3\x28", Tag: "t"}
	if err := a.Set(t.Context(), "k", want, time.Hour); err != nil {
		t.Fatal(err)
	}
	got, err := b.Get(t.Context(), "k")
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
}

func TestAWaitingReplicaTakesOverFromADeadOne(t *testing.T) {
	t.Parallel()
	addr, prefix := address(t), unique()
	dead, err := valkey.Open(t.Context(), valkey.Config{Address: addr, Prefix: prefix})
	if err != nil {
		t.Fatal(err)
	}
	lease := 300 * time.Millisecond
	if claim := dead.Cache(valkey.CacheConfig{Lease: lease}).Join(t.Context(), "k"); claim.Done == nil {
		t.Fatalf("Join = %+v; want the claim", claim)
	}
	alive := open(t, addr, prefix).Cache(valkey.CacheConfig{Lease: lease})
	held, cancel := context.WithTimeout(t.Context(), 3*lease)
	defer cancel()
	if claim := alive.Join(held, "k"); claim.Done == nil || held.Err() == nil {
		t.Errorf("Join = %+v while the lease was renewed", claim)
	}
	claims := make(chan cache.Claim)
	for range 8 {
		go func() { claims <- alive.Join(t.Context(), "k") }()
	}
	dead.Cut() // it stops renewing, as if its process had been killed
	claim := <-claims
	if claim.Done == nil {
		t.Fatalf("Join = %+v; want the claim", claim)
	}
	if err := alive.Set(t.Context(), "k", &cache.Entry{Data: "made"}, time.Hour); err != nil {
		t.Fatal(err)
	}
	claim.Done(t.Context(), "")
	for range 7 {
		if claim := <-claims; claim.Entry == nil {
			t.Errorf("Join = %+v; want the entry", claim)
		}
	}
}

func TestMemoryOutlivesTheServer(t *testing.T) {
	t.Parallel()
	p := start(t)
	a, b, now := twin(t, p.addr)
	put(t, a, now, "k", "made")
	first := a.Join(t.Context(), "other")
	waiting := make(chan cache.Claim)
	go func() { waiting <- b.Join(t.Context(), "other") }()
	p.kill()
	if claim := <-waiting; claim.Done == nil {
		t.Errorf("the caller that waited when the server was stopped: %+v; want the claim", claim)
	}
	first.Done(t.Context(), "")
	await.Until(t, "both replicas to notice the loss", func() bool { return a.State() == schema.Degraded && b.State() == schema.Degraded })
	now.Advance(time.Minute)
	if got := holds(t, a, "k"); got != "made" {
		t.Errorf("memory has %q", got)
	}
	if got := holds(t, b, "k"); got != "" {
		t.Errorf("%q in the memory of another replica", got)
	}
	put(t, b, now, "k", "made again")
	if claim := b.Join(t.Context(), "third"); claim.Done == nil {
		t.Errorf("Join = %+v; want the claim", claim)
	}
	p.run()
	await.Until(t, "both replicas to notice the return", func() bool { return a.State() == schema.Healthy && b.State() == schema.Healthy })
	put(t, b, now, "k2", "shared")
	if got := holds(t, a, "k2"); got != "shared" {
		t.Errorf("after the restart: %q", got)
	}
	now.Advance(time.Minute)
	if got := holds(t, a, "k"); got != "made" {
		t.Errorf("after the server has lost it, memory has %q", got)
	}
}

// TestAStuckServerDoesNotBlockCallers stops a server that still accepts connections.
func TestAStuckServerDoesNotBlockCallers(t *testing.T) {
	t.Parallel()
	p := start(t)
	a, _, now := twin(t, p.addr)
	put(t, a, now, "k", "made")
	p.stop()
	defer p.resume()
	await.Until(t, "the loss to be noticed", func() bool { return a.State() == schema.Degraded })
	began := time.Now()
	for range 1000 {
		holds(t, a, "unknown")
	}
	if took := time.Since(began); took > 10*time.Second { // 500 s if each call had waited for half a second
		t.Errorf("a thousand misses took %v", took)
	}
	p.resume()
	await.Until(t, "the return to be noticed", func() bool { return a.State() == schema.Healthy })
}
