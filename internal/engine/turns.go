package engine

import (
	"context"
	"encoding/json"
	"sync"
	"time"
)

// turns let one call of the process at a time deal with an idempotency key. The others wait for what comes of it, and ask
// the store for nothing meanwhile. The zero value is ready for use.
type turns struct {
	mu sync.Mutex
	by map[string]*turn
}

// turn is a call that deals with a key, and what it leaves to those who wait for it.
type turn struct {
	over   chan struct{} // closed when it has ended
	stands []byte        // a kept as JSON: what then stands under the key; nil when that is not known
}

// take makes the caller the one who deals with key, or returns whose turn it is.
func (t *turns) take(key string) (own *turn, mine bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if there := t.by[key]; there != nil {
		return there, false
	}
	if t.by == nil {
		t.by = map[string]*turn{}
	}
	own = &turn{over: make(chan struct{})}
	t.by[key] = own
	return own, true
}

// end ends a turn.
func (t *turns) end(key string, own *turn, stands *kept) {
	if stands != nil {
		own.stands, _ = json.Marshal(stands) // without it, those who wait look for themselves
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.by, key)
	close(own.over)
}

// await returns what stands under the key when the turn has ended, a copy; nil when that is not known, or when it has not
// ended before the end of ctx, or by then.
func (own *turn) await(ctx context.Context, over time.Time) *kept {
	timer := time.NewTimer(time.Until(over))
	defer timer.Stop()
	select {
	case <-own.over:
	case <-ctx.Done():
		return nil
	case <-timer.C:
		return nil
	}
	stands := &kept{}
	if own.stands == nil || json.Unmarshal(own.stands, stands) != nil {
		return nil
	}
	return stands
}
