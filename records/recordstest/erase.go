package recordstest

import (
	"bytes"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/privacy"
	"github.com/socialdata/socialdata/records"
)

// testErase erases an account from records of which some have its handle, some its id, and some neither.
func testErase(t *testing.T, open Open) {
	t.Helper()
	c := newClock()
	s := open(t, c.now, 1000)
	h := privacy.NewHasher(bytes.Repeat([]byte{7}, privacy.SecretLen))
	salma := h.Marks([]byte(`{"platform":"x","id":"42","handle":"Salma"}`))
	once := h.Marks([]byte(`{"platform":"x","id":"42","handle":"once"}`))
	other := h.Marks([]byte(`{"platform":"x","id":"43","handle":"other"}`))
	of := func(key string, m privacy.Marks) {
		t.Helper()
		r := owned("acme", key)
		r.Subjects = m
		if _, _, err := s.Add(t.Context(), r, time.Hour); err != nil {
			t.Fatal(err)
		}
	}
	of("job/1", other+once)
	of("idempotency/1", other+salma)
	of("idempotency/2", once+other)
	of("cursor/1", privacy.MarksOf(privacy.Anything))
	of("job/2", other)
	says := records.Record{Key: "job/4", Subjects: other}
	says.Value = []byte(`{"platform":"x","id":"p1","text":"I know @Salma.","author":{"platform":"x","id":"43","handle":"other"}}`)
	if _, _, err := s.Add(t.Context(), says, time.Hour); err != nil {
		t.Fatal(err)
	}
	of("job/3", "")
	of("mcp/1", salma)
	stored, err := s.Get(t.Context(), "mcp/1")
	if err != nil {
		t.Fatal(err)
	}
	stored.Subjects = other // replaced by a record of someone else
	if _, err := s.Put(t.Context(), stored, time.Hour); err != nil {
		t.Fatal(err)
	}
	subject := h.Subject(platform.X, "salma", "")
	all := func(dry bool) map[string]int {
		t.Helper()
		sum, names := map[string]int{}, 0
		for subject.DryRun = dry; names < subject.Len(); {
			names = subject.Len()
			removed, err := s.Erase(t.Context(), subject)
			if err != nil {
				t.Fatal(err)
			}
			if dry {
				clear(sum)
			}
			privacy.Add(sum, removed)
		}
		return sum
	}
	mentions := func(when string) {
		t.Helper()
		if c, ok := s.(privacy.MentionCounter); ok {
			if n, err := c.Mentions(t.Context(), subject); n != 1 || err != nil {
				t.Errorf("%s it counts %d mentions, %v; want 1", when, n, err)
			}
		}
	}
	mentions("before")
	want := map[string]int{"jobs": 1, "idempotent answers": 2, "cursors": 1}
	if diff := cmp.Diff(want, all(true)); diff != "" {
		t.Errorf("a dry run counts (-want +got):\n%s", diff)
	}
	subject = h.Subject(platform.X, "salma", "")
	if diff := cmp.Diff(want, all(false)); diff != "" {
		t.Errorf("erased (-want +got):\n%s", diff)
	}
	mentions("afterwards")
	keys, err := s.Keys(t.Context(), "")
	if diff := cmp.Diff([]string{"job/2", "job/3", "job/4", "mcp/1"}, keys); diff != "" || err != nil {
		t.Errorf("what stays (-want +got), %v:\n%s", err, diff)
	}
	if diff := cmp.Diff(map[string]int{}, all(false)); diff != "" {
		t.Errorf("erased again (-want +got):\n%s", diff)
	}
	for i := range 7 { // what they took counts no more
		of(fmt.Sprint("new", i), "")
	}
	if _, _, err := s.Add(t.Context(), owned("acme", "more"), time.Hour); !errors.Is(err, records.ErrQuota) {
		t.Errorf("one more = %v; want ErrQuota", err)
	}
	testEraseMany(t, s, h)
}

// testEraseMany erases more than one step removes.
func testEraseMany(t *testing.T, s records.Store, h *privacy.Hasher) {
	t.Helper()
	const many = 1200
	marks := h.Marks([]byte(`{"platform":"x","id":"p1","fetched_at":""}`))
	for i := range many {
		r := records.Record{Key: fmt.Sprint("job/many", i), Value: []byte("x"), Subjects: marks}
		if _, err := s.Put(t.Context(), r, time.Hour); err != nil {
			t.Fatal(err)
		}
	}
	removed, err := s.Erase(t.Context(), h.Subject(platform.X, "", "p1"))
	if diff := cmp.Diff(map[string]int{"jobs": many}, removed); diff != "" || err != nil {
		t.Errorf("Erase (-want +got), %v:\n%s", err, diff)
	}
	keys, err := s.Keys(t.Context(), "job/many")
	if len(keys) != 0 || err != nil {
		t.Errorf("%d records stay, %v", len(keys), err)
	}
}
