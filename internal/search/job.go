package search

import (
	"context"
	"sync"
	"time"

	"github.com/socialdata/socialdata/internal/account"
)

// job is a search that this process makes, or that it has read from the store for a poll. Everything in it that changes
// is in its state, which lock returns.
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

// turn is a mutex that may be held during a store call. Unlike with [sync.Mutex], the clock of a synctest bubble
// advances for goroutines that wait for it.
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

// state is what a job's lock protects. Functions with a state parameter are called with the lock held.
type state struct {
	record

	version int64 // of the record in the store; 0 when there is none
	running *running
}

// running is the state of a search that only the process that makes it has; nil in others.
type running struct {
	plan    *Plan
	books   account.Books
	tab     *account.Tab
	changed chan struct{} // closed when a part ends, and replaced
	left    bool          // the caller has hung up without an answer: nothing more is charged
	asking  map[int]int   // how many goroutines are settling or releasing each part, and theFee
	lock    sync.Locker   // the job's
	writing turn          // held while the record is written; it is taken while the job is not locked
}

// theFee is the enrichment in asking.
const theFee = -1

// away unlocks the job while do calls a store, which may hang; do must not use st. The state may be different after it.
// A job that this process does not make has no other users, and is not unlocked.
func (st *state) away(do func()) {
	if r := st.running; r != nil {
		r.lock.Unlock()
		defer r.lock.Lock()
	}
	do()
}

// left reports whether the caller of a search that this process makes has hung up without an answer.
func (st *state) left() bool { return st.running != nil && st.running.left }

// ask reports whether no other goroutine is settling or releasing that part, and notes that this one is, until asked.
func (st *state) ask(part int) bool {
	if st.running != nil && st.running.asking[part] > 0 {
		return false
	}
	st.take(part)
	return true
}

// take notes that this goroutine is settling or releasing that part, until asked, whether or not another one is. Until
// then, no goroutine begins to settle it.
func (st *state) take(part int) {
	if st.running != nil {
		st.running.asking[part]++
	}
}

// asked ends what ask or take has begun.
func (st *state) asked(part int) {
	if st.running != nil {
		st.running.asking[part]--
	}
}

// lock locks the job and returns its state, until unlock.
func (j *job) lock() *state {
	j.mu.Lock()
	return &j.state
}

func (j *job) unlock() { j.mu.Unlock() }

// signal wakes all goroutines that wait for a part to end.
func (st *state) signal() {
	close(st.running.changed)
	st.running.changed = make(chan struct{})
}

// await waits until enough returns true, or for d, and reports which. With a d of 0 it only checks.
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

// ended reports whether every part has ended.
func ended(r *record) bool { return !r.any(pending) }

// settled reports whether everything is decided.
func settled(r *record) bool { return !r.open() }

// worth reports whether there are results to return, or nothing more to wait for.
func worth(r *record) bool { return ended(r) || r.any(found) || r.any(paid) }
