package privacy

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"maps"
	"slices"
	"sync"
	"time"
)

// Memory is a [Blocklist] that forgets everything when the process ends.
type Memory struct {
	now    func() time.Time
	secret []byte

	mu        sync.Mutex
	epoch     int64
	blocked   map[[sha256.Size]byte][]Name
	erased    []erasedAt
	processes map[string]Process
	receipts  []Receipt
}

type erasedAt struct {
	Erased

	at time.Time
}

var _ Blocklist = (*Memory)(nil)

// MemoryConfig configures a [Memory]. The zero value is ready to use.
type MemoryConfig struct {
	Now func() time.Time // the clock; nil means time.Now
}

// NewMemory returns an empty Blocklist with a new secret.
func NewMemory(cfg MemoryConfig) *Memory {
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	m := &Memory{
		now: cfg.Now, secret: make([]byte, SecretLen), blocked: map[[sha256.Size]byte][]Name{},
		processes: map[string]Process{},
	}
	rand.Read(m.secret) // never returns an error
	return m
}

// Secret implements [Blocklist].
func (m *Memory) Secret(ctx context.Context) ([]byte, error) { return m.secret, ctx.Err() }

// Announce implements [Blocklist].
func (m *Memory) Announce(ctx context.Context, a Announcement) (int64, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	now := m.now()
	m.mu.Lock()
	defer m.mu.Unlock()
	m.epoch++
	m.erased = slices.DeleteFunc(m.erased, func(e erasedAt) bool { return now.Sub(e.at) > Lately })
	for _, name := range a.Erased {
		m.erased = append(m.erased, erasedAt{Erased{name, m.epoch}, now})
	}
	if a.Unblock {
		delete(m.blocked, a.Digest)
	}
	if len(a.Block) > 0 {
		names := append(slices.Clone(m.blocked[a.Digest]), a.Block...)
		slices.Sort(names)
		m.blocked[a.Digest] = slices.Compact(names)
	}
	return m.epoch, nil
}

// Epoch implements [Blocklist].
func (m *Memory) Epoch(ctx context.Context) (int64, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.epoch, ctx.Err()
}

// Load implements [Blocklist].
func (m *Memory) Load(ctx context.Context) (State, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	s := State{Epoch: m.epoch}
	for _, names := range m.blocked {
		s.Blocked = append(s.Blocked, names...)
	}
	for _, e := range m.erased {
		s.Erased = append(s.Erased, e.Erased)
	}
	return s, ctx.Err()
}

// Renew implements [Blocklist].
func (m *Memory) Renew(ctx context.Context, process string, at int64) (int64, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.processes[process] = Process{process, at, m.now()}
	return m.epoch, nil
}

// Leave implements [Blocklist].
func (m *Memory) Leave(ctx context.Context, process string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.processes, process)
	return ctx.Err()
}

// Living implements [Blocklist].
func (m *Memory) Living(ctx context.Context) ([]Process, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := m.now()
	maps.DeleteFunc(m.processes, func(_ string, p Process) bool { return now.Sub(p.Seen) >= Dead })
	out := slices.SortedFunc(maps.Values(m.processes), func(a, b Process) int { return cmp.Compare(a.ID, b.ID) })
	return out, ctx.Err()
}

// Append implements [Blocklist].
func (m *Memory) Append(ctx context.Context, r Receipt) (Receipt, error) {
	if err := ctx.Err(); err != nil {
		return Receipt{}, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	var last Receipt
	if n := len(m.receipts); n > 0 {
		last = m.receipts[n-1]
	}
	r.Removed = maps.Clone(r.Removed)
	r = r.Seal(last)
	m.receipts = append(m.receipts, r)
	return r, nil
}

// Receipts implements [Blocklist].
func (m *Memory) Receipts(ctx context.Context, after int64, limit int) ([]Receipt, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	rest := m.receipts[min(max(after, 0), int64(len(m.receipts))):]
	if limit > 0 {
		rest = rest[:min(limit, len(rest))]
	}
	out := make([]Receipt, 0, len(rest))
	for _, r := range rest {
		r.Removed = maps.Clone(r.Removed)
		out = append(out, r)
	}
	return out, ctx.Err()
}
