package watch

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/socialdata/socialdata/internal/jsontext"
	"github.com/socialdata/socialdata/schema"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// profile returns a profile in the encoding of our answers.
func profile(t *testing.T, change func(*schema.Profile)) []byte {
	t.Helper()
	p := schema.Profile{
		Handle: "ann", Links: []string{"https://ann.example/"}, Followers: new(int64(1000)),
		Bio: new(`says "hi", {and} [bye]\`),
	}
	p.Platform, p.ID, p.URL, p.Source, p.FetchedAt = "mock", "1", "https://mock.example/@ann", "own", noon
	p.AvatarURL = new("https://cdn.example/a.jpg?sig=1")
	if change != nil {
		change(&p)
	}
	b, err := schema.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// watching returns what a monitor of one thing reports for each of several states.
func watching(t *testing.T, d Definition, states ...[]byte) (told [][]string, m Monitor) {
	t.Helper()
	m = Monitor{Definition: d, Account: "acc", Name: "m", CreatedAt: noon, Baseline: 1, Progress: Progress{State: Active}}
	for i, data := range states {
		tl := &telling{m: &m, s: &m.Snapshot, at: noon.Add(time.Duration(i) * time.Hour)}
		if data == nil {
			tl.absent()
		} else {
			tl.one(readObject(data), m.Snapshot.At.IsZero())
		}
		m.Snapshot.At = tl.at
		m.Polls++
		told = append(told, short(tl.changes))
	}
	return told, m
}

func short(changes []schema.Change) []string {
	out := []string{}
	for _, c := range changes {
		s := c.Type
		if c.Key != nil {
			s += " " + *c.Key
		}
		for _, f := range c.Fields {
			s += fmt.Sprintf(" %s:%s>%s", f.Field, f.Before, f.After)
		}
		out = append(out, s)
	}
	return out
}

func TestOneThing(t *testing.T) {
	t.Parallel()
	same := profile(t, nil)
	bio := profile(t, func(p *schema.Profile) { p.Bio = new("bye") })
	d := Definition{Ask: Ask{Operation: "profile", Platform: "mock"}, Every: time.Hour, Pages: 1}
	tests := []struct {
		name   string
		d      Definition
		states [][]byte
		want   [][]string
	}{
		{"nothing changes", d, [][]byte{same, same}, [][]string{{"ready 1"}, {}}},
		{
			"a text changes, and changes back", d,
			[][]byte{same, bio, same, bio},
			[][]string{
				{"ready 1"},
				{`changed 1 bio:"says \"hi\", {and} [bye]\\">"bye"`},
				{`changed 1 bio:"bye">"says \"hi\", {and} [bye]\\"`},
				{`changed 1 bio:"says \"hi\", {and} [bye]\\">"bye"`},
			},
		},
		{
			"counts, the time and the source are not changes", d,
			[][]byte{same, profile(t, func(p *schema.Profile) {
				p.Followers, p.Source, p.FetchedAt, p.Raw = new(int64(5)), "official", noon.Add(time.Hour),
					json.RawMessage(`{"a":1}`)
			})},
			[][]string{{"ready 1"}, {}},
		},
		{
			"a picture with a new signature is not a change, another one is", d,
			[][]byte{
				same,
				profile(t, func(p *schema.Profile) { p.AvatarURL = new("https://cdn2.example/a.jpg?sig=2") }),
				profile(t, func(p *schema.Profile) { p.AvatarURL = new("https://cdn2.example/b.jpg?sig=2") }),
			},
			[][]string{
				{"ready 1"}, {}, {`changed 1 avatar_url:"https://cdn2.example/a.jpg?sig=2">"https://cdn2.example/b.jpg?sig=2"`},
			},
		},
		{
			"only the fields that are wanted",
			Definition{Ask: d.Ask, Fields: []string{"links"}},
			[][]byte{same, bio, profile(t, func(p *schema.Profile) { p.Links = []string{} })},
			[][]string{{"ready 1"}, {}, {`changed 1 links:["https://ann.example/"]>[]`}},
		},
		{"gone at the second miss, and back", d, [][]byte{same, nil, nil, nil, bio, bio}, [][]string{
			{"ready 1"}, {}, {"gone 1"}, {}, {"back 1"}, {},
		}},
		{"a single miss is not reported", d, [][]byte{same, nil, same, nil, same}, [][]string{{"ready 1"}, {}, {}, {}, {}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, _ := watching(t, tt.d, tt.states...)
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("told (-want +got):\n%s", diff)
			}
		})
	}
}

func TestAFieldThatCouldNotBeReadIsNeitherChangedNorNull(t *testing.T) {
	t.Parallel()
	const all = `"bio":"a","owner":{"avatar_url":"https://cdn.example/a.jpg"}`
	poll := func(data string, unknown ...string) Page {
		return Page{Data: []byte(`{"platform":"mock","id":"1",` + data + `}`), Unknown: unknown}
	}
	tests := []struct {
		name  string
		d     Definition
		polls []Page
		want  [][]string
	}{
		{
			"a part of an object that is there again",
			Definition{},
			[]Page{poll(all), poll(`"bio":"a","owner":{"avatar_url":null}`, "owner.avatar_url"), poll(all)},
			[][]string{{"ready 1"}, {}, {}},
		},
		{
			"a whole object",
			Definition{},
			[]Page{poll(all), poll(`"bio":"a","owner":null`, "owner"), poll(all)},
			[][]string{{"ready 1"}, {}, {}},
		},
		{
			"what has changed meanwhile",
			Definition{},
			[]Page{poll(`"bio":"a"`), poll(`"bio":null`, "bio"), poll(`"bio":null`, "bio"), poll(`"bio":"b"`)},
			[][]string{{"ready 1"}, {}, {}, {`changed 1 bio:"a">"b"`}},
		},
		{
			"another field changes",
			Definition{},
			[]Page{poll(all), poll(`"bio":"b","owner":{"avatar_url":null}`, "owner.avatar_url")},
			[][]string{{"ready 1"}, {`changed 1 bio:"a">"b"`}},
		},
		{
			"the first poll did not read it",
			Definition{},
			[]Page{
				poll(`"bio":"a","owner":null`, "owner"), poll(`"bio":"a","owner":null`, "owner"), poll(all),
				poll(`"bio":"a","owner":{"avatar_url":null}`),
			},
			[][]string{{"ready 1"}, {}, {}, {`changed 1 owner.avatar_url:"https://cdn.example/a.jpg">null`}},
		},
		{
			"only some fields are compared",
			Definition{Fields: []string{"owner.avatar_url"}},
			[]Page{poll(all), poll(`"bio":"b","owner":null`, "owner"), poll(all)},
			[][]string{{"ready 1"}, {}, {}},
		},
		{
			"a number appears that no poll had read",
			Definition{Alerts: []string{"viewers:>=100"}},
			[]Page{poll(`"viewers":null`, "viewers"), poll(`"viewers":150`), poll(`"viewers":90`), poll(`"viewers":null`, "viewers"), poll(`"viewers":160`)},
			[][]string{{"ready 1"}, {}, {}, {}, {"alert 1 viewers:90>160"}},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			for _, list := range []bool{false, true} {
				d := tt.d
				want := tt.want
				if list {
					if d.Alerts != nil {
						continue // for one thing
					}
					d.List, d.Follow = true, 5
					want = append([][]string{{"ready"}}, tt.want[1:]...)
				}
				if diff := cmp.Diff(want, polled(t, d, tt.polls...)); diff != "" {
					t.Errorf("list: %v: told (-want +got):\n%s", list, diff)
				}
			}
		})
	}
}

func TestAKeptFieldKeepsTheNamesOfThoseInIt(t *testing.T) {
	t.Parallel()
	const ann = `{"platform":"mock","id":"2","handle":"ann"}`
	read := func(hour int, handle string, unknown ...string) object {
		o := readObject(fmt.Appendf(nil, `{"platform":"mock","id":"1","fetched_at":"2026-03-01T%02d:00:00Z",`+
			`"author":{"platform":"mock","id":"2","handle":%q}}`, hour, handle))
		o.unknown = unknown
		return o
	}
	first, second, third, last := read(1, "ann"), read(2, "unknown", "author.handle"), read(3, "unknown", "author.handle"), read(4, "unknown")
	by := third.by(second.by(first.by(nil)))
	if n := len(jsontext.Elements(by)); n > 4 || !strings.Contains(string(by), ann) {
		t.Errorf("%s does not contain %s, or grows", by, ann)
	}
	if by = last.by(by); strings.Contains(string(by), ann) {
		t.Errorf("%s contains %s, which is no longer kept", by, ann)
	}
}

// polled returns what a monitor reports for each of several polls.
func polled(t *testing.T, d Definition, polls ...Page) (told [][]string) {
	t.Helper()
	r := newRunner(Config{})
	m := Monitor{Definition: d, Account: "acc", Name: "m", CreatedAt: noon, Baseline: 1, Progress: Progress{State: Active}}
	m.Pages, m.Every = 1, time.Hour
	for i, page := range polls {
		at := noon.Add(time.Duration(i) * time.Hour)
		r.cfg.Now = func() time.Time { return at }
		if d.List {
			page.Data = slices.Concat([]byte("["), page.Data, []byte("]"))
		}
		r.cfg.Reader = readerFunc(func(context.Context, Read) (Page, error) { return page, nil })
		p, _ := r.read(t.Context(), Claim{Monitor: m})
		b, err := json.Marshal(p.Progress) // as stores do
		if err != nil {
			t.Fatal(err)
		}
		m.Progress = Progress{}
		if err := json.Unmarshal(b, &m.Progress); err != nil {
			t.Fatal(err)
		}
		told = append(told, short(p.Changes))
	}
	return told
}

func TestContentOfGoneObjectsIsRemoved(t *testing.T) {
	t.Parallel()
	d := Definition{Alerts: []string{"followers:5%"}}
	_, m := watching(t, d, profile(t, nil), nil, nil)
	b, err := json.Marshal(m.Snapshot)
	if err != nil {
		t.Fatal(err)
	}
	for _, kept := range []string{"says", "cdn.example", "ann", "1000"} {
		if strings.Contains(string(b), kept) {
			t.Errorf("of an object that is gone, %q is kept: %s", kept, b)
		}
	}
}

func TestChangesHaveIDsOfTheirOwn(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	m := Monitor{Account: "acc", Name: "m", CreatedAt: noon, Baseline: 1, Progress: Progress{State: Active}}
	for poll := range 6 {
		data := profile(t, func(p *schema.Profile) { p.Bio = new([]string{"a", "b"}[poll%2]) })
		var ids [2]string
		for i := range ids { // as if the poll were repeated
			again := m
			again.Progress = m.Progress.copied()
			tl := &telling{m: &again, s: &again.Snapshot, at: noon.Add(time.Duration(poll+i) * time.Hour)}
			tl.one(readObject(data), poll == 0)
			ids[i] = tl.changes[0].ID
			if i == 1 {
				m = again
				m.Polls++
			}
		}
		if ids[0] != ids[1] {
			t.Errorf("poll %d, repeated, reports another change: %v", poll, ids)
		}
		if seen[ids[0]] {
			t.Errorf("poll %d reports a change with the id of an earlier one", poll)
		}
		seen[ids[0]] = true
	}
}

func TestAlerts(t *testing.T) {
	t.Parallel()
	tests := []struct {
		alert  string
		values []int64  // -1 for null
		want   []string // pairs of the value last reported and a new one
	}{
		{"followers:>=100", []int64{-1, 150, 160}, []string{"null>150"}},
		{"followers:>=100", []int64{-1, 50, 150}, []string{"50>150"}},
		{"followers:>=100", []int64{50, -1, 150}, []string{"50>150"}},
		{"followers:>=100", []int64{150, -1, 150}, nil},
		{"followers:>=100", []int64{150, 160}, nil},
		{"followers:<10", []int64{-1, -1, 9}, []string{"null>9"}},
		{"followers:5%", []int64{-1, 150, 160}, []string{"150>160"}},
		{"followers:5%", []int64{1000, 1040, 1050, 1100, 1103}, []string{"1000>1050", "1050>1103"}},
		{"followers:+5%", []int64{1000, 900, 950, 1049, 1050}, []string{"1000>1050"}},
		{"followers:-10%", []int64{1000, 1500, 901, 900, 811, 810}, []string{"1000>900", "900>810"}},
		{"followers:100", []int64{1000, 1099, 900, 1000}, []string{"1000>900", "900>1000"}},
		{"followers:>=1000", []int64{999, 1000, 1001, 999, 1000}, []string{"999>1000", "999>1000"}},
		{"followers:<10", []int64{9, 9, 10, 9}, []string{"10>9"}},
		{"followers:5%", []int64{0, 0, 1}, []string{"0>1"}},
		{"absent:5%", []int64{1, 2}, nil},
	}
	for _, tt := range tests {
		t.Run(fmt.Sprint(tt.alert, tt.values), func(t *testing.T) {
			t.Parallel()
			var states [][]byte
			for _, v := range tt.values {
				states = append(states, profile(t, func(p *schema.Profile) {
					if p.Followers = new(v); v < 0 {
						p.Followers = nil
					}
				}))
			}
			told, _ := watching(t, Definition{Alerts: []string{tt.alert}}, states...)
			var got []string
			for _, poll := range told {
				for _, s := range poll {
					if rest, ok := strings.CutPrefix(s, "alert 1 followers:"); ok {
						got = append(got, rest)
					}
				}
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("alerts (-want +got):\n%s", diff)
			}
		})
	}
}

func TestDefinitionsAreChecked(t *testing.T) {
	t.Parallel()
	list := Definition{Ask: Ask{Operation: "posts", List: true}}
	one := Definition{Ask: Ask{Operation: "profile"}}
	tests := []struct {
		name string
		d    Definition
		ok   bool
		edit func(*Definition)
	}{
		{"a list", list, true, func(*Definition) {}},
		{"one thing", one, true, func(*Definition) {}},
		{"at the lifetime", list, true, func(d *Definition) { d.Every = time.Minute }},
		{"below it", list, false, func(d *Definition) { d.Every = time.Minute - 1 }},
		{"negative", list, false, func(d *Definition) { d.Every = -time.Hour }},
		{"31 days", list, true, func(d *Definition) { d.Every = MaxEvery }},
		{"more", list, false, func(d *Definition) { d.Every = MaxEvery + 1 }},
		{"11 pages", list, false, func(d *Definition) { d.Pages = 11 }},
		{"-1 pages", list, false, func(d *Definition) { d.Pages = -1 }},
		{"101 followed", list, false, func(d *Definition) { d.Follow = 101 }},
		{"pages of one thing", one, false, func(d *Definition) { d.Pages = 2 }},
		{"follow of one thing", one, false, func(d *Definition) { d.Follow = 2 }},
		{"an alert of a list", list, false, func(d *Definition) { d.Alerts = []string{"likes:5%"} }},
		{"an alert", one, true, func(d *Definition) { d.Alerts = []string{"price.amount:-10%"} }},
		{"no number", one, false, func(d *Definition) { d.Alerts = []string{"likes:x%"} }},
		{"no field", one, false, func(d *Definition) { d.Alerts = []string{":5%"} }},
		{"no colon", one, false, func(d *Definition) { d.Alerts = []string{"likes"} }},
		{"no step", one, false, func(d *Definition) { d.Alerts = []string{"likes:0"} }},
		{"infinite", one, false, func(d *Definition) { d.Alerts = []string{"likes:>=Inf"} }},
		{"too many fields", one, false, func(d *Definition) { d.Fields = make([]string, maxFields+1) }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			d := tt.d
			tt.edit(&d)
			err := d.Check(time.Minute)
			if (err == nil) != tt.ok || err != nil && !errors.Is(err, ErrInvalid) {
				t.Errorf("Check = %v", err)
			}
		})
	}
}

func TestFieldsAndAlertsNameFieldsOfTheData(t *testing.T) {
	t.Parallel()
	profile, product := reflect.TypeFor[schema.Profile](), reflect.TypeFor[[]schema.Product]()
	for _, tt := range []struct {
		data           reflect.Type
		fields, alerts []string
		words          string // of the error; "" for none
	}{
		{profile, []string{"bio", "links"}, []string{"followers:5%", "posts_count:>=10"}, ""},
		{product, []string{"price", "price.amount"}, []string{"price.amount:-10%"}, ""},
		{profile, []string{"bioo"}, nil, `"bioo" (did you mean bio?)`},
		{profile, []string{""}, nil, `""`},
		{profile, nil, []string{"folowers:5%"}, `"folowers" (did you mean followers?)`},
		{profile, nil, []string{"bio:5%"}, `"bio"`},
		{product, nil, []string{"price:5%"}, `"price"`},
		{profile, nil, []string{"followers"}, "followers:5%"},
	} {
		d := Definition{Fields: tt.fields, Alerts: tt.alerts}
		err := d.CheckFields(tt.data)
		if (err == nil) != (tt.words == "") ||
			err != nil && (!errors.Is(err, ErrInvalid) || !strings.Contains(err.Error(), tt.words)) {
			t.Errorf("%v, %v: %v, want %q", tt.fields, tt.alerts, err, tt.words)
		}
	}
}

func TestPlacesAreSpread(t *testing.T) {
	t.Parallel()
	for _, every := range []time.Duration{30 * time.Second, 15 * time.Minute, 7 * 24 * time.Hour} {
		quarters := [4]int{}
		for i := range 400 {
			m := Monitor{Account: "acc", Name: fmt.Sprint("m", i), Definition: Definition{Every: every}}
			at := m.after(noon)
			if wait := at.Sub(noon); wait <= 0 || wait > every {
				t.Fatalf("every %v polls after %v", every, wait)
			}
			if again := m.after(at); again.Sub(at) != every {
				t.Fatalf("every %v polls again after %v", every, again.Sub(at))
			}
			quarters[int(4*(at.Sub(noon)-1)/every)]++
		}
		for _, n := range quarters {
			if n < 60 || n > 140 {
				t.Errorf("every %v: of 400 monitors the quarters of the period have %v", every, quarters)
			}
		}
	}
}

// post returns a post in the encoding of our answers.
func post(id int, at time.Time, text string) []byte {
	created := `null`
	if !at.IsZero() {
		created = `"` + at.Format(time.RFC3339) + `"`
	}
	return fmt.Appendf(nil, `{"platform":"mock","id":"%d","url":"https://mock.example/posts/%d","author":{"platform":"mock","id":"7","handle":"ann"},`+
		`"text":%q,"created_at":%s,"media":[],"engagement":{"likes":3,"views":null},"fetched_at":"2026-03-01T12:00:00Z","source":"own"}`, id, id, text, created)
}

func page(posts ...[]byte) []object {
	var out []object
	for _, p := range posts {
		out = append(out, readObject(p))
	}
	return out
}

func TestLists(t *testing.T) {
	t.Parallel()
	at := func(hours int) time.Time { return noon.Add(time.Duration(hours) * time.Hour) }
	p := func(id int) []byte { return post(id, at(id), "text") }
	undated := func(id int) []byte { return post(id, time.Time{}, "text") }
	tests := []struct {
		name   string
		follow int
		polls  []walked
		want   [][]string
	}{
		{"the first poll reports only that it was made", 0, []walked{{items: page(p(3), p(2), p(1))}}, [][]string{{"ready"}}},
		{
			"new ones, oldest first", 0,
			[]walked{{items: page(p(3), p(2), p(1))}, {items: page(p(5), p(4), p(3), p(2), p(1))}},
			[][]string{{"ready"}, {"new 4", "new 5"}},
		},
		{
			"an item that moves up is not new", 0,
			[]walked{
				{items: page(p(9), p(8), p(7), p(6), p(5)), more: true}, {items: page(p(9), p(8), p(6), p(5), p(4)), more: true},
			},
			[][]string{{"ready"}, {}},
		},
		{
			"an old one that is pinned does not make others new", 0,
			[]walked{
				{items: page(p(1), p(9), p(8), p(7), p(6)), more: true}, {items: page(p(1), p(9), p(8), p(6), p(5)), more: true},
			},
			[][]string{{"ready"}, {}},
		},
		{
			"an item without a time that was never seen is new", 0,
			[]walked{{items: page(undated(1), undated(2))}, {items: page(undated(2), undated(3), undated(1))}},
			[][]string{{"ready"}, {"new 3"}},
		},
		{
			"a list that repeats itself", 0,
			[]walked{{items: page(p(1))}, {items: page(p(2), p(2), p(1), p(2))}},
			[][]string{{"ready"}, {"new 2"}},
		},
		{
			"a new one that is gone at the next poll is not reported twice", 0,
			[]walked{{items: page(p(1))}, {items: page(p(2), p(1))}, {items: page(p(1))}, {items: page(p(2), p(1))}},
			[][]string{{"ready"}, {"new 2"}, {}, {}},
		},
		{
			"there were more new items than a poll reads", 0,
			[]walked{{items: page(p(1))}, {items: page(p(9), p(8)), more: true, cut: "more"}},
			[][]string{{"ready"}, {"new 8", "new 9", "gap"}},
		},
		{
			"followed ones change", 2,
			[]walked{{items: page(p(3), p(2), p(1))}, {items: page(p(3), post(2, at(2), "other"), post(1, at(1), "other"))}},
			[][]string{{"ready"}, {`changed 2 text:"text">"other"`}},
		},
		{
			"followed ones go at the second miss, and return", 3,
			[]walked{
				{items: page(p(3), p(2), p(1))},
				{items: page(p(3), p(1))},
				{items: page(p(3), p(1))},
				{items: page(p(3), p(1))},
				{items: page(p(3), p(2), p(1))},
			},
			[][]string{{"ready"}, {}, {"gone 2"}, {}, {"back 2"}},
		},
		{
			"an item that moves beyond the pages that are read is not gone", 3,
			[]walked{
				{items: page(p(3), p(2), p(1)), more: true},
				{items: page(p(6), p(5), p(4), p(3)), more: true},
				{items: page(p(6), p(5), p(4), p(3)), more: true},
				{items: page(p(6), p(5), p(4), p(3)), more: true},
			},
			[][]string{{"ready"}, {"new 4", "new 5", "new 6"}, {}, {}},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			m := Monitor{
				Definition: Definition{Ask: Ask{List: true}, Follow: tt.follow}, Account: "acc", Name: "m", CreatedAt: noon,
				Progress: Progress{State: Active},
			}
			var got [][]string
			for i, w := range tt.polls {
				tl := &telling{m: &m, s: &m.Snapshot, at: noon.Add(time.Duration(i) * time.Minute)}
				tl.list(w, i == 0)
				m.Snapshot.At = tl.at
				m.Polls++
				got = append(got, short(tl.changes))
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("told (-want +got):\n%s", diff)
			}
		})
	}
}

func TestTheNumberOfKnownItemsIsLimited(t *testing.T) {
	t.Parallel()
	m := Monitor{Definition: Definition{Ask: Ask{List: true}}, Progress: Progress{State: Active}}
	var posts [][]byte
	for i := range 1500 {
		posts = append(posts, post(i, noon.Add(time.Duration(i)*time.Minute), "text"))
	}
	slices.Reverse(posts)
	tl := &telling{m: &m, s: &m.Snapshot, at: noon}
	tl.list(walked{items: page(posts[1000:]...)}, true)
	for to := 1000; to > 0; to -= 100 {
		tl.list(walked{items: page(posts[to-100 : to]...), more: true}, false)
	}
	if n := len(m.Snapshot.Seen); n != maxSeen {
		t.Errorf("%d items are known", n)
	}
	tl.changes = nil
	tl.list(walked{items: page(posts...)}, false)
	if len(tl.changes) != 0 {
		t.Errorf("an item that was known before is reported as new: %v", short(tl.changes))
	}
	b, err := json.Marshal(m.Snapshot)
	if err != nil {
		t.Fatal(err)
	}
	var back Snapshot
	if err := json.Unmarshal(b, &back); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(m.Snapshot, back, cmp.AllowUnexported(known{})); diff != "" {
		t.Errorf("a snapshot that was written and read (-want +got):\n%s", diff)
	}
	if len(b) > 20_000 {
		t.Errorf("a snapshot of %d items has %d bytes", maxSeen, len(b))
	}
}

func TestMembers(t *testing.T) {
	t.Parallel()
	in := `{"a":1,"b":"x\"},{","c":[1,{"d":"]"}],"e":{"f":null},"":true,"g":""}`
	var got []string
	for k, v := range jsontext.Members([]byte(in)) {
		got = append(got, k+"="+string(v))
	}
	want := []string{"a=1", `b="x\"},{"`, `c=[1,{"d":"]"}]`, `e={"f":null}`, "=true", `g=""`}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("members (-want +got):\n%s", diff)
	}
	var parts []string
	for _, e := range jsontext.Elements([]byte(`[1,"a,]",[2,3],{"x":[4]},null]`)) {
		parts = append(parts, string(e))
	}
	if diff := cmp.Diff([]string{"1", `"a,]"`, "[2,3]", `{"x":[4]}`, "null"}, parts); diff != "" {
		t.Errorf("elements (-want +got):\n%s", diff)
	}
}

func FuzzMembers(f *testing.F) {
	for _, s := range []string{`{"a":1}`, `[1,2]`, `{"a":"\`, `[`, `{"a"`, `{"a":}`, `[,]`, `{"a":1`, `"`, `{"\\":"\\"}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		o := readObject(data)
		o.fields(nil, nil)
		o.figures()
		n := 0
		for _, e := range jsontext.Elements(data) {
			n += len(e)
		}
		if n > len(data) {
			t.Errorf("the elements of %q are longer than it", data)
		}
		var m map[string]json.RawMessage
		compact, err := schema.Marshal(json.RawMessage(data))
		if err != nil || json.Unmarshal(compact, &m) != nil {
			return
		}
		got := 0
		for range jsontext.Members(compact) {
			got++
		}
		if got < len(m) {
			t.Errorf("%q has %d members; %d were found", compact, len(m), got)
		}
	})
}

func BenchmarkCompare(b *testing.B) {
	var posts [][]byte
	for i := range 50 {
		posts = append(posts, post(100-i, noon.Add(time.Duration(-i)*time.Hour),
			strings.Repeat("a text of some length ", 20)))
	}
	data := []byte("[" + string(slices.Concat(posts[0])))
	for _, p := range posts[1:] {
		data = append(append(data, ','), p...)
	}
	data = append(data, ']')
	for _, follow := range []int{0, 50} {
		b.Run(fmt.Sprint("follow ", follow), func(b *testing.B) {
			m := Monitor{Definition: Definition{Ask: Ask{List: true}, Follow: follow}, Progress: Progress{State: Active}}
			tl := &telling{m: &m, s: &m.Snapshot, at: noon}
			tl.list(walked{items: readObjects(Page{Data: data}, true), more: true}, true)
			b.SetBytes(int64(len(data)))
			b.ReportAllocs()
			for b.Loop() {
				tl.changes = nil
				if tl.list(walked{items: readObjects(Page{Data: data}, true), more: true}, false); len(tl.changes) != 0 {
					b.Fatal(short(tl.changes))
				}
			}
		})
	}
}

// TestAPlatformThatFailsIsAGapOfItsOwn polls a search of several platforms, some of which do not answer each time.
func TestAPlatformThatFailsIsAGapOfItsOwn(t *testing.T) {
	t.Parallel()
	item := func(on, id string) string { return fmt.Sprintf(`{"platform":%q,"id":%q,"kind":"post"}`, on, id) }
	page := func(missing []string, items ...string) Page {
		return Page{Data: []byte(strings.Join(items, ",")), Asked: 3, Missing: missing}
	}
	got := polled(t, Definition{Ask: Ask{Operation: "search_across", List: true}, Follow: 3},
		page([]string{"github"}, item("mock", "1")),
		page([]string{"bluesky", "github"}, item("mock", "2"), item("mock", "1")),
		page([]string{"bluesky"}, item("github", "8"), item("mock", "2"), item("mock", "1")),
		page(nil, item("github", "9"), item("bluesky", "5"), item("github", "8"), item("mock", "2"), item("mock", "1")),
	)
	want := [][]string{
		{"ready", "gap"},
		{"new 2", "gap"},
		{}, // the first read of github is its baseline
		{"new 5", "new 9"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("told (-want +got):\n%s", diff)
	}
}
