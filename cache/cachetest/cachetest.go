// Package cachetest is the suite that every cache.Store must pass.
package cachetest

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/socialdata/socialdata/cache"
	"github.com/socialdata/socialdata/privacy"
)

// Run runs the suite. open returns an empty store that reads the time from now.
func Run(t *testing.T, open func(t *testing.T, now func() time.Time) cache.Store) {
	t.Helper()
	t.Run("what was stored comes back whole", func(t *testing.T) {
		t.Parallel()
		s, _ := start(t, open)
		want := &cache.Entry{
			Data: `{"a":"<é>"}`, Raw: []string{`1`, ""}, Page: `{}`, Next: "n", Tag: "t", Provider: "p",
			FetchedAt: time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC), NotFound: true, Detail: "gone",
			TTL: time.Hour, Keep: time.Minute, Failed: []string{"x"}, Unknown: []string{"bio"}, Subjects: privacy.MarksOf(1, 2),
		}
		set(t, s, "k", want, time.Hour)
		if diff := cmp.Diff(want, get(t, s, "k")); diff != "" {
			t.Errorf("entry (-want +got):\n%s", diff)
		}
		if got := get(t, s, "K"); got != nil {
			t.Errorf("another key answers %+v", got)
		}
	})
	t.Run("the last one stored wins", func(t *testing.T) {
		t.Parallel()
		s, _ := start(t, open)
		set(t, s, "k", &cache.Entry{Tag: "old"}, time.Hour)
		set(t, s, "k", &cache.Entry{Tag: "new"}, time.Hour)
		if got := get(t, s, "k"); got == nil || got.Tag != "new" {
			t.Errorf("got %+v, want the new one", got)
		}
	})
	t.Run("an entry ends with its time to live", func(t *testing.T) {
		t.Parallel()
		s, clock := start(t, open)
		set(t, s, "k", &cache.Entry{Tag: "x"}, time.Minute)
		clock.Advance(time.Minute - time.Millisecond)
		if get(t, s, "k") == nil {
			t.Error("gone before its time")
		}
		clock.Advance(time.Millisecond)
		if get(t, s, "k") != nil {
			t.Error("still there after its time")
		}
	})
	t.Run("an entry is kept past its time to live for as long as it says", func(t *testing.T) {
		t.Parallel()
		tests := []struct{ keep, kept time.Duration }{
			{time.Hour, time.Hour}, {cache.MostKept, cache.MostKept}, {30 * 24 * time.Hour, cache.MostKept},
		}
		for _, tt := range tests {
			s, clock := start(t, open)
			want := &cache.Entry{Data: "1", TTL: time.Minute, Keep: tt.keep, FetchedAt: clock.Now()}
			set(t, s, "k", want, time.Minute)
			near, _ := s.(cache.Near)
			for _, step := range []time.Duration{0, time.Minute, tt.kept - time.Millisecond} {
				clock.Advance(step)
				if diff := cmp.Diff(want, get(t, s, "k")); diff != "" {
					t.Errorf("kept for %v, after %v (-want +got):\n%s", tt.keep, step, diff)
				}
				if near != nil && near.Peek("k") == nil {
					t.Errorf("kept for %v, after %v it is not in the process any more", tt.keep, step)
				}
			}
			clock.Advance(time.Millisecond)
			if e := get(t, s, "k"); e != nil {
				t.Errorf("kept for %v, got %+v after that time", tt.keep, e)
			}
		}
	})
	t.Run("an entry whose time to live is over can be stored", func(t *testing.T) {
		t.Parallel()
		s, clock := start(t, open)
		want := &cache.Entry{Data: "1", TTL: time.Minute, Keep: time.Hour, FetchedAt: clock.Now()}
		set(t, s, "k", want, -time.Minute)
		if diff := cmp.Diff(want, get(t, s, "k")); diff != "" {
			t.Errorf("entry (-want +got):\n%s", diff)
		}
		clock.Advance(59 * time.Minute)
		if e := get(t, s, "k"); e != nil {
			t.Errorf("got %+v after its time to live", e)
		}
	})
	t.Run("a caller that has stored an entry can go on using it", func(t *testing.T) {
		t.Parallel()
		s, _ := start(t, open)
		in := &cache.Entry{Data: "1", Raw: []string{"2"}, Page: "3", Failed: []string{"4"}, Unknown: []string{"5"}}
		set(t, s, "k", in, time.Hour)
		*in = cache.Entry{Raw: append(in.Raw[:0], "in"), Failed: append(in.Failed[:0], "in"), Unknown: append(in.Unknown[:0], "in"), Tag: "in"}
		want := &cache.Entry{Data: "1", Raw: []string{"2"}, Page: "3", Failed: []string{"4"}, Unknown: []string{"5"}}
		if diff := cmp.Diff(want, get(t, s, "k")); diff != "" {
			t.Errorf("entry (-want +got):\n%s", diff)
		}
	})
	t.Run("what holds a subject is erased, and nothing else", func(t *testing.T) {
		t.Parallel()
		s, _ := start(t, open)
		testErase(t, s)
	})
	t.Run("a near store keeps a value beside its entry, and no other", func(t *testing.T) {
		t.Parallel()
		s, clock := start(t, open)
		near, ok := s.(cache.Near)
		if !ok {
			t.Skip("it has nothing in the process")
		}
		set(t, s, "k", &cache.Entry{Data: "1"}, time.Minute)
		old := near.Peek("k")
		near.Keep("k", old, 1)
		if e := near.Peek("k"); e == nil || e.Value != 1 || e.Data != "1" {
			t.Errorf("%+v, want the value 1", e)
		}
		if old.Value != nil {
			t.Error("an entry that callers share was modified")
		}
		set(t, s, "k", &cache.Entry{Data: "2"}, time.Minute)
		near.Keep("k", old, 1)
		if e := near.Peek("k"); e == nil || e.Value != nil {
			t.Errorf("%+v has the value of the entry that it replaced", e)
		}
		near.Keep("none", old, 1)
		if e := near.Peek("none"); e != nil {
			t.Errorf("%+v was never stored", e)
		}
		clock.Advance(time.Minute)
		if e := near.Peek("k"); e != nil {
			t.Errorf("got %+v after its time to live", e)
		}
	})
	t.Run("concurrent calls get the entries of their keys", func(t *testing.T) {
		t.Parallel()
		s, _ := start(t, open)
		var wg sync.WaitGroup
		for g := range 8 {
			wg.Go(func() {
				for i := range 200 {
					key := fmt.Sprintf("k%d", (g+i)%16)
					set(t, s, key, &cache.Entry{Data: key}, time.Hour)
					if e := get(t, s, key); e != nil && e.Data != key {
						t.Errorf("%s answers %s", key, e.Data)
					}
				}
			})
		}
		wg.Wait()
	})
}

// Clock is a clock that only moves when it is set. It is safe for concurrent use.
type Clock struct {
	mu sync.Mutex
	at time.Time
}

// NewClock returns a clock that shows the beginning of 2026.
func NewClock() *Clock { return &Clock{at: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)} }

// Now returns the time.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}

// Advance moves the clock forward.
func (c *Clock) Advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = c.at.Add(d)
}

func start(t *testing.T, open func(*testing.T, func() time.Time) cache.Store) (cache.Store, *Clock) {
	t.Helper()
	c := NewClock()
	return open(t, c.Now), c
}

func set(t *testing.T, s cache.Store, key string, e *cache.Entry, ttl time.Duration) {
	t.Helper()
	if err := s.Set(t.Context(), key, e, ttl); err != nil {
		t.Errorf("Set(%q): %v", key, err)
	}
}

func get(t *testing.T, s cache.Store, key string) *cache.Entry {
	t.Helper()
	e, err := s.Get(t.Context(), key)
	if err != nil {
		t.Errorf("Get(%q): %v", key, err)
	}
	return e
}
