package watchtest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/privacy"
	"github.com/socialdata/socialdata/schema"
	"github.com/socialdata/socialdata/watch"
)

const day = 24 * time.Hour

// about returns a change of an object.
func about(monitor, on, key, id string, at time.Time) schema.Change {
	c := change(monitor, id, at)
	c.Platform, c.Key = new(on), new(key)
	c.Object = json.RawMessage(`{"id":"` + key + `","text":"secret words"}`)
	c.Fields = []schema.FieldChange{{
		Field: "text", Before: json.RawMessage(`"secret before"`), After: json.RawMessage(`"secret words"`),
	}}
	return c
}

// read returns the snapshot of one thing, read at a time.
func read(at time.Time) watch.Snapshot {
	return watch.Snapshot{
		Key: "1", Fields: map[string]json.RawMessage{"text": json.RawMessage(`"secret words"`)}, By: json.RawMessage(`[]`),
		At:       at,
		Reported: map[string]float64{"likes:5": 1},
	}
}

// of makes a monitor of one thing of a platform.
func of(t *testing.T, s watch.Store, on string) {
	t.Helper()
	m := monitor("ann", "of-"+on)
	m.Ask = watch.Ask{Operation: "post", Platform: on, Params: map[string]string{"id": "1"}}
	m.Pages, m.Follow = 1, 0
	put(t, s, m)
}

func sweep(t *testing.T, s watch.Store, l watch.Limits) {
	t.Helper()
	for range 100 {
		more, err := s.Sweep(t.Context(), l)
		if err != nil {
			t.Fatal(err)
		}
		if !more {
			return
		}
	}
	t.Fatal("there is always more to sweep")
}

// testContent sweeps changes and snapshots of platforms with their own limits.
func testContent(t *testing.T, s watch.Store) {
	t.Helper()
	platforms := []string{"github", "reddit", "youtube"}
	for _, on := range platforms {
		of(t, s, on)
	}
	const each = 120 // more than a step takes
	for _, c := range claim(t, s, noon, 3) {
		p := poll(c, noon, 0)
		for i := range each {
			p.Changes = append(p.Changes,
				about(c.Monitor.Name, c.Monitor.Platform, fmt.Sprint(i), fmt.Sprint(c.Monitor.Name, i), noon))
		}
		p.Progress.Snapshot = read(noon)
		commit(t, s, p)
	}
	sweep(t, s, watch.Limits{Content: watch.Cuts{
		Rest: noon, // exclusive: it stays
		Of:   map[string]time.Time{"reddit": noon.Add(time.Second), "youtube": noon.Add(-day)},
	}})
	all, err := s.Changes(t.Context(), watch.Since{Account: "ann"})
	if err != nil || len(all) != len(platforms)*each {
		t.Fatalf("%d changes are left, %v; want all: their content goes alone", len(all), err)
	}
	for i := range all {
		c := &all[i]
		bare := !watch.HasContent(c)
		if want := *c.Platform == "reddit"; bare != want || c.Type != watch.New || c.Key == nil || !c.At.Equal(noon) {
			t.Fatalf("a change of %s is without its content: %t; want %t, and the rest as it was: %v", *c.Platform, bare, want,
				c)
		}
	}
	for _, on := range platforms {
		m, err := s.Monitor(t.Context(), "ann", "of-"+on)
		if err != nil {
			t.Fatal(err)
		}
		if has := m.Snapshot.Fields != nil; has != (on != "reddit") {
			t.Errorf("the snapshot of %s has its content: %t", on, has)
		}
		if on == "reddit" && (m.Snapshot.Key != "1" || !m.Snapshot.At.IsZero()) {
			t.Errorf("the snapshot is %v; want the id alone", m.Snapshot)
		}
	}
	sweep(t, s, watch.Limits{Content: watch.Cuts{Rest: noon.Add(time.Second)}})
	if all, err := s.Stored(t.Context()); err != nil || len(all) != 0 {
		t.Errorf("kept: %v, %v; want nothing", all, err)
	}
}

// testBytes sweeps feeds by their size.
func testBytes(t *testing.T, s watch.Store) {
	t.Helper()
	for _, account := range []string{"ann", "bob"} {
		m := monitor(account, "large")
		m.Follow = 0
		put(t, s, m)
	}
	tell := func(at time.Time, n map[string]int) {
		t.Helper()
		for _, c := range claim(t, s, at, 2) {
			p := poll(c, at, n[c.Monitor.Account])
			for i := range p.Changes {
				p.Changes[i].Object = json.RawMessage(`{"text":"` + strings.Repeat("x", 1000) + `"}`)
			}
			commit(t, s, p)
		}
	}
	const bytes = 100_000
	tell(noon, map[string]int{"ann": 1100, "bob": 40}) // more than a step takes; and less than there may be
	sweep(t, s, watch.Limits{Bytes: bytes})
	if all := feedOf(t, s, "bob"); len(all) != 40 {
		t.Errorf("%d changes of the small feed are left; want 40", len(all))
	}
	all := feedOf(t, s, "ann")
	if size := sizeOf(t, all); size > bytes*11/10 || size < bytes*9/10 || all[0].Seq != int64(1101-len(all)) {
		t.Fatalf("%d changes of %d bytes are left, from %d; want the latest, of about %d bytes", len(all), size, all[0].Seq,
			bytes)
	}
	sweep(t, s, watch.Limits{Bytes: bytes})
	if again := feedOf(t, s, "ann"); len(again) != len(all) {
		t.Errorf("another sweep has left %d changes of %d", len(again), len(all))
	}
	sweep(t, s, watch.Limits{Content: watch.Cuts{Rest: noon.Add(time.Second)}})
	tell(noon.Add(time.Hour), map[string]int{"ann": 40})
	sweep(t, s, watch.Limits{Bytes: bytes})
	if more := feedOf(t, s, "ann"); len(more) != len(all)+40 {
		t.Errorf("%d changes are left of %d without content, and 40; want all", len(more), len(all))
	}
	tell(noon.Add(2*time.Hour), map[string]int{"ann": 100})
	sweep(t, s, watch.Limits{Bytes: bytes})
	all = feedOf(t, s, "ann")
	if size := sizeOf(t, all); size > bytes*11/10 || size < bytes*9/10 || all[len(all)-1].Seq != 1240 {
		t.Errorf("%d changes of %d bytes are left, up to %d; want the latest, of about %d bytes", len(all), size,
			all[len(all)-1].Seq, bytes)
	}
	sweep(t, s, watch.Limits{Bytes: 1})
	if all := append(feedOf(t, s, "ann"), feedOf(t, s, "bob")...); len(all) != 0 {
		t.Errorf("%d changes are left in one byte", len(all))
	}
	tell(noon.Add(3*time.Hour), map[string]int{"ann": 1})
	if all := feedOf(t, s, "ann"); len(all) != 1 || all[0].Seq != 1241 {
		t.Errorf("%d changes of an emptied feed; want one, at 1241", len(all))
	}
}

// feedOf returns all changes of an account.
func feedOf(t *testing.T, s watch.Store, account string) []schema.Change {
	t.Helper()
	all, err := s.Changes(t.Context(), watch.Since{Account: account})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// sizeOf returns the number of bytes of changes as JSON.
func sizeOf(t *testing.T, changes []schema.Change) (n int) {
	t.Helper()
	for i := range changes {
		b, err := schema.Marshal(&changes[i])
		if err != nil {
			t.Fatal(err)
		}
		n += len(b)
	}
	return n
}

func testKept(t *testing.T, s watch.Store) {
	t.Helper()
	if all, err := s.Stored(t.Context()); err != nil || len(all) != 0 {
		t.Errorf("an empty store keeps %v, %v", all, err)
	}
	of(t, s, "github")
	of(t, s, "reddit")
	for _, c := range claim(t, s, noon, 2) {
		p := poll(c, noon, 0)
		p.Samples = []watch.Sample{{Field: "likes", At: noon, Value: 1}}
		if c.Monitor.Platform == "reddit" {
			p.Changes = append(p.Changes, about(c.Monitor.Name, "reddit", "1", "a", noon),
				about(c.Monitor.Name, "reddit", "2", "b", noon.Add(-day)))
			p.Progress.Snapshot = read(noon.Add(-time.Hour))
		}
		commit(t, s, p)
	}
	got, err := s.Stored(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for i := range got {
		if got[i].Bytes <= 0 {
			t.Errorf("%v has no size", got[i])
		}
		got[i].Bytes = 0
	}
	want := []privacy.Stored{
		{Kind: watch.KeptChanges, Platform: platform.Reddit, Number: 2, Since: noon.Add(-day)},
		{Kind: watch.KeptSamples, Number: 2, Since: noon},
		{Kind: watch.KeptSnapshots, Platform: platform.Reddit, Number: 1, Since: noon.Add(-time.Hour)},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Stored (-want +got):\n%s", diff)
	}
}

// testGone commits a poll that finds one of two objects gone.
func testGone(t *testing.T, s watch.Store) {
	t.Helper()
	of(t, s, "github")
	of(t, s, "reddit")
	for _, c := range claim(t, s, noon, 2) {
		p := poll(c, noon, 0)
		on, name := c.Monitor.Platform, c.Monitor.Name
		p.Changes = append(p.Changes, about(name, on, "1", name+"a", noon), about(name, on, "1", name+"b", noon),
			about(name, on, "2", name+"c", noon))
		p.Samples = []watch.Sample{{Field: "likes", At: noon, Value: 1}}
		p.Progress.Snapshot = read(noon)
		commit(t, s, p)
	}
	late := noon.Add(time.Hour)
	for _, c := range claim(t, s, late, 2) {
		p := poll(c, late, 0)
		if c.Monitor.Platform == "github" {
			gone := about(c.Monitor.Name, "github", "1", "gone", late)
			gone.Type, gone.Object, gone.Fields = watch.Gone, nil, []schema.FieldChange{}
			p.Changes = append(p.Changes, gone)
			p.Progress.Snapshot = watch.Snapshot{Key: "1", Gone: true}
		}
		commit(t, s, p)
	}
	all, err := s.Changes(t.Context(), watch.Since{Account: "ann"})
	if err != nil || len(all) != 7 {
		t.Fatalf("%d changes, %v; want 7", len(all), err)
	}
	for i := range all {
		c := &all[i]
		body, err := json.Marshal(c)
		if err != nil {
			t.Fatal(err)
		}
		forgotten := *c.Platform == "github" && *c.Key == "1"
		if bytes.Contains(body, []byte("secret")) == forgotten || (c.Type == watch.Gone) != forgotten || c.Seq != int64(i)+
			1 ||
			!strings.HasPrefix(c.ID, "chg_") {
			t.Errorf("the change %s", body)
		}
	}
	if told, err := s.Changes(t.Context(), watch.Since{Account: "ann", Type: watch.Gone}); err != nil || len(told) != 3 {
		t.Errorf("%d changes say gone, %v; want 3", len(told), err)
	}
	for on, want := range map[string]int{"github": 0, "reddit": 1} {
		left, err := s.Samples(t.Context(), watch.Numbers{Account: "ann", Monitor: "of-" + on, Field: "likes"})
		if err != nil || len(left) != want {
			t.Errorf("of %s, %d samples are left, %v; want %d", on, len(left), err, want)
		}
	}
}
