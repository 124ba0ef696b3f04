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

// conn is a connection that is used without database/sql, whose pool and locks take a third of the time of a charge. It
// is not safe for concurrent use.
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

// prepare returns the statement for query, which is prepared once. query must be a constant.
func (c *conn) prepare(query string) (*stmt, error) {
	if s, ok := c.stmts[query]; ok {
		return s, nil
	}
	// With the background context, the driver starts no goroutine to watch for a cancellation.
	st, err := c.Conn.(driver.ConnPrepareContext).PrepareContext(context.Background(), query)
	if err != nil {
		return nil, explain(err)
	}
	s := &stmt{Stmt: st}
	c.stmts[query] = s
	return s, nil
}

// bind replaces the arguments of the statement.
func (s *stmt) bind(args []any) error {
	s.args = s.args[:0]
	for _, a := range args {
		if err := s.add(a); err != nil {
			return err
		}
	}
	return nil
}

// add binds one more argument. It accepts every type that database/sql accepts, such as an int, a named string type or
// a pointer, which the driver itself does not. Values of the driver's own types are not copied.
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

// script runs statements that are used once, and so are not kept.
func (c *conn) script(text string) error {
	_, err := c.Conn.(driver.ExecerContext).ExecContext(context.Background(), text, nil)
	return explain(err)
}

// row runs query and copies the columns of its first row into row. It returns false when there is none.
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

// some is like each, but ends when do returns false.
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

// number runs a query that returns one integer.
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

// value returns the value of a column, or the zero value for NULL.
func value[T any](v driver.Value) T {
	t, _ := v.(T)
	return t
}

func fromMicros(n int64) time.Time { return time.UnixMicro(n).UTC() }

// immediate: a deferred transaction that reads first can fail with SQLITE_BUSY when it begins to write. The cache is
// limited to 8 MB, because all of it stays in use: it has the inner pages of a file of some gigabytes, and with 16 or
// 64 MB charges to a file of a million entries were no faster (BenchmarkFlat). The checkpointer does what
// wal_autocheckpoint would do during a commit. A log that one large transaction has extended shrinks to 64 MB when it
// is reused. Removed content is overwritten with zeros.
const writerParams = "_busy_timeout=5000&_journal_mode=WAL&_synchronous=FULL&_foreign_keys=on&_txlock=immediate" +
	"&_pragma=cache_size(-8192)&_pragma=wal_autocheckpoint(0)&_pragma=journal_size_limit(67108864)" +
	"&_pragma=secure_delete(ON)"

// scrubParams do not wait for locks: a scrub is tried again, and makes no writer wait meanwhile.
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
