package cachetest

import (
	"bytes"
	"maps"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/socialdata/socialdata/cache"
	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/privacy"
)

// testErase erases an account. Some entries have its handle, some its id, and some neither.
func testErase(t *testing.T, s cache.Store) {
	t.Helper()
	h := privacy.NewHasher(bytes.Repeat([]byte{7}, privacy.SecretLen))
	page := []byte("[")
	for i := range 400 { // more marks than one look shows
		page = append(page, `{"platform":"x","id":"p`+strconv.Itoa(i)+`","author":{"platform":"x","id":"o`+strconv.Itoa(i)+
			`","handle":"other`+strconv.Itoa(i)+`"}},`...)
	}
	page = append(page, `{"platform":"x","id":"p1","author":{"platform":"x","id":"42","handle":"Salma"}}]`...)
	entries := map[string]struct {
		data  string
		stays bool
	}{
		"profile":         {data: `{"platform":"x","id":"42","fetched_at":"","handle":"salma"}`},
		"page":            {data: string(page)},
		"by her id":       {data: `[{"platform":"x","id":"p2","author":{"platform":"x","id":"42","handle":"before"}}]`},
		"of another":      {data: `{"platform":"x","id":"43","fetched_at":"","handle":"salma2"}`, stays: true},
		"elsewhere":       {data: `{"platform":"github","id":"42","fetched_at":"","handle":"salma"}`, stays: true},
		"mentioned":       {data: `[{"platform":"x","id":"p3","text":"hi @salma","author":{"platform":"x","id":"9","handle":"z"}}]`, stays: true},
		"an object of 42": {data: `[{"platform":"x","id":"42","author":{"platform":"x","id":"9","handle":"z"}}]`, stays: true},
	}
	for key, e := range entries {
		set(t, s, key, &cache.Entry{Data: e.data, Subjects: h.Marks([]byte(e.data)), Tag: key}, time.Hour)
	}
	set(t, s, "anybody", &cache.Entry{Data: "{}", Subjects: privacy.MarksOf(privacy.Anything)}, time.Hour)
	subject := h.Subject(platform.X, "salma", "")
	mentions := func(want int) {
		t.Helper()
		if c, ok := s.(privacy.MentionCounter); ok {
			if n, err := c.Mentions(t.Context(), subject); n != want || err != nil {
				t.Errorf("it counts %d mentions, %v; want %d", n, err, want)
			}
		}
	}
	erase := func(dry bool) int {
		t.Helper()
		n, names := 0, 0
		for subject.DryRun = dry; names < subject.Len(); {
			names = subject.Len()
			removed, err := s.Erase(t.Context(), subject)
			if err != nil {
				t.Fatal(err)
			}
			if dry {
				n = 0
			}
			n += removed[cache.Erased]
			if kinds := privacy.Kinds(removed); len(kinds) > 1 || len(kinds) == 1 && kinds[0] != cache.Erased {
				t.Errorf("it removed %v", kinds)
			}
		}
		return n
	}
	if n := erase(true); n != 4 {
		t.Errorf("a dry run counts %d entries, want 4", n)
	}
	if get(t, s, "profile") == nil {
		t.Fatal("a dry run has removed something")
	}
	mentions(1)
	subject = h.Subject(platform.X, "salma", "")
	if n := erase(false); n != 4 {
		t.Errorf("%d entries are erased, want 4", n)
	}
	for _, key := range slices.Sorted(maps.Keys(entries)) {
		if got := get(t, s, key); (got != nil) != entries[key].stays {
			t.Errorf("%q: %v; stays: %v", key, got, entries[key].stays)
		}
	}
	mentions(1)
	if get(t, s, "anybody") != nil {
		t.Error("an entry that may be about any account was not removed")
	}
	if n := erase(false); n != 0 {
		t.Errorf("erased again: %d entries", n)
	}
	testEraseObject(t, s, h)
}

// testEraseObject erases one post: the author's other posts stay.
func testEraseObject(t *testing.T, s cache.Store, h *privacy.Hasher) {
	t.Helper()
	for key, data := range map[string]string{
		"post":    `{"platform":"x","id":"p7","fetched_at":"","author":{"platform":"x","id":"8","handle":"y"}}`,
		"another": `{"platform":"x","id":"p8","fetched_at":"","author":{"platform":"x","id":"8","handle":"y"}}`,
	} {
		set(t, s, key, &cache.Entry{Data: data, Subjects: h.Marks([]byte(data))}, time.Hour)
	}
	removed, err := s.Erase(t.Context(), h.Subject(platform.X, "", "p7"))
	if diff := cmp.Diff(map[string]int{cache.Erased: 1}, removed); diff != "" || err != nil {
		t.Errorf("Erase (-want +got), %v:\n%s", err, diff)
	}
	if get(t, s, "post") != nil || get(t, s, "another") == nil {
		t.Error("the post was not removed, or another one was")
	}
	if local, ok := s.(cache.Local); ok {
		name := h.ObjectName(platform.X, "p8")
		local.Forget(map[privacy.Name]struct{}{name: {}})
		if m, ok := s.(*cache.Memory); ok && m.Peek("another") != nil {
			t.Error("the memory has an entry that it was told to forget")
		}
	}
}
