package records

import (
	"bytes"
	"context"
	"slices"
	"strings"
	"sync"
	"time"
)

// Memory is a [Store] that forgets everything when the process ends.
type Memory struct {
	now func() time.Time

	mu      sync.Mutex
	records map[string]record
	sweepAt int // number of records at which the dead ones are looked for
}

var _ Store = (*Memory)(nil)

type record struct {
	value   []byte
	expires time.Time
}

// sweepFrom is the lowest number of records at which the dead ones are looked for.
const sweepFrom = 1024

// MemoryConfig says how a [Memory] works. The zero value is ready for use.
type MemoryConfig struct {
	Now func() time.Time // the clock; nil means time.Now
}

// NewMemory returns an empty store.
func NewMemory(cfg MemoryConfig) *Memory {
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	return &Memory{now: cfg.Now, records: map[string]record{}, sweepAt: sweepFrom}
}

// Get implements [Store].
func (m *Memory) Get(ctx context.Context, key string) ([]byte, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	r, ok := m.live(key)
	if !ok {
		return nil, ErrAbsent
	}
	return bytes.Clone(r.value), nil
}

// Put implements [Store].
func (m *Memory) Put(ctx context.Context, key string, value []byte, ttl time.Duration) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.put(key, value, ttl)
	return nil
}

// Add implements [Store].
func (m *Memory) Add(
	ctx context.Context, key string, value []byte, ttl time.Duration,
) (existing []byte, added bool, err error) {
	if err := ctx.Err(); err != nil {
		return nil, false, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if r, ok := m.live(key); ok {
		return bytes.Clone(r.value), false, nil
	}
	m.put(key, value, ttl)
	return nil, true, nil
}

// Delete implements [Store].
func (m *Memory) Delete(ctx context.Context, key string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.records, key)
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

// Len returns how many records are in memory, those whose time has passed and that no sweep has met yet among them.
func (m *Memory) Len() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.records)
}

func (m *Memory) live(key string) (record, bool) {
	r, ok := m.records[key]
	return r, ok && m.now().Before(r.expires)
}

func (m *Memory) put(key string, value []byte, ttl time.Duration) {
	// An empty value is kept as one that is there.
	m.records[key] = record{value: append([]byte{}, value...), expires: m.now().Add(ttl)}
	if len(m.records) < m.sweepAt {
		return
	}
	for key := range m.records {
		if _, ok := m.live(key); !ok {
			delete(m.records, key)
		}
	}
	// Twice what is live: a sweep then costs each put a constant share.
	m.sweepAt = max(sweepFrom, 2*len(m.records))
}
