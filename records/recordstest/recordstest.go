// Package recordstest is the test suite for implementations of [records.Store].
//
//	func TestRecords(t *testing.T) {
//		recordstest.Run(t, func(t *testing.T, now func() time.Time, ownerBytes int64) records.Store {
//			return openTemp(t, now, ownerBytes).Records()
//		})
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

	"github.com/socialdata/socialdata/records"
)

// Open returns a new, empty store that reads the time from now only. The records of one owner may have ownerBytes; 0
// means the store's default. It cleans up through t.
type Open func(t *testing.T, now func() time.Time, ownerBytes int64) records.Store

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
		{"versions", testVersions},
		{"of concurrent changes none is lost", testChanges},
		{"what an owner may have", testOwners},
		{"an owner that begins to store much at once", testOwnersAtOnce},
		{"what an owner has is counted right", testOwnersAfterAll},
		{"what holds a subject is erased", testErase},
	}
	for _, topic := range topics {
		t.Run(topic.name, func(t *testing.T) {
			t.Parallel()
			topic.test(t, open)
		})
	}
}

// clock is a clock that changes only when it is set.
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
	if _, err := s.Put(t.Context(), record(key, value), ttl); err != nil {
		t.Fatal(err)
	}
}

func record(key, value string) records.Record { return records.Record{Key: key, Value: []byte(value)} }

func want(t *testing.T, s records.Store, key, value string) {
	t.Helper()
	got, err := s.Get(t.Context(), key)
	if err != nil || string(got.Value) != value {
		t.Errorf("Get(%q) = %q, %v; want %q", key, got.Value, err, value)
	}
}

func wantAbsent(t *testing.T, s records.Store, key string) {
	t.Helper()
	if got, err := s.Get(t.Context(), key); !errors.Is(err, records.ErrAbsent) {
		t.Errorf("Get(%q) = %q, %v; want ErrAbsent", key, got.Value, err)
	}
}

func testPut(t *testing.T, open Open) {
	t.Helper()
	s := open(t, newClock().now, 0)
	wantAbsent(t, s, "a")
	put(t, s, "a", "1", time.Hour)
	put(t, s, "b", "", time.Hour)
	put(t, s, "", "no name", time.Hour)
	want(t, s, "a", "1")
	want(t, s, "b", "")
	want(t, s, "", "no name")
	put(t, s, "a", "2", time.Hour)
	want(t, s, "a", "2")
	if _, err := s.Put(t.Context(), records.Record{Key: "nil"}, time.Hour); err != nil {
		t.Error(err)
	}
	want(t, s, "nil", "")
	big := string(bytes.Repeat([]byte{0, 1, 255}, 1<<18))
	put(t, s, "big", big, time.Hour)
	want(t, s, "big", big)
	for range 2 {
		if err := s.Delete(t.Context(), "a", 0); err != nil {
			t.Errorf("Delete: %v", err)
		}
	}
	wantAbsent(t, s, "a")
	want(t, s, "b", "")
}

func testAdd(t *testing.T, open Open) {
	t.Helper()
	s := open(t, newClock().now, 0)
	for i, tt := range []struct {
		value, existing string
		added           bool
	}{{"1", "1", true}, {"2", "1", false}, {"3", "1", false}} {
		got, added, err := s.Add(t.Context(), record("a", tt.value), time.Hour)
		if err != nil || added != tt.added || string(got.Value) != tt.existing {
			t.Errorf("Add %d = %q, %v, %v; want %q, %v", i, got.Value, added, err, tt.existing, tt.added)
		}
	}
	want(t, s, "a", "1")
	if err := s.Delete(t.Context(), "a", 0); err != nil {
		t.Error(err)
	}
	if _, added, err := s.Add(t.Context(), record("a", "4"), time.Hour); err != nil || !added {
		t.Errorf("Add after Delete = %v, %v", added, err)
	}
}

func testAddConcurrently(t *testing.T, open Open) {
	t.Helper()
	s := open(t, newClock().now, 0)
	for round := range 10 {
		key := fmt.Sprint("key", round)
		var added atomic.Int64
		values := make([]string, 16)
		var wg sync.WaitGroup
		for i := range values {
			wg.Go(func() {
				mine := fmt.Sprint(i)
				existing, ok, err := s.Add(t.Context(), record(key, mine), time.Hour)
				if err != nil {
					t.Errorf("Add: %v", err)
				}
				if values[i] = string(existing.Value); ok {
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
	s := open(t, c.now, 0)
	put(t, s, "a", "1", time.Minute)
	put(t, s, "b", "1", time.Hour)
	c.advance(time.Minute - 1)
	want(t, s, "a", "1")
	put(t, s, "b", "2", time.Second) // a new value has its own time to live
	c.advance(1)
	wantAbsent(t, s, "a")
	if _, added, err := s.Add(t.Context(), record("a", "2"), time.Minute); err != nil || !added {
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
	s := open(t, newClock().now, 0)
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
	s := open(t, newClock().now, 0)
	in := []byte("in")
	if _, err := s.Put(t.Context(), records.Record{Key: "a", Value: in}, time.Hour); err != nil {
		t.Fatal(err)
	}
	in[0] = 'x'
	want(t, s, "a", "in")
	out, err := s.Get(t.Context(), "a")
	if err != nil {
		t.Fatal(err)
	}
	out.Value[0] = 'x'
	want(t, s, "a", "in")
	existing, _, err := s.Add(t.Context(), records.Record{Key: "a"}, time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	existing.Value[0] = 'x'
	want(t, s, "a", "in")
}

func testVersions(t *testing.T, open Open) {
	t.Helper()
	c := newClock()
	s := open(t, c.now, 0)
	r := record("a", "1")
	r.Version = 7
	conflict := func(what string, err error) {
		t.Helper()
		if !errors.Is(err, records.ErrConflict) {
			t.Errorf("%s = %v; want ErrConflict", what, err)
		}
	}
	_, err := s.Put(t.Context(), r, time.Hour)
	conflict("Put over a version of nothing", err)
	wantAbsent(t, s, "a")
	first, added, err := s.Add(t.Context(), record("a", "1"), time.Hour)
	if err != nil || !added || first.Version == 0 {
		t.Fatalf("Add = %+v, %v, %v", first, added, err)
	}
	if got, err := s.Get(t.Context(), "a"); err != nil || got.Version != first.Version || got.Key != "a" {
		t.Errorf("Get = %+v, %v; want the version %d", got, err, first.Version)
	}
	r.Version, r.Value = first.Version, []byte("2")
	second, err := s.Put(t.Context(), r, time.Minute)
	if err != nil || second == 0 || second == first.Version {
		t.Fatalf("Put = %d, %v; want a version other than %d", second, err, first.Version)
	}
	_, err = s.Put(t.Context(), r, time.Hour)
	conflict("Put over a version that is gone", err)
	conflict("Delete of a version that is gone", s.Delete(t.Context(), "a", first.Version))
	want(t, s, "a", "2")
	if stored, added, err := s.Add(t.Context(), r, time.Hour); err != nil || added || stored.Version != second {
		t.Errorf("Add = %+v, %v, %v; want the stored record, of the version %d", stored, added, err, second)
	}
	if err := s.Delete(t.Context(), "a", second); err != nil {
		t.Error(err)
	}
	wantAbsent(t, s, "a")
	if err := s.Delete(t.Context(), "a", second); err != nil {
		t.Errorf("Delete of nothing: %v", err)
	}
	put(t, s, "a", "3", time.Minute)
	third, err := s.Get(t.Context(), "a")
	if err != nil || third.Version == first.Version || third.Version == second {
		t.Errorf("a new record has the version of an old one: %+v, %v", third, err)
	}
	c.advance(time.Minute)
	_, err = s.Put(t.Context(), third, time.Hour)
	conflict("Put over a record whose time has passed", err)
	wantAbsent(t, s, "a")
}

// testChanges lets many callers read, change and write one record: with versions, no change is lost.
func testChanges(t *testing.T, open Open) {
	t.Helper()
	s := open(t, newClock().now, 0)
	put(t, s, "a", "", time.Hour)
	const callers, changes = 8, 25
	var wg sync.WaitGroup
	for range callers {
		wg.Go(func() {
			for done := 0; done < changes; {
				r, err := s.Get(t.Context(), "a")
				if err != nil {
					t.Errorf("Get: %v", err)
					return
				}
				r.Value = append(r.Value, 'x')
				switch _, err := s.Put(t.Context(), r, time.Hour); {
				case err == nil:
					done++
				case !errors.Is(err, records.ErrConflict):
					t.Errorf("Put: %v", err)
					return
				}
			}
		})
	}
	wg.Wait()
	if got, err := s.Get(t.Context(), "a"); err != nil || len(got.Value) != callers*changes {
		t.Errorf("%d changes are left, %v; want %d", len(got.Value), err, callers*changes)
	}
}

// owned returns a record of 100 bytes.
func owned(owner, key string) records.Record {
	return records.Record{Key: key, Owner: owner, Value: bytes.Repeat([]byte{'x'}, 100-len(key))}
}

func testOwners(t *testing.T, open Open) {
	t.Helper()
	c := newClock()
	s := open(t, c.now, 300)
	ok := func(r records.Record, ttl time.Duration) {
		t.Helper()
		if _, err := s.Put(t.Context(), r, ttl); err != nil {
			t.Fatalf("Put(%q) of %q: %v", r.Key, r.Owner, err)
		}
	}
	full := func(after time.Duration) {
		t.Helper()
		_, added, err := s.Add(t.Context(), owned("acme", "more"), time.Hour)
		var q *records.QuotaError
		if !errors.As(err, &q) || !errors.Is(err, records.ErrQuota) || added {
			t.Fatalf("Add = %v, %v; want a QuotaError", added, err)
		}
		if diff := cmp.Diff(&records.QuotaError{Owner: "acme", Bytes: 300, RetryAfter: after}, q); diff != "" {
			t.Errorf("Add (-want +got):\n%s", diff)
		}
		if _, err := s.Put(t.Context(), owned("acme", "more"), time.Hour); !errors.Is(err, records.ErrQuota) {
			t.Errorf("Put = %v; want ErrQuota", err)
		}
		wantAbsent(t, s, "more")
	}
	ok(owned("acme", "a"), time.Minute)
	ok(owned("acme", "b"), time.Hour)
	ok(owned("acme", "c"), time.Hour)
	full(time.Minute)
	for i := range 10 {
		ok(owned("", fmt.Sprint("nobody's ", i)), time.Hour)
	}
	ok(owned("other", "d"), time.Hour)
	if got, err := s.Get(t.Context(), "d"); err != nil || got.Owner != "other" {
		t.Errorf("Get = %+v, %v; want it to be of other", got, err)
	}
	c.advance(20 * time.Second)
	longer := owned("acme", "b")
	longer.Value = append(longer.Value, longer.Value...)
	ok(longer, time.Hour) // an existing record may grow
	full(40 * time.Second)
	c.advance(40 * time.Second)
	full(time.Hour - time.Minute) // 299 bytes are left
	if err := s.Delete(t.Context(), "c", 0); err != nil {
		t.Fatal(err)
	}
	ok(owned("acme", "e"), time.Hour)
	full(time.Hour - 40*time.Second)
	ok(owned("other", "b"), time.Hour) // with a new owner
	ok(owned("acme", "f"), time.Hour)
	ok(owned("acme", "g"), time.Hour)
	full(time.Hour)
}

// testOwnersAtOnce adds more records of one owner at once than it can have.
func testOwnersAtOnce(t *testing.T, open Open) {
	t.Helper()
	s := open(t, newClock().now, 300)
	var added, refused atomic.Int64
	var callers sync.WaitGroup
	for i := range 8 {
		callers.Go(func() {
			switch _, ok, err := s.Add(t.Context(), owned("acme", fmt.Sprint("key", i)), time.Hour); {
			case ok && err == nil:
				added.Add(1)
			case errors.Is(err, records.ErrQuota):
				refused.Add(1)
			default:
				t.Errorf("Add = %v, %v", ok, err)
			}
		})
	}
	callers.Wait()
	if added.Load() != 3 || refused.Load() != 5 {
		t.Errorf("%d records of 100 bytes were added, and %d refused; want 3 and 5", added.Load(), refused.Load())
	}
}

// testOwnersAfterAll writes, replaces and removes records in every way. In the end, an owner must have as much room as
// in the beginning.
func testOwnersAfterAll(t *testing.T, open Open) {
	t.Helper()
	c := newClock()
	s := open(t, c.now, 300)
	for i := range 200 {
		r := owned("acme", fmt.Sprint("key", i%3))
		r.Value = r.Value[:i%len(r.Value)]
		if _, err := s.Put(t.Context(), r, time.Duration(i%4+1)*time.Second); err != nil {
			t.Fatal(err)
		}
		if i%5 == 0 {
			if err := s.Delete(t.Context(), fmt.Sprint("key", i%7), 0); err != nil {
				t.Fatal(err)
			}
		}
		c.advance(time.Second)
	}
	c.advance(time.Minute)
	for i := range 3 {
		if _, added, err := s.Add(t.Context(), owned("acme", fmt.Sprint("new", i)), time.Hour); err != nil || !added {
			t.Errorf("record %d: %v, %v", i, added, err)
		}
	}
	if _, _, err := s.Add(t.Context(), owned("acme", "new3"), time.Hour); !errors.Is(err, records.ErrQuota) {
		t.Errorf("one more = %v; want ErrQuota", err)
	}
}
