package account

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/socialdata/socialdata/observe"
)

// patience is how long the ledger has for an answer.
const patience = 10 * time.Second

// bound is the context of a question to the ledger: it ends when the caller's does, or with our patience. There is a timer
// for that once somebody waits, which a ledger in this process does not: with [context.WithTimeout] half of what a cached
// call allocates, and a third of its time, was for two timers that nobody looks at (BenchmarkCachedProfile).
type bound struct {
	context.Context // the caller's
	end             time.Time

	mu     sync.Mutex
	timed  context.Context // nil while nobody waits
	cancel context.CancelFunc
}

func within(ctx context.Context) *bound { return &bound{Context: ctx, end: time.Now().Add(patience)} }

// over is deferred: it turns a panic into an error, and the end of our patience into one that is no end of the caller's.
func (b *bound) over(err *error) {
	if v := recover(); v != nil { // a search settles in goroutines of its own, where nobody above could
		*err = fmt.Errorf("socialdata: the ledger panicked: %s", observe.Recovered(v))
	} else if *err != nil && b.Err() != nil && b.Context.Err() == nil {
		*err = fmt.Errorf("socialdata: the ledger has not answered within %v: %v", patience, *err) //nolint:errorlint // no end of the caller's
	}
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

// Value implements [context.Context]. A context below finds the one with the timer, and needs no goroutine to watch it.
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
