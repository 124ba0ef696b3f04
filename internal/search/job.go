package search

import (
	"context"
	"sync"
	"time"

	"github.com/socialdata/socialdata/internal/account"
)

// job is a search that is worked on or asked about. All that changes in it is in its state, which only lock hands out.
type job struct {
	mu    sync.Mutex
	state state
}

// state is what a job's lock guards. Whoever has one has the lock.
type state struct {
	record

	version int64 // of the record in the store; 0 when it is not there
	running *running
}

// running is what only the process that makes a search knows of it; nil elsewhere.
type running struct {
	plan    *Plan
	books   account.Books
	tab     *account.Tab
	changed chan struct{} // closed when a part comes to its end, and made anew
	left    bool          // the caller has gone without an answer: nothing is paid any more
}

// lock waits for the job and hands out its state, until unlock.
func (j *job) lock() *state {
	j.mu.Lock()
	return &j.state
}

func (j *job) unlock() { j.mu.Unlock() }

// signal wakes everybody who waits for a part to end.
func (st *state) signal() {
	close(st.running.changed)
	st.running.changed = make(chan struct{})
}

// await waits until enough holds, or for d; it tells which. For a d of 0 it only looks.
func (j *job) await(ctx context.Context, d time.Duration, enough func(*record) bool) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	for {
		st := j.lock()
		holds, changed := enough(&st.record), st.running.changed
		j.unlock()
		if holds || d <= 0 {
			return holds
		}
		select {
		case <-changed:
		case <-timer.C:
			return false
		case <-ctx.Done():
			return false
		}
	}
}

// ended tells whether every part has come to its end.
func ended(r *record) bool { return !r.any(pending) }

// worth tells whether there is something to answer, or nothing more to wait for.
func worth(r *record) bool { return ended(r) || r.any(found) || r.any(paid) }
