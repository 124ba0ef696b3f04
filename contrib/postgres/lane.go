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

// op is one caller's part of a batch: a hold, its settling, or a grant.
type op interface {
	// wants says what the op must know.
	wants(w *wanted)
	// decide decides on what was read. What it refuses to do is the op's result; its error is that of the database,
	// and undoes the whole transaction. It may run any number of times.
	decide(ctx context.Context, b *batch) error
	// common returns what every op has.
	common() *call
}

// call is what every op has.
type call struct {
	err    error
	unsure bool // an attempt may have been committed, and no one heard of it
	// decided tells that a transaction before the one at work has carried it out, or refused to.
	decided bool
	done    chan struct{}
	state   atomic.Int32 // queued, taken or withdrawn
}

// How far a call has come.
const (
	queued    = iota
	taken     // into a transaction
	withdrawn // its caller has gone before that: it is not carried out
)

func (c *call) common() *call { return c }

func newLane(db *DB) *lane {
	l := &lane{db: db}
	l.queue = groupcommit.New(groupcommit.Config[op]{Most: db.cfg.Batch, Gather: true, Commit: l.commit, Done: end})
	return l
}

// submit queues o. It does not look at a context: once queued, only the lane knows how it ends.
func (l *lane) submit(o op) error {
	if l.queue.Submit(o) != nil {
		return ErrClosed
	}
	return nil
}

// close waits for what is queued.
func (l *lane) close() { l.queue.Close() }

// end tells the callers of ops. The error is that of the transaction.
func end(ops []op, err error) {
	for _, o := range ops {
		c := o.common()
		if err != nil && !c.decided {
			c.err = err
		}
		close(c.done)
	}
}

// commit decides ops: the usual ones in one round trip, the others in one transaction. What the database itself refuses is
// the fault of one of them.
func (l *lane) commit(ops []op, _ func(int) []op) (all []op, failed int, err error) {
	// Twice: patience bounds when an attempt begins, and one may hang.
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

// undecided takes the ops that are still to be decided, and reports whether one of them may have been.
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
			// Nobody can have been faster: the accounts are locked. If it stays so, the books of one of them are damaged.
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
