// Package groupcommit lets many callers share the transactions of a database: a commit costs the disk, or a round trip,
// as much for one of them as for a hundred.
//
//	q := groupcommit.New(groupcommit.Config[*task]{Most: 256, Commit: commit, Done: done})
//	err := q.Submit(t) // and wait until Done was told of t
//	q.Close()
//
// A queue has one goroutine, which takes what callers have queued, commits it and tells them. What a part is, and how
// its caller waits, is the store's own.
package groupcommit

import (
	"errors"
	"math"
	"runtime"
	"sync"
	"time"
)

// ErrClosed says that Close was called.
var ErrClosed = errors.New("groupcommit: closed")

// Who failed, where it is no index of a part.
const (
	// All parts failed: the transaction itself did.
	All = -1
	// One of the parts failed, and it is not known which.
	One = -2
)

// Config says how a queue of parts T is committed. Its functions run on the queue's goroutine.
type Config[T any] struct {
	// Most is how many parts share a transaction at most.
	Most int
	// Commit makes the parts of batch durable in one transaction, or none of them. It may take more parts, which came
	// meanwhile, into the same transaction, and returns all that it took. When err is not nil, failed is the index of the
	// part that failed, All or One. It may be called again for parts of which nothing was made durable.
	Commit func(batch []T, more func(taken int) []T) (all []T, failed int, err error)
	// Done hears, once for each part, that it is durable, or why it is not.
	Done func(batch []T, err error)
	// Alone reports whether a part shares its transaction with no other; nil for none.
	Alone func(T) bool
	// Gather waits before each transaction while more parts come: callers that were told of the last one are about to
	// queue the next. It serves a Commit that cannot take more.
	Gather bool
	// Idle is called when no part has come for as long as IdleAfter returns; nil for never. It is told whether one has come
	// meanwhile.
	Idle      func(called func() bool)
	IdleAfter func() time.Duration
}

// Queue is the parts that wait for their transaction.
type Queue[T any] struct {
	cfg Config[T]

	mu     sync.Mutex
	queue  []T
	closed bool

	wake chan struct{} // holds one token when there may be something to do
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

// Submit queues a part. It fails with ErrClosed.
func (q *Queue[T]) Submit(part T) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed {
		return ErrClosed
	}
	q.queue = append(q.queue, part)
	select {
	case q.wake <- struct{}{}:
	default: // awake already
	}
	return nil
}

// Close waits until all that is queued is done. Closing again only waits.
func (q *Queue[T]) Close() {
	q.mu.Lock()
	if !q.closed {
		q.closed = true
		close(q.wake)
	}
	q.mu.Unlock()
	<-q.done
}

// Now commits batch at once on the caller's goroutine, past the queue. It is for a Commit that may run beside itself.
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

// commit commits batch. No part fails for what another has done: when one of them has failed, those before it, it and
// those after it have a transaction each, and when it is not known which one, each part has its own.
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

// none is for a transaction that takes no more.
func none[T any](int) []T { return nil }

// take returns the next parts that share a transaction, or the next one alone when it shares with no other.
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

// join returns parts that came while others were applied, for the same transaction, which has taken so many. Callers that
// are about to queue something get the chance to.
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
		q.queue = nil // do not keep the array alive
	}
	return batch
}
