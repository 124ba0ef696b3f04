package postgres

import (
	"context"
	"sync/atomic"

	"github.com/cenkalti/backoff/v5"

	"github.com/socialdata/socialdata/internal/groupcommit"
)

// lane is a queue of calls that share transactions.
type lane struct {
	db    *DB
	queue *groupcommit.Queue[op]
}

// op is one caller's part of a batch, such as a reservation, its settlement or a grant.
type op interface {
	// wants adds what the op needs to know.
	wants(w *wanted)
	// decide decides the op after the reads. If it refuses, that is the op's result. An error is that of the database,
	// and undoes the whole transaction. It may be called several times.
	decide(ctx context.Context, b *batch) error
	// common returns the fields that every op has.
	common() *call
}

// call has the fields that every op has.
type call struct {
	err    error
	unsure bool // an attempt may have been committed without an answer
	// decided means that an earlier transaction has carried it out, or refused to.
	decided bool
	done    chan struct{}
	state   atomic.Int32 // queued, taken or withdrawn
}

// The states of a call.
const (
	queued    = iota
	taken     // by a transaction
	withdrawn // its caller stopped waiting before it was taken: it is not carried out
)

func (c *call) common() *call { return c }

func newLane(db *DB) *lane {
	l := &lane{db: db}
	l.queue = groupcommit.New(groupcommit.Config[op]{Most: db.cfg.Batch, Gather: true, Commit: l.commit, Done: end})
	return l
}

// submit queues o. It has no context, because only the lane knows the result of an op that was taken.
func (l *lane) submit(o op) error {
	if l.queue.Submit(o) != nil {
		return ErrClosed
	}
	return nil
}

// close waits for queued ops.
func (l *lane) close() { l.queue.Close() }

// end reports the result to the callers of ops. err is that of the transaction.
func end(ops []op, err error) {
	for _, o := range ops {
		c := o.common()
		if err != nil && !c.decided {
			c.err = err
		}
		close(c.done)
	}
}

// commit decides ops: ordinary ones in one round trip, the others in one transaction. If the database refuses that, one
// of the ops is the reason.
func (l *lane) commit(ops []op, _ func(int) []op) (all []op, failed int, err error) {
	// Twice, because patience limits when an attempt begins, and an attempt can hang.
	ctx, cancel := context.WithTimeout(context.Background(), 2*l.db.cfg.Patience)
	defer cancel()
	live, unsure := undecided(ops)
	if !unsure {
		unsure = l.directly(ctx, live)
		live, _ = undecided(live)
	}
	if len(live) == 0 {
		return ops, groupcommit.All, nil
	}
	if unsure, err = l.together(ctx, live, unsure); err == nil {
		return ops, groupcommit.All, nil
	}
	for _, o := range live {
		o.common().unsure = unsure
	}
	if refused(err) || isCode(err, uniqueViolation) {
		return ops, groupcommit.One, err
	}
	return ops, groupcommit.All, err
}

// undecided returns the ops that are not decided yet, and reports whether one of them may have been committed.
func undecided(ops []op) (live []op, unsure bool) {
	live = make([]op, 0, len(ops))
	for _, o := range ops {
		c := o.common()
		if !c.decided && (c.state.CompareAndSwap(queued, taken) || c.state.Load() == taken) {
			live = append(live, o)
			unsure = unsure || c.unsure
		}
	}
	return live, unsure
}

// together decides ops in one transaction. It reports whether an attempt may have been committed.
func (l *lane) together(ctx context.Context, ops []op, before bool) (unsure bool, err error) {
	var done *batch
	twice := false
	unsure = before
	err = l.db.transact(ctx, func(ctx context.Context, t *tx) error {
		unsure = unsure || t.unsure
		t.unsure = unsure
		done = newBatch(l.db, t)
		err := done.run(ctx, ops)
		if isCode(err, uniqueViolation) {
			// Since the accounts are locked, no one else can have written the entry. If it fails again, the ledger of
			// one account is damaged.
			if twice {
				err = backoff.Permanent(err)
			}
			twice = true
		}
		return err
	})
	if err == nil {
		l.db.ledger.remember(done.ended)
	}
	return unsure, err
}
