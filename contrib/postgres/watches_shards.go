package postgres

import (
	"context"
	"math/rand/v2"
	"time"

	"github.com/socialdata/socialdata/privacy"
	"github.com/socialdata/socialdata/schema"
	"github.com/socialdata/socialdata/watch"
)

// ShardedWatches stores the monitors of each account in the account's database.
type ShardedWatches struct{ s *Shards }

var (
	_ watch.Store            = (*ShardedWatches)(nil)
	_ privacy.MentionCounter = (*ShardedWatches)(nil)
)

// Watches returns the monitors, with the feeds of their accounts.
func (s *Shards) Watches() *ShardedWatches { return &ShardedWatches{s} }

func (w *ShardedWatches) of(account string) *Watches { return w.s.pick(account).Watches() }

// Put implements [watch.Store].
func (w *ShardedWatches) Put(
	ctx context.Context, m watch.Monitor, most int,
) (stored watch.Monitor, made bool, err error) {
	return w.of(m.Account).Put(ctx, m, most)
}

// Pause implements [watch.Store].
func (w *ShardedWatches) Pause(
	ctx context.Context, account, name string, paused bool, next time.Time,
) (watch.Monitor, error) {
	return w.of(account).Pause(ctx, account, name, paused, next)
}

// Monitor implements [watch.Store].
func (w *ShardedWatches) Monitor(ctx context.Context, account, name string) (watch.Monitor, error) {
	return w.of(account).Monitor(ctx, account, name)
}

// Monitors implements [watch.Store].
func (w *ShardedWatches) Monitors(ctx context.Context, account, after string, limit int) ([]watch.Monitor, error) {
	return w.of(account).Monitors(ctx, account, after, limit)
}

// End implements [watch.Store].
func (w *ShardedWatches) End(ctx context.Context, account, name string) error {
	return w.of(account).End(ctx, account, name)
}

// Claim implements [watch.Store]. It begins with another database each time, so that none is left out when there is
// always something due. A database that is unavailable does not keep it from claiming in the others.
func (w *ShardedWatches) Claim(
	ctx context.Context, now time.Time, n int, lease time.Duration,
) (claims []watch.Claim, err error) {
	first := rand.IntN(len(w.s.dbs))
	for i := range w.s.dbs {
		if len(claims) >= n {
			break
		}
		db := w.s.dbs[(first+i)%len(w.s.dbs)]
		more, failed := db.Watches().Claim(ctx, now, n-len(claims), lease)
		if failed != nil {
			err = failed
			continue
		}
		claims = append(claims, more...)
	}
	if len(claims) > 0 {
		return claims, nil // with an error they would be lost until their lease ends
	}
	return nil, err
}

// Commit implements [watch.Store].
func (w *ShardedWatches) Commit(ctx context.Context, p watch.Poll) error {
	return w.of(p.Claim.Monitor.Account).Commit(ctx, p)
}

// Changes implements [watch.Store].
func (w *ShardedWatches) Changes(ctx context.Context, q watch.Since) ([]schema.Change, error) {
	return w.of(q.Account).Changes(ctx, q)
}

// Samples implements [watch.Store].
func (w *ShardedWatches) Samples(ctx context.Context, q watch.Numbers) ([]watch.Sample, error) {
	return w.of(q.Account).Samples(ctx, q)
}

// Erase implements [privacy.Eraser].
func (w *ShardedWatches) Erase(ctx context.Context, s privacy.Subject) (map[string]int, error) {
	return eraseFrom(ctx, s, w.s, (*DB).Watches)
}

// Mentions implements [privacy.MentionCounter].
func (w *ShardedWatches) Mentions(ctx context.Context, s privacy.Subject) (int, error) {
	return mentionsIn(ctx, s, w.s, (*DB).Watches)
}

// Sweep implements [watch.Store].
func (w *ShardedWatches) Sweep(ctx context.Context, l watch.Limits) (more bool, err error) {
	for _, db := range w.s.dbs {
		left, failed := db.Watches().Sweep(ctx, l)
		if failed != nil {
			err = failed
		}
		more = more || left
	}
	return more && err == nil, err
}

// Kept implements [watch.Store].
func (w *ShardedWatches) Kept(ctx context.Context) ([]privacy.Kept, error) {
	var all [][]privacy.Kept
	for _, db := range w.s.dbs {
		more, err := db.Watches().Kept(ctx)
		if err != nil {
			return nil, err
		}
		all = append(all, more)
	}
	return privacy.SumKept(all...), nil
}
