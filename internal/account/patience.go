package account

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/socialdata/socialdata/observe"
)

// bound is the context of a store call: it ends with the caller's, or when the time of the store is over. It only
// starts a timer when a store waits, which a store in this process does not: with [context.WithTimeout], two unused
// timers made half of the allocations and a third of the time of a cached call (BenchmarkCachedProfile).
type bound struct {
	context.Context // the caller's
	gate            *gate
	end             time.Time

	mu     sync.Mutex
	timed  context.Context // nil while the store does not wait
	cancel context.CancelFunc
}

// leave is deferred: it converts a panic to an error, and the end of the store's time to an error that is not the end
// of the caller's.
func (b *bound) leave(err *error) {
	timedOut := false
	if v := recover(); v != nil { // a search settles in goroutines of its own, where nothing else recovers
		*err = fmt.Errorf("socialdata: the %s panicked: %s", b.gate.name, observe.Recovered(v))
	} else if *err != nil {
		ended := b.Err() != nil
		if timedOut = ended; ended && b.Context.Err() == nil {
			*err = &UnavailableError{b.gate.name, fmt.Errorf("it has not answered in time: %v", *err)} //nolint:errorlint // not the caller's end
		} else if !ended && unavailable(*err) {
			*err = &UnavailableError{b.gate.name, *err}
		}
	}
	b.gate.leave(!timedOut)
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.cancel != nil {
		b.cancel()
	}
}

// Deadline implements [context.Context].
func (b *bound) Deadline() (time.Time, bool) {
	if at, ok := b.Context.Deadline(); ok && at.Before(b.end) {
		return at, true
	}
	return b.end, true
}

// Done implements [context.Context].
func (b *bound) Done() <-chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.timed == nil {
		b.timed, b.cancel = context.WithDeadline(b.Context, b.end)
	}
	return b.timed.Done()
}

// Err implements [context.Context].
func (b *bound) Err() error {
	ctx := b.now()
	if err := ctx.Err(); err != nil {
		return err
	}
	if ctx == b.Context && !time.Now().Before(b.end) {
		return context.DeadlineExceeded
	}
	return nil
}

// Value implements [context.Context]. A derived context finds the one with the timer, and needs no goroutine to watch
// it.
func (b *bound) Value(key any) any { return b.now().Value(key) }

// now returns the context with the timer, or the caller's while there is none.
func (b *bound) now() context.Context {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.timed != nil {
		return b.timed
	}
	return b.Context
}
