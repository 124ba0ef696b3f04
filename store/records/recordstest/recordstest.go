// Package recordstest is the suite that every [records.Store] passes.
//
//	func TestRecords(t *testing.T) {
//		recordstest.Run(t, func(t *testing.T, now func() time.Time) records.Store { return openTemp(t, now).Records() })
//	}
package recordstest

import (
	"bytes"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/socialdata/socialdata/store/records"
)

// Open returns a new, empty store that reads the time from now alone. It cleans up through t.
type Open func(t *testing.T, now func() time.Time) records.Store

// Run tests a store.
func Run(t *testing.T, open Open) {
	t.Helper()
	topics := []struct {
		name string
		test func(t *testing.T, open Open)
	}{
		{"put and get", testPut},
		{"add", testAdd},
		{"exactly one of many adds", testAddConcurrently},
		{"time passes", testExpiry},
		{"keys", testKeys},
		{"values are copied", testCopies},
	}
	for _, topic := range topics {
		t.Run(topic.name, func(t *testing.T) {
			t.Parallel()
			topic.test(t, open)
		})
	}
}

// clock stands still until it is moved.
type clock struct{ nanos atomic.Int64 }

func newClock() *clock {
	c := &clock{}
	c.nanos.Store(time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC).UnixNano())
	return c
}

func (c *clock) now() time.Time          { return time.Unix(0, c.nanos.Load()) }
func (c *clock) advance(d time.Duration) { c.nanos.Add(int64(d)) }

func put(t *testing.T, s records.Store, key, value string, ttl time.Duration) {
	t.Helper()
	if err := s.Put(t.Context(), key, []byte(value), ttl); err != nil {
		t.Fatal(err)
	}
}

func want(t *testing.T, s records.Store, key, value string) {
	t.Helper()
	got, err := s.Get(t.Context(), key)
	if err != nil || string(got) != value {
		t.Errorf("Get(%q) = %q, %v; want %q", key, got, err, value)
	}
}

func wantAbsent(t *testing.T, s records.Store, key string) {
	t.Helper()
	if got, err := s.Get(t.Context(), key); !errors.Is(err, records.ErrAbsent) {
		t.Errorf("Get(%q) = %q, %v; want ErrAbsent", key, got, err)
	}
}

func testPut(t *testing.T, open Open) {
	t.Helper()
	s := open(t, newClock().now)
	wantAbsent(t, s, "a")
	put(t, s, "a", "1", time.Hour)
	put(t, s, "b", "", time.Hour)
	put(t, s, "", "no name", time.Hour)
	want(t, s, "a", "1")
	want(t, s, "b", "")
	want(t, s, "", "no name")
	put(t, s, "a", "2", time.Hour)
	want(t, s, "a", "2")
	if err := s.Put(t.Context(), "nil", nil, time.Hour); err != nil {
		t.Error(err)
	}
	want(t, s, "nil", "")
	big := string(bytes.Repeat([]byte{0, 1, 255}, 1<<18))
	put(t, s, "big", big, time.Hour)
	want(t, s, "big", big)
	for range 2 {
		if err := s.Delete(t.Context(), "a"); err != nil {
			t.Errorf("Delete: %v", err)
		}
	}
	wantAbsent(t, s, "a")
	want(t, s, "b", "")
}

func testAdd(t *testing.T, open Open) {
	t.Helper()
	s := open(t, newClock().now)
	for i, tt := range []struct {
		value, existing string
		added           bool
	}{{"1", "", true}, {"2", "1", false}, {"3", "1", false}} {
		got, added, err := s.Add(t.Context(), "a", []byte(tt.value), time.Hour)
		if err != nil || added != tt.added || string(got) != tt.existing {
			t.Errorf("Add %d = %q, %v, %v; want %q, %v", i, got, added, err, tt.existing, tt.added)
		}
	}
	want(t, s, "a", "1")
	if err := s.Delete(t.Context(), "a"); err != nil {
		t.Error(err)
	}
	if _, added, err := s.Add(t.Context(), "a", []byte("4"), time.Hour); err != nil || !added {
		t.Errorf("Add after Delete = %v, %v", added, err)
	}
}

func testAddConcurrently(t *testing.T, open Open) {
	t.Helper()
	s := open(t, newClock().now)
	for round := range 10 {
		key := fmt.Sprint("key", round)
		var added atomic.Int64
		values := make([]string, 16)
		var wg sync.WaitGroup
		for i := range values {
			wg.Go(func() {
				mine := fmt.Sprint(i)
				existing, ok, err := s.Add(t.Context(), key, []byte(mine), time.Hour)
				if err != nil {
					t.Errorf("Add: %v", err)
				}
				if values[i] = string(existing); ok {
					added.Add(1)
					values[i] = mine
				}
			})
		}
		wg.Wait()
		if got := added.Load(); got != 1 {
			t.Errorf("%d added; want 1", got)
		}
		for i, v := range values {
			if v != values[0] {
				t.Errorf("caller %d saw %q, another %q", i, v, values[0])
			}
		}
	}
}

func testExpiry(t *testing.T, open Open) {
	t.Helper()
	c := newClock()
	s := open(t, c.now)
	put(t, s, "a", "1", time.Minute)
	put(t, s, "b", "1", time.Hour)
	c.advance(time.Minute - 1)
	want(t, s, "a", "1")
	put(t, s, "b", "2", time.Second) // a new value has its own time
	c.advance(1)
	wantAbsent(t, s, "a")
	if _, added, err := s.Add(t.Context(), "a", []byte("2"), time.Minute); err != nil || !added {
		t.Errorf("Add over a dead record = %v, %v", added, err)
	}
	want(t, s, "a", "2")
	c.advance(time.Second)
	wantAbsent(t, s, "b")
	found, err := s.Keys(t.Context(), "")
	if diff := cmp.Diff([]string{"a"}, found); diff != "" || err != nil {
		t.Errorf("Keys (-want +got), %v:\n%s", err, diff)
	}
}

func testKeys(t *testing.T, open Open) {
	t.Helper()
	s := open(t, newClock().now)
	for _, key := range []string{"job/2", "job/1", "jobs", "job%", "idem/1", "job/\xff\xffx", "job/é", "\xff\xff"} {
		put(t, s, key, "", time.Hour)
	}
	tests := []struct {
		prefix string
		want   []string
	}{
		{"job/", []string{"job/1", "job/2", "job/é", "job/\xff\xffx"}},
		{"job/\xff", []string{"job/\xff\xffx"}},
		{"job%", []string{"job%"}},
		{"\xff", []string{"\xff\xff"}},
		{"none", []string{}},
		{"", []string{
			"idem/1", "job%", "job/1", "job/2", "job/é", "job/\xff\xffx", "jobs", "\xff\xff",
		}},
	}
	for _, tt := range tests {
		got, err := s.Keys(t.Context(), tt.prefix)
		if diff := cmp.Diff(tt.want, got); diff != "" || err != nil {
			t.Errorf("Keys(%q) (-want +got), %v:\n%s", tt.prefix, err, diff)
		}
	}
}

func testCopies(t *testing.T, open Open) {
	t.Helper()
	s := open(t, newClock().now)
	in := []byte("in")
	if err := s.Put(t.Context(), "a", in, time.Hour); err != nil {
		t.Fatal(err)
	}
	in[0] = 'x'
	want(t, s, "a", "in")
	out, err := s.Get(t.Context(), "a")
	if err != nil {
		t.Fatal(err)
	}
	out[0] = 'x'
	want(t, s, "a", "in")
	existing, _, err := s.Add(t.Context(), "a", nil, time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	existing[0] = 'x'
	want(t, s, "a", "in")
}
