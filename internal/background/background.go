// Package background counts work that runs without a caller waiting for it, so that a process can end without
// interrupting it. Unlike with a WaitGroup, work may begin while something waits for the end: it is then refused.
package background

import (
	"context"
	"sync"
)

// Group is a set of running work. Its zero value is ready to use, and it is safe for concurrent use.
type Group struct {
	mu     sync.Mutex
	n      int
	closed bool
	idle   chan struct{} // made by the waiter, closed with the last work
}

// Begin counts one more, unless the group is closed: then it returns false, and the work must not begin. Work that is
// already counted may always begin more with [Group.Fork].
func (g *Group) Begin() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		return false
	}
	g.n++
	return true
}

// Fork counts one more, started by work that is already counted.
func (g *Group) Fork() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.n++
}

// End counts one less.
func (g *Group) End() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.n--; g.n == 0 && g.idle != nil {
		close(g.idle)
		g.idle = nil
	}
}

// Close refuses new work and returns when the last work has ended, or ctx has.
func (g *Group) Close(ctx context.Context) error {
	g.mu.Lock()
	g.closed = true
	if g.n == 0 {
		g.mu.Unlock()
		return nil
	}
	if g.idle == nil {
		g.idle = make(chan struct{})
	}
	idle := g.idle
	g.mu.Unlock()
	select {
	case <-idle:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
