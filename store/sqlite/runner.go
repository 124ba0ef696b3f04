package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"strings"
	"sync/atomic"

	"github.com/socialdata/socialdata/internal/groupcommit"
	"github.com/socialdata/socialdata/store/sqlstore"
)

// runner runs the transactions of all stores on the only connection that writes, one after the other. Those of callers
// that wait at the same time share a commit, and so a flush of the disk. Reads use connections of their own.
type runner struct {
	pool    *sql.DB // of the connection that writes
	conn    *sql.Conn
	stmts   map[string]*sql.Stmt
	readers *sql.DB
	queue   *groupcommit.Queue[*task]
	commits atomic.Int64 // how many transactions have written

	refused atomic.Pointer[error] // why nothing may be written; nil while it may
	flushed func()                // called after each commit
}

// task is what a caller waits for: a transaction, or work on the connection outside of one.
type task struct {
	do      func(sqlstore.Tx) error
	outside func(*sql.Conn) error
	err     error
	done    chan struct{}
}

// maxShared is how many transactions share a commit at most.
const maxShared = 256

func openRunner(ctx context.Context, path string, readers int) (r *runner, err error) {
	r = &runner{stmts: map[string]*sql.Stmt{}, flushed: func() {}}
	if r.pool, err = sql.Open("sqlite", dsn(path, writerParams)); err != nil {
		return nil, err
	}
	if r.conn, err = r.pool.Conn(ctx); err != nil {
		return nil, errors.Join(explain(err), r.pool.Close())
	}
	if r.readers, err = sql.Open("sqlite", dsn(path, readerParams)); err != nil {
		return nil, errors.Join(err, r.conn.Close(), r.pool.Close())
	}
	r.readers.SetMaxOpenConns(readers)
	r.readers.SetMaxIdleConns(readers)
	r.queue = groupcommit.New(groupcommit.Config[*task]{
		Most: maxShared, Commit: r.commit, Alone: func(t *task) bool { return t.outside != nil }, Done: finish,
	})
	return r, nil
}

func finish(tasks []*task, err error) {
	for _, t := range tasks {
		if err != nil {
			t.err = err
		}
		close(t.done)
	}
}

func (r *runner) close() error {
	r.queue.Close()
	var errs []error
	for _, s := range r.stmts { // with an open statement, SQLite would keep the file open
		errs = append(errs, s.Close())
	}
	return errors.Join(append(errs, r.conn.Close(), r.pool.Close(), r.readers.Close())...)
}

// Write implements [sqlstore.Runner].
func (r *runner) Write(ctx context.Context, do func(sqlstore.Tx) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := r.refused.Load(); err != nil {
		return *err
	}
	return r.run(&task{do: do})
}

// refuse makes all later writes fail.
func (r *runner) refuse(err error) { r.refused.Store(&err) }

// run queues a task and waits for it. It takes no context: what became of a transaction is known when it has ended.
func (r *runner) run(t *task) error {
	t.done = make(chan struct{})
	if r.queue.Submit(t) != nil {
		return sqlstore.ErrClosed
	}
	<-t.done
	return t.err
}

// Read implements [sqlstore.Runner].
func (r *runner) Read(_ context.Context, do func(*sql.DB) error) error { return explain(do(r.readers)) }

// commit runs tasks in one transaction. A task that returns an error before it has written anything fails alone;
// another error undoes the transaction, and the other tasks are run again.
func (r *runner) commit(tasks []*task, more func(taken int) []*task) (all []*task, failed int, err error) {
	if outside := tasks[0].outside; outside != nil {
		return tasks, groupcommit.All, outside(r.conn)
	}
	// The context never ends: the driver would start a goroutine for each statement to watch it.
	ctx := context.Background()
	if _, err := r.conn.ExecContext(ctx, "BEGIN IMMEDIATE"); err != nil {
		return tasks, groupcommit.All, explain(err)
	}
	t := &tx{runner: r}
	for done := 0; done < len(tasks); {
		for i, task := range tasks[done:] {
			before := t.written
			if task.err = task.do(t); task.err != nil && t.written > before {
				r.rollback()
				return tasks, done + i, task.err
			}
		}
		done = len(tasks)
		tasks = append(tasks, more(done)...)
	}
	if t.written == 0 {
		r.rollback()
		return tasks, groupcommit.All, nil
	}
	if _, err := r.conn.ExecContext(ctx, "COMMIT"); err != nil {
		r.rollback()
		return tasks, groupcommit.All, explain(err)
	}
	r.commits.Add(1)
	r.flushed()
	return tasks, groupcommit.All, nil
}

// rollback undoes the transaction. It fails if SQLite has done so already.
func (r *runner) rollback() { _, _ = r.conn.ExecContext(context.Background(), "ROLLBACK") }

// tx is the transaction of the connection that writes.
type tx struct {
	*runner
	written int // statements that may have written
}

// stmt returns the prepared statement of a query.
func (t *tx) stmt(query string) (*sql.Stmt, error) {
	if !strings.HasPrefix(strings.TrimSpace(query), "SELECT") {
		t.written++
	}
	if s, ok := t.stmts[query]; ok {
		return s, nil
	}
	s, err := t.conn.PrepareContext(context.Background(), query)
	if err == nil {
		t.stmts[query] = s
	}
	return s, err
}

// Exec implements [sqlstore.Tx].
func (t *tx) Exec(query string, args ...any) error {
	s, err := t.stmt(query) //nolint:sqlclosecheck // it is used again; close closes it
	if err != nil {
		return explain(err)
	}
	_, err = s.ExecContext(context.Background(), args...)
	return explain(err)
}

// Query implements [sqlstore.Tx].
func (t *tx) Query(into []any, each func() error, query string, args ...any) (err error) {
	s, err := t.stmt(query) //nolint:sqlclosecheck // it is used again; close closes it
	if err != nil {
		return explain(err)
	}
	rows, err := s.QueryContext(context.Background(), args...)
	if err != nil {
		return explain(err)
	}
	defer func() { err = errors.Join(err, explain(rows.Close())) }()
	for rows.Next() {
		if err := rows.Scan(into...); err != nil {
			return err
		}
		if each == nil {
			continue
		}
		if err := each(); err != nil {
			return err
		}
	}
	return explain(rows.Err())
}
