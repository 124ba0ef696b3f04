package cachetest

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/socialdata/socialdata/cache"
)

// OpenShared returns two stores with the same content, as two processes would use; they may be one and the same store.
// It cleans up through t.
type OpenShared func(t *testing.T) (a, b cache.Shared)

// RunShared tests what a shared store does in addition to [Run].
func RunShared(t *testing.T, open OpenShared) {
	t.Helper()
	topics := []struct {
		name string
		test func(t *testing.T, a, b cache.Shared)
	}{
		{"a stored entry is returned at once", testThere},
		{"one of many callers makes the entry", testOneMakes},
		{"one of many callers renews an expired entry", testOneMakesAnew},
		{"a failure is returned to waiting callers, and not to later ones", testFailure},
		{"another caller gets the claim if it ends without an entry", testClaimGoesOn},
		{"a caller whose context ends while it waits reads alone", testImpatient},
		{"a claim ends with its context", testForgotten},
		{"keys have claims of their own", testOwnClaims},
	}
	for _, topic := range topics {
		t.Run(topic.name, func(t *testing.T) {
			t.Parallel()
			a, b := open(t)
			topic.test(t, a, b)
		})
	}
}

func testThere(t *testing.T, a, b cache.Shared) {
	t.Helper()
	want := &cache.Entry{Data: "1", Raw: []string{"2", ""}, FetchedAt: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}
	set(t, a, "k", want, time.Hour)
	for _, s := range []cache.Shared{a, b} {
		got := s.Join(t.Context(), "k")
		if diff := cmp.Diff(want, got.Entry); diff != "" || got.Done != nil || got.Failure != "" {
			t.Fatalf("Join = %+v (-want +got):\n%s", got, diff)
		}
	}
}

func testOneMakes(t *testing.T, a, b cache.Shared) {
	t.Helper()
	var made, given atomic.Int64
	var wg sync.WaitGroup
	for i := range 16 {
		s := []cache.Shared{a, b}[i%2]
		wg.Go(func() {
			claim := s.Join(t.Context(), "k")
			switch {
			case claim.Done != nil:
				made.Add(1)
				set(t, s, "k", &cache.Entry{Data: "made"}, time.Hour)
				claim.Done(t.Context(), "")
			case claim.Entry != nil && claim.Entry.Data == "made":
				given.Add(1)
			default:
				t.Errorf("Join = %+v", claim)
			}
		})
	}
	wg.Wait()
	if made.Load() != 1 || given.Load() != 15 {
		t.Errorf("%d callers made the entry and %d got it; want 1 and 15", made.Load(), given.Load())
	}
}

func testOneMakesAnew(t *testing.T, a, b cache.Shared) {
	t.Helper()
	old := &cache.Entry{Data: "old", TTL: time.Hour, Keep: time.Hour, FetchedAt: time.Now().Add(-time.Hour).UTC()}
	set(t, a, "k", old, 0)
	for _, s := range []cache.Shared{a, b} {
		if e := get(t, s, "k"); e == nil || e.Data != "old" {
			t.Errorf("Get = %+v; want the entry that is past its time", e)
		}
	}
	first := a.Join(t.Context(), "k")
	if first.Done == nil || first.Entry == nil || first.Entry.Data != "old" {
		t.Fatalf("Join = %+v; want the claim, with the entry that is past its time", first)
	}
	var claims []<-chan cache.Claim
	for range 4 {
		claims = append(claims, waiting(t.Context(), a), waiting(t.Context(), b))
	}
	set(t, a, "k", &cache.Entry{Data: "new", TTL: time.Hour, FetchedAt: time.Now().UTC()}, time.Hour)
	first.Done(t.Context(), "")
	for _, claim := range claims {
		if got := <-claim; got.Done != nil || got.Entry == nil || got.Entry.Data != "new" {
			t.Errorf("Join = %+v; want the new entry", got)
		}
	}
}

// waiting joins for the key k, and returns the channel of its claim.
func waiting(ctx context.Context, s cache.Shared) <-chan cache.Claim {
	claim := make(chan cache.Claim, 1)
	go func() { claim <- s.Join(ctx, "k") }()
	return claim
}

func testFailure(t *testing.T, a, b cache.Shared) {
	t.Helper()
	first := mine(t, a, "k")
	begun := waiting(t.Context(), b)
	// A waiter gets the failure; one that came too late to wait gets the claim.
	for told := false; !told; {
		select {
		case early := <-begun:
			t.Fatalf("the other did not wait: %+v", early)
		case <-time.After(50 * time.Millisecond):
		}
		first.Done(t.Context(), "out of order")
		switch got := <-begun; {
		case got.Failure == "out of order":
			told = true
		case got.Done != nil: // it had not begun to wait; now it is the one to fail
			first, begun = got, waiting(t.Context(), a)
		default:
			t.Fatalf("Join = %+v", got)
		}
	}
	mine(t, a, "k").Done(t.Context(), "")
	mine(t, b, "k").Done(t.Context(), "")
}

func testClaimGoesOn(t *testing.T, a, b cache.Shared) {
	t.Helper()
	first := mine(t, a, "k")
	one, two := waiting(t.Context(), a), waiting(t.Context(), b)
	first.Done(t.Context(), "")
	for range 2 {
		select {
		case claim := <-one:
			end(t, claim)
		case claim := <-two:
			end(t, claim)
		}
	}
}

func testImpatient(t *testing.T, a, b cache.Shared) {
	t.Helper()
	first := mine(t, a, "k")
	ctx, cancel := context.WithCancel(t.Context())
	begun := waiting(ctx, b)
	cancel()
	end(t, <-begun)
	// That was set without a claim: the first one still has it.
	set(t, a, "k", &cache.Entry{Data: "made"}, time.Hour)
	first.Done(t.Context(), "")
	if got := b.Join(t.Context(), "k"); got.Entry == nil {
		t.Errorf("Join = %+v; want the entry", got)
	}
}

func testForgotten(t *testing.T, a, b cache.Shared) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	claim := a.Join(ctx, "k")
	next := waiting(t.Context(), b)
	cancel()
	late := <-next
	claim.Done(t.Context(), "too late")
	end(t, late)
}

func testOwnClaims(t *testing.T, a, b cache.Shared) {
	t.Helper()
	first := mine(t, a, "k")
	mine(t, b, "K").Done(t.Context(), "")
	first.Done(t.Context(), "")
}

// mine joins and expects to get the claim.
func mine(t *testing.T, s cache.Shared, key string) cache.Claim {
	t.Helper()
	claim := s.Join(t.Context(), key)
	if claim.Done == nil || claim.Entry != nil || claim.Failure != "" {
		t.Fatalf("Join(%q) = %+v; want the claim", key, claim)
	}
	return claim
}

func end(t *testing.T, claim cache.Claim) {
	t.Helper()
	if claim.Done == nil {
		t.Fatalf("Join = %+v; want the claim", claim)
	}
	claim.Done(t.Context(), "")
}
