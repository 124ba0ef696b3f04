package engine

import (
	"context"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/socialdata/socialdata/internal/background"
	"github.com/socialdata/socialdata/requests"
)

const (
	queuedMost  = 32_768                 // requests wait to be written; one more is dropped and counted
	writeEvery  = 200 * time.Millisecond // is how long they wait at most
	foldEvery   = 10 * time.Second       // is how far the usage lags behind the books where no one asks for it
	trimEvery   = time.Minute
	writeWithin = 5 * time.Second // is the time that the store has for one write
	warnEvery   = time.Minute     // of what could not be written
)

// recorder writes the request log beside the calls and never in their way: a call leaves its line and goes on. A log in
// memory has it at once; for any other a goroutine writes many lines at a time, and ends when none has come for a while.
type recorder struct {
	store  requests.Store
	memory *requests.Memory // the store, if that is in memory
	books  requests.Books   // nil when nothing is charged
	bounds requests.Bounds
	now    func() time.Time
	log    *slog.Logger
	work   background.Group
	hurry  chan struct{} // somebody waits for what is queued

	mu      sync.Mutex
	running bool
	closing bool // what is dropped is written once more, and not again
	tried   bool // it was
	queue   []requests.Request
	dropped requests.Tallies    // of requests that found no room or could not be written
	charged map[string]struct{} // accounts with entries that the usage may lack
	came    uint64              // requests that were queued, ever
	done    uint64              // of those, written or dropped
	wrote   chan struct{}       // closed when done grows

	// Of the goroutine alone.
	folded, trimmed, warned time.Time
	added                   int // requests since the last trim
}

func newRecorder(cfg *Config) *recorder {
	r := &recorder{
		store: cfg.Requests, bounds: cfg.LogBounds.Filled(), now: cfg.Now, log: cfg.Log, hurry: make(chan struct{}, 1),
		dropped: requests.Tallies{}, charged: map[string]struct{}{}, wrote: make(chan struct{}),
	}
	if cfg.Ledger != nil {
		r.books = cfg.Ledger
	}
	if r.store == nil {
		r.store = requests.NewMemory(r.bounds)
	}
	r.memory, _ = r.store.(*requests.Memory)
	return r
}

// note takes a request into the log.
func (r *recorder) note(q requests.Request) {
	if r.memory != nil {
		r.memory.Note(q)
		if q.Credits > 0 {
			r.mu.Lock()
			r.charged[q.Account] = struct{}{}
			r.mu.Unlock()
		}
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if q.Credits > 0 {
		r.charged[q.Account] = struct{}{}
	}
	if len(r.queue) >= queuedMost || !r.running && !r.work.Begin() {
		r.drop(&q)
		return
	}
	r.queue = append(r.queue, q)
	r.came++
	if !r.running {
		r.running = true
		go r.run()
	}
}

// charge notes that the books of an account may say more than its usage.
func (r *recorder) charge(account string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.charged[account] = struct{}{}
}

// droppedPlaces bounds how finely dropped requests are told apart.
const droppedPlaces = 4096

// drop counts a request that is lost. The lock is held.
func (r *recorder) drop(q *requests.Request) {
	if len(r.dropped) >= droppedPlaces {
		q = &requests.Request{At: q.At, Account: q.Account}
	}
	r.dropped.Drop(q)
}

// run writes what is queued until nothing is left to do.
func (r *recorder) run() {
	defer r.work.End()
	for {
		r.pause()
		batch, lost, more := r.take()
		if !more {
			return
		}
		if len(batch) > 0 || len(lost) > 0 {
			r.write(batch, lost)
		}
		r.tend(len(batch) == 0)
	}
}

func (r *recorder) pause() {
	wait := time.NewTimer(writeEvery)
	defer wait.Stop()
	select {
	case <-wait.C:
	case <-r.hurry:
	}
}

// take returns what is to be written now, and false when nothing is and the goroutine may end.
func (r *recorder) take() (batch []requests.Request, lost []requests.Tally, more bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	batch, lost = r.queue, r.dropped.List()
	r.queue, r.dropped = nil, requests.Tallies{}
	r.running = len(batch) > 0 || len(lost) > 0 && !r.tried || len(r.charged) > 0 && r.books != nil
	r.tried = r.closing && len(lost) > 0
	return batch, lost, r.running
}

// write writes requests, some at a time, and what was lost before. What cannot be written is lost.
func (r *recorder) write(batch []requests.Request, lost []requests.Tally) {
	for {
		part := batch[:min(len(batch), requests.AtOnce)]
		counted := requests.Tallies{}
		counted.Add(lost)
		for i := range part {
			counted.Count(&part[i])
		}
		ctx, cancel := context.WithTimeout(context.Background(), writeWithin)
		err := r.store.Add(ctx, part, counted.List())
		cancel()
		r.mu.Lock()
		if err != nil {
			r.dropped.Add(lost)
			for i := range part {
				r.drop(&part[i])
			}
		}
		r.done += uint64(len(part))
		close(r.wrote)
		r.wrote = make(chan struct{})
		r.mu.Unlock()
		r.warn("requests are missing in the log", err)
		r.added += len(part)
		batch, lost = batch[len(part):], nil
		if len(batch) == 0 {
			return
		}
	}
}

// tend folds the books of the accounts that were charged, and trims the log, each now and then. Without calls at work
// it waits until folding is due.
func (r *recorder) tend(idle bool) {
	now := r.now()
	if now.Sub(r.trimmed) >= trimEvery && r.added > 0 || r.added >= r.bounds.Most/10 {
		ctx, cancel := context.WithTimeout(context.Background(), writeWithin)
		r.warn("the log is not trimmed", r.store.Trim(ctx, r.bounds, now))
		cancel()
		r.trimmed, r.added = now, 0
	}
	if idle || now.Sub(r.folded) >= foldEvery {
		r.folded = now
		r.warn("the usage lags behind the books", r.foldCharged(context.Background()))
	}
}

// warn logs that something is not kept, not too often.
func (r *recorder) warn(what string, err error) {
	if err == nil || r.now().Sub(r.warned) < warnEvery {
		return
	}
	r.warned = r.now()
	r.log.Warn(what, "error", err)
}

// foldCharged folds the books of the accounts that this process has charged since it last did.
func (r *recorder) foldCharged(ctx context.Context) error {
	r.mu.Lock()
	charged := r.charged
	r.charged = map[string]struct{}{}
	r.mu.Unlock()
	if r.books == nil {
		return nil
	}
	for _, account := range slices.Sorted(maps.Keys(charged)) {
		within, cancel := context.WithTimeout(ctx, writeWithin)
		err := r.fold(within, r.books, account)
		cancel()
		if err != nil {
			return err // the usage is folded again when the account is charged next, or asked for
		}
	}
	return nil
}

// fold adds what books say of an account to its usage.
func (r *recorder) fold(ctx context.Context, books requests.Books, account string) error {
	return requests.Fold(ctx, r.store, books, account, r.now().AddDate(0, 0, -r.bounds.Days))
}

// flush returns when everything that was noted before is written or lost, or with ctx.
func (r *recorder) flush(ctx context.Context) error {
	r.mu.Lock()
	until := r.came
	r.mu.Unlock()
	for {
		r.mu.Lock()
		done, wrote := r.done >= until, r.wrote
		r.mu.Unlock()
		if done {
			return nil
		}
		select {
		case r.hurry <- struct{}{}:
		default: // said already
		}
		select {
		case <-wrote:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// list returns the requests that q selects, newest first, with those of this process up to now.
func (r *recorder) list(ctx context.Context, q requests.Query) ([]requests.Request, error) {
	if err := r.flush(ctx); err != nil {
		return nil, err
	}
	found, err := r.store.List(ctx, q)
	oldest := r.now().Add(-r.bounds.Life)
	for i := range found {
		if !found[i].At.After(oldest) { // it has not been trimmed yet
			return found[:i], err
		}
	}
	return found, err
}

// sums returns the usage that q selects, as it is now.
func (r *recorder) sums(ctx context.Context, books requests.Books, q requests.SumQuery) ([]requests.Rollup, error) {
	err := r.flush(ctx)
	switch {
	case err != nil || r.books == nil:
	case q.Account == "":
		err = r.foldCharged(ctx)
	default:
		err = r.fold(ctx, books, q.Account)
	}
	if err != nil {
		return nil, err
	}
	sums, err := r.store.Sums(ctx, q)
	return requests.Rollups(sums), err
}

// close writes what is queued and refuses more.
func (r *recorder) close(ctx context.Context) error {
	if err := r.flush(ctx); err != nil {
		return err
	}
	r.mu.Lock()
	r.closing = true
	r.mu.Unlock()
	select {
	case r.hurry <- struct{}{}:
	default: // said already
	}
	return r.work.Close(ctx)
}
