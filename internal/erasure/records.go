package erasure

import (
	"context"
	"time"

	"github.com/socialdata/socialdata/callctx"
	"github.com/socialdata/socialdata/problem"
	"github.com/socialdata/socialdata/records"
)

// Records returns s with the checks of the Keeper: each record is marked with everyone in it, and is not written if
// someone in it is blocked or was erased meanwhile.
func (k *Keeper) Records(s records.Store) records.Store { return recordStore{s, k} }

type recordStore struct {
	records.Store

	keeper *Keeper
}

// errErased is the problem of a call whose answer was erased while it was made.
var errErased = problem.New(problem.PlatformUnavailable, "the data was erased while it was being read; try again")

// enter marks r and begins its write.
func (s recordStore) enter(ctx context.Context, r *records.Record) (leave func(), err error) {
	if r.Subjects == "" && len(r.Value) > 0 && r.Value[0] == '{' {
		r.Subjects = s.keeper.Marks(r.Value)
	}
	begun := callctx.Of(ctx).Begun
	if begun.IsZero() {
		begun = time.Now() // an erasure would have removed the version that it replaces
	}
	leave, may := s.keeper.Enter(ctx, r.Subjects, begun)
	if !may {
		return nil, errErased
	}
	return leave, nil
}

// Put implements [records.Store].
func (s recordStore) Put(ctx context.Context, r records.Record, ttl time.Duration) (version int64, err error) {
	leave, err := s.enter(ctx, &r)
	if err != nil {
		return 0, err
	}
	defer leave()
	return s.Store.Put(ctx, r, ttl)
}

// Add implements [records.Store].
func (s recordStore) Add(
	ctx context.Context, r records.Record, ttl time.Duration,
) (stored records.Record, added bool, err error) {
	leave, err := s.enter(ctx, &r)
	if err != nil {
		return records.Record{}, false, err
	}
	defer leave()
	return s.Store.Add(ctx, r, ttl)
}
