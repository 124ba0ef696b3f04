package records

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// ErrSlow means that a store has not answered in time. It may still have written.
var ErrSlow = errors.New("records: the store has not answered in time")

// Within returns s with a time limit for each of its calls, so that a store that hangs does not block callers for
// longer.
func Within(s Store, limit time.Duration) Store { return within{s, limit} }

type within struct {
	Store
	limit time.Duration
}

// begin limits a call. The caller defers end, which distinguishes the end of the limit from the end of the caller's own
// context.
func (w within) begin(ctx context.Context) (bounded context.Context, end func(*error)) {
	bounded, cancel := context.WithTimeout(ctx, w.limit)
	return bounded, func(err *error) {
		if *err != nil && bounded.Err() != nil && ctx.Err() == nil {
			*err = fmt.Errorf("%w: %v", ErrSlow, *err) //nolint:errorlint // must not match the end of the caller's context
		}
		cancel()
	}
}

// Get implements [Store].
func (w within) Get(ctx context.Context, key string) (r Record, err error) {
	ctx, end := w.begin(ctx)
	defer end(&err)
	return w.Store.Get(ctx, key)
}

// Put implements [Store].
func (w within) Put(ctx context.Context, r Record, ttl time.Duration) (version int64, err error) {
	ctx, end := w.begin(ctx)
	defer end(&err)
	return w.Store.Put(ctx, r, ttl)
}

// Add implements [Store].
func (w within) Add(ctx context.Context, r Record, ttl time.Duration) (stored Record, added bool, err error) {
	ctx, end := w.begin(ctx)
	defer end(&err)
	return w.Store.Add(ctx, r, ttl)
}

// Delete implements [Store].
func (w within) Delete(ctx context.Context, key string, version int64) (err error) {
	ctx, end := w.begin(ctx)
	defer end(&err)
	return w.Store.Delete(ctx, key, version)
}

// Keys implements [Store].
func (w within) Keys(ctx context.Context, prefix string) (keys []string, err error) {
	ctx, end := w.begin(ctx)
	defer end(&err)
	return w.Store.Keys(ctx, prefix)
}
