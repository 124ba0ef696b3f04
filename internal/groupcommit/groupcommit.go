// Package groupcommit lets many callers share database transactions: a commit costs one disk write, or one round trip,
// for one caller as for a hundred.
//
//	q := groupcommit.New(groupcommit.Config[*task]{Most: 256, Commit: commit, Done: done})
//	err := q.Submit(t) // and wait until Done was called for t
//	q.Close()
//
// A queue has one goroutine, which takes what callers have queued, commits it and calls Done. The store defines what a
// part is, and how its caller waits.
package groupcommit

import (
	"errors"
	"math"
	"runtime"
	"sync"
	"time"
)

// ErrClosed means that Close was called.
var ErrClosed = errors.New("groupcommit: closed")

// Values of failed that are not the index of a part.
const (
	// All parts failed, because the transaction did.
	All = -1
	// One of the parts failed, and it is unknown which.
	One = -2
)

// Config configures a queue of parts T. Its functions run on the queue's goroutine.
type Config[T any] struct {
	// Most is the maximum number of parts in a transaction.
	Most int
	// Commit makes the parts of batch durable in one transaction, or none of them. It may take more parts, which came in
	// the meantime, into the same transaction, and returns all that it took. When err is not nil, failed is the index of
	// the part that failed, All or One. It may be called again for parts that were not made durable.
	Commit func(batch []T, more func(taken int) []T) (all []T, failed int, err error)
	// Done is called once for each part: with nil when it is durable, else with the error.
	Done func(batch []T, err error)
	// Alone reports whether a part needs a transaction of its own; nil means that none does.
	Alone func(T) bool
	// Gather waits before each transaction while more parts arrive: callers whose part was just committed are about to
	// queue the next. It is for a Commit that cannot take more parts.
	Gather bool
	// Idle is called when no part has come for as long as IdleAfter returns; nil for never. Its argument reports whether
	// one has come in the meantime.
	Idle      func(called func() bool)
	IdleAfter func() time.Duration
}

// Queue holds the parts that wait for their transaction.
type Queue[T any] struct {
	cfg Config[T]

	mu     sync.Mutex
	queue  []T
	closed bool

	wake chan struct{} // has one token when there may be work
	done chan struct{} // closed when the goroutine has ended
	more func(taken int) []T
}

// New starts a queue.
func New[T any](cfg Config[T]) *Queue[T] {
	q := &Queue[T]{cfg: cfg, wake: make(chan struct{}, 1), done: make(chan struct{})}
	q.more = q.join
	if cfg.Alone == nil {
		q.cfg.Alone = func(T) bool { return false }
	}
	if cfg.Idle == nil {
		q.cfg.IdleAfter = func() time.Duration { return math.MaxInt64 }
	}
	go q.run()
	return q
}

// Submit queues a part. It returns ErrClosed after Close.
func (q *Queue[T]) Submit(part T) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed {
		return ErrClosed
	}
	q.queue = append(q.queue, part)
	select {
	case q.wake <- struct{}{}:
	default: // already awake
	}
	return nil
}

// Close waits until everything queued is done. Closing again only waits.
func (q *Queue[T]) Close() {
	q.mu.Lock()
	if !q.closed {
		q.closed = true
		close(q.wake)
	}
	q.mu.Unlock()
	<-q.done
}

// Now commits batch immediately on the caller's goroutine, past the queue. It is for a Commit that may run
// concurrently.
func (q *Queue[T]) Now(batch []T) { q.commit(batch, none[T]) }

// Len returns how many parts wait for a transaction that has not begun.
func (q *Queue[T]) Len() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.queue)
}

func (q *Queue[T]) run() {
	defer close(q.done)
	idle := time.NewTimer(q.cfg.IdleAfter())
	defer idle.Stop()
	for open := true; open; {
		select {
		case _, open = <-q.wake:
		case <-idle.C:
			q.cfg.Idle(func() bool { return len(q.wake) > 0 })
		}
		for batch := q.take(); len(batch) > 0; batch = q.take() {
			q.commit(batch, q.more)
		}
		idle.Reset(q.cfg.IdleAfter())
	}
}

// commit commits batch. No part fails because of another: when one of them has failed, those before it, the part itself
// and those after it get a transaction each, and when it is unknown which one, each part gets its own.
func (q *Queue[T]) commit(batch []T, more func(int) []T) {
	if q.cfg.Alone(batch[0]) {
		more = none[T]
	}
	batch, failed, err := q.cfg.Commit(batch, more)
	switch {
	case err == nil, failed == All, len(batch) == 1:
		q.cfg.Done(batch, err)
	case failed == One:
		for i := range batch {
			q.commit(batch[i:i+1:i+1], none[T])
		}
	default:
		for _, part := range [][]T{batch[:failed], batch[failed : failed+1], batch[failed+1:]} {
			if len(part) > 0 {
				q.commit(part, none[T])
			}
		}
	}
}

// none is for a transaction that takes no more parts.
func none[T any](int) []T { return nil }

// take returns the next parts that share a transaction, or the next one alone when it needs its own.
func (q *Queue[T]) take() []T {
	q.mu.Lock()
	defer q.mu.Unlock()
	for before := -1; q.cfg.Gather && len(q.queue) > before && len(q.queue) < q.cfg.Most; {
		before = len(q.queue)
		q.mu.Unlock()
		runtime.Gosched()
		q.mu.Lock()
	}
	n := q.sharing(q.cfg.Most)
	if n == 0 && len(q.queue) > 0 {
		n = 1
	}
	return q.pop(n)
}

// join returns parts that came while others were applied, for the same transaction, which has taken that many. Callers
// that are about to queue something get the chance to.
func (q *Queue[T]) join(taken int) []T {
	for range 3 {
		q.mu.Lock()
		more := q.pop(q.sharing(q.cfg.Most - taken))
		q.mu.Unlock()
		if len(more) > 0 || taken >= q.cfg.Most {
			return more
		}
		runtime.Gosched()
	}
	return nil
}

// sharing counts the first parts in the queue that can share a transaction, up to most.
func (q *Queue[T]) sharing(most int) (n int) {
	for n < len(q.queue) && n < most && !q.cfg.Alone(q.queue[n]) {
		n++
	}
	return n
}

// pop takes n parts from the queue.
func (q *Queue[T]) pop(n int) []T {
	batch := q.queue[:n:n]
	if q.queue = q.queue[n:]; len(q.queue) == 0 {
		q.queue = nil // release the array
	}
	return batch
}
