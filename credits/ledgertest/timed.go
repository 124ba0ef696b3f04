package ledgertest

import (
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/socialdata/socialdata/credits"
)

// Clock is a clock that only moves when it is set. It is safe for concurrent use.
type Clock struct {
	mu  sync.Mutex
	now time.Time
}

// NewClock returns a clock that shows noon of some day.
func NewClock() *Clock { return &Clock{now: time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)} }

// Now returns the time.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// Advance moves the clock by d, backwards when d is negative.
func (c *Clock) Advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// RunTimed tests what depends on the time.
func RunTimed(t *testing.T, open OpenTimed) {
	t.Helper()
	topics := []struct {
		name string
		test func(t *testing.T, open OpenTimed)
	}{
		{"holds expire", testExpiry},
		{"a day's cap", testDayCap},
		{"an idempotency key lasts a day", testIdempotencyKeyADay},
		{"entries by time", testEntriesByTime},
		{"a clock that is set back", testClockBack},
		{"a clock that was a month ahead", testClockAhead},
		{"a clock that jumps under charges", testClockJumps},
		{"holds under a clock that jumps", testHoldsUnderJumps},
		{"idempotency keys under a clock that jumps", testKeysUnderJumps},
		{"holds that are settled late", testLate},
		{"holds that are settled late by many at once", testLateAtOnce},
	}
	for _, topic := range topics {
		t.Run(topic.name, func(t *testing.T) {
			t.Parallel()
			topic.test(t, open)
		})
	}
}

func testExpiry(t *testing.T, open OpenTimed) {
	t.Helper()
	clock := NewClock()
	l := open(t, 10, clock.Now)
	holds, err := l.Reserve(t.Context(), who, time.Minute, 4, 3)
	if err != nil {
		t.Fatal(err)
	}
	if want := clock.Now().Add(time.Minute); !holds[0].Expires.Equal(want) {
		t.Errorf("the hold expires at %v; want %v", holds[0].Expires, want)
	}
	clock.Advance(time.Minute - 1)
	wantBalance(t, l, 3)
	settle(t, l, holds[0], credits.Charge{Amount: 4})
	clock.Advance(1)
	wantBalance(t, l, 6)
	if _, err := l.Settle(t.Context(), holds[1], credits.Charge{Amount: 3}); !errors.Is(err, credits.ErrExpired) {
		t.Errorf("Settle of an expired hold = %v; want ErrExpired", err)
	}
	if got := settle(t, l, holds[0], credits.Charge{Amount: 4}); got != 6 {
		t.Errorf("settling a charged hold again, after its time, left %d; want 6", got)
	}
	wantCharges(t, l, 4)
	reserve(t, l, 6)
}

func testDayCap(t *testing.T, open OpenTimed) {
	t.Helper()
	clock := NewClock()
	l := open(t, 100, clock.Now)
	limited := who
	limited.DayCap, limited.TotalCap = new(int64(10)), new(int64(18))
	take := func(n int64) (credits.Hold, error) {
		holds, err := l.Reserve(t.Context(), limited, 24*time.Hour, n)
		if err != nil {
			return credits.Hold{}, err
		}
		return holds[0], nil
	}
	first, err := take(10)
	if err != nil {
		t.Fatal(err)
	}
	settle(t, l, first, credits.Charge{Amount: 6})
	second, err := take(4)
	if err != nil {
		t.Fatal(err)
	}
	clock.Advance(12 * time.Hour) // midnight, UTC
	if _, err := take(7); !errors.Is(err, credits.ErrCap) {
		t.Errorf("a hold of yesterday does not count against today: %v", err)
	}
	settle(t, l, second, credits.Charge{Amount: 4}) // counts for the day on which it is charged
	if _, err := take(7); !errors.Is(err, credits.ErrCap) {
		t.Errorf("Reserve above what is left of the day = %v; want ErrCap", err)
	}
	third, err := take(6)
	if err != nil {
		t.Fatal(err)
	}
	settle(t, l, third, credits.Charge{Amount: 6})
	clock.Advance(24 * time.Hour)
	if _, err := take(3); !errors.Is(err, credits.ErrCap) {
		t.Errorf("Reserve above the total = %v; want ErrCap", err)
	}
	if _, err := take(2); err != nil {
		t.Errorf("Reserve of what is left in total = %v", err)
	}
}

func testIdempotencyKeyADay(t *testing.T, open OpenTimed) {
	t.Helper()
	clock := NewClock()
	l := open(t, 100, clock.Now)
	spend(t, l, 1, credits.Charge{IdempotencyKey: "a"})
	clock.Advance(24*time.Hour - time.Microsecond)
	spend(t, l, 2, credits.Charge{IdempotencyKey: "a"})
	wantCharges(t, l, 1)
	clock.Advance(time.Microsecond)
	spend(t, l, 4, credits.Charge{IdempotencyKey: "a"})
	wantCharges(t, l, 1, 4)
	spend(t, l, 8, credits.Charge{IdempotencyKey: "a"})
	wantCharges(t, l, 1, 4)
}

func testEntriesByTime(t *testing.T, open OpenTimed) {
	t.Helper()
	clock := NewClock()
	start := clock.Now()
	l := open(t, 100, clock.Now)
	for i := range 9 { // seq 2 to 10, two at each time except the last
		if i%2 == 0 {
			clock.Advance(time.Hour)
		}
		spend(t, l, 1, credits.Charge{Platform: []string{"x", "github", "github"}[i%3]})
	}
	at := func(hours float64) time.Time { return start.Add(time.Duration(hours * float64(time.Hour))) }
	tests := []struct {
		name string
		q    credits.Query
		want []int64
	}{
		{"since, inclusive", credits.Query{Since: at(4)}, []int64{10, 9, 8}},
		{"since a moment later", credits.Query{Since: at(4).Add(1000)}, []int64{10}},
		{"until, exclusive", credits.Query{Until: at(2)}, []int64{3, 2, 1}},
		{"between", credits.Query{Since: at(2), Until: at(3.5)}, []int64{7, 6, 5, 4}},
		{"between, before a place", credits.Query{Since: at(2), Until: at(3.5), Before: 6}, []int64{5, 4}},
		{"on a platform", credits.Query{Since: at(2), Until: at(4), Platform: "x"}, []int64{5}},
		{"after everything", credits.Query{Since: at(99)}, []int64{}},
		{"before everything", credits.Query{Until: start}, []int64{}},
		{"an empty span", credits.Query{Since: at(3), Until: at(3)}, []int64{}},
		{"a span that ends before it begins", credits.Query{Since: at(3), Until: at(1)}, []int64{}},
		{"another zone", credits.Query{Since: at(5).In(time.FixedZone("", 3600))}, []int64{10}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got := []int64{}
			for _, e := range entries(t, l, tt.q) {
				got = append(got, e.Seq)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("entries (-want +got):\n%s", diff)
			}
		})
	}
}

func testClockBack(t *testing.T, open OpenTimed) {
	t.Helper()
	clock := NewClock()
	l := open(t, 100, clock.Now)
	limited := who
	limited.DayCap = new(int64(5))
	holds, err := l.Reserve(t.Context(), limited, ttl, 5)
	if err != nil {
		t.Fatal(err)
	}
	settle(t, l, holds[0], credits.Charge{Amount: 5})
	clock.Advance(-24 * time.Hour)
	if _, err := l.Reserve(t.Context(), limited, ttl, 1); !errors.Is(err, credits.ErrCap) {
		t.Errorf("a clock that is set back resets the key's daily cap: %v", err)
	}
	spend(t, l, 1, credits.Charge{})
	checkChain(t, entries(t, l, credits.Query{}))
}

// testLate settles holds long after they expired, as a process does that was suspended for minutes.
func testLate(t *testing.T, open OpenTimed) {
	t.Helper()
	clock := NewClock()
	l := open(t, 10, clock.Now)
	capped := who
	capped.TotalCap = new(int64(5))
	holds, err := l.Reserve(t.Context(), capped, time.Minute, 2, 2, 1)
	if err != nil {
		t.Fatal(err)
	}
	clock.Advance(time.Hour)
	charge := credits.Charge{Amount: 2, Late: true}
	want := func(h credits.Hold, c credits.Charge, r credits.Receipt, wanted error) {
		t.Helper()
		got, err := l.Settle(t.Context(), h, c)
		if diff := cmp.Diff(r, got); diff != "" || !errors.Is(err, wanted) {
			t.Errorf("Settle = %v; want %v (-want +got):\n%s", err, wanted, diff)
		}
	}
	want(holds[0], charge, credits.Receipt{Balance: 8, Charged: 2}, nil)
	want(holds[0], charge, credits.Receipt{Balance: 8, Charged: 2, Earlier: true}, nil)
	clock.Advance(time.Hour)
	want(holds[0], credits.Charge{}, credits.Receipt{Balance: 8, Charged: 2, Earlier: true}, nil)
	want(holds[1], credits.Charge{Amount: 2}, credits.Receipt{}, credits.ErrExpired)
	want(holds[1], credits.Charge{Late: true}, credits.Receipt{}, credits.ErrExpired)
	want(holds[1], credits.Charge{Amount: 3, Late: true}, credits.Receipt{}, credits.ErrAmount)

	other := reserve(t, l, 7)[0]
	want(holds[1], charge, credits.Receipt{}, credits.ErrLate)
	settle(t, l, other, credits.Charge{Amount: 2})
	want(holds[1], charge, credits.Receipt{}, credits.ErrLate) // the key's cap: 4 of 5 are spent
	want(holds[2], credits.Charge{Amount: 1, Late: true}, credits.Receipt{Balance: 5, Charged: 1}, nil)
	wantCharges(t, l, 2, 2, 1)
	checkChain(t, entries(t, l, credits.Query{}))
}

// testLateAtOnce settles each of several holds from several goroutines long after they expired: each is charged once.
// Callers do that when they ask at the same time for the result of a process that died.
func testLateAtOnce(t *testing.T, open OpenTimed) {
	t.Helper()
	const callers = 8
	clock := NewClock()
	l := open(t, 1000, clock.Now)
	holds := reserve(t, l, slices.Repeat([]int64{2}, 30)...)
	clock.Advance(2 * ttl)
	var all sync.WaitGroup
	var first atomic.Int64
	for _, h := range holds {
		for range callers {
			all.Go(func() {
				r, err := l.Settle(t.Context(), h, credits.Charge{Amount: 2, Late: true})
				if err != nil || r.Charged != 2 {
					t.Errorf("Settle = %+v, %v; want 2 charged", r, err)
				}
				if !r.Earlier {
					first.Add(1)
				}
			})
		}
	}
	all.Wait()
	if n := first.Load(); n != int64(len(holds)) {
		t.Errorf("%d callers have charged %d holds", n, len(holds))
	}
	wantBalance(t, l, 1000-2*int64(len(holds)))
	wantCharges(t, l, slices.Repeat([]int64{2}, len(holds))...)
	checkChain(t, entries(t, l, credits.Query{}))
}

// testClockAhead charges with a clock that is a month ahead and then corrected: from then on, charges and caps are as
// if it had never been ahead.
func testClockAhead(t *testing.T, open OpenTimed) {
	t.Helper()
	clock := NewClock()
	l := open(t, 1000, clock.Now)
	capped := who
	capped.DayCap = new(int64(10))
	use := func(n int64, key string) error {
		holds, err := l.Reserve(t.Context(), capped, time.Minute, n)
		if err == nil {
			_, err = l.Settle(t.Context(), holds[0], credits.Charge{Amount: n, IdempotencyKey: key})
		}
		return err
	}
	clock.Advance(month)
	if err := use(10, "ahead"); err != nil {
		t.Fatal(err)
	}
	clock.Advance(-month)
	if r := receipt(t, l, reserve(t, l, 1)[0], credits.Charge{Amount: 1, IdempotencyKey: "ahead"}); !r.Earlier {
		t.Error("a call that is repeated after the clock was corrected is charged again")
	}
	for day := range 4 {
		for _, step := range []struct {
			n    int64
			key  string
			want error
		}{{4, "", nil}, {3, "again", nil}, {3, "again", nil}, {3, "", nil}, {1, "", credits.ErrCap}} {
			if err := use(step.n, step.key); !errors.Is(err, step.want) {
				t.Errorf("day %d: a charge of %d for %q = %v; want %v", day, step.n, step.key, err, step.want)
			}
		}
		clock.Advance(24 * time.Hour)
	}
	if err := use(1, "ahead"); err != nil {
		t.Error(err)
	}
	wantCharges(t, l, 10, 4, 3, 3, 4, 3, 3, 4, 3, 3, 4, 3, 3, 1)
	all := entries(t, l, credits.Query{})
	checkChain(t, all)
	if got := all[0].Time(); !got.Equal(clock.Now()) {
		t.Errorf("the last entry is of %v; want %v", got, clock.Now())
	}
}
