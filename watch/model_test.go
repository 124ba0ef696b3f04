package watch

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/socialdata/socialdata/problem"
	"github.com/socialdata/socialdata/schema"
)

// life is an upstream with a list that changes: items appear, change, vanish and return, are pinned, and are hidden by
// failures.
type life struct {
	now     time.Time
	next    int
	items   []*item // newest first
	size    int     // items in a page
	fails   []error // results of the next reads; nil succeeds
	charged map[string]int64
	price   int64
	broke   bool
}

type item struct {
	id      int
	created time.Time
	text    int
	there   bool
	pinned  bool
	hid     bool // it was hidden once, so it may return in a place that no poll needs to read
}

// Watched implements [Reader]. The same read is charged once.
func (l *life) Watched(_ context.Context, r Read) (Page, error) {
	if len(l.fails) > 0 {
		err := l.fails[0]
		if l.fails = l.fails[1:]; err != nil {
			return Page{}, err
		}
	}
	if _, ok := l.charged[r.Once]; !ok {
		if l.broke {
			return Page{}, problem.New(problem.InsufficientCredits, "no credits")
		}
		l.charged[r.Once] = l.price
	}
	shown := l.shown()
	from, _ := strconv.Atoi(r.Cursor)
	from = min(from, len(shown))
	to := min(from+l.size, len(shown))
	var data []string
	for _, it := range shown[from:to] {
		data = append(data, string(post(it.id, it.created, strconv.Itoa(it.text))))
	}
	p := Page{Data: []byte("[" + strings.Join(data, ",") + "]"), Credits: l.charged[r.Once]}
	if to < len(shown) {
		p.Next = strconv.Itoa(to)
	}
	return p, nil
}

// shown returns the list, pinned items first.
func (l *life) shown() []*item {
	var out []*item
	for _, it := range l.items {
		if it.there {
			out = append(out, it)
		}
	}
	slices.SortStableFunc(out, func(a, b *item) int { return cmp.Compare(btoi(b.pinned), btoi(a.pinned)) })
	return out
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

func (l *life) add() {
	l.next++
	l.items = append([]*item{{id: l.next, created: l.now, there: true}}, l.items...)
	l.now = l.now.Add(time.Second)
}

// faulty is a store whose commits fail before or after they are made.
type faulty struct {
	Store

	faults []int // for the next commits: 0 none, 1 before, 2 after
}

var errKilled = errors.New("killed")

func (f *faulty) Commit(ctx context.Context, p Poll) error {
	fault := 0
	if len(f.faults) > 0 {
		fault, f.faults = f.faults[0], f.faults[1:]
	}
	if fault == 1 {
		return errKilled
	}
	err := f.Store.Commit(ctx, p)
	if fault == 2 {
		return errKilled
	}
	return err
}

// model is a schedule of one monitor that two replicas poll.
type model struct {
	t       *rapid.T
	life    *life
	store   *faulty
	runners [2]*Runner
	follow  int
	pages   int
	before  map[int]bool // the items that existed when the baseline was read; false: they were hidden
	ready   bool
}

// TestModel runs 100 schedules, or as many as -rapid.checks says:
//
//	go test ./watch -run TestModel -rapid.checks 100000 -timeout 2h
func TestModel(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) { newModel(t).run() })
}

func newModel(t *rapid.T) *model {
	m := &model{
		t: t, follow: rapid.SampledFrom([]int{0, 3, 20}).Draw(t, "follow"), pages: rapid.IntRange(1, 4).Draw(t, "pages"),
		store: &faulty{Store: NewMemory()},
		life: &life{
			now: noon, size: rapid.IntRange(4, 10).Draw(t, "page"), charged: map[string]int64{},
			price: rapid.Int64Range(1, 3).Draw(t, "price"),
		},
	}
	for i := range m.runners {
		m.runners[i] = newRunner(Config{
			Store: m.store, Reader: m.life, Now: func() time.Time { return m.life.now }, Lease: time.Minute,
		})
	}
	for range rapid.IntRange(5, 30).Draw(t, "at first") {
		m.life.add()
	}
	mon := Monitor{
		Account: "acc", Name: "m", Key: "key", CreatedAt: noon,
		Definition: Definition{
			Ask: Ask{Operation: "posts", List: true}, Every: 15 * time.Minute, Pages: m.pages, Follow: m.follow,
		},
	}
	mon.NextAt = m.life.now
	if _, _, err := m.store.Put(t.Context(), mon, 0); err != nil {
		t.Fatal(err)
	}
	return m
}

func (m *model) run() {
	for range rapid.IntRange(3, 12).Draw(m.t, "rounds") {
		m.live()
		m.faults()
		m.round()
	}
	m.life.fails, m.store.faults, m.life.broke = nil, nil, false
	for range 3 { // what is gone is reported at the second miss
		m.life.now = m.life.now.Add(7 * time.Hour)
		m.round()
	}
	m.check()
}

// live changes the upstream at random.
func (m *model) live() {
	l := m.life
	for range rapid.IntRange(0, 6).Draw(m.t, "events") {
		l.now = l.now.Add(time.Second)
		if len(l.items) == 0 || rapid.Bool().Draw(m.t, "appears") {
			l.add()
			continue
		}
		it := l.items[rapid.IntRange(0, min(12, len(l.items)-1)).Draw(m.t, "which")]
		switch rapid.IntRange(0, 3).Draw(m.t, "what") {
		case 0:
			it.text++
		case 1:
			it.there, it.hid = false, true
		case 2:
			it.there = true
		case 3:
			if it.pinned = !it.pinned; it.pinned { // a platform pins at most three
				pins := 0
				for _, other := range l.items {
					if other.pinned {
						pins++
					}
				}
				it.pinned = pins <= leading
			}
		}
	}
	l.now = l.now.Add(time.Duration(rapid.IntRange(1, 40).Draw(m.t, "minutes")) * time.Minute)
	if rapid.IntRange(0, 9).Draw(m.t, "clock") == 0 {
		l.now = l.now.Add(time.Duration(rapid.IntRange(1, 48).Draw(m.t, "jump")) * time.Hour)
	}
}

func (m *model) faults() {
	kinds := []error{
		nil, nil, nil, problem.New(problem.UpstreamTimeout, "late"), problem.New(problem.PlatformUnavailable, "drift"),
	}
	m.life.fails = rapid.SliceOfN(rapid.SampledFrom(kinds), 0, 3).Draw(m.t, "failures")
	m.store.faults = rapid.SliceOfN(rapid.SampledFrom([]int{0, 0, 1, 2}), 0, 2).Draw(m.t, "kills")
	m.life.broke = rapid.IntRange(0, 9).Draw(m.t, "broke") == 0
}

// round lets both replicas poll what is due.
func (m *model) round() {
	for i := range m.runners {
		r := m.runners[rapid.IntRange(0, 1).Draw(m.t, fmt.Sprint("replica ", i))]
		if err := r.round(m.t.Context()); err != nil {
			m.t.Fatal(err)
		}
		r.polls.Wait()
		m.life.now = m.life.now.Add(61 * time.Second) // the lease of a poll that failed expires
		m.note()
	}
}

// note keeps what existed when the baseline was read.
func (m *model) note() {
	mon := m.monitor()
	if m.ready || mon.Snapshot.At.IsZero() {
		return
	}
	m.ready, m.before = true, map[int]bool{}
	for _, it := range m.life.items {
		m.before[it.id] = it.there
	}
}

func (m *model) monitor() Monitor {
	mon, err := m.store.Monitor(m.t.Context(), "acc", "m")
	if err != nil {
		m.t.Fatal(err)
	}
	return mon
}

// check compares the sum of all changes in the feed with the upstream.
func (m *model) check() {
	changes, err := m.store.Changes(m.t.Context(), Since{Account: "acc"})
	if err != nil {
		m.t.Fatal(err)
	}
	told, ids, gaps, last := map[string]int{}, map[string]bool{}, false, map[string][]byte{}
	gone, forgotten := map[string]bool{}, map[string]bool{} // of an object that was gone once, only that is reported
	for i, c := range changes {
		if c.Seq != int64(i)+1 || ids[c.ID] {
			m.t.Fatalf("change %d has the place %d and the id %s", i, c.Seq, c.ID)
		}
		ids[c.ID] = true
		switch c.Type {
		case New:
			told[*c.Key]++
			last[*c.Key] = c.Object
		case Changed:
			last[*c.Key] = c.Object
		case Back:
			last[*c.Key], gone[*c.Key] = c.Object, false
		case Gone:
			gone[*c.Key], forgotten[*c.Key] = true, true
		case Gap:
			gaps = true
		}
	}
	if !m.ready {
		m.t.Fatal("the last polls had no fault, and there is no baseline")
	}
	for _, it := range m.life.items {
		key := strconv.Itoa(it.id)
		there, early := m.before[it.id]
		switch n := told[key]; {
		case there && n > 0:
			m.t.Errorf("item %s was there before the baseline and is told as new", key)
		case n > 1:
			m.t.Errorf("item %s is told %d times", key, n)
		case !early && n == 0 && it.there && !it.hid && !gaps && !forgotten[key]:
			m.t.Errorf("item %s is new and was never told, nor a gap", key)
		}
	}
	m.checkFollowed(last, gone)
	m.checkCharged()
}

// checkFollowed compares the followed items, if all were followed all the time: their last reported state is their
// current one.
func (m *model) checkFollowed(last map[string][]byte, gone map[string]bool) {
	if len(m.life.items) > m.follow {
		return
	}
	mon := m.monitor()
	for _, f := range mon.Snapshot.Followed {
		i := slices.IndexFunc(m.life.items, func(it *item) bool { return strconv.Itoa(it.id) == f.Key })
		it := m.life.items[i]
		if gone[f.Key] {
			m.t.Errorf("item %s is followed and told as gone", f.Key)
		}
		pos := slices.Index(m.life.shown(), it)
		if pos < 0 && !gone[f.Key] && m.reached(it) {
			m.t.Errorf("item %s has gone, and that was not told", f.Key)
		}
		if data := last[f.Key]; data != nil && pos >= 0 && pos < m.life.size {
			var p schema.Post
			if err := json.Unmarshal(data, &p); err != nil {
				m.t.Fatal(err)
			}
			if p.Text != strconv.Itoa(it.text) {
				m.t.Errorf("item %s was told last with %s, and is %d", f.Key, p.Text, it.text)
			}
		}
	}
}

// reached reports whether the last polls must have noticed that an item is missing, because they read at least the
// first page.
func (m *model) reached(it *item) bool {
	shown := m.life.shown()
	return len(shown) <= m.life.size && !it.there
}

// checkCharged compares the charges with the polls that were answered.
func (m *model) checkCharged() {
	sum := int64(0)
	for _, n := range m.life.charged {
		sum += n
	}
	mon := m.monitor()
	if mon.Month == m.life.now.Format("2006-01") && noon.Format("2006-01") == mon.Month && mon.Credits > sum {
		m.t.Errorf("the monitor counts %d credits; %d were charged", mon.Credits, sum)
	}
}
