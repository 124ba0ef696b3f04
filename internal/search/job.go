package search

import (
	"context"
	"sync"
	"time"

	"github.com/socialdata/socialdata/internal/account"
)

// job is a search that is worked on or asked about. All that changes in it is in its state, which only lock hands out.
type job struct {
	mu    turn
	state state
}

func newJob(st state) *job {
	j := &job{mu: make(turn, 1), state: st}
	if st.running != nil {
		st.running.lock, st.running.writing = j.mu, make(turn, 1)
	}
	return j
}

// turn is a lock that may be held while a store call runs: in a test, the clock advances for those waiting for it.
type turn chan struct{}

// lock waits for the lock until ctx ends.
func (t turn) lock(ctx context.Context) error {
	if t.tryLock() {
		return nil
	}
	select {
	case t <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (t turn) tryLock() bool {
	select {
	case t <- struct{}{}:
		return true
	default:
		return false
	}
}

// Lock implements [sync.Locker].
func (t turn) Lock() { t <- struct{}{} }

// Unlock implements [sync.Locker].
func (t turn) Unlock() { <-t }

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
	asking  map[int]bool  // the parts, and theFee, whose charge the ledger is asked for
	lock    sync.Locker   // the job's
	writing turn          // of those who write the record; it is taken while the job is locked by no one
}

// theFee is the enrichment among the parts that are asked for.
const theFee = -1

// away unlocks the job while do calls a store, which may hang. The caller must look at the state again afterwards. A job
// that this process does not make has no other user.
func (st *state) away(do func()) {
	if r := st.running; r != nil {
		r.lock.Unlock()
		defer r.lock.Lock()
	}
	do()
}

// ask reports whether nobody is asking the ledger for the charge of that part, and notes that its caller is, until asked.
func (st *state) ask(part int) bool {
	if st.running == nil {
		return true
	}
	if st.running.asking[part] {
		return false
	}
	st.running.asking[part] = true
	return true
}

func (st *state) asked(part int) {
	if st.running != nil {
		delete(st.running.asking, part)
	}
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

// settled reports whether everything is decided.
func settled(r *record) bool { return !r.open() }

// worth tells whether there is something to answer, or nothing more to wait for.
func worth(r *record) bool { return ended(r) || r.any(found) || r.any(paid) }
