package upstreams

import (
	"container/list"
	"context"
	"sync"
	"time"

	"github.com/socialdata/socialdata/providers"
)

const (
	// perByte is how much memory an answer takes for each byte that is read of it, at most: the bytes, what is parsed from
	// them, and what that is converted and encoded to. TestNoAnswerTakesMuchMemory measures it: the dearest answer of 6 MiB
	// takes 48 MB.
	perByte = 8
	// roomPatience is how long a read waits for room before the call is refused.
	roomPatience = 5 * time.Second
)

// room is the memory that all answers at work share. Each takes a little more as it is read; one at a time goes on when
// there is none left, so that those which wait for each other's room come to an end.
type room struct {
	most int64 // bytes

	mu       sync.Mutex
	used     int64
	finisher *lease
	waiting  list.List // of *wait, first come, first served
}

// lease is the room of one attempt.
type lease struct {
	room *room
	held int64
	over bool // what is still read of it counts no more
}

type wait struct {
	lease *lease
	n     int64
	ready chan struct{}
}

// errNoRoom refuses a call, and says nothing of the upstream (D71).
func errNoRoom() error {
	return &providers.Error{
		Kind: providers.ErrUnavailable, Detail: "the service is at its limit", RetryAfter: time.Second,
		Blame: providers.BlameNobody, Err: providers.ErrBusy,
	}
}

// take waits for room for so many more bytes of an answer.
func (l *lease) take(ctx context.Context, bytes int64) error {
	w := &wait{l, bytes * perByte, make(chan struct{})}
	r := l.room
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

	patience := roomPatience
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
	case <-w.ready: // meanwhile
		return nil
	default:
	}
	r.waiting.Remove(place)
	r.admit()
	return err
}

// grant gives w its room if there is some, or nobody else goes on without.
func (r *room) grant(w *wait) bool {
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

// admit lets go on who has waited, while there is room.
func (r *room) admit() {
	for first := r.waiting.Front(); first != nil; first = r.waiting.Front() {
		w := first.Value.(*wait)
		if !r.grant(w) {
			return
		}
		r.waiting.Remove(first)
		close(w.ready)
	}
}

// end gives back what the attempt has taken.
func (l *lease) end() {
	r := l.room
	r.mu.Lock()
	defer r.mu.Unlock()
	r.used -= l.held
	l.held, l.over = 0, true
	if r.finisher == l {
		r.finisher = nil
	}
	r.admit()
}
