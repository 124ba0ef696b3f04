package watchtest

import (
	"bytes"
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/privacy"
	"github.com/socialdata/socialdata/schema"
	"github.com/socialdata/socialdata/watch"
)

// salmas is a post of the subject with an earlier handle, zoes is by someone else.
const (
	salmas = `{"platform":"mock","id":"p1","fetched_at":"","author":{"platform":"mock","id":"42","handle":"once"},"text":"by her"}`
	zoes   = `{"platform":"mock","id":"p2","fetched_at":"","author":{"platform":"mock","id":"9","handle":"zoe"},"text":"hi @salma"}`
)

// testErase erases an account that one monitor watches, one follows among others, and one does not contain.
func testErase(t *testing.T, s watch.Store) {
	t.Helper()
	h := privacy.NewHasher(bytes.Repeat([]byte{7}, privacy.SecretLen))
	for name, handle := range map[string]string{"hers": "Salma", "others": "ann", "apart": "bob"} {
		m := monitor("ann", name)
		m.Params = map[string]string{"handle": handle}
		put(t, s, m)
	}
	for _, c := range claim(t, s, noon, 3) {
		p := poll(c, noon, 0)
		p.Samples = []watch.Sample{{Field: "followers", At: noon, Value: 1}}
		object, id := zoes, "p2"
		switch c.Monitor.Name {
		case "hers":
			object, id = `{"platform":"mock","id":"42","fetched_at":"","handle":"salma"}`, "42"
		case "others":
			p.Progress.Snapshot = snapshot(t)
			p.Changes = append(p.Changes, told("others", "p1", salmas), told("others", "p2", zoes), failing("others"))
		}
		if c.Monitor.Name != "others" {
			p.Changes = append(p.Changes, told(c.Monitor.Name, id, object), told(c.Monitor.Name, "plain", `{"text":"1"}`))
		}
		commit(t, s, p)
	}
	under := claim(t, s, noon.Add(time.Hour), 3)
	subject := h.Subject(platform.Mock, "salma", "")
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
		if c, ok := s.(privacy.MentionCounter); ok { // a snapshot, and two changes
			if n, err := c.Mentions(t.Context(), subject); n != 3 || err != nil {
				t.Errorf("%s it counts %d mentions, %v; want 3", when, n, err)
			}
		}
	}
	mentions("before")
	want := map[string]int{
		// Two of the changes are posts of hers, two are others.
		watch.ErasedMonitors: 1, watch.ErasedItems: 1, watch.ErasedSamples: 1, watch.ErasedChanges: 4,
	}
	if diff := cmp.Diff(want, all(true)); diff != "" {
		t.Errorf("a dry run counts (-want +got):\n%s", diff)
	}
	subject = h.Subject(platform.Mock, "salma", "")
	if diff := cmp.Diff(want, all(false)); diff != "" {
		t.Errorf("erased (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(map[string]int{}, all(false)); diff != "" {
		t.Errorf("erased again (-want +got):\n%s", diff)
	}
	checkErased(t, s)
	mentions("afterwards")
	for _, c := range under {
		p := poll(c, noon.Add(time.Hour), 0)
		p.Changes = append(p.Changes, told(c.Monitor.Name, "late", salmas))
		if err := s.Commit(t.Context(), p); !errors.Is(err, watch.ErrLease) {
			t.Errorf("a poll of %s in progress was committed: %v", c.Monitor.Name, err)
		}
	}
	if again := claim(t, s, noon.Add(time.Hour), 3); len(again) != 2 {
		t.Errorf("%d monitors are polled again, want 2", len(again))
	}
}

// checkErased checks what remains.
func checkErased(t *testing.T, s watch.Store) {
	t.Helper()
	if _, err := s.Monitor(t.Context(), "ann", "hers"); !errors.Is(err, watch.ErrAbsent) {
		t.Errorf("the monitor that watches her: %v, want ErrAbsent", err)
	}
	for name, samples := range map[string]int{"others": 1, "apart": 1} {
		m, err := s.Monitor(t.Context(), "ann", name)
		if err != nil {
			t.Fatal(err)
		}
		b, err := json.Marshal(m)
		if err != nil || bytes.Contains(b, []byte("once")) || bytes.Contains(b, []byte("by her")) {
			t.Errorf("%s keeps %s, %v", name, b, err)
		}
		if name == "others" && !bytes.Contains(b, []byte("hi @salma")) {
			t.Errorf("%s has lost what another has written: %s", name, b)
		}
		got, err := s.Samples(t.Context(), watch.Numbers{Account: "ann", Monitor: name, Field: "followers"})
		if err != nil || len(got) != samples {
			t.Errorf("%s has %v, %v", name, got, err)
		}
	}
	changes, err := s.Changes(t.Context(), watch.Since{Account: "ann"})
	if err != nil {
		t.Fatal(err)
	}
	stay := map[string]bool{}
	for _, c := range changes {
		stay[*c.Monitor+"/"+*c.Key] = true
	}
	want := map[string]bool{"others/p2": true, "apart/p2": true, "apart/plain": true}
	if diff := cmp.Diff(want, stay); diff != "" {
		t.Errorf("changes that stay (-want +got):\n%s", diff)
	}
}

// snapshot returns a snapshot that follows a post of the subject and one of another account.
func snapshot(t *testing.T) (s watch.Snapshot) {
	t.Helper()
	text := `{"followed":[{"name":1,"key":"p1","site":"mock","fields":{"text":"by her"},"by":[` + salmas + `]},` +
		`{"name":2,"key":"p2","site":"mock","fields":{"text":"hi @salma"},"by":[` + zoes + `]}],"at":"2026-03-01T12:00:00Z"}`
	if err := json.Unmarshal([]byte(text), &s); err != nil {
		t.Fatal(err)
	}
	return s
}

// told returns a change of an object.
func told(monitor, key, object string) schema.Change {
	c := change(monitor, monitor+key, noon)
	c.Key, c.Object = new(key), json.RawMessage(object)
	return c
}

// failing returns a change that quotes the request.
func failing(monitor string) schema.Change {
	c := change(monitor, monitor+"-failing", noon)
	c.Type, c.Key, c.Object, c.Detail = watch.Failing, new("none"), nil, new(`mock has no profile for handle "salma"`)
	return c
}
