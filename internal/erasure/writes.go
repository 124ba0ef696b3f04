package erasure

import "sync"

// writes are the writes that are under way, by the epoch in which each has begun. Its zero value is ready for use.
type writes struct {
	mu  sync.Mutex
	now *generation
}

// generation is the writes of one epoch.
type generation struct {
	under int
	over  bool          // another one has begun
	ended chan struct{} // closed when it is over and nothing of it is under way
}

// enter begins a write and returns what ends it.
func (w *writes) enter() (leave func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.now == nil {
		w.now = &generation{ended: make(chan struct{})}
	}
	g := w.now
	g.under++
	return func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		if g.under--; g.over && g.under == 0 {
			close(g.ended)
		}
	}
}

// turn begins another generation. What it returns is closed when the writes of the one before have ended.
func (w *writes) turn() <-chan struct{} {
	w.mu.Lock()
	defer w.mu.Unlock()
	before := w.now
	if before == nil {
		before = &generation{ended: make(chan struct{})}
	}
	w.now = &generation{ended: make(chan struct{})}
	if before.over = true; before.under == 0 {
		close(before.ended)
	}
	return before.ended
}
