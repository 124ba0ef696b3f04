package records

import (
	"bytes"
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/socialdata/socialdata/privacy"
)

// Memory is a [Store] in the memory of the process.
type Memory struct {
	now        func() time.Time
	ownerBytes int64

	mu      sync.Mutex
	records map[string]record
	owners  map[string]*owner
	version int64 // of the last write
	sweepAt int   // number of records at which expired ones are removed
}

var (
	_ Store                  = (*Memory)(nil)
	_ privacy.MentionCounter = (*Memory)(nil)
)

type record struct {
	Record
	expires time.Time
}

// owner is the records of one owner, including expired ones that were not removed yet.
type owner struct {
	bytes int64
	keys  map[string]struct{}
	first time.Time // when the first of them expires; zero when that is not known
}

// sweepFrom is the lowest number of records at which expired ones are removed.
const sweepFrom = 1024

// MemoryConfig configures a [Memory]. The zero value is ready to use.
type MemoryConfig struct {
	Now        func() time.Time // the clock; nil means time.Now
	OwnerBytes int64            // the maximum for the records of one owner; 0 or less means DefaultOwnerBytes
}

// NewMemory returns an empty store.
func NewMemory(cfg MemoryConfig) *Memory {
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.OwnerBytes <= 0 {
		cfg.OwnerBytes = DefaultOwnerBytes
	}
	return &Memory{
		now: cfg.Now, ownerBytes: cfg.OwnerBytes, records: map[string]record{}, owners: map[string]*owner{},
		sweepAt: sweepFrom,
	}
}

// Get implements [Store].
func (m *Memory) Get(ctx context.Context, key string) (Record, error) {
	if err := ctx.Err(); err != nil {
		return Record{}, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	r, ok := m.live(key)
	if !ok {
		return Record{}, ErrAbsent
	}
	return r.copied(), nil
}

// Put implements [Store].
func (m *Memory) Put(ctx context.Context, r Record, ttl time.Duration) (version int64, err error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if old, ok := m.live(r.Key); r.Version != 0 && (!ok || old.Version != r.Version) {
		return 0, ErrConflict
	}
	written, err := m.put(r, ttl)
	return written.Version, err
}

// Add implements [Store].
func (m *Memory) Add(ctx context.Context, r Record, ttl time.Duration) (stored Record, added bool, err error) {
	if err := ctx.Err(); err != nil {
		return Record{}, false, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if old, ok := m.live(r.Key); ok {
		return old.copied(), false, nil
	}
	stored, err = m.put(r, ttl)
	return stored.copied(), err == nil, err
}

// Delete implements [Store].
func (m *Memory) Delete(ctx context.Context, key string, version int64) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if old, ok := m.live(key); ok && version != 0 && old.Version != version {
		return ErrConflict
	}
	m.remove(key)
	return nil
}

// Keys implements [Store].
func (m *Memory) Keys(ctx context.Context, prefix string) ([]string, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	found := []string{}
	for key := range m.records {
		if _, ok := m.live(key); ok && strings.HasPrefix(key, prefix) {
			found = append(found, key)
		}
	}
	slices.Sort(found)
	return found, nil
}

// Erase implements [Store].
func (m *Memory) Erase(ctx context.Context, s privacy.Subject) (map[string]int, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	removed := map[string]int{}
	for key, r := range m.records {
		if !s.In(r.Subjects) {
			continue
		}
		if removed[Kind(key)]++; !s.DryRun {
			m.remove(key)
		}
	}
	return removed, nil
}

// Mentions implements [privacy.MentionCounter].
func (m *Memory) Mentions(ctx context.Context, s privacy.Subject) (n int, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, r := range m.records {
		if Mentions(r.Value, r.Subjects, s) {
			n++
		}
	}
	return n, ctx.Err()
}

// Len returns how many records are in memory, including expired ones that were not removed yet.
func (m *Memory) Len() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.records)
}

func (m *Memory) live(key string) (record, bool) {
	r, ok := m.records[key]
	return r, ok && m.now().Before(r.expires)
}

// copied returns r with a copy of its value. An empty value is not nil in the copy.
func (r Record) copied() Record {
	r.Value, r.Subjects = append([]byte{}, r.Value...), ""
	return r
}

// put writes r and returns it as it is stored.
func (m *Memory) put(r Record, ttl time.Duration) (Record, error) {
	if old, ok := m.live(r.Key); r.Owner != "" && (!ok || old.Owner != r.Owner) {
		if err := m.room(r); err != nil {
			return Record{}, err
		}
	}
	m.remove(r.Key)
	m.version++
	r.Version, r.Value = m.version, bytes.Clone(r.Value)
	written := record{r, m.now().Add(ttl)}
	m.records[r.Key] = written
	m.count(written)
	if len(m.records) >= m.sweepAt {
		m.sweep()
	}
	return r, nil
}

// count adds a new record to those of its owner.
func (m *Memory) count(r record) {
	if r.Owner == "" {
		return
	}
	o, ok := m.owners[r.Owner]
	if !ok {
		o = &owner{keys: map[string]struct{}{}, first: r.expires}
		m.owners[r.Owner] = o
	}
	o.bytes += r.Size()
	o.keys[r.Key] = struct{}{}
	if r.expires.Before(o.first) { // false also when first is unknown
		o.first = r.expires
	}
}

func (m *Memory) remove(key string) {
	r, ok := m.records[key]
	if !ok {
		return
	}
	delete(m.records, key)
	o, ok := m.owners[r.Owner]
	if !ok {
		return
	}
	o.bytes -= r.Size()
	if r.expires.Equal(o.first) {
		o.first = time.Time{}
	}
	if delete(o.keys, key); len(o.keys) == 0 {
		delete(m.owners, r.Owner)
	}
}

// room returns a QuotaError if r exceeds what its owner has left. It first removes expired records of the owner if that
// can make enough room.
func (m *Memory) room(r Record) error {
	o, ok := m.owners[r.Owner]
	if !ok {
		o = &owner{}
	}
	if o.bytes+r.Size() > m.ownerBytes && !m.now().Before(o.first) {
		m.expire(o)
	}
	if o.bytes+r.Size() <= m.ownerBytes {
		return nil
	}
	return &QuotaError{Owner: r.Owner, Bytes: m.ownerBytes, RetryAfter: max(0, o.first.Sub(m.now()))}
}

// expire removes an owner's expired records and finds out when the first of the others expires.
func (m *Memory) expire(o *owner) {
	first := time.Time{}
	for key := range o.keys {
		switch r, ok := m.live(key); {
		case !ok:
			m.remove(key)
		case first.IsZero() || r.expires.Before(first):
			first = r.expires
		}
	}
	o.first = first
}

// sweep removes expired records.
func (m *Memory) sweep() {
	for key := range m.records {
		if _, ok := m.live(key); !ok {
			m.remove(key)
		}
	}
	// Twice the live records: then a sweep costs each put a constant amount.
	m.sweepAt = max(sweepFrom, 2*len(m.records))
}
