package postgres

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/socialdata/socialdata/schema"
	"github.com/socialdata/socialdata/watch"
)

// PutEndpoint implements [watch.Outbox].
func (w *ShardedWatches) PutEndpoint(ctx context.Context, e watch.Endpoint, most int) (watch.Endpoint, bool, error) {
	return w.of(e.Account).PutEndpoint(ctx, e, most)
}

// Endpoint implements [watch.Outbox].
func (w *ShardedWatches) Endpoint(ctx context.Context, account, name string) (watch.Endpoint, error) {
	return w.of(account).Endpoint(ctx, account, name)
}

// Endpoints implements [watch.Outbox].
func (w *ShardedWatches) Endpoints(ctx context.Context, account, after string, limit int) ([]watch.Endpoint, error) {
	return w.of(account).Endpoints(ctx, account, after, limit)
}

// Active implements [watch.Outbox]. It fails when one of the databases is unavailable.
func (w *ShardedWatches) Active(ctx context.Context) (all []watch.Endpoint, err error) {
	for _, db := range w.s.dbs {
		more, err := db.Watches().Active(ctx)
		if err != nil {
			return nil, err
		}
		all = append(all, more...)
	}
	return all, nil
}

// EndEndpoint implements [watch.Outbox].
func (w *ShardedWatches) EndEndpoint(ctx context.Context, account, name string) error {
	return w.of(account).EndEndpoint(ctx, account, name)
}

// Rekey implements [watch.Outbox].
func (w *ShardedWatches) Rekey(
	ctx context.Context, account, name string, secret []byte, until time.Time,
) (watch.Endpoint, error) {
	return w.of(account).Rekey(ctx, account, name, secret, until)
}

// Tell implements [watch.Outbox].
func (w *ShardedWatches) Tell(ctx context.Context, account string, changes []schema.Change) error {
	return w.of(account).Tell(ctx, account, changes)
}

// Queue implements [watch.Outbox]. A database that is unavailable does not keep it from queueing in the others.
func (w *ShardedWatches) Queue(ctx context.Context, now time.Time, n int) (more bool, err error) {
	for _, db := range w.s.dbs {
		left, failed := db.Watches().Queue(ctx, now, n)
		err = errors.Join(err, failed)
		more = more || left
	}
	return more && err == nil, err
}

// ClaimDeliveries implements [watch.Outbox], like Claim.
func (w *ShardedWatches) ClaimDeliveries(
	ctx context.Context, now time.Time, n, each int, lease time.Duration, full []watch.Lane,
) (out []watch.Sending, err error) {
	first := rand.IntN(len(w.s.dbs))
	for i := range w.s.dbs {
		if len(out) >= n {
			break
		}
		db := w.s.dbs[(first+i)%len(w.s.dbs)]
		more, failed := db.Watches().ClaimDeliveries(ctx, now, n-len(out), each, lease, full)
		err = errors.Join(err, failed)
		out = append(out, more...)
	}
	if len(out) > 0 {
		return out, nil // with an error they would be lost until their lease ends
	}
	return nil, err
}

// Attempted implements [watch.Outbox].
func (w *ShardedWatches) Attempted(ctx context.Context, a watch.Attempt) error {
	return w.of(a.Sending.Delivery.Account).Attempted(ctx, a)
}

// Deliveries implements [watch.Outbox].
func (w *ShardedWatches) Deliveries(ctx context.Context, q watch.Outgoing) ([]watch.Delivery, error) {
	return w.of(q.Account).Deliveries(ctx, q)
}

// Again implements [watch.Outbox].
func (w *ShardedWatches) Again(
	ctx context.Context, account, endpoint string, seq int64, now time.Time,
) (watch.Delivery, error) {
	return w.of(account).Again(ctx, account, endpoint, seq, now)
}
