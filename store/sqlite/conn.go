package sqlite

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"net/url"
	"path/filepath"
	"time"

	"modernc.org/sqlite"
)

// conn is one connection used without database/sql, whose pool and locks cost a third of a charge. One goroutine uses
// it at a time.
type conn struct {
	driver.Conn
	stmts map[string]*stmt
}

type stmt struct {
	driver.Stmt
	args []driver.NamedValue
}

func openConn(dsn string) (*conn, error) {
	c, err := new(sqlite.Driver).Open(dsn)
	if err != nil {
		return nil, explain(err)
	}
	return &conn{Conn: c, stmts: map[string]*stmt{}}, nil
}

// prepare returns the statement for query, which is prepared once. Only constant queries may be given.
func (c *conn) prepare(query string) (*stmt, error) {
	if s, ok := c.stmts[query]; ok {
		return s, nil
	}
	// The background context: SQLite's own goroutine to watch for a cancellation is then not started.
	st, err := c.Conn.(driver.ConnPrepareContext).PrepareContext(context.Background(), query)
	if err != nil {
		return nil, explain(err)
	}
	s := &stmt{Stmt: st}
	c.stmts[query] = s
	return s, nil
}

// bind gives the statement other arguments than before.
func (s *stmt) bind(args []any) error {
	s.args = s.args[:0]
	for _, a := range args {
		if err := s.add(a); err != nil {
			return err
		}
	}
	return nil
}

// add binds one argument more. It takes every type that database/sql takes, which the driver by itself does not: an int,
// a string of a named type or a pointer. What the driver knows is not copied.
func (s *stmt) add(arg any) error {
	v, err := driver.DefaultParameterConverter.ConvertValue(arg)
	if err != nil {
		return fmt.Errorf("sqlite: argument %d: %w", len(s.args)+1, err)
	}
	s.args = append(s.args, driver.NamedValue{Ordinal: len(s.args) + 1, Value: v})
	return nil
}

// exec runs query and returns how many rows it changed.
func (c *conn) exec(query string, args ...any) (int64, error) {
	s, err := c.prepare(query)
	if err != nil {
		return 0, err
	}
	if err := s.bind(args); err != nil {
		return 0, err
	}
	return s.run()
}

// run runs the statement with the arguments that are bound, and returns how many rows it changed.
func (s *stmt) run() (int64, error) {
	r, err := s.Stmt.(driver.StmtExecContext).ExecContext(context.Background(), s.args)
	if err != nil {
		return 0, explain(err)
	}
	return r.RowsAffected()
}

// script runs statements that are not worth keeping.
func (c *conn) script(text string) error {
	_, err := c.Conn.(driver.ExecerContext).ExecContext(context.Background(), text, nil)
	return explain(err)
}

// row runs query and copies the columns of its first row into row. It reports false when there is none.
func (c *conn) row(query string, row []driver.Value, args ...any) (found bool, err error) {
	err = c.some(query, row, func() bool {
		found = true
		return false
	}, args)
	return found && err == nil, err
}

// each runs query, copies the columns of each row into row and calls do after each.
func (c *conn) each(query string, row []driver.Value, do func(), args ...any) error {
	return c.some(query, row, func() bool {
		do()
		return true
	}, args)
}

// some does what each does as long as do wants more.
func (c *conn) some(query string, row []driver.Value, do func() bool, args []any) (err error) {
	s, err := c.prepare(query)
	if err != nil {
		return err
	}
	if err := s.bind(args); err != nil {
		return err
	}
	rows, err := s.Stmt.(driver.StmtQueryContext).QueryContext(context.Background(), s.args)
	if err != nil {
		return explain(err)
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	if n := len(rows.Columns()); n != len(row) {
		return fmt.Errorf("sqlite: %d columns, not %d, in %s", n, len(row), query)
	}
	for {
		switch err := rows.Next(row); {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return explain(err)
		case !do():
			return nil
		}
	}
}

// number runs a query for one integer.
func (c *conn) number(query string, args ...any) (int64, error) {
	var v [1]driver.Value
	if _, err := c.row(query, v[:], args...); err != nil {
		return 0, err
	}
	n, _ := v[0].(int64)
	return n, nil
}

// Close closes the statements and the connection.
func (c *conn) Close() error {
	var errs []error
	for _, s := range c.stmts {
		errs = append(errs, s.Close())
	}
	return errors.Join(append(errs, c.Conn.Close())...)
}

// value returns what a column holds, or the zero value for NULL.
func value[T any](v driver.Value) T {
	t, _ := v.(T)
	return t
}

func fromMicros(n int64) time.Time { return time.UnixMicro(n).UTC() }

// immediate: a deferred transaction that reads first can fail with SQLITE_BUSY when it turns into a writer.
// The cache is bounded at 16 MB, since all of it stays in use: it holds the inner pages of a file of some gigabytes, and
// with 64 MB a file of a million entries was charged no faster (BenchmarkFlat).
// The checkpointer does what wal_autocheckpoint would do within a commit. A log that one large transaction made long
// shrinks to 64 MB when it begins anew. What is removed is written over with zeros.
const writerParams = "_busy_timeout=5000&_journal_mode=WAL&_synchronous=FULL&_foreign_keys=on&_txlock=immediate" +
	"&_pragma=cache_size(-16384)&_pragma=wal_autocheckpoint(0)&_pragma=journal_size_limit(67108864)" +
	"&_pragma=secure_delete(ON)"

// scrubParams do not wait: whoever scrubs tries again, and keeps no writer waiting meanwhile.
const scrubParams = "_busy_timeout=1&_journal_mode=WAL&_pragma=secure_delete(ON)"

const readerParams = "_busy_timeout=5000&_query_only=on&_pragma=cache_size(-16384)"

func dsn(path, params string) string {
	u := url.URL{Scheme: "file", Path: filepath.ToSlash(path), RawQuery: params}
	return u.String()
}

func openReaders(ctx context.Context, path string, n int) (*sql.DB, error) {
	pool, err := sql.Open("sqlite", dsn(path, readerParams))
	if err != nil {
		return nil, err
	}
	pool.SetMaxOpenConns(n)
	pool.SetMaxIdleConns(n)
	if err := pool.PingContext(ctx); err != nil {
		return nil, errors.Join(err, pool.Close())
	}
	return pool, nil
}
