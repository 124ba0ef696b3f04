package requests

import (
	"context"
	"sync"
	"time"
)

// Memory is a [Store] that forgets everything when the process ends. Its methods only fail with [ErrFolded].
type Memory struct {
	bounds Bounds

	mu     sync.Mutex
	ring   []Request
	next   int // index of the oldest, once the ring is full
	seq    int64
	usage  Tallies
	oldest int64 // first day of the usage
	folded map[string]int64
}

var _ Store = (*Memory)(nil)

// NewMemory returns an empty Memory with the limits b.
func NewMemory(b Bounds) *Memory {
	return &Memory{bounds: b.Filled(), usage: Tallies{}, folded: map[string]int64{}}
}

// Note adds one request and its tallies, like [Memory.Add] for a single request.
func (m *Memory) Note(r Request) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.usage.Count(&r)
	m.add(r)
}

// Add implements [Store].
func (m *Memory) Add(_ context.Context, added []Request, tallies []Tally) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	for i := range added {
		m.add(added[i])
	}
	m.usage.Add(tallies)
	return nil
}

// add stores r, replacing the oldest when the log is full.
func (m *Memory) add(r Request) {
	m.seq++
	r.Seq = m.seq
	if day := DayOf(r.At) - int64(m.bounds.Days) + 1; day > m.oldest {
		m.usage.forget(day)
		m.oldest = day
	}
	if len(m.ring) < m.bounds.Most {
		m.ring = append(m.ring, r)
		return
	}
	m.ring[m.next] = r
	m.next = (m.next + 1) % m.bounds.Most
}

// List implements [Store].
func (m *Memory) List(_ context.Context, q Query) ([]Request, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var out []Request
	for i := range m.ring {
		if q.Limit > 0 && len(out) == q.Limit {
			break
		}
		r := &m.ring[(m.next+len(m.ring)-1-i)%len(m.ring)]
		if r.Seq <= q.After {
			break
		}
		if q.Selects(r) {
			out = append(out, *r)
		}
	}
	return out, nil
}

// Trim implements [Store]. The limits of m apply in any case.
func (m *Memory) Trim(_ context.Context, b Bounds, now time.Time) error {
	b = b.Filled()
	m.mu.Lock()
	defer m.mu.Unlock()
	kept := make([]Request, 0, len(m.ring))
	for i := range m.ring {
		r := m.ring[(m.next+i)%len(m.ring)]
		if len(m.ring)-i <= b.Most && now.Sub(r.At) < b.Life {
			kept = append(kept, r)
		}
	}
	m.ring, m.next = kept, 0
	m.usage.forget(DayOf(now) - int64(b.Days) + 1)
	return nil
}

// Folded implements [Store].
func (m *Memory) Folded(_ context.Context, account string) (int64, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.folded[account], nil
}

// Fold implements [Store].
func (m *Memory) Fold(_ context.Context, account string, after, through int64, tallies []Tally) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.folded[account] != after {
		return ErrFolded
	}
	m.folded[account] = through
	m.usage.Add(tallies)
	return nil
}

// Sums implements [Store].
func (m *Memory) Sums(_ context.Context, q SumQuery) ([]Tally, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	sums := Tallies{}
	for p, counts := range m.usage {
		if q.selects(p) {
			p = q.by(p)
			for what, n := range counts {
				sums.count(p, what, n)
			}
		}
	}
	return sums.List(), nil
}
