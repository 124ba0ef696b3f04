// Package lapse provides a context with a time limit for calls that seldom have to wait: it costs nothing until
// something waits for it.
package lapse

import (
	"context"
	"sync"
	"time"
)

// Context ends with another context, or at a time. It only starts a timer when something waits for it, which a store in
// this process does not: with [context.WithTimeout], two unused timers made half of the allocations and a third of the
// time of a cached call, and four a fifth of those of a small miss (BenchmarkCachedProfile and BenchmarkPromptRead in
// the root package).
type Context struct {
	context.Context // the one it ends with
	end             time.Time

	mu      sync.Mutex
	timed   context.Context // nil until something waits for it
	cancel  context.CancelFunc
	stopped bool
}

// At returns a context that ends at end. Stop must be called when it is not needed any more.
func At(ctx context.Context, end time.Time) *Context { return &Context{Context: ctx, end: end} }

// After returns a context that ends after d. Stop must be called when it is not needed any more.
func After(ctx context.Context, d time.Duration) *Context { return At(ctx, time.Now().Add(d)) }

// Init makes the zero Context one that ends at end.
func (c *Context) Init(ctx context.Context, end time.Time) { c.Context, c.end = ctx, end }

// Stop ends the context, and releases the timer if there is one.
func (c *Context) Stop() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.stopped = true; c.cancel != nil {
		c.cancel()
	}
}

// Deadline implements [context.Context].
func (c *Context) Deadline() (time.Time, bool) {
	if at, ok := c.Context.Deadline(); ok && at.Before(c.end) {
		return at, true
	}
	return c.end, true
}

// Done implements [context.Context].
func (c *Context) Done() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.timed == nil {
		if c.timed, c.cancel = context.WithDeadline(c.Context, c.end); c.stopped {
			c.cancel()
		}
	}
	return c.timed.Done()
}

// Err implements [context.Context].
func (c *Context) Err() error {
	c.mu.Lock()
	timed, stopped := c.timed, c.stopped
	c.mu.Unlock()
	if timed != nil {
		return timed.Err()
	}
	if err := c.Context.Err(); err != nil {
		return err
	}
	switch {
	case stopped:
		return context.Canceled
	case !time.Now().Before(c.end):
		return context.DeadlineExceeded
	}
	return nil
}

// Value implements [context.Context]. A derived context finds the one with the timer, and needs no goroutine to watch
// it.
func (c *Context) Value(key any) any { return c.now().Value(key) }

// now returns the context with the timer, or the embedded one until there is a timer.
func (c *Context) now() context.Context {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.timed != nil {
		return c.timed
	}
	return c.Context
}
