package postgres

import (
	"context"
	"runtime"
	"sync"

	"github.com/cenkalti/backoff/v5"
)

// lane is a queue of calls. Its goroutine takes what callers have queued, decides it all in one transaction, and then
// tells each of them: the group commit.
type lane struct {
	db *DB

	mu     sync.Mutex
	queue  []op
	closed bool

	wake chan struct{} // holds one token when there may be something to do
	done chan struct{} // closed when the goroutine has ended
}

// op is one caller's part of a batch: a hold, its settling, or a grant.
type op interface {
	// wants says what the op must know.
	wants(w *wanted)
	// decide decides on what was read. What it refuses to do is the op's result; its error is that of the database,
	// and undoes the whole transaction. It may run any number of times.
	decide(ctx context.Context, b *batch) error
	// end tells the caller. The error is that of the transaction.
	end(err error)
}

// call is what every op has.
type call struct {
	err  error
	done chan struct{}
}

func (c *call) end(err error) {
	if err != nil {
		c.err = err
	}
	close(c.done)
}

func newLane(db *DB) *lane {
	l := &lane{db: db, wake: make(chan struct{}, 1), done: make(chan struct{})}
	go l.run()
	return l
}

// submit queues o. It does not look at a context: once queued, only the lane knows how it ends.
func (l *lane) submit(o op) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return ErrClosed
	}
	l.queue = append(l.queue, o)
	select {
	case l.wake <- struct{}{}:
	default: // awake already
	}
	return nil
}

// close waits for what is queued.
func (l *lane) close() {
	l.mu.Lock()
	if !l.closed {
		l.closed = true
		close(l.wake)
	}
	l.mu.Unlock()
	<-l.done
}

func (l *lane) run() {
	defer close(l.done)
	for open := true; open; {
		_, open = <-l.wake
		for ops := l.take(); len(ops) > 0; ops = l.take() {
			l.commit(ops, false)
		}
	}
}

// take returns the next calls that share a transaction. It waits while there come more of them: those who were just told
// of the last one are about to call again.
func (l *lane) take() []op {
	l.mu.Lock()
	defer l.mu.Unlock()
	for before := -1; len(l.queue) > before && len(l.queue) < l.db.cfg.Batch; {
		before = len(l.queue)
		l.mu.Unlock()
		runtime.Gosched()
		l.mu.Lock()
	}
	n := min(len(l.queue), l.db.cfg.Batch)
	ops := l.queue[:n:n]
	if l.queue = l.queue[n:]; len(l.queue) == 0 {
		l.queue = nil // do not keep the array alive
	}
	return ops
}

// commit decides ops in one transaction, or, when the database refuses that, each in one of its own, so that nobody
// fails for what another has asked for. Unsure tells that an attempt before may have been committed.
func (l *lane) commit(ops []op, unsure bool) {
	// Twice: patience bounds when an attempt begins, and one may hang.
	ctx, cancel := context.WithTimeout(context.Background(), 2*l.db.cfg.Patience)
	defer cancel()
	var done *batch
	twice := false
	err := l.db.transact(ctx, func(ctx context.Context, t *tx) error {
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
	if len(ops) > 1 && (refused(err) || isCode(err, uniqueViolation)) {
		for i := range ops {
			l.commit(ops[i:i+1], unsure)
		}
		return
	}
	if err == nil {
		l.db.ledger.remember(done.ended)
	}
	for _, o := range ops {
		o.end(err)
	}
}
