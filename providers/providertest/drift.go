package providertest

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/socialdata/socialdata/internal/testsize"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/schema"
)

// Drift configures the drift suite for an upstream. For every call of the suite, the drift suite removes, nulls,
// renames, negates and changes the type of each field of each answer that the call reads, one at a time. The answer may
// then lack that field or row, or be [providers.ErrUnavailable]. It must not panic, invent a number, lose another row,
// become an empty page, or state that the thing does not exist. A malformed row among several never fails its page.
// With SIZE=full in the environment all changes are made; otherwise two for each field. With -v the suite logs their
// number.
//
// Paths have the form items[].statistics.likeCount; "$" is the whole answer.
type Drift struct {
	// Absent lists the paths at which a missing value, or null, is a valid answer of the upstream: for a thing that
	// does not exist, the end of a list, an empty list, or a flag that is not set. "{}" is an empty object as the whole
	// answer.
	Absent []string
	// Scores lists the paths of scores, which become 0 if they are negative.
	Scores []string
	// Sums lists the paths of summands, if the platform itself shows the sum without a missing one.
	Sums []string
	// Tuples lists the paths of lists in which each position has its own meaning, although the elements have the same
	// JSON type.
	Tuples []string
	// Trees lists the paths of rows that contain further rows, such as the replies to a comment.
	Trees []string
	// Missed lists the paths of rows whose absence in a batch is a valid answer, such as the stream of a channel that
	// is offline. If one is malformed, all keys without a row are left open.
	Missed []string
	// Elsewhere lists the calls whose answer may be about another id than the requested one.
	Elsewhere []string
}

// altered is the upstream of a manifest with one answer changed.
type altered struct {
	manifest
	at   int // index of the changed exchange; negative for none
	body []byte

	mu   sync.Mutex
	used []int // indexes of the exchanges that were used, in order, each once
}

// RoundTrip implements [http.RoundTripper].
func (a *altered) RoundTrip(r *http.Request) (*http.Response, error) {
	if err := r.Context().Err(); err != nil {
		return nil, err
	}
	at, _, err := a.find(r)
	if err != nil || at < 0 {
		return respond(r, http.StatusNotImplemented, nil, nil), err
	}
	a.mu.Lock()
	if !slices.Contains(a.used, at) {
		a.used = append(a.used, at)
	}
	a.mu.Unlock()
	e := a.manifest[at]
	if at == a.at {
		return respond(r, e.status(), e.Headers, a.body), nil
	}
	return respond(r, e.status(), e.Headers, e.body), nil
}

func drift(t *testing.T, s Suite, m manifest) {
	t.Helper()
	all := testsize.Full()
	for _, c := range s.Calls {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				d := drifting{t: t, suite: s, call: c, manifest: m}
				d.run(all)
				t.Logf("%d mutations", d.made)
			})
		})
	}
}

// drifting is one call of the drift suite.
type drifting struct {
	t        *testing.T
	suite    Suite
	call     Call
	manifest manifest
	want     [][]any // the items of each page without a change
	made     int
}

func (d *drifting) run(all bool) {
	d.t.Helper()
	calm := &altered{manifest: d.manifest, at: -1}
	want, err := d.read(calm)
	if err != nil {
		d.t.Fatal(err)
	}
	d.want = want
	for _, at := range calm.used {
		e := d.manifest[at]
		if e.status() != http.StatusOK {
			continue
		}
		for _, doc := range documents(e.body) {
			for _, m := range mutations(doc.doc, d.call.name, all, d.suite.Drift.Tuples...) {
				d.made++
				got, err := d.read(&altered{manifest: d.manifest, at: at, body: doc.with(e.body, m.doc)})
				if err := d.judge(m, got, err); err != nil {
					d.t.Errorf("%s: %s is %s: %v", e.File, m.path, m.kind, err)
				}
			}
			d.identity(at, doc)
		}
	}
}

// identity replaces the requested id in the answer with another one.
func (d *drifting) identity(at int, doc document) {
	d.t.Helper()
	e := d.manifest[at]
	fresh, _ := parse(e.body[doc.from:doc.to])
	other, found := another(fresh, d.call.asked)
	if d.call.asked == "" || !found || slices.Contains(d.suite.Drift.Elsewhere, d.call.name) {
		return
	}
	d.made++
	got, err := d.read(&altered{manifest: d.manifest, at: at, body: doc.with(e.body, other)})
	if err == nil {
		err = d.same(got, false, false)
	} else if errors.Is(err, providers.ErrUnavailable) {
		err = nil
	}
	if err != nil {
		d.t.Errorf("%s: is about another than %s: %v", e.File, d.call.asked, err)
	}
}

// read makes the call and processes the results as the engine does: it leaves out items that violate the schema, and a
// page that only has such items is a failure. It returns the items without raw.
func (d *drifting) read(up http.RoundTripper) (items [][]any, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v", p)
		}
	}()
	pages, err := d.call.read(d.t.Context(), d.suite.open(d.t, &http.Client{Transport: up}))
	if err != nil {
		return nil, err
	}
	for _, p := range pages {
		kept := []any{}
		for _, item := range p.Items {
			if v, ok := item.(interface{ Check() error }); ok && d.suite.validate(v) == nil {
				kept = append(kept, plain(item))
			}
		}
		if len(p.Items) > 0 && len(kept) == 0 {
			return nil, providers.Unavailable(nil, "no object of the page keeps to the schema")
		}
		items = append(items, kept)
	}
	return items, nil
}

// plain returns an item as JSON without its raw.
func plain(item any) any {
	b, err := schema.Marshal(item)
	if err != nil {
		panic(err)
	}
	v, _ := parse(b)
	if o, ok := v.(map[string]any); ok {
		delete(o, "raw")
	}
	return v
}

// judge returns an error that describes what is wrong with the results of a mutation.
func (d *drifting) judge(m mutation, got [][]any, err error) error {
	absent := m.gone && slices.Contains(d.suite.Drift.Absent, m.path) ||
		m.path == "$" && m.kind == emptied && slices.Contains(d.suite.Drift.Absent, "{}")
	switch {
	case err == nil && absent:
		return nil
	case err == nil:
		return d.same(got, slices.Contains(d.suite.Drift.Sums, m.path) ||
			m.kind == "negative" && slices.Contains(d.suite.Drift.Scores, m.path), slices.Contains(d.suite.Drift.Trees, m.path))
	case absent && (errors.Is(err, providers.ErrNotFound) || errors.Is(err, providers.ErrNotHere)):
		return nil
	case !errors.Is(err, providers.ErrUnavailable):
		return fmt.Errorf("got error %w, want ErrUnavailable or an answer", err)
	case d.call.list && m.row && len(d.want[0]) > 1:
		return fmt.Errorf("one odd row fails its page: %w", err)
	}
	return nil
}

// same returns an error if got has something that was not there before the mutation; parts may be missing. If numbers
// is true, numbers may differ. If tree is true, several consecutive rows may be missing, and so may the pages after
// them.
func (d *drifting) same(got [][]any, numbers, tree bool) error {
	if len(got) < len(d.want) && !tree {
		return fmt.Errorf("%d pages, want %d: the walk lost its cursor", len(got), len(d.want))
	}
	want, rest := slices.Concat(d.want...), slices.Concat(got...)
	if len(rest) > len(want) {
		return fmt.Errorf("%d items, want %d at most", len(rest), len(want))
	}
	lost := len(want) - len(rest)
	if lost > 1 && !tree || lost > 0 && len(rest) == 0 {
		return fmt.Errorf("%d of %d items are lost", lost, len(want))
	}
	for i, item := range rest {
		err := less("", want[i], item, numbers)
		if err != nil && lost > 0 { // on the pages after what was left out
			err = less("", want[i+lost], item, numbers)
		}
		if err != nil {
			return fmt.Errorf("item %d: %w", i, err)
		}
	}
	return nil
}

// files checks that the package has the files that every provider has.
func files(t *testing.T, s Suite) {
	t.Helper()
	wd, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	want := []string{filepath.Base(wd) + ".go"}
	official, own, normalizes := false, false, false
	for _, p := range s.New(&http.Client{Transport: answer{status: 500}}) {
		official, own = official || p.Source != schema.Own, own || p.Source == schema.Own
		normalizes = normalizes || p.Normalize != nil
	}
	if normalizes {
		want = append(want, "normalize.go")
	}
	if official && own {
		want = append(want, "own.go")
	}
	for _, name := range want {
		if _, err := os.Stat(name); err != nil {
			t.Errorf("the package has no %s", name)
		}
	}
}
