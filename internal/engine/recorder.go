package engine

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/socialdata/socialdata/internal/background"
	"github.com/socialdata/socialdata/observe"
	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/requests"
)

const (
	queuedMost  = 32_768                 // maximum number of requests in the queue; any more are dropped and counted
	writeEvery  = 200 * time.Millisecond // maximum time in the queue
	foldEvery   = 10 * time.Second       // maximum delay of the usage compared to the ledger while it is not read
	foldMany    = 2048                   // entries of an account that are folded at once, while they are in memory
	trimEvery   = time.Minute
	writeWithin = 5 * time.Second // time limit of the store for one write
	warnEvery   = time.Minute     // interval of warnings about failed writes
)

// recorder writes the request log in the background, so that calls do not wait for it. A log in memory is written
// immediately; for any other, a goroutine writes many lines at a time, and ends when there has been none for a while.
type recorder struct {
	store  requests.Store
	memory *requests.Memory // the store, if it is in memory
	books  requests.Books   // nil when nothing is charged
	bounds requests.Bounds
	off    bool // nothing is logged
	now    func() time.Time
	log    *slog.Logger
	work   background.Group
	hurry  chan struct{} // a caller waits for the queue to be written

	mu      sync.Mutex
	running bool
	closing bool // the counts of dropped requests are written one last time
	tried   bool // that was tried
	queue   []requests.Request
	counted requests.Tallies // what is not in the queue: dropped requests, and requests to upstreams
	charged map[string]int   // accounts with entries that may be missing in the usage, and how many at least
	came    uint64           // number of requests that were queued
	done    uint64           // number of those that were written or dropped
	wrote   chan struct{}    // closed when done increases

	// For the goroutine only.
	folded, trimmed, warned time.Time
	added                   int // requests since the last trim
}

func newRecorder(cfg *Config) *recorder {
	r := &recorder{
		store: cfg.Requests, bounds: cfg.LogBounds.Filled(), now: cfg.Now, log: cfg.Log, hurry: make(chan struct{}, 1),
		counted: requests.Tallies{}, charged: map[string]int{}, wrote: make(chan struct{}),
	}
	if cfg.Ledger != nil {
		r.books = cfg.Ledger
	}
	if r.store == nil {
		r.store = requests.NewMemory(r.bounds)
	}
	if r.off = r.bounds.Most < 0; r.off {
		r.bounds.Most = 1 // trims the log of earlier processes
	}
	r.memory, _ = r.store.(*requests.Memory)
	return r
}

// note adds a request to the log.
func (r *recorder) note(q requests.Request) {
	if r.off {
		if q.Credits > 0 {
			r.charge(q.Account)
		}
		return
	}
	if r.memory != nil {
		r.memory.Note(q)
		if q.Credits > 0 {
			r.charge(q.Account)
		}
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if q.Credits > 0 {
		r.charged[q.Account]++
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

// send counts requests to a provider. A store gets the counts with the next batch.
func (r *recorder) send(id platform.ID, operation, provider string, sent requests.Upstream) {
	at := r.now()
	if r.memory != nil {
		now := requests.Tallies{}
		now.Send(at, string(id), operation, provider, sent)
		_ = r.memory.Add(context.Background(), nil, now.List()) // it never fails
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.counted.Send(at, string(id), operation, provider, sent)
	if !r.running && r.work.Begin() {
		r.running = true
		go r.run()
	}
}

// observer returns o extended to count the requests to upstreams.
func (r *recorder) observer(o observe.Observer) observe.Observer {
	before := o.Upstream
	o.Upstream = func(u observe.Upstream) {
		before(u)
		r.send(u.Platform, u.Operation, u.Provider, requests.Upstream{Requests: 1})
	}
	return o
}

// paid counts what a provider charged.
func (r *recorder) paid(id platform.ID, provider, operation string, credits int64) {
	r.send(id, operation, provider, requests.Upstream{Credits: credits})
}

// charge notes that the ledger may have entries of an account that are not in its usage.
func (r *recorder) charge(account string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.charged[account]++
}

// droppedPlaces is the maximum number of tallies for dropped requests.
const droppedPlaces = 4096

// drop counts a request that is lost. The caller holds the lock.
func (r *recorder) drop(q *requests.Request) {
	if len(r.counted) >= droppedPlaces {
		q = &requests.Request{At: q.At, Account: q.Account}
	}
	r.counted.Drop(q)
}

// run writes the queue until there is nothing to do.
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

// take returns what is to be written now; more is false when there is nothing, so that the goroutine ends.
func (r *recorder) take() (batch []requests.Request, lost []requests.Tally, more bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	batch, lost = r.queue, r.counted.List()
	r.queue, r.counted = nil, requests.Tallies{}
	r.running = len(batch) > 0 || len(lost) > 0 && !r.tried || len(r.charged) > 0 && r.books != nil
	r.tried = r.closing && len(lost) > 0
	return batch, lost, r.running
}

// write writes requests in parts, with the counts of lost ones. Requests that cannot be written are lost.
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
			r.counted.Add(lost)
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

// tend folds the entries of the accounts that were charged, and trims the log, both at intervals. If idle, it waits
// until folding is due.
func (r *recorder) tend(idle bool) {
	now := r.now()
	if now.Sub(r.trimmed) >= trimEvery && r.added > 0 || r.added >= r.bounds.Most/10 {
		ctx, cancel := context.WithTimeout(context.Background(), writeWithin)
		r.warn("the log is not trimmed", r.store.Trim(ctx, r.bounds, now))
		cancel()
		r.trimmed, r.added = now, 0
	}
	least := foldMany
	if idle || now.Sub(r.folded) >= foldEvery {
		r.folded, least = now, 1
	}
	r.warn("the usage lacks entries of the ledger", r.foldCharged(context.Background(), least))
}

// warn logs that something could not be stored, at most once in warnEvery.
func (r *recorder) warn(what string, err error) {
	if err == nil || r.now().Sub(r.warned) < warnEvery {
		return
	}
	r.warned = r.now()
	r.log.Warn(what, "error", err)
}

// foldCharged folds the entries of the accounts that this process has charged at least that often since the last time.
func (r *recorder) foldCharged(ctx context.Context, least int) error {
	var charged []string
	r.mu.Lock()
	for account, n := range r.charged {
		if n >= least {
			charged = append(charged, account)
			delete(r.charged, account)
		}
	}
	r.mu.Unlock()
	if r.books == nil {
		return nil
	}
	slices.Sort(charged)
	for _, account := range charged {
		within, cancel := context.WithTimeout(ctx, writeWithin)
		err := r.fold(within, r.books, account)
		cancel()
		if err != nil {
			return err // the usage is folded again when the account is charged next, or when it is read
		}
	}
	return nil
}

// fold adds an account's entries to its usage.
func (r *recorder) fold(ctx context.Context, books requests.Books, account string) error {
	return requests.Fold(ctx, r.store, books, account, r.now().AddDate(0, 0, -r.bounds.Days))
}

// flush returns when everything noted before is written or lost, or when ctx ends.
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
		default: // signalled already
		}
		select {
		case <-wrote:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// list returns the requests that q selects, newest first, including all of this process.
func (r *recorder) list(ctx context.Context, q requests.Query) ([]requests.Request, error) {
	if err := r.flush(ctx); err != nil {
		return nil, err
	}
	found, err := r.store.List(ctx, q)
	oldest := r.now().Add(-r.bounds.Life)
	for i := range found {
		if !found[i].At.After(oldest) { // not trimmed yet
			return found[:i], err
		}
	}
	return found, err
}

// sums returns the current usage that q selects.
func (r *recorder) sums(ctx context.Context, books requests.Books, q requests.SumQuery) ([]requests.Rollup, error) {
	err := r.flush(ctx)
	switch {
	case err != nil || r.books == nil || q.NoAccount:
	case q.Account == "":
		err = r.foldCharged(ctx, 1)
	default:
		err = r.fold(ctx, books, q.Account)
	}
	if err != nil {
		return nil, err
	}
	sums, err := r.store.Sums(ctx, q)
	return requests.Rollups(sums), err
}

// close writes the queue and refuses more.
func (r *recorder) close(ctx context.Context) error {
	if err := r.flush(ctx); err != nil {
		return err
	}
	r.mu.Lock()
	r.closing = true
	r.mu.Unlock()
	select {
	case r.hurry <- struct{}{}:
	default: // signalled already
	}
	return r.work.Close(ctx)
}
