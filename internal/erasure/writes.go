package erasure

import "sync"

// writes are the writes in progress, by the epoch in which each has begun. Its zero value is ready to use.
type writes struct {
	mu  sync.Mutex
	now *generation
}

// generation is the writes of one epoch.
type generation struct {
	under int
	over  bool          // a newer one has begun
	ended chan struct{} // closed when it is over and none of its writes is in progress
}

// enter begins a write and returns a function that ends it.
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

// turn begins another generation. It returns a channel that is closed when the writes of the previous one have ended.
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
