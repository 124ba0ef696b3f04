package sqlite

import (
	"errors"
	"sync/atomic"
	"time"

	"github.com/socialdata/socialdata/internal/groupcommit"
)

// writer has the only connection that writes. The tasks of callers are queued and applied in the queue's goroutine, in
// durable transactions that they share.
type writer struct {
	c     *conn
	now   func() time.Time
	queue *groupcommit.Queue[*task]
	// requests a look at the log
	checkpoint chan struct{}
	changed    func() // called when another process has written

	tail    *tail
	posted  atomic.Int64           // counts the changes of the head
	revoked atomic.Pointer[string] // the key that was revoked last
	version atomic.Int64           // what is cached of the file is valid while this is unchanged

	// For the queue's goroutine only:
	data    int64             // PRAGMA data_version: changes when another process has written
	pending []numbered        // entries that this transaction adds to the journal
	keyed   map[onceKey]int64 // the amounts of those charges that have an idempotency key
	blob    []byte            // the buffer for a row
	table   *entryTable       // entries that this transaction adds to their table
	commits int64
	folding folding
	foldErr error // why the last fold failed
}

// task is one caller's part of a transaction. Its functions run in the writer's goroutine.
type task struct {
	// apply writes. If it fails with a refusal, it must not have written anything. Any other error undoes the whole
	// transaction, and the other tasks are applied again in another one.
	apply func(*writer) error
	// finish, if it is not nil, is called with the result before the caller returns.
	finish func(err error)
	// alone requests a transaction without other tasks, which any error undoes; outside requests none.
	alone, outside bool
	// unsynced asks for a transaction of its own that a crash of the machine may lose: the disk is not waited for.
	unsynced bool

	charged int64 // credits that were charged, once it is done
	err     error
	done    chan struct{}
}

// refusal is an error that concerns one task and not the transaction that it shares.
type refusal struct{ error }

func (r refusal) Unwrap() error { return r.error }

// refused makes err a [refusal], unless it is nil.
func refused(err error) error {
	if err != nil {
		return refusal{err}
	}
	return nil
}

// checkpointLook is the number of transactions between two looks at the log.
const checkpointLook = 32

// newWriter reads the journal and starts the queue, in which up to atOnce tasks share a transaction: the first of them
// waits for all. It calls changed when another process has written.
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

// do queues t and waits until it is durable, or has failed. It has no context, because only the writer knows the result
// of a queued task.
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

// close waits for queued tasks, and closes the connection.
func (w *writer) close() error {
	w.queue.Close()
	if w.folding.atEnd {
		w.foldAll(func() bool { return false })
	}
	return w.c.Close()
}

// commit applies the tasks of batch, and more that are queued meanwhile, in one durable transaction.
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
		_, _ = w.c.exec("ROLLBACK") // fails if SQLite has already rolled back
		w.version.Add(1)            // what tasks may have cached was not written
		_, again = errors.AsType[foldError](err)
	}
	return batch, failed, err
}

// told reports the result to the callers of batch. err is that of the transaction.
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

// lookAtLog requests a look at the log, and does not wait.
func (w *writer) lookAtLog() {
	select {
	case w.checkpoint <- struct{}{}:
	default: // there is a request already
	}
}

// transact applies the tasks of batch, and more, in one durable transaction. It returns all of them, and the task whose
// error undid the transaction, if there is one.
func (w *writer) transact(batch []*task, more func(taken int) []*task) (all []*task, failed int, err error) {
	if err := w.begin(); err != nil {
		return batch, groupcommit.All, err
	}
	for done := 0; done < len(batch); {
		for i, t := range batch[done:] {
			t.err = t.apply(w)
			if _, own := errors.AsType[refusal](t.err); t.err != nil && (t.alone || !own) {
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
	w.pending = make([]numbered, 0, len(w.pending)) // the tail keeps the previous slice
	clear(w.keyed)
	if _, err := w.c.exec("BEGIN IMMEDIATE"); err != nil {
		return err
	}
	return w.notice()
}

// notice checks whether another process has written.
func (w *writer) notice() error {
	data, err := w.c.number("PRAGMA data_version")
	if err != nil || data == w.data {
		return err
	}
	if err := served(w.c.number); err != nil { // it is checked again the next time
		return err
	}
	if err := w.tail.refresh(w.c); err != nil {
		return err
	}
	w.version.Add(1) // after the tail, so that a reader of this and then the tail has both changes or neither
	w.changed()
	w.data = data
	return nil
}

// end writes what is pending and makes the transaction durable.
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
	if w.foldErr == nil { // else separately, so that no caller waits for it
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

// foldAll folds everything, or until a caller waits.
func (w *writer) foldAll(called func() bool) {
	for w.tail.entries > 0 && !called() && w.tryFold(foldSome) {
	}
}

func (w *writer) tryFold(n int) bool {
	err := w.fold(n)
	w.folded(err)
	return err == nil
}

// folded notes the result of folding.
func (w *writer) folded(err error) {
	if err != nil && w.foldErr == nil {
		w.folding.failed(err)
	}
	w.foldErr = err
}

// fold moves the first rows of the journal, with n entries in total or a few more, in one transaction.
func (w *writer) fold(n int) error {
	err := w.begin() // which may notice that another process has folded
	rows := w.tail.first(n)
	if err == nil {
		err = w.table.move(rows)
	}
	if err == nil {
		_, err = w.c.exec("COMMIT")
	}
	if err != nil {
		_, _ = w.c.exec("ROLLBACK") // fails if SQLite has already rolled back
		return err
	}
	w.tail.drop(len(rows))
	w.lookAtLog()
	return nil
}

// foldError is the error of folding as a part of a transaction, which is then repeated without it.
type foldError struct{ error }

func (e foldError) Unwrap() error { return e.error }
