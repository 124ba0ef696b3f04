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

	"github.com/socialdata/socialdata/internal/testsize"
	"github.com/socialdata/socialdata/problem"
	"github.com/socialdata/socialdata/schema"
)

// life is an upstream with a list that changes: items appear, change, vanish and return, are pinned, and are hidden by
// failures.
type life struct {
	now     time.Time // of the replicas
	latest  time.Time // the latest now
	clock   time.Time // of the upstream, which only goes forward
	next    int
	items   []*item // newest first
	size    int     // items in a page
	fails   []error // results of the next reads; nil succeeds
	charged map[string]int64
	price   int64
	broke   bool
	mixed   bool   // items are not in the order in which they appeared
	repeats bool   // a page begins with the last item of the page before it
	slow    []bool // for the next reads: another replica polls before they are answered
	elapse  func() // lets the lease of the poll that reads expire, and the other replica poll
}

type item struct {
	id      int
	created time.Time
	text    int
	there   bool
	pinned  bool
	hid     bool // it was hidden or moved once, so it may be in a place that no poll needs to read
}

// Watched implements [Reader]. The same read is charged once.
func (l *life) Watched(_ context.Context, r Read) (Page, error) {
	if len(l.slow) > 0 {
		slow := l.slow[0]
		if l.slow = l.slow[1:]; slow {
			l.slow = nil // the other replica is answered
			l.elapse()
		}
	}
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
	begin := from
	if l.repeats && from > 0 {
		begin--
	}
	for _, it := range shown[begin:to] {
		data = append(data, string(post(it.id, it.created, strconv.Itoa(it.text))))
	}
	p := Page{Data: []byte("[" + strings.Join(data, ",") + "]"), Credits: l.charged[r.Once]}
	if to < len(shown) {
		p.Next = strconv.Itoa(to)
	}
	return p, nil
}

// Together implements [Reader].
func (l *life) Together(ctx context.Context, _ int) context.Context { return ctx }

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

// pass lets time pass everywhere.
func (l *life) pass(d time.Duration) {
	l.now, l.clock = l.now.Add(d), l.clock.Add(d)
	if l.now.After(l.latest) {
		l.latest = l.now
	}
}

// time returns the time of the replicas.
func (l *life) time() time.Time { return l.now }

func (l *life) add() {
	l.next++
	l.items = append([]*item{{id: l.next, created: l.clock, there: true}}, l.items...)
	l.pass(time.Second)
}

// faulty is a store whose calls fail before or after they are made: the replica that makes them is killed there.
type faulty struct {
	Store

	claims, commits []kill // of the next calls
}

type kill int

const (
	alive kill = iota
	before
	after
)

var errKilled = errors.New("killed")

// next returns and removes the first of kills.
func (f *faulty) next(kills *[]kill) kill {
	if len(*kills) == 0 {
		return alive
	}
	k := (*kills)[0]
	*kills = (*kills)[1:]
	return k
}

func (f *faulty) Claim(ctx context.Context, now time.Time, n int, lease time.Duration) ([]Claim, error) {
	k := f.next(&f.claims)
	if k == before {
		return nil, errKilled
	}
	claims, err := f.Store.Claim(ctx, now, n, lease)
	if k == after {
		return nil, errKilled
	}
	return claims, err
}

func (f *faulty) Commit(ctx context.Context, p Poll) error {
	k := f.next(&f.commits)
	if k == before {
		return errKilled
	}
	err := f.Store.Commit(ctx, p)
	if k == after {
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
	polling int // the runner whose turn it is
	follow  int
	pages   int
	before  map[int]bool // the items that existed when the baseline was read; false: they were hidden
	beyond  map[int]bool // those of them after the first page, which the baseline need not have read
	ready   bool
}

// TestModel plays 2,000 schedules, or 100,000:
//
//	SIZE=full go test -timeout 2h -run TestModel ./watch
func TestModel(t *testing.T) { // not parallel: it sets a flag
	testsize.Checks(t, 2000, 100_000)
	rapid.Check(t, func(t *rapid.T) { newModel(t).run() })
}

func newModel(t *rapid.T) *model {
	m := &model{
		t: t, follow: rapid.SampledFrom([]int{0, 3, 20}).Draw(t, "follow"), pages: rapid.IntRange(1, 4).Draw(t, "pages"),
		store: &faulty{Store: NewMemory()},
		life: &life{
			now: noon, clock: noon, size: rapid.IntRange(4, 10).Draw(t, "page"), charged: map[string]int64{},
			price: rapid.Int64Range(1, 3).Draw(t, "price"),
		},
	}
	m.life.elapse = func() { // the other replica polls, and then the one that reads is answered
		m.life.pass(61 * time.Second)
		_ = m.poll(m.runners[1-m.polling])
		m.note()
	}
	for i := range m.runners {
		m.runners[i] = newRunner(Config{
			Store: m.store, Reader: m.life, Now: m.life.time, Lease: time.Minute,
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
	m.life.fails, m.life.slow, m.store.claims, m.store.commits, m.life.broke = nil, nil, nil, nil, false
	// A monitor is not polled before the clock is again where it was.
	m.life.now = m.life.latest
	for range 3 { // what is gone is reported at the second miss
		m.life.pass(7 * time.Hour)
		m.round()
	}
	m.check()
}

// live changes the upstream at random.
func (m *model) live() {
	l := m.life
	for range rapid.IntRange(0, 6).Draw(m.t, "events") {
		l.pass(time.Second)
		if len(l.items) == 0 || rapid.Bool().Draw(m.t, "appears") {
			l.add()
			continue
		}
		it := l.items[rapid.IntRange(0, min(12, len(l.items)-1)).Draw(m.t, "which")]
		switch rapid.IntRange(0, 4).Draw(m.t, "what") {
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
		case 4: // the platform shows two in another order: the one that moves down may move behind what is known
			if i := slices.Index(l.items, it); i > 0 {
				l.mixed, l.items[i-1].hid = true, true
				l.items[i-1], l.items[i] = it, l.items[i-1]
			}
		}
	}
	l.pass(time.Duration(rapid.IntRange(1, 40).Draw(m.t, "minutes")) * time.Minute)
	if rapid.IntRange(0, 9).Draw(m.t, "clock") == 0 {
		l.now = l.now.Add(time.Duration(rapid.IntRange(-48, 48).Draw(m.t, "jump")) * time.Hour)
		l.pass(0)
	}
}

func (m *model) faults() {
	kinds := []error{
		nil, nil, nil, problem.New(problem.UpstreamTimeout, "late"), problem.New(problem.PlatformUnavailable, "drift"),
	}
	m.life.fails = rapid.SliceOfN(rapid.SampledFrom(kinds), 0, 3).Draw(m.t, "failures")
	kills := rapid.SliceOfN(rapid.SampledFrom([]kill{alive, alive, before, after}), 0, 2)
	m.store.claims, m.store.commits = kills.Draw(m.t, "killed in a claim"), kills.Draw(m.t, "killed in a commit")
	m.life.slow = rapid.SliceOfN(rapid.SampledFrom([]bool{false, false, true}), 0, 2).Draw(m.t, "leases lost")
	m.life.repeats = rapid.Bool().Draw(m.t, "repeats")
	m.life.broke = rapid.IntRange(0, 9).Draw(m.t, "broke") == 0
}

// round lets both replicas poll what is due.
func (m *model) round() {
	for i := range m.runners {
		m.polling = rapid.IntRange(0, 1).Draw(m.t, fmt.Sprint("replica ", i))
		if err := m.poll(m.runners[m.polling]); err != nil && !errors.Is(err, errKilled) {
			m.t.Fatal(err)
		}
		m.life.pass(61 * time.Second) // the lease of a poll that failed expires
		m.note()
	}
}

// poll lets a replica poll the monitor if it is due. It polls like [Runner.round], but without a goroutine, so that a
// schedule is always played in the same way.
func (m *model) poll(r *Runner) error {
	claims, err := m.store.Claim(m.t.Context(), r.cfg.Now(), 1, r.cfg.Lease)
	if err != nil || len(claims) == 0 {
		return err
	}
	return r.poll(m.t.Context(), claims[0])
}

// note keeps what existed when the baseline was read.
func (m *model) note() {
	mon := m.monitor()
	if m.ready || mon.Snapshot.At.IsZero() {
		return
	}
	m.ready, m.before, m.beyond = true, map[int]bool{}, map[int]bool{}
	for _, it := range m.life.items {
		m.before[it.id] = it.there
	}
	for i, it := range m.life.shown() {
		m.beyond[it.id] = i >= m.life.size
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
		case there && n > 0 && m.life.mixed && m.beyond[it.id]: // without an order, what was never seen is new
		case there && n > 0:
			m.t.Errorf("item %s was there before the baseline and is reported as new", key)
		case n > 1:
			m.t.Errorf("item %s is reported %d times", key, n)
		case !early && n == 0 && it.there && !it.hid && !gaps && !forgotten[key]:
			m.t.Errorf("item %s is new, and neither it nor a gap was reported", key)
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
			m.t.Errorf("item %s is followed and was reported as gone", f.Key)
		}
		pos := slices.Index(m.life.shown(), it)
		if pos < 0 && !gone[f.Key] && m.reached(it) {
			m.t.Errorf("item %s is gone, and that was not reported", f.Key)
		}
		if data := last[f.Key]; data != nil && pos >= 0 && pos < m.life.size {
			var p schema.Post
			if err := json.Unmarshal(data, &p); err != nil {
				m.t.Fatal(err)
			}
			if p.Text != strconv.Itoa(it.text) {
				m.t.Errorf("item %s was last reported with %s, and has %d", f.Key, p.Text, it.text)
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
