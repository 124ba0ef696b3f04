package read

import "sync"

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
