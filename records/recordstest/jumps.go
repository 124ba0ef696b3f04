package recordstest

import (
	"sync"
	"testing"
	"time"
	"unsafe"

	"github.com/socialdata/socialdata/records"
)

// RunJumps tests a store in one process while the clock of its machine is set forward and back: records must expire
// when their time to live has passed, whatever the clock shows.
func RunJumps(t *testing.T, open Open) {
	t.Helper()
	c := &jumping{t: t, at: time.Now()}
	s := open(t, c.now, 1<<20)
	for _, r := range []records.Record{record("short", "1"), {Key: "kept", Owner: "ann", Value: []byte("1")}} {
		ttl := time.Hour
		if r.Key == "short" {
			ttl = time.Minute
		}
		if _, _, err := s.Add(t.Context(), r, ttl); err != nil {
			t.Fatal(err)
		}
	}
	for _, jump := range []time.Duration{time.Hour, -3 * time.Hour, 48 * time.Hour, -24 * 365 * time.Hour} {
		c.jump(jump)
		want(t, s, "short", "1")
		want(t, s, "kept", "1")
		if _, added, err := s.Add(t.Context(), record("kept", "2"), time.Hour); err != nil || added {
			t.Errorf("after a jump of %v the record is added again: %v, %v", jump, added, err)
		}
	}
	c.pass(time.Minute)
	wantAbsent(t, s, "short")
	want(t, s, "kept", "1")
	c.pass(time.Hour)
	wantAbsent(t, s, "kept")
}

// jumping is the clock of a machine, with a monotonic reading that jumps do not change.
type jumping struct {
	t     *testing.T
	mu    sync.Mutex
	at    time.Time
	ahead time.Duration
}

func (c *jumping) jump(d time.Duration) {
	c.t.Helper()
	before := c.now()
	c.mu.Lock()
	c.ahead += d
	c.mu.Unlock()
	after := c.now()
	if after.Sub(before) != 0 || after.Round(0).Sub(before.Round(0)) != d {
		c.t.Fatalf("the clock jumped by %v and %v; want %v by the wall alone", after.Sub(before),
			after.Round(0).Sub(before.Round(0)), d)
	}
}

// pass lets time pass, without a jump.
func (c *jumping) pass(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = c.at.Add(d)
}

func (c *jumping) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return Ahead(c.at, c.ahead)
}

// Ahead returns at as a machine shows it whose clock was set by whole seconds, forward or back: the monotonic reading
// is the same. It changes the seconds inside the time, which are above 30 bits of nanoseconds. [RunJumps] checks that
// they still are.
func Ahead(at time.Time, by time.Duration) time.Time {
	wall := (*uint64)(unsafe.Pointer(&at)) //nolint:gosec // a wall clock cannot be set apart otherwise
	*wall += uint64(int64(by/time.Second)) << 30
	return at
}
