package read

import (
	"context"
	"sync"

	"github.com/socialdata/socialdata/cache"
)

// flying counts the flights in progress, so that a caller knows whether it joins one. Its zero value is ready for use.
type flying struct {
	mu  sync.Mutex
	now map[string]int
}

// has reports whether a flight is in progress.
func (f *flying) has(flight string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.now[flight] > 0
}

// begin counts a flight as in progress until end is called.
func (f *flying) begin(flight string) (end func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.now == nil {
		f.now = map[string]int{}
	}
	f.now[flight]++
	return func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		if f.now[flight]--; f.now[flight] == 0 {
			delete(f.now, flight)
		}
	}
}

// claim looks q up again and, in a shared cache, waits while another process makes the same read.
func (r *Reader) claim(ctx context.Context, q *Query) cache.Claim {
	if r.shared != nil {
		return r.shared.Join(ctx, q.key)
	}
	if entry := r.cached(ctx, q); entry != nil && good(q, entry, r.cfg.Now()) {
		return cache.Claim{Entry: entry}
	}
	return cache.Claim{Done: func(context.Context, string) {}}
}
