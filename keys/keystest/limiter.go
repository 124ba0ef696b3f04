package keystest

import (
	"errors"
	"fmt"
	"math"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/socialdata/socialdata/keys"
)

// OpenLimiter returns a new limiter that reads the time only from now and remembers at least 1,000 keys. It cleans up
// through t.
type OpenLimiter func(t *testing.T, now func() time.Time) keys.Limiter

// RunLimiter tests a limiter.
func RunLimiter(t *testing.T, open OpenLimiter) {
	t.Helper()
	topics := []struct {
		name string
		test func(t *testing.T, open OpenLimiter)
	}{
		{"a bucket empties and fills", testBucket},
		{"retry after is the very moment, to the microsecond", testRetryAfter},
		{"keys have buckets of their own", testBuckets},
		{"tokens that are given back can be taken again", testGive},
		{"several tokens are taken at once or not at all", testTakeSeveral},
		{"a new rate keeps the tokens", testNewRate},
		{"concurrent callers share exactly the tokens of the bucket", testLimiterConcurrency},
		{"a clock that is set back gives nothing", testLimiterClockBack},
		{"an impossible rate", testBadRate},
	}
	for _, topic := range topics {
		t.Run(topic.name, func(t *testing.T) {
			t.Parallel()
			topic.test(t, open)
		})
	}
}

// clock only moves when it is set.
type clock struct{ nanos atomic.Int64 }

func newClock() *clock {
	c := &clock{}
	c.nanos.Store(time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC).UnixNano())
	return c
}

func (c *clock) now() time.Time          { return time.Unix(0, c.nanos.Load()) }
func (c *clock) advance(d time.Duration) { c.nanos.Add(int64(d)) }

func take(t *testing.T, l keys.Limiter, key string, r keys.Rate) keys.Allowance {
	t.Helper()
	a, err := l.Take(t.Context(), key, r, 1)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// drain takes until nothing is left and returns how many calls were allowed.
func drain(t *testing.T, l keys.Limiter, key string, r keys.Rate) int64 {
	t.Helper()
	for n := int64(0); ; n++ {
		if !take(t, l, key, r).OK {
			return n
		}
	}
}

func testBucket(t *testing.T, open OpenLimiter) {
	t.Helper()
	c := newClock()
	l := open(t, c.now)
	r := keys.Rate{Capacity: 5, Refill: 2}
	peek := func(want float64, ok bool) {
		t.Helper()
		a, err := l.Peek(t.Context(), "key_1", r)
		if err != nil || a.OK != ok || math.Abs(a.Remaining-want) > 1e-6 || a.Rate != r {
			t.Errorf("Peek = %+v, %v; want %v left, OK %v", a, err, want, ok)
		}
	}
	peek(5, true)
	for i := range 5 {
		if a := take(t, l, "key_1", r); !a.OK || math.Abs(a.Remaining-float64(4-i)) > 1e-6 || a.RetryAfter != 0 {
			t.Errorf("call %d: %+v; want %d left", i, a, 4-i)
		}
	}
	peek(0, false)
	if a := take(t, l, "key_1", r); a.OK || a.RetryAfter != time.Second/2 {
		t.Errorf("one call too many: %+v; want to wait half a second", a)
	}
	c.advance(time.Second / 4)
	peek(0.5, false) // a refused call takes nothing
	c.advance(time.Second / 4)
	peek(1, true)
	c.advance(time.Hour)
	peek(5, true)
	if got := drain(t, l, "key_1", r); got != 5 {
		t.Errorf("%d calls went through after an hour; want 5", got)
	}
}

func testRetryAfter(t *testing.T, open OpenLimiter) {
	t.Helper()
	for _, refill := range []float64{0.01, 0.3, 1, 3, 7, 10, 1000} {
		c := newClock()
		l := open(t, c.now)
		r := keys.Rate{Capacity: 3, Refill: refill}
		drain(t, l, "key_1", r)
		c.advance(time.Duration(0.4 / refill * 1e9))
		for range 5 {
			a := take(t, l, "key_1", r)
			if a.OK || a.RetryAfter <= 0 {
				t.Fatalf("refill %v: %+v; want a refusal", refill, a)
			}
			c.advance(a.RetryAfter - 2*time.Microsecond)
			if early := take(t, l, "key_1", r); early.OK || early.RetryAfter > 2*time.Microsecond {
				t.Errorf("refill %v: two microseconds early: %+v", refill, early)
			}
			c.advance(2 * time.Microsecond)
			if then := take(t, l, "key_1", r); !then.OK {
				t.Errorf("refill %v: after RetryAfter: %+v", refill, then)
			}
		}
	}
}

func testBuckets(t *testing.T, open OpenLimiter) {
	t.Helper()
	l := open(t, newClock().now)
	r := keys.Rate{Capacity: 2, Refill: 1}
	for i := range 100 {
		if got := drain(t, l, fmt.Sprint("key_", i), r); got != 2 {
			t.Errorf("key %d: %d calls; want 2", i, got)
		}
	}
}

func testGive(t *testing.T, open OpenLimiter) {
	t.Helper()
	c := newClock()
	l, r := open(t, c.now), keys.Rate{Capacity: 5, Refill: 0.001}
	give := func(n int, remaining float64) {
		t.Helper()
		a, err := l.Give(t.Context(), "k", r, n)
		if err != nil || !a.OK || math.Abs(a.Remaining-remaining) > 1e-6 {
			t.Errorf("Give(%d) = %+v, %v; want %v tokens", n, a, err, remaining)
		}
	}
	give(1, 5) // a full bucket holds no more
	if n := drain(t, l, "k", r); n != 5 {
		t.Errorf("%d calls went through, want 5", n)
	}
	give(2, 2)
	if n := drain(t, l, "k", r); n != 2 {
		t.Errorf("%d calls went through after two tokens were given, want 2", n)
	}
	give(100, 5)
	if n := drain(t, l, "k", r); n != 5 {
		t.Errorf("%d calls went through after a hundred tokens were given, want 5", n)
	}
	if _, err := l.Give(t.Context(), "k", keys.Rate{}, 1); !errors.Is(err, keys.ErrInvalid) {
		t.Errorf("Give at no rate: %v, want %v", err, keys.ErrInvalid)
	}
}

func testTakeSeveral(t *testing.T, open OpenLimiter) {
	t.Helper()
	c := newClock()
	l, r := open(t, c.now), keys.Rate{Capacity: 10, Refill: 2}
	several := func(n int, ok bool, remaining float64, wait time.Duration) {
		t.Helper()
		a, err := l.Take(t.Context(), "k", r, n)
		if err != nil || a.OK != ok || math.Abs(a.Remaining-remaining) > 1e-6 || a.RetryAfter != wait {
			t.Errorf("Take(%d) = %+v, %v; want OK %v, %v tokens, %v to wait", n, a, err, ok, remaining, wait)
		}
	}
	several(4, true, 6, 0)
	several(7, false, 6, time.Second/2) // takes nothing
	several(6, true, 0, 0)
	several(3, false, 0, 1500*time.Millisecond)
	several(1, false, 0, time.Second/2)
	c.advance(time.Second)
	several(3, false, 2, time.Second/2)
	several(2, true, 0, 0) // fewer than were refused
	several(0, false, 0, time.Second/2)
	c.advance(time.Minute)
	several(1000, true, 0, 0) // as many as there can be
	several(1000, false, 0, 5*time.Second)
	if a, err := l.Take(t.Context(), "k", keys.Rate{}, 3); !errors.Is(err, keys.ErrInvalid) || a.OK {
		t.Errorf("Take at no rate = %+v, %v; want %v", a, err, keys.ErrInvalid)
	}
}

func testNewRate(t *testing.T, open OpenLimiter) {
	t.Helper()
	c := newClock()
	l := open(t, c.now)
	for range 6 {
		take(t, l, "key_1", keys.Rate{Capacity: 10, Refill: 1})
	}
	if got := drain(t, l, "key_1", keys.Rate{Capacity: 100, Refill: 50}); got != 4 {
		t.Errorf("%d calls after the rate was raised; want the 4 that were left", got)
	}
	c.advance(time.Second)
	if got := drain(t, l, "key_1", keys.Rate{Capacity: 20, Refill: 50}); got != 20 {
		t.Errorf("%d calls after the capacity was lowered; want 20", got)
	}
}

func testLimiterConcurrency(t *testing.T, open OpenLimiter) {
	t.Helper()
	c := newClock()
	l := open(t, c.now)
	r := keys.Rate{Capacity: 50, Refill: 10}
	for round, want := range []int64{50, 10, 10} {
		var ok atomic.Int64
		var wg sync.WaitGroup
		for range 16 {
			wg.Go(func() {
				for range 20 {
					a, err := l.Take(t.Context(), "key_1", r, 1)
					if err != nil {
						t.Errorf("Take: %v", err)
					}
					if a.OK {
						ok.Add(1)
					}
				}
			})
		}
		wg.Wait()
		if got := ok.Load(); got != want {
			t.Errorf("round %d: %d calls went through; want %d", round, got, want)
		}
		c.advance(time.Second)
	}
}

func testLimiterClockBack(t *testing.T, open OpenLimiter) {
	t.Helper()
	c := newClock()
	l := open(t, c.now)
	r := keys.Rate{Capacity: 2, Refill: 1}
	drain(t, l, "key_1", r)
	c.advance(-time.Hour)
	if a := take(t, l, "key_1", r); a.OK || a.RetryAfter > time.Second {
		t.Errorf("Take = %+v; want to wait a second at most", a)
	}
	if got := drain(t, l, "key_2", r); got != 2 {
		t.Errorf("a new key: %d calls; want 2", got)
	}
	c.advance(2 * time.Hour)
	if got := drain(t, l, "key_1", r); got != 2 {
		t.Errorf("%d calls; want 2", got)
	}
}

func testBadRate(t *testing.T, open OpenLimiter) {
	t.Helper()
	l := open(t, newClock().now)
	for _, r := range []keys.Rate{
		{},
		{Capacity: 1},
		{Refill: 1},
		{Capacity: -1, Refill: 1},
		{Capacity: 1, Refill: -1},
		{Capacity: 1, Refill: math.NaN()},
		{Capacity: 1, Refill: math.Inf(1)},
	} {
		if a, err := l.Take(t.Context(), "key_1", r, 1); !errors.Is(err, keys.ErrInvalid) || a.OK {
			t.Errorf("Take at %+v = %+v, %v; want ErrInvalid", r, a, err)
		}
	}
	huge := keys.Rate{Capacity: math.MaxInt64, Refill: 1e-12}
	if a, err := l.Take(t.Context(), "key_1", huge, 1); err != nil || !a.OK {
		t.Errorf("Take at %+v = %+v, %v", huge, a, err)
	}
}
