package account

import (
	"context"
	"time"

	"github.com/socialdata/socialdata/privacy"
	"github.com/socialdata/socialdata/store/records"
)

// Records returns s protected by the guard.
func (g *Guard) Records(s records.Store) records.Store {
	g.records.probe = func(ctx context.Context) error {
		_, err := s.Get(ctx, "probe")
		return err
	}
	return guarded{s, &g.records}
}

// guarded is a store of records with its gate.
type guarded struct {
	store records.Store
	gate  *gate
}

// Get implements [records.Store].
func (g guarded) Get(ctx context.Context, key string) (r records.Record, err error) {
	bounded, err := g.gate.enter(ctx, 0)
	if err != nil {
		return r, err
	}
	defer bounded.leave(&err)
	return g.store.Get(bounded, key)
}

// Put implements [records.Store].
func (g guarded) Put(ctx context.Context, r records.Record, ttl time.Duration) (version int64, err error) {
	bounded, err := g.gate.enter(ctx, 0)
	if err != nil {
		return 0, err
	}
	defer bounded.leave(&err)
	return g.store.Put(bounded, r, ttl)
}

// Add implements [records.Store].
func (g guarded) Add(
	ctx context.Context, r records.Record, ttl time.Duration,
) (current records.Record, added bool, err error) {
	bounded, err := g.gate.enter(ctx, 0)
	if err != nil {
		return current, false, err
	}
	defer bounded.leave(&err)
	return g.store.Add(bounded, r, ttl)
}

// Delete implements [records.Store].
func (g guarded) Delete(ctx context.Context, key string, version int64) (err error) {
	bounded, err := g.gate.enter(ctx, 0)
	if err != nil {
		return err
	}
	defer bounded.leave(&err)
	return g.store.Delete(bounded, key, version)
}

// Erase implements [records.Store]. It has no time limit, because no call waits for it.
func (g guarded) Erase(ctx context.Context, s privacy.Subject) (map[string]int, error) {
	return g.store.Erase(ctx, s)
}

// Keys implements [records.Store].
func (g guarded) Keys(ctx context.Context, prefix string) (keys []string, err error) {
	bounded, err := g.gate.enter(ctx, 0)
	if err != nil {
		return nil, err
	}
	defer bounded.leave(&err)
	return g.store.Keys(bounded, prefix)
}
