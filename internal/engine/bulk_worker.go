package engine

import (
	"context"
	"errors"
	"math"
	"strconv"

	"github.com/socialdata/socialdata/bulkjob"
	"github.com/socialdata/socialdata/callctx"
	"github.com/socialdata/socialdata/internal/calls"
	"github.com/socialdata/socialdata/keys"
	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/problem"
	"github.com/socialdata/socialdata/schema"
	"github.com/socialdata/socialdata/watch"
)

// bulkWorker reads chunks of bulk jobs.
type bulkWorker struct{ engine *Engine }

var _ bulkjob.Worker = bulkWorker{}

// bulkAtOnce is how many chunks of a platform a process works at a time. Each has a few requests in progress, which
// count against the upstream's limits like all background reads.
const bulkAtOnce = 4

// AtOnce implements [bulkjob.Worker].
func (bulkWorker) AtOnce(platform.ID) int { return bulkAtOnce }

// Work implements [bulkjob.Worker].
func (w bulkWorker) Work(ctx context.Context, c bulkjob.Chunk) (out bulkjob.Worked, err error) {
	ctx, id := named(ctx, "")
	ctx = callctx.InBackground(ctx)
	s, err := w.engine.bulkCaller(ctx, &c.Job)
	if errors.Is(err, keys.ErrUnknown) {
		return bulkjob.Worked{Stop: true}, nil
	}
	if err == nil {
		err = s.erased.Ready(ctx)
	}
	if err != nil {
		return out, err
	}
	r := &bulkRead{chunk: &c, lines: c.Lines}
	if err := r.plan(ctx, &s, id); err != nil {
		return out, err
	}
	err = r.call(ctx)
	if errors.Is(err, problem.InsufficientCredits) {
		var credits int64
		if credits, err = s.affords(ctx); err != nil {
			return out, err
		}
		if out.WaitingFor = bulkjob.ForCredits; !r.within(credits) || len(r.lines) == 0 {
			return out, nil
		}
		if err = r.call(ctx); errors.Is(err, problem.InsufficientCredits) { // another call has spent them
			return out, nil
		}
	}
	return r.worked(ctx, out, err)
}

// Announce implements [bulkjob.Worker]: it adds an event to the feed of the account, if one of its endpoints gets it.
func (w bulkWorker) Announce(ctx context.Context, j bulkjob.Job) error {
	left := strconv.FormatInt(j.Left(), 10)
	kind, detail, once := watch.BulkDone, "the bulk job "+j.Name+" is done", []string{j.ID}
	switch j.State {
	case bulkjob.Waiting:
		kind, detail = watch.BulkWaiting, "the bulk job "+j.Name+" waits for "+j.WaitingFor
		once = append(once, j.WaitingFor, left)
	case bulkjob.Ended:
		kind, detail = watch.BulkEnded, "the bulk job "+j.Name+" has ended with "+left+" lines that were not read"
	case bulkjob.Queued, bulkjob.Running, bulkjob.Done:
	}
	return w.engine.accountEvents.bulk(ctx, j.Account, j.Name, kind, detail, once)
}

// Stored implements [bulkjob.Worker].
func (w bulkWorker) Stored(ctx context.Context, c bulkjob.Chunk) error {
	ctx, cancel := w.engine.bounded(ctx)
	defer cancel()
	return w.engine.cfg.Records.Delete(ctx, calls.RecordKey(bulkRecord(&c)), 0)
}

// bulkRecord returns the id of the record of a chunk's call. No idempotency key of a caller has a space.
func bulkRecord(c *bulkjob.Chunk) string {
	return calls.KeyedID(c.Job.Account, "bulk "+c.IdempotencyKey())
}

// bulkCaller returns the session of the key that pays for a job.
func (e *Engine) bulkCaller(ctx context.Context, j *bulkjob.Job) (Session, error) {
	s := e.Session().From(schema.FromBulk)
	if j.Key == "" {
		return s, nil
	}
	who, err := e.accounts.Named(ctx, keys.Key{ID: j.Key, Account: j.Account})
	s.who = who
	return s, err
}

// Affords implements [bulkjob.Worker].
func (w bulkWorker) Affords(ctx context.Context, j bulkjob.Job) (int64, error) {
	ctx, _ = named(ctx, "")
	s, err := w.engine.bulkCaller(ctx, &j)
	if err != nil {
		return 0, err
	}
	return s.affords(ctx)
}

// affords returns the credits that the session's key can spend now.
func (s *Session) affords(ctx context.Context) (int64, error) {
	if s.accounts.Ledger == nil {
		return math.MaxInt64, nil
	}
	most, err := s.who.Balance(ctx)
	if err != nil {
		return 0, err
	}
	key := s.who.Key()
	if key == nil || key.DayCap == nil && key.TotalCap == nil {
		return max(0, most), nil
	}
	least := int64(0)
	for _, limit := range []*int64{key.DayCap, key.TotalCap} {
		if limit != nil {
			most = min(most, *limit)
		}
	}
	for least < most { // the ledger says whether a sum can be spent, and not how much of a cap is left
		middle := least + (most-least+1)/2
		ok, err := s.who.Affords(ctx, middle)
		switch {
		case err != nil:
			return 0, err
		case ok:
			least = middle
		default:
			most = middle - 1
		}
	}
	return least, nil
}
