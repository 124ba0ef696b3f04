package calls

import (
	"context"
	"sync"
)

// inflight are the calls of this process that have a key. One at a time handles a key; others wait for its outcome
// without asking the store.
type inflight struct {
	mu sync.Mutex
	by map[string]*flight
}

// flight is a call that handles a key.
type flight struct {
	ended  chan struct{} // closed when it has ended
	answer *record       // what it has left, if that is an answer; set before the end
	err    error         // why it has failed; nil if its caller has left, or if others must find out themselves
}

// enter returns the flight of the caller or, if another call handles the key, that one.
func (f *inflight) enter(key string) (_ *flight, own bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if other := f.by[key]; other != nil {
		return other, false
	}
	mine := &flight{ended: make(chan struct{})}
	f.by[key] = mine
	return mine, true
}

// leave ends a flight.
func (f *inflight) leave(key string, mine *flight) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.by[key] == mine {
		delete(f.by, key)
		close(mine.ended)
	}
}

// enter waits until no other call of this process handles the key, or returns the outcome of one that has ended.
func (c *Call) enter(ctx context.Context) (*flight, error) {
	for {
		other, own := c.keeper.inflight.enter(c.key)
		if own {
			c.flight = other
			return nil, nil //nolint:nilnil // the key is this call's
		}
		waiting, cancel := context.WithTimeout(ctx, c.keeper.waits(ctx))
		select {
		case <-other.ended:
		case <-waiting.Done():
		}
		over := waiting.Err() != nil
		cancel()
		switch {
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case over:
			return nil, ErrInProgress
		case other.answer != nil || other.err != nil:
			return other, nil
		}
	}
}
