package watch

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/socialdata/socialdata/privacy"
	"github.com/socialdata/socialdata/schema"
)

// Memory is a [Store] that forgets everything when the process ends.
type Memory struct {
	mu       sync.Mutex
	monitors map[[2]string]*watched
	feeds    map[string]*feed
	outlets  map[EndpointRef]*outlet
}

var (
	_ Store                  = (*Memory)(nil)
	_ privacy.MentionCounter = (*Memory)(nil)
)

// watched is a monitor with the fields that only the store needs.
type watched struct {
	Monitor

	lease   string
	until   time.Time
	samples []Sample
}

// feed is the feed of an account.
type feed struct {
	seq     int64
	ids     map[string]bool
	changes []schema.Change
}

// forget removes everything about an object from the changes of a monitor, except that it is gone.
func (f *feed) forget(monitor string, gone Thing) {
	for i := range f.changes {
		if c := &f.changes[i]; c.Monitor != nil && *c.Monitor == monitor && ThingOf(c) == gone {
			*c = Forget(*c)
		}
	}
}

// NewMemory returns an empty store.
func NewMemory() *Memory {
	return &Memory{monitors: map[[2]string]*watched{}, feeds: map[string]*feed{}, outlets: map[EndpointRef]*outlet{}}
}

// Put implements [Store].
func (s *Memory) Put(ctx context.Context, m Monitor, most int) (Monitor, bool, error) {
	if err := ctx.Err(); err != nil {
		return Monitor{}, false, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	old, ok := s.monitors[[2]string{m.Account, m.Name}]
	if !ok && m.Processed > 0 {
		return Monitor{}, false, ErrAbsent
	}
	if !ok {
		if most > 0 && s.count(m.Account) >= most {
			return Monitor{}, false, ErrFull
		}
		if err := s.putMembers(&m, m, most); err != nil {
			return Monitor{}, false, err
		}
		m.Baseline, m.Progress = 1, Progress{State: Active, NextAt: m.NextAt}
		w := &watched{Monitor: m.copied()}
		s.monitors[[2]string{m.Account, m.Name}] = w
		return w.copied(), true, nil
	}
	if m.Processed == 0 {
		if err := s.putMembers(&old.Monitor, m, most); err != nil {
			return Monitor{}, false, err
		}
	}
	old.replace(m)
	return old.copied(), false, nil
}

// replace gives w the definition of another monitor.
func (w *watched) replace(by Monitor) {
	if w.Replace(by) {
		w.lease, w.until, w.samples = "", time.Time{}, nil
	}
}

// putMembers makes, changes and ends the members of a panel, which is given the definition by.
func (s *Memory) putMembers(m *Monitor, by Monitor, most int) error {
	wanted := map[string]Monitor{}
	for _, value := range by.Members {
		own := by.MemberOf(value, by.NextAt)
		wanted[own.Name] = own
	}
	others := 0
	for _, w := range s.monitors {
		if w.Account == m.Account && w.Panel != "" && w.Panel != m.Name {
			others++
		}
	}
	if most > 0 && others+len(wanted) > most*MembersOf {
		return ErrMembersFull
	}
	for at, w := range s.monitors {
		if w.Account != m.Account || w.Panel != m.Name {
			continue
		}
		own, ok := wanted[w.Name]
		if !ok {
			delete(s.monitors, at)
			continue
		}
		w.replace(own)
		delete(wanted, w.Name)
	}
	for name, own := range wanted {
		s.monitors[[2]string{m.Account, name}] = &watched{Monitor: own}
	}
	return nil
}

// Replace gives m the definition, the key and the pause of another monitor, as described for [Store.Put], and reports
// whether it starts over. It is for implementations of [Store].
func (m *Monitor) Replace(by Monitor) (anew bool) {
	if by.Processed > 0 {
		m.Processed = max(m.Processed, by.Processed)
		return false
	}
	anew = !m.Equal(by.Ask) || m.Each != by.Each
	by = by.copied()
	by.Processed = m.Processed
	m.Definition, m.Key, m.Paused = by.Definition, by.Key, by.Paused
	if anew {
		m.Baseline++
		m.Progress = Progress{State: Active, NextAt: by.NextAt, Month: m.Month, Credits: m.Credits}
	} else if m.State == Stopped {
		m.State, m.NextAt, m.Code, m.Detail = Active, by.NextAt, "", ""
	}
	return anew
}

func (s *Memory) count(account string) int {
	n := 0
	for _, w := range s.monitors {
		if w.Account == account && w.Panel == "" {
			n++
		}
	}
	return n
}

// Pause implements [Store].
func (s *Memory) Pause(ctx context.Context, account, name string, paused bool, next time.Time) (Monitor, error) {
	w, err := s.lock(ctx, account, name)
	if err != nil {
		return Monitor{}, err
	}
	defer s.mu.Unlock()
	for _, own := range s.monitors {
		if own != w && !own.of(w) {
			continue
		}
		own.SetPaused(paused, next)
	}
	return w.copied(), nil
}

// of reports whether w is a member of a panel.
func (w *watched) of(panel *watched) bool { return w.Account == panel.Account && w.Panel == panel.Name }

// SetFeed implements [Store].
func (s *Memory) SetFeed(ctx context.Context, account, name, hash string) (Monitor, error) {
	w, err := s.lock(ctx, account, name)
	if err != nil {
		return Monitor{}, err
	}
	defer s.mu.Unlock()
	if w.Feed == "" || hash == "" {
		w.Feed = hash
	}
	return w.copied(), nil
}

// OfFeed implements [Store].
func (s *Memory) OfFeed(ctx context.Context, hash string) (Monitor, error) {
	if err := ctx.Err(); err != nil {
		return Monitor{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, w := range s.monitors {
		if w.Feed == hash {
			return w.copied(), nil
		}
	}
	return Monitor{}, ErrAbsent
}

// lock returns a monitor and locks the store, unless it fails.
func (s *Memory) lock(ctx context.Context, account, name string) (*watched, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	s.mu.Lock()
	w, ok := s.monitors[[2]string{account, name}]
	if !ok {
		s.mu.Unlock()
		return nil, ErrAbsent
	}
	return w, nil
}

// Monitor implements [Store].
func (s *Memory) Monitor(ctx context.Context, account, name string) (Monitor, error) {
	w, err := s.lock(ctx, account, name)
	if err != nil {
		return Monitor{}, err
	}
	defer s.mu.Unlock()
	return w.copied(), nil
}

// Monitors implements [Store].
func (s *Memory) Monitors(ctx context.Context, account, panel, after string, limit int) ([]Monitor, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	out := []Monitor{}
	for at, w := range s.monitors {
		if at[0] == account && w.Panel == panel && at[1] > after {
			out = append(out, w.copied())
		}
	}
	slices.SortFunc(out, func(a, b Monitor) int { return cmp.Compare(a.Name, b.Name) })
	if limit > 0 {
		out = out[:min(limit, len(out))]
	}
	return out, nil
}

// Coverage implements [Store].
func (s *Memory) Coverage(ctx context.Context, account, panel, month string) (c Coverage, err error) {
	if err := ctx.Err(); err != nil {
		return c, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, w := range s.monitors {
		if w.Account != account || w.Panel != panel {
			continue
		}
		credits, next := int64(0), time.Time{}
		if w.Month == month {
			credits = w.Credits
		}
		if w.Due() {
			next = w.NextAt
		}
		c.Add(w.Stage(), 1, credits, w.Snapshot.At, next)
		if w.Code != "" {
			c.Code, c.Detail = w.Code, w.Detail
		}
	}
	return c, nil
}

// End implements [Store].
func (s *Memory) End(ctx context.Context, account, name string) error {
	w, err := s.lock(ctx, account, name)
	if err != nil {
		return err
	}
	defer s.mu.Unlock()
	maps.DeleteFunc(s.monitors, func(_ [2]string, own *watched) bool { return own == w || own.of(w) })
	return nil
}

// Claim implements [Store].
func (s *Memory) Claim(ctx context.Context, now time.Time, n int, lease time.Duration) ([]Claim, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	var due []*watched
	for _, w := range s.monitors {
		if w.Due() && !w.NextAt.After(now) && !w.until.After(now) {
			due = append(due, w)
		}
	}
	slices.SortFunc(due, func(a, b *watched) int {
		return cmp.Or(a.NextAt.Compare(b.NextAt), a.Snapshot.At.Compare(b.Snapshot.At), cmp.Compare(a.Name, b.Name))
	})
	var out []Claim
	left := map[[2]string]int{} // how many more of each panel are claimed
	for _, w := range due {
		if w.Panel != "" && w.Together {
			panel := [2]string{w.Account, w.Panel}
			if _, ok := left[panel]; !ok && n > 0 {
				if s.inProgress(w, now) < MostInProgress {
					left[panel] = PanelClaim
					n--
				}
			}
			if left[panel]--; left[panel] < 0 {
				continue
			}
		} else if n--; n < 0 {
			continue
		}
		w.lease, w.until = rand.Text(), now.Add(lease)
		out = append(out, Claim{Monitor: w.copied(), Due: w.NextAt, Lease: w.lease, Until: w.until})
	}
	return out, nil
}

// inProgress returns how many members of a member's panel are claimed.
func (s *Memory) inProgress(of *watched, now time.Time) (n int) {
	for _, w := range s.monitors {
		if w.Account == of.Account && w.Panel == of.Panel && w.until.After(now) {
			n++
		}
	}
	return n
}

// SetPaused pauses or resumes m, as described for [Store.Pause]. It is for implementations of [Store].
func (m *Monitor) SetPaused(paused bool, next time.Time) {
	if m.Paused && !paused && m.NextAt.Before(next) {
		m.NextAt = next
	}
	m.Paused = paused
}

// Commit implements [Store].
func (s *Memory) Commit(ctx context.Context, p Poll) error {
	m := &p.Claim.Monitor
	w, err := s.lock(ctx, m.Account, m.Name)
	if err != nil {
		if ctx.Err() == nil {
			return ErrLease
		}
		return err
	}
	defer s.mu.Unlock()
	if w.lease == "" || w.lease != p.Claim.Lease || w.Baseline != m.Baseline {
		return ErrLease
	}
	w.lease, w.until = "", time.Time{}
	w.Progress = p.Progress.copied()
	w.samples = append(w.samples, p.Samples...)
	for _, gone := range p.Gone() {
		if f := s.feeds[m.Account]; f != nil {
			f.forget(m.shownName(), gone)
		}
		if !m.List {
			w.samples = nil
		}
	}
	s.tell(m.Account, p.Changes)
	return nil
}

// tell adds changes to an account's feed, except those that are in it already.
func (s *Memory) tell(account string, changes []schema.Change) {
	f := s.feeds[account]
	if f == nil {
		f = &feed{ids: map[string]bool{}}
		s.feeds[account] = f
	}
	for _, c := range changes {
		if f.ids[c.ID] {
			continue
		}
		f.seq++
		c.Seq, f.ids[c.ID] = f.seq, true
		f.changes = append(f.changes, copied(c))
	}
}

// Changes implements [Store].
func (s *Memory) Changes(ctx context.Context, q Since) ([]schema.Change, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	out := []schema.Change{}
	f := s.feeds[q.Account]
	if f == nil {
		return out, nil
	}
	found := f.behind(q.After)
	if q.Newest {
		found = slices.Clone(found)
		slices.Reverse(found)
	}
	for _, c := range found {
		if q.Limit > 0 && len(out) == q.Limit {
			break
		}
		if q.Matches(&c) {
			out = append(out, copied(c))
		}
	}
	return out, nil
}

// behind returns the changes with a larger Seq.
func (f *feed) behind(seq int64) []schema.Change {
	from, _ := slices.BinarySearchFunc(f.changes, seq+1,
		func(c schema.Change, seq int64) int { return cmp.Compare(c.Seq, seq) })
	return f.changes[from:]
}

// excess returns the Seq of the last change that does not fit into most bytes with those after it; 0 when all fit.
func (f *feed) excess(most int64) int64 {
	if most == 0 {
		return 0
	}
	for i := len(f.changes) - 1; i >= 0; i-- {
		if most -= size(&f.changes[i]); most < 0 {
			return f.changes[i].Seq
		}
	}
	return 0
}

// size returns the approximate size of a change in bytes.
func size(c *schema.Change) int64 {
	n := changeSize + len(c.Object)
	for _, f := range c.Fields {
		n += len(f.Field) + len(f.Before) + len(f.After)
	}
	return int64(n)
}

// Matches reports whether q selects a change, regardless of its Seq.
func (q *Since) Matches(c *schema.Change) bool {
	return (q.Monitor == "" || c.Monitor != nil && *c.Monitor == q.Monitor) && (q.Type == "" || c.Type == q.Type) &&
		!c.At.Before(q.From)
}

// Samples implements [Store].
func (s *Memory) Samples(ctx context.Context, q Numbers) ([]Sample, error) {
	w, err := s.lock(ctx, q.Account, q.Monitor)
	if err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	out := []Sample{}
	for _, v := range w.samples {
		if v.Field == q.Field && !v.At.Before(q.Since) && (q.Until.IsZero() || v.At.Before(q.Until)) &&
			(q.Limit <= 0 || len(out) < q.Limit) {
			out = append(out, v)
		}
	}
	return out, nil
}

// Sweep implements [Store].
func (s *Memory) Sweep(ctx context.Context, l Limits) (more bool, err error) {
	if err := ctx.Err(); err != nil {
		return false, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for account, f := range s.feeds {
		excess := f.excess(l.Bytes)
		f.changes = slices.DeleteFunc(f.changes, func(c schema.Change) bool {
			if !c.At.Before(l.Changes) && c.Seq > excess {
				return false
			}
			delete(f.ids, c.ID)
			s.forget(account, c.Seq, false)
			return true
		})
		for i := range f.changes {
			if c := &f.changes[i]; HasContent(c) && c.At.Before(l.Content.At(ThingOf(c).Platform)) {
				*c = Bare(*c)
			}
		}
	}
	for _, w := range s.monitors {
		w.Expire(l.Content)
		last := map[dayOf]time.Time{}
		for _, v := range w.samples {
			last[dayOf{v.Field, v.At.UTC().Format(time.DateOnly)}] = v.At
		}
		w.samples = slices.DeleteFunc(w.samples, func(v Sample) bool {
			return v.At.Before(l.Samples) ||
				v.At.Before(l.Raw) && last[dayOf{v.Field, v.At.UTC().Format(time.DateOnly)}].After(v.At)
		})
	}
	return false, nil
}

type dayOf struct{ field, day string }

// copied returns a deep copy of m.
func (m *Monitor) copied() Monitor {
	own := *m
	own.Params, own.Fields, own.Alerts = maps.Clone(m.Params), slices.Clone(m.Fields), slices.Clone(m.Alerts)
	own.Progress = m.Progress.copied()
	return own
}

// copied returns a deep copy of p.
func (p *Progress) copied() Progress {
	own := *p
	own.Snapshot = p.Snapshot.copied()
	return own
}

func copied(c schema.Change) schema.Change {
	c.Object, c.Fields = bytes.Clone(c.Object), slices.Clone(c.Fields)
	return c
}
