package engine

import (
	"context"
	"encoding/json"
	"sync"
	"time"
)

// turns lets one call of the process at a time handle an idempotency key. The others wait for its result, without
// calling the store. The zero value is ready to use.
type turns struct {
	mu sync.Mutex
	by map[string]*turn
}

// turn is a call that handles a key, and the record that it leaves for the calls that wait.
type turn struct {
	over   chan struct{} // closed when it has ended
	record []byte        // the key's record at the end, a kept as JSON; nil when it is not known
}

// take gives the caller the turn for key, or returns the turn of another call.
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
func (t *turns) end(key string, own *turn, record *kept) {
	if record != nil {
		own.record, _ = json.Marshal(record) // without it, the calls that wait read the store
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.by, key)
	close(own.over)
}

// await returns a copy of the key's record when the turn has ended; nil when the record is not known, or when the turn
// does not end before ctx, or by over.
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
	record := &kept{}
	if own.record == nil || json.Unmarshal(own.record, record) != nil {
		return nil
	}
	return record
}
