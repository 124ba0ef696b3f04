package upstreams

import (
	"container/list"
	"context"
	"sync"
	"time"

	"github.com/socialdata/socialdata/providers"
)

const (
	// perByte is the most memory that an answer takes for each of its bytes: the bytes themselves, the parsed data, and
	// what it is converted and encoded to. TestNoAnswerTakesMuchMemory measures it: the most expensive answer of 6 MiB
	// takes 48 MB.
	perByte = 8
	// memoryPatience is how long a read waits for memory before the call is refused.
	memoryPatience = 5 * time.Second
)

// memoryBudget is the memory that all answers in progress share. Each reserves more as it is read. When none is left, one
// answer at a time may continue, so that answers that wait for each other's memory do not deadlock.
type memoryBudget struct {
	most int64 // bytes

	mu       sync.Mutex
	used     int64
	finisher *lease
	waiting  list.List // of *wait, in order of arrival
}

// lease is the memory of one attempt.
type lease struct {
	memoryBudget *memoryBudget
	held         int64
	over         bool // the attempt has ended; what it still reads does not count
}

type wait struct {
	lease *lease
	n     int64
	ready chan struct{}
}

// errNoRoom returns the refusal of a call. It is not a failure of the upstream (D71).
func errNoRoom() error {
	return &providers.Error{
		Kind: providers.ErrUnavailable, Detail: "the service is at its limit", RetryAfter: time.Second,
		Blame: providers.BlameNone, Err: providers.ErrBusy,
	}
}

// take reserves memory for more bytes of an answer, and waits for it if necessary.
func (l *lease) take(ctx context.Context, bytes int64) error {
	w := &wait{l, bytes * perByte, make(chan struct{})}
	r := l.memoryBudget
	r.mu.Lock()
	if l.over {
		r.mu.Unlock()
		return context.Canceled
	}
	if r.waiting.Len() == 0 && r.grant(w) || r.finisher == l && r.grant(w) {
		r.mu.Unlock()
		return nil
	}
	place := r.waiting.PushBack(w)
	r.mu.Unlock()

	patience := memoryPatience
	if end, ok := ctx.Deadline(); ok {
		patience = min(patience, time.Until(end)/2) // the refusal must not look like a time-out of the upstream
	}
	timer := time.NewTimer(patience)
	defer timer.Stop()
	var err error
	select {
	case <-w.ready:
		return nil
	case <-ctx.Done():
		err = ctx.Err()
	case <-timer.C:
		err = errNoRoom()
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	select {
	case <-w.ready: // in the meantime
		return nil
	default:
	}
	r.waiting.Remove(place)
	r.admit()
	return err
}

// grant gives w its memory if there is enough, or if no other answer is continuing without.
func (r *memoryBudget) grant(w *wait) bool {
	switch {
	case r.used+w.n <= r.most, r.finisher == w.lease:
	case r.finisher == nil:
		r.finisher = w.lease
	default:
		return false
	}
	r.used += w.n
	w.lease.held += w.n
	return true
}

// admit lets waiting answers continue while there is memory.
func (r *memoryBudget) admit() {
	for first := r.waiting.Front(); first != nil; first = r.waiting.Front() {
		w := first.Value.(*wait)
		if !r.grant(w) {
			return
		}
		r.waiting.Remove(first)
		close(w.ready)
	}
}

// end returns the memory of the attempt.
func (l *lease) end() {
	r := l.memoryBudget
	r.mu.Lock()
	defer r.mu.Unlock()
	r.used -= l.held
	l.held, l.over = 0, true
	if r.finisher == l {
		r.finisher = nil
	}
	r.admit()
}
