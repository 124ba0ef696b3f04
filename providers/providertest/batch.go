package providertest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/socialdata/socialdata/callctx"
	"github.com/socialdata/socialdata/internal/testsize"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/schema"
)

// together is a batch: the keys of a suite's calls of one operation with the same query.
type together struct {
	suite Suite
	op    providers.Op
	query any
	keys  []string        // existing and missing ones
	calls map[string]Call // the calls that read one key each
}

// many describes how a provider reads many things in one call.
type many struct {
	most    int
	limited bool
	read    func(ctx context.Context, keys []string, query any) (map[string]any, error)
}

// manyOf returns how p reads many things with op; false if it only reads one at a time.
func manyOf(p providers.Provider, op providers.Op) (many, bool) {
	b := p.Batches
	switch op {
	case providers.OpProfile:
		return manyBy(b.Profile)
	case providers.OpAudience:
		return manyBy(b.Audience)
	case providers.OpLive:
		return manyBy(b.Live)
	case providers.OpPost:
		return manyBy(b.Post)
	case providers.OpTrack:
		return manyBy(b.Track)
	case providers.OpCommunity:
		return manyBy(b.Community)
	case providers.OpStore:
		return manyBy(b.Store)
	case providers.OpAd:
		return manyBy(b.Ad)
	case providers.OpEvent:
		return manyBy(b.Event)
	case providers.OpTranscript:
		return manyWith(b.Transcript)
	case providers.OpCollection:
		return manyWith(b.Collection)
	case providers.OpProduct:
		return manyWith(b.Product)
	default: // operations that read lists
		return many{}, false
	}
}

func manyBy[T any](b providers.Batch[T]) (many, bool) {
	return many{b.Most, b.Limited, func(ctx context.Context, keys []string, _ any) (map[string]any, error) {
		found, err := b.Read(ctx, keys)
		return anything(found), err
	}}, b.Read != nil
}

func manyWith[Q, T any](b providers.BatchBy[Q, T]) (many, bool) {
	return many{b.Most, b.Limited, func(ctx context.Context, keys []string, query any) (map[string]any, error) {
		found, err := b.Read(ctx, keys, query.(Q))
		return anything(found), err
	}}, b.Read != nil
}

// anything returns the values of a map as a map of pointers.
func anything[T any](found map[string]T) map[string]any {
	out := make(map[string]any, len(found))
	for key, v := range found {
		out[key] = &v
	}
	return out
}

// togethers returns the batches of a suite, in the order of its calls.
func (s Suite) togethers(p providers.Provider) []*together {
	var out []*together
	add := func(c Call) {
		if _, ok := manyOf(p, c.op); !ok {
			return
		}
		at := slices.IndexFunc(out, func(b *together) bool { return b.op == c.op && b.query == c.query })
		if at < 0 {
			at, out = len(out), append(out, &together{suite: s, op: c.op, query: c.query, calls: map[string]Call{}})
		}
		b := out[at]
		if _, twice := b.calls[c.key]; !twice {
			b.keys, b.calls[c.key] = append(b.keys, c.key), c
		}
	}
	for _, c := range s.Calls {
		add(c)
	}
	for _, f := range s.Fails {
		if errors.Is(f.Want, providers.ErrNotFound) {
			add(f.Call)
		}
	}
	return out
}

// outcome is the result of a batch for one key: an object, an absence, or neither. In the last case the key is read
// alone.
type outcome struct {
	item   any
	absent bool
	why    error // the message for the caller, if absent
}

// read reads b as the engine does. An object that violates the schema counts as missing.
func (b *together) read(ctx context.Context, t *testing.T, up http.RoundTripper) (out map[string]outcome, err error) {
	t.Helper()
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v", p)
		}
	}()
	var leftOut atomic.Bool
	ctx = callctx.WithTrace(ctx, callctx.Trace{Drift: func(d callctx.Drift) {
		if d.LeftOut {
			leftOut.Store(true)
		}
	}})
	p := b.suite.open(t, &http.Client{Transport: up})
	m, _ := manyOf(p, b.op)
	found, err := m.read(ctx, slices.Clone(b.keys), b.query)
	each, whole := providers.Apart(err)
	if whole != nil {
		return nil, whole
	}
	for key := range maps.Keys(found) {
		if !slices.Contains(b.keys, key) || each[key] != nil {
			return nil, fmt.Errorf("%q was not asked for, or has failed as well", key)
		}
	}
	out = map[string]outcome{}
	for _, key := range b.keys {
		item, here := found[key]
		switch {
		case here:
			if item = stamp(p, item); b.valid(item) {
				out[key] = outcome{item: item}
			}
		case errors.Is(each[key], providers.ErrNotFound), each[key] == nil && !m.limited && !leftOut.Load():
			out[key] = outcome{absent: true, why: each[key]}
		}
	}
	return out, nil
}

func (b *together) valid(item any) bool {
	v, ok := item.(interface{ Check() error })
	return ok && b.suite.validate(v) == nil
}

// batches checks that reading many things in one call has the same results as reading each alone.
func batches(t *testing.T, s Suite, m manifest) {
	t.Helper()
	p := s.open(t, &http.Client{Transport: m})
	all := s.togethers(p)
	for _, op := range providers.Ops() {
		if p.AtOnce(op) > 1 && !slices.ContainsFunc(all, func(b *together) bool { return b.op == op }) {
			t.Errorf("%s: many things are read at once, and no call reads one", op)
		}
	}
	for op := range s.Lone {
		if p.AtOnce(op) < 2 {
			t.Errorf("%s: keys are said to be read alone, as all are", op)
		}
	}
	for _, b := range all {
		name := string(b.op)
		if b.query != nil {
			name += fmt.Sprintf(" %+v", b.query)
		}
		t.Run(name, func(t *testing.T) {
			t.Run("as each alone", func(t *testing.T) { b.asAlone(t, m) })
			t.Run("a caller who has gone", func(t *testing.T) { b.gone(t) })
			t.Run("an upstream that never answers", func(t *testing.T) {
				for _, up := range []hanging{{}, {after: "{"}} {
					synctest.Test(t, func(t *testing.T) { b.prompt(t, up) })
				}
			})
			t.Run("hostile upstream", func(t *testing.T) {
				for _, tt := range hostiles {
					synctest.Test(t, func(t *testing.T) { b.survive(t, tt) })
				}
			})
			synctest.Test(t, func(t *testing.T) { b.shuffled(t, m) })
			if s.Drift != nil {
				t.Run("drift", func(t *testing.T) { synctest.Test(t, func(t *testing.T) { b.drift(t, m) }) })
			}
		})
	}
}

// asAlone reads all keys together and each alone, and compares the results.
func (b *together) asAlone(t *testing.T, m manifest) {
	t.Helper()
	up := logging{t, m}
	p := b.suite.open(t, &http.Client{Transport: up})
	if at, _ := manyOf(p, b.op); at.most < 2 || len(b.keys) > at.most {
		t.Fatalf("a batch of at most %d for %d keys", at.most, len(b.keys))
	}
	got, err := b.read(t.Context(), t, up)
	if err != nil {
		t.Fatal(err)
	}
	found, alone := 0, []string(nil)
	for _, key := range b.keys {
		pages, err := b.calls[key].read(t.Context(), p)
		switch o := got[key]; {
		case o.item != nil:
			found++
			if err != nil {
				t.Errorf("%q is there, and alone it fails: %v", key, err)
			} else if diff := gocmp.Diff(written(t, pages[0].Items[0]), written(t, o.item)); diff != "" {
				t.Errorf("%q (-alone +together):\n%s", key, diff)
			}
		case o.absent:
			if !errors.Is(err, providers.ErrNotFound) {
				t.Errorf("%q is not found, and alone it is %v", key, err)
			} else if detail(o.why) != "" && detail(o.why) != detail(err) {
				t.Errorf("%q is not found with %q, alone with %q", key, detail(o.why), detail(err))
			}
		default:
			alone = append(alone, key)
		}
	}
	if found < 2 && len(b.keys)-len(alone) > 1 {
		t.Errorf("%d of %d things are there", found, len(b.keys))
	}
	want := slices.DeleteFunc(slices.Clone(b.keys), func(key string) bool { return !slices.Contains(b.suite.Lone[b.op], key) })
	if diff := gocmp.Diff(want, alone, gocmp.Comparer(slices.Equal[[]string])); diff != "" {
		t.Errorf("keys that are read alone: Suite.Lone (-want +got):\n%s", diff)
	}
}

func detail(err error) string {
	if e, ok := errors.AsType[*providers.Error](err); ok {
		return e.Detail
	}
	return ""
}

// written returns an item as JSON with its raw, as it is sent to the caller.
func written(t *testing.T, item any) string {
	t.Helper()
	out, err := schema.Marshal(item)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

// gone reads b with a canceled context: it must return no results.
func (b *together) gone(t *testing.T) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if got, err := b.read(ctx, t, answer{status: 200, body: "{}"}); err == nil && len(got) > 0 && !b.apart(got) {
		t.Errorf("answered %v to a caller who has gone", got)
	}
}

// prompt reads b from an upstream that never answers, if the provider promises to return nevertheless.
func (b *together) prompt(t *testing.T, up hanging) {
	t.Helper()
	if !b.suite.open(t, &http.Client{Transport: up}).Prompt {
		return
	}
	promptly(t, string(b.op), func(ctx context.Context) bool {
		got, err := b.read(ctx, t, up)
		return err == nil && len(got) > 0 && !b.apart(got)
	})
}

// apart reports whether got contains nothing except absences that did not need a request.
func (b *together) apart(got map[string]outcome) bool {
	for _, o := range got {
		if o.item != nil || o.why == nil {
			return false
		}
	}
	return true
}

// survive reads b from a hostile upstream.
func (b *together) survive(t *testing.T, tt hostility) {
	t.Helper()
	got, err := b.read(t.Context(), t, tt.up)
	if err != nil {
		if !isAny(err, tt.want) {
			t.Errorf("%s: got error %v, want one of %v", tt.name, err, tt.want)
		}
		return
	}
	for key, o := range got {
		if o.item != nil || o.why == nil {
			t.Errorf("%s: made %+v of %q", tt.name, o, key)
		}
	}
}

// shuffled reorders the rows of each answer and sends each of them twice: the results must not change.
func (b *together) shuffled(t *testing.T, m manifest) {
	t.Helper()
	calm := &altered{manifest: m, at: -1}
	want, err := b.read(t.Context(), t, calm)
	if err != nil {
		t.Fatal(err)
	}
	for _, at := range calm.used {
		for _, doc := range documents(m[at].body) {
			got, err := b.read(t.Context(), t, &altered{manifest: m, at: at, body: doc.with(m[at].body, mixed(doc.doc))})
			if err != nil {
				t.Errorf("%s in another order: %v", m[at].File, err)
				continue
			}
			for _, key := range b.keys {
				if diff := gocmp.Diff(plainly(want[key]), plainly(got[key])); diff != "" {
					t.Errorf("%s in another order: %q (-want +got):\n%s", m[at].File, key, diff)
				}
			}
		}
	}
}

// mixed returns a document whose lists of objects are reversed, with each row twice. Nested lists are unchanged.
func mixed(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := map[string]any{}
		for name, in := range v {
			out[name] = mixed(in)
		}
		return out
	case []any:
		var out []any
		for _, row := range slices.Backward(v) {
			if _, ok := row.(map[string]any); !ok {
				return v
			}
			out = append(out, row, row)
		}
		if out == nil {
			return v
		}
		return out
	}
	return v
}

// plainly returns an outcome as JSON without raw.
func plainly(o outcome) any {
	if o.item != nil {
		return plain(o.item)
	}
	return o.absent
}

// drift changes each answer of b as the drift suite does. The affected key may then be left open, and other keys only
// if they are in the same row. No key may get a wrong result.
func (b *together) drift(t *testing.T, m manifest) {
	t.Helper()
	calm := &altered{manifest: m, at: -1}
	want, err := b.read(t.Context(), t, calm)
	if err != nil {
		t.Fatal(err)
	}
	made := 0
	for _, at := range calm.used {
		e := m[at]
		if e.status() != http.StatusOK {
			continue
		}
		for _, doc := range documents(e.body) {
			for _, mut := range mutations(doc.doc, string(b.op), testsize.Full(), b.suite.Drift.Tuples...) {
				made++
				got, err := b.read(t.Context(), t, &altered{manifest: m, at: at, body: doc.with(e.body, mut.doc)})
				if err := b.judge(mut, want, got, err); err != nil {
					t.Errorf("%s: %s is %s: %v", e.File, mut.path, mut.kind, err)
				}
			}
			for _, key := range b.keys {
				if err := b.identity(t, want, key, m, at, doc); err != nil {
					t.Errorf("%s: is about another than %s: %v", e.File, key, err)
				}
			}
		}
	}
	t.Logf("%d mutations", made)
}

// judge returns an error that describes what is wrong with the results of a mutation.
func (b *together) judge(m mutation, want, got map[string]outcome, err error) error {
	d := b.suite.Drift
	switch {
	case err == nil:
	case !errors.Is(err, providers.ErrUnavailable):
		return fmt.Errorf("got error %w, want ErrUnavailable or an answer", err)
	case m.row:
		return fmt.Errorf("one odd row fails its batch: %w", err)
	default:
		return nil
	}
	if m.gone && slices.Contains(d.Absent, m.path) {
		return nil
	}
	numbers := slices.Contains(d.Sums, m.path) || m.kind == "negative" && slices.Contains(d.Scores, m.path)
	lost := map[string]bool{} // one thing may have several keys
	for _, key := range b.keys {
		w, g := want[key], got[key]
		switch {
		case g.item != nil && w.item == nil:
			return fmt.Errorf("%q is there", key)
		case g.item != nil:
			if err := less("", plain(w.item), plain(g.item), numbers); err != nil {
				return fmt.Errorf("%q: %w", key, err)
			}
		case g.absent && !w.absent:
			return fmt.Errorf("%q is said to be absent", key)
		case w.item != nil:
			lost[fmt.Sprint(plain(w.item))] = true
		}
	}
	if m.row && len(lost) > 1 && !slices.Contains(d.Missed, m.path) {
		return fmt.Errorf("%d things are lost with one row", len(lost))
	}
	return nil
}

// identity replaces the id of a key in the answer with another one.
func (b *together) identity(t *testing.T, want map[string]outcome, key string, m manifest, at int, doc document) error {
	t.Helper()
	if want[key].item == nil || slices.Contains(b.suite.Drift.Elsewhere, b.calls[key].name) || slices.Contains(b.keys, otherThan(key)) {
		return nil
	}
	fresh, _ := parse(m[at].body[doc.from:doc.to])
	other, found := another(fresh, key)
	if !found {
		return nil
	}
	got, err := b.read(t.Context(), t, &altered{manifest: m, at: at, body: doc.with(m[at].body, other)})
	switch g := got[key]; {
	case err != nil && !errors.Is(err, providers.ErrUnavailable):
		return err
	case err == nil && g.absent:
		return errors.New("it is said to be absent")
	case err == nil && g.item != nil:
		return less("", plain(want[key].item), plain(g.item), false)
	}
	return nil
}
