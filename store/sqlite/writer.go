package sqlite

import (
	"errors"
	"sync/atomic"
	"time"

	"github.com/socialdata/socialdata/internal/groupcommit"
)

// writer owns the one connection that writes. What callers have queued is applied on the goroutine of its queue, in
// durable transactions that they share.
type writer struct {
	c     *conn
	now   func() time.Time
	queue *groupcommit.Queue[*task]
	// checkpoint asks for a look at the log now and then.
	checkpoint chan struct{}
	changed    func() // another process has written

	tail    *tail
	posted  atomic.Int64           // counts what the head of the books must show
	revoked atomic.Pointer[string] // the key that was revoked last
	version atomic.Int64           // what is remembered of the file is true while this is unchanged

	// Of the queue's goroutine alone:
	data    int64             // PRAGMA data_version: changes when another process has written
	pending []numbered        // entries that this transaction adds to the journal
	keyed   map[onceKey]int64 // what the charges of these with an idempotency key come to
	blob    []byte            // of the row before, whose place it takes
	table   *entryTable       // entries that this transaction adds to their table
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
	// unsynced asks for a transaction of its own that a crash of the machine may lose: the disk is not waited for.
	unsynced bool

	charged int64 // credits that a charge came to, once it is done
	err     error
	done    chan struct{}
}

// refusal is an error that concerns one task and not the transaction that it shares.
type refusal struct{ error }

func (r refusal) Unwrap() error { return r.error }

const (
	// maxBatch is how many tasks share a transaction at most, but in a benchmark.
	maxBatch = 256
	// checkpointLook is after how many transactions the log is looked at.
	checkpointLook = 32
)

// newWriter reads the journal and starts the queue, of which atOnce tasks share a transaction
// at most: so long its first caller waits. It calls changed when another process has written.
func newWriter(c *conn, now func() time.Time, atOnce int, f folding, changed func()) (*writer, error) {
	x, err := newEntryTable(c)
	if err != nil {
		return nil, err
	}
	w := &writer{
		c: c, now: now, checkpoint: make(chan struct{}, 1), changed: changed, tail: newTail(), data: -1,
		keyed: map[onceKey]int64{}, table: x, folding: f,
	}
	w.revoked.Store(new(""))
	if err := w.notice(); err != nil {
		return nil, err
	}
	w.queue = groupcommit.New(groupcommit.Config[*task]{
		Most: atOnce, Commit: w.commit, Done: w.told, Alone: func(t *task) bool { return t.alone || t.outside || t.unsynced },
		Idle: w.foldAll, IdleAfter: func() time.Duration { return w.folding.wait(w.foldErr) },
	})
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
	if w.queue.Submit(t) != nil {
		return ErrClosed
	}
	return nil
}

// close waits for what is queued, and closes the connection.
func (w *writer) close() error {
	w.queue.Close()
	if w.folding.atEnd {
		w.foldAll(func() bool { return false })
	}
	return w.c.Close()
}

// commit applies the tasks of batch, and more that come meanwhile, in one durable transaction.
func (w *writer) commit(batch []*task, more func(taken int) []*task) (all []*task, failed int, err error) {
	if batch[0].outside {
		return batch, 0, batch[0].apply(w)
	}
	if batch[0].unsynced {
		// As scripts: SQLite carries a pragma out when it is compiled, and statements are compiled once.
		if err := w.c.script("PRAGMA synchronous = NORMAL"); err != nil {
			return batch, 0, err
		}
		defer func() { err = errors.Join(err, w.c.script("PRAGMA synchronous = FULL")) }()
	}
	for again := true; again; {
		if batch, failed, err = w.transact(batch, more); err == nil {
			break
		}
		_, _ = w.c.exec("ROLLBACK") // fails when SQLite has rolled back by itself
		w.version.Add(1)            // what the tasks believe to have written is not there
		_, again = errors.AsType[foldError](err)
	}
	return batch, failed, err
}

// told tells the callers of batch how it went. The error is that of the transaction.
func (w *writer) told(batch []*task, err error) {
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
	if batch[0].outside {
		return
	}
	if w.commits++; w.commits%checkpointLook == 0 {
		w.lookAtLog()
	}
	if w.foldErr != nil && w.tail.entries > w.folding.long {
		w.tryFold(foldSome)
	}
}

// lookAtLog asks for a look at the log, and does not wait.
func (w *writer) lookAtLog() {
	select {
	case w.checkpoint <- struct{}{}:
	default: // asked already
	}
}

// transact applies the tasks of batch, and more, in one durable transaction. It returns them all, and which of them has
// failed, if it was one of them.
func (w *writer) transact(batch []*task, more func(taken int) []*task) (all []*task, failed int, err error) {
	if err := w.begin(); err != nil {
		return batch, groupcommit.All, err
	}
	for done := 0; done < len(batch); {
		for i, t := range batch[done:] {
			t.err = t.apply(w)
			if _, refused := errors.AsType[refusal](t.err); t.err != nil && (t.alone || !refused) {
				return batch, done + i, t.err
			}
		}
		done = len(batch)
		batch = append(batch, more(done)...)
	}
	return batch, groupcommit.All, w.end()
}

func (w *writer) begin() error {
	w.table.begin()
	w.pending = make([]numbered, 0, len(w.pending)) // the tail keeps the one before
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
	if err := served(w.c.number); err != nil { // and again the next time
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
	if err := w.table.flush(); err != nil {
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
		due = w.folding.due(w.tail, added)
		if err := w.table.move(due); err != nil {
			w.folded(err)
			return foldError{err}
		}
	}
	if _, err := w.c.exec("COMMIT"); err != nil {
		return err
	}
	if added > 0 {
		w.tail.add(row)
		w.posted.Add(1)
	}
	w.tail.drop(len(due))
	return nil
}

// foldAll folds all there is, or until a caller comes.
func (w *writer) foldAll(called func() bool) {
	for w.tail.entries > 0 && !called() && w.tryFold(foldSome) {
	}
}

func (w *writer) tryFold(n int) bool {
	err := w.fold(n)
	w.folded(err)
	return err == nil
}

// folded takes note of how folding went.
func (w *writer) folded(err error) {
	if err != nil && w.foldErr == nil {
		w.folding.failed(err)
	}
	w.foldErr = err
}

// fold moves the first rows of the journal, of n entries in all or a few more, in one transaction.
func (w *writer) fold(n int) error {
	err := w.begin() // it may find that another process has folded
	rows := w.tail.first(n)
	if err == nil {
		err = w.table.move(rows)
	}
	if err == nil {
		_, err = w.c.exec("COMMIT")
	}
	if err != nil {
		_, _ = w.c.exec("ROLLBACK") // fails when SQLite has rolled back by itself
		return err
	}
	w.tail.drop(len(rows))
	w.lookAtLog()
	return nil
}

// foldError is why a transaction of callers could not fold some of the journal, too. They can do without.
type foldError struct{ error }

func (e foldError) Unwrap() error { return e.error }
