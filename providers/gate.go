package providers

import (
	"context"
	"slices"
	"sync"
)

// Gate limits the number of concurrent requests to an upstream. Others wait, and continue in order of arrival. A nil
// Gate has no limit. It is safe for concurrent use.
type Gate struct {
	mu      sync.Mutex
	free    int
	waiting []*turn
}

// turn is a request that waits, or a call of [Gate.Full].
type turn struct {
	come chan struct{} // nil for a call of Full
	then func()
}

// NewGate returns a Gate for n requests at a time, at least one.
func NewGate(n int) *Gate { return &Gate{free: max(1, n)} }

// Enter waits until the request may be sent, or returns the error of ctx. After it, the request must call [Gate.Leave].
func (g *Gate) Enter(ctx context.Context) error {
	if g == nil {
		return nil
	}
	g.mu.Lock()
	if g.free > 0 && len(g.waiting) == 0 {
		g.free--
		g.mu.Unlock()
		return nil
	}
	t := &turn{come: make(chan struct{})}
	g.waiting = append(g.waiting, t)
	g.mu.Unlock()
	select {
	case <-t.come:
		return nil
	case <-ctx.Done():
	}
	g.mu.Lock()
	i := slices.Index(g.waiting, t)
	if i >= 0 {
		g.waiting = slices.Delete(g.waiting, i, i+1)
	}
	g.mu.Unlock()
	if i < 0 { // its turn came meanwhile
		g.Leave()
	}
	return ctx.Err()
}

// Leave ends a request.
func (g *Gate) Leave() {
	if g == nil {
		return
	}
	g.mu.Lock()
	g.free++
	var calls []func()
	for g.free > 0 && len(g.waiting) > 0 {
		t := g.waiting[0]
		g.waiting = g.waiting[1:]
		if t.come == nil {
			calls = append(calls, t.then)
			continue
		}
		g.free--
		close(t.come)
	}
	g.mu.Unlock()
	for _, then := range calls {
		then()
	}
}

// Full reports whether a request would have to wait. If so, then is called once, when its turn would come.
func (g *Gate) Full(then func()) bool {
	if g == nil {
		return false
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.free > 0 && len(g.waiting) == 0 {
		return false
	}
	g.waiting = append(g.waiting, &turn{then: then})
	return true
}
