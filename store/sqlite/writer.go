package sqlite

import (
	"database/sql/driver"
	"errors"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

// writer owns the one connection that writes. Its goroutine takes what callers have queued, applies it in one durable
// transaction, and then tells each of them: the group commit.
type writer struct {
	c   *conn
	now func() time.Time
	// atOnce bounds a transaction, and so how long its first caller waits.
	atOnce int

	mu     sync.Mutex
	queue  []*task
	closed bool

	wake chan struct{} // holds one token when there may be something to do
	done chan struct{} // closed when the goroutine has ended
	// checkpoint asks for a look at the log now and then.
	checkpoint chan struct{}
	changed    func() // another process has written

	tail    *tail
	version atomic.Int64 // what is remembered of the file is true while this is unchanged

	// Of the goroutine alone:
	data    int64           // PRAGMA data_version: changes when another process has written
	pending []insert        // entries that this transaction adds to the journal
	keyed   map[keyed]int64 // what the charges of these with an idempotency key come to
	blob    []byte          // of the row before, whose place it takes
	inserts *inserts        // entries that this transaction adds to their table
	commits int64
	folding folding
	foldErr error // why the last fold failed
}

// task is one caller's part of a transaction. Its functions run on the writer's goroutine.
type task struct {
	// apply writes. When it fails with a refusal, it must have written nothing; any other error undoes the whole
	// transaction, and the other tasks are applied once more, in another one.
	apply func(*writer) error
	// finish hears how it went, before the caller does. It may be nil.
	finish func(err error)
	// alone asks for a transaction of its own, which any error undoes; outside asks for none at all.
	alone, outside bool

	charged int64 // credits that a charge came to, once it is done
	err     error
	done    chan struct{}
}

// refusal is an error that concerns one task and not the transaction that it shares.
type refusal struct{ error }

func (r refusal) Unwrap() error { return r.error }

// maxBatch is how many tasks share a transaction at most.
const maxBatch = 256

// newWriter brings the file up to date, reads the journal and starts the goroutine.
// Changed is called when another process has written.
func newWriter(c *conn, now func() time.Time, f folding, changed func()) (*writer, error) {
	if err := migrate(c); err != nil {
		return nil, err
	}
	x, err := newInserts(c)
	if err != nil {
		return nil, err
	}
	w := &writer{
		c: c, now: now, atOnce: maxBatch, wake: make(chan struct{}, 1), done: make(chan struct{}),
		checkpoint: make(chan struct{}, 1), changed: changed, tail: newTail(), data: -1, keyed: map[keyed]int64{},
		inserts: x, folding: f,
	}
	if err := w.notice(); err != nil {
		return nil, err
	}
	go w.run()
	return w, nil
}

// do queues t and waits until it is durable, or has failed. It does not look at a context: once queued, only the
// writer knows how it ends.
func (w *writer) do(t *task) error {
	if err := w.submit(t); err != nil {
		return err
	}
	<-t.done
	return t.err
}

// alone runs apply in a transaction of its own.
func (w *writer) alone(apply func(c *conn) error) error {
	return w.do(&task{alone: true, apply: func(w *writer) error { return apply(w.c) }})
}

func (w *writer) submit(t *task) error {
	t.done = make(chan struct{})
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return ErrClosed
	}
	w.queue = append(w.queue, t)
	select {
	case w.wake <- struct{}{}:
	default: // awake already
	}
	return nil
}

// close waits for what is queued, and closes the connection.
func (w *writer) close() error {
	w.mu.Lock()
	if w.closed {
		w.mu.Unlock()
		<-w.done
		return nil
	}
	w.closed = true
	close(w.wake)
	w.mu.Unlock()
	<-w.done
	return w.c.Close()
}

func (w *writer) run() {
	defer close(w.done)
	idle := time.NewTimer(w.folding.wait(nil))
	defer idle.Stop()
	for open := true; open; {
		select {
		case _, open = <-w.wake:
		case <-idle.C:
			w.foldAll()
		}
		for batch := w.take(); len(batch) > 0; batch = w.take() {
			w.commit(batch)
		}
		idle.Reset(w.folding.wait(w.foldErr))
	}
	if w.folding.atEnd {
		w.foldAll()
	}
}

// take returns the next tasks that share a transaction, or the next one alone when it shares with nobody.
func (w *writer) take() []*task {
	w.mu.Lock()
	defer w.mu.Unlock()
	n := w.sharing(w.atOnce)
	if n == 0 && len(w.queue) > 0 {
		n = 1
	}
	return w.pop(n)
}

// join returns tasks that came while others were applied, for the same transaction: it costs the disk as much for one
// charge as for a hundred. Callers that are about to queue something get the chance to.
func (w *writer) join(most int) []*task {
	for range 3 {
		w.mu.Lock()
		more := w.pop(w.sharing(most))
		w.mu.Unlock()
		if len(more) > 0 {
			return more
		}
		runtime.Gosched()
	}
	return nil
}

// sharing counts the first tasks in the queue that can share a transaction, up to most.
func (w *writer) sharing(most int) (n int) {
	for n < len(w.queue) && n < most && !w.queue[n].alone && !w.queue[n].outside {
		n++
	}
	return n
}

// pop takes n tasks from the queue.
func (w *writer) pop(n int) []*task {
	batch := w.queue[:n:n]
	if w.queue = w.queue[n:]; len(w.queue) == 0 {
		w.queue = nil // do not keep the array alive
	}
	return batch
}

// commit applies the tasks of batch, and those that join them, in one durable transaction, and tells each of them. When
// one of them fails, all is undone, and those before it, it alone and those after it have a transaction each: no task
// fails for what another has done.
func (w *writer) commit(batch []*task) {
	if batch[0].outside {
		tell(batch, batch[0].apply(w))
		return
	}
	batch, failed, err := w.transact(batch)
	if err != nil {
		_, _ = w.c.exec("ROLLBACK") // fails when SQLite has rolled back by itself
		w.version.Add(1)            // what the tasks believe to have written is not there
	}
	_, notFolded := errors.AsType[foldError](err)
	switch {
	case notFolded:
		w.commit(batch) // and what could not be folded apart from it
		return
	case failed >= 0 && len(batch) > 1:
		batch[failed].alone = true
		for _, part := range [][]*task{batch[:failed:failed], batch[failed : failed+1 : failed+1], batch[failed+1:]} {
			if len(part) > 0 {
				w.commit(part)
			}
		}
		return
	}
	tell(batch, err)
	if w.commits++; w.commits%checkpointLook == 0 {
		w.lookAtLog()
	}
	if w.foldErr != nil && w.tail.entries > w.folding.long {
		w.tryFold(foldSome)
	}
}

// tell tells the callers of batch how it went. The error is that of the transaction.
func tell(batch []*task, err error) {
	for _, t := range batch {
		if err != nil && t.err == nil {
			t.err = err
		}
		if t.finish != nil {
			t.finish(t.err)
		}
	}
	for _, t := range batch {
		close(t.done)
	}
}

// lookAtLog asks for a look at the log, and does not wait.
func (w *writer) lookAtLog() {
	select {
	case w.checkpoint <- struct{}{}:
	default: // asked already
	}
}

// transact applies the tasks of batch, and those that join them, in one durable transaction. It returns them all, and
// which of them has failed: -1 when it was none, or the transaction itself.
func (w *writer) transact(batch []*task) (all []*task, failed int, err error) {
	if err := w.begin(); err != nil {
		return batch, -1, err
	}
	for done := 0; done < len(batch); {
		for i, t := range batch[done:] {
			t.err = t.apply(w)
			if _, refused := errors.AsType[refusal](t.err); t.err != nil && (t.alone || !refused) {
				return batch, done + i, t.err
			}
		}
		done = len(batch)
		if most := w.atOnce - done; most > 0 && !batch[0].alone {
			batch = append(batch, w.join(most)...)
		}
	}
	return batch, -1, w.end()
}

func (w *writer) begin() error {
	w.inserts.begin()
	w.pending = make([]insert, 0, len(w.pending)) // the tail keeps the one before
	clear(w.keyed)
	if _, err := w.c.exec("BEGIN IMMEDIATE"); err != nil {
		return err
	}
	return w.notice()
}

// notice finds out whether another process has written.
func (w *writer) notice() error {
	data, err := w.c.number("PRAGMA data_version")
	if err != nil || data == w.data {
		return err
	}
	if err := w.tail.refresh(w.c); err != nil {
		return err
	}
	w.version.Add(1) // after the tail: who reads this and then the tail has both or neither
	w.changed()
	w.data = data
	return nil
}

// end writes what still waits to be written and makes the transaction durable.
func (w *writer) end() error {
	if err := w.flushInserts(); err != nil {
		return err
	}
	row := journalRow{no: w.tail.last + 1, entries: w.pending}
	added := len(row.entries)
	if added > 0 {
		w.blob = appendEntries(w.blob[:0], row.entries)
		if _, err := w.c.exec("INSERT INTO journal VALUES (?, ?)", row.no, w.blob); err != nil {
			return err
		}
	}
	var due []journalRow
	if w.foldErr == nil { // else apart from what callers wait for
		due = w.due(added)
		if err := w.move(due); err != nil {
			w.folded(err)
			return foldError{err}
		}
	}
	if _, err := w.c.exec("COMMIT"); err != nil {
		return err
	}
	if added > 0 {
		w.tail.add(row)
	}
	w.tail.drop(len(due))
	return nil
}

// value returns what a column holds, or the zero value for NULL.
func value[T any](v driver.Value) T {
	t, _ := v.(T)
	return t
}
