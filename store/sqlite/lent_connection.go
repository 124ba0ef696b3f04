package sqlite

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"

	"github.com/socialdata/socialdata/store/sqlstore"
)

// Writer returns a pool for packages with tables of their own in the file. Its statements and transactions run on the
// connection that writes, one after the other with those of the stores, which wait meanwhile: a transaction must be
// short, and must not call a store. Close it before db. The names of tables of the stores are not for it.
func (db *DB) Writer() *sql.DB {
	pool := sql.OpenDB(lender{db.runner})
	pool.SetMaxOpenConns(lentAtOnce)
	pool.SetMaxIdleConns(lentAtOnce)
	return pool
}

// Readers returns the connections that read, beside the one that writes. Do not close them.
func (db *DB) Readers() *sql.DB { return db.runner.readers }

// lentAtOnce is how many goroutines may wait for the writing connection through [DB.Writer].
const lentAtOnce = 16

// lender makes connections that borrow the one that writes.
type lender struct{ runner *runner }

// Connect implements [driver.Connector].
func (l lender) Connect(context.Context) (driver.Conn, error) { return &lent{runner: l.runner}, nil }

// Driver implements [driver.Connector].
func (l lender) Driver() driver.Driver { return l }

// Open implements [driver.Driver].
func (l lender) Open(string) (driver.Conn, error) { return &lent{runner: l.runner}, nil }

// lent borrows the connection that writes for a statement, until its rows are closed, or for a transaction.
type lent struct {
	runner *runner
	raw    rawConn // while it is borrowed, else nil
	back   func()  // returns it
}

// rawConn is what modernc.org/sqlite's connection can do.
type rawConn interface {
	driver.Conn
	driver.ExecerContext
	driver.QueryerContext
}

// borrow waits for the connection.
func (c *lent) borrow(ctx context.Context) error {
	if err := c.runner.refused.Load(); err != nil {
		return *err
	}
	got, back, failed := make(chan rawConn), make(chan struct{}), make(chan error, 1)
	go func() {
		failed <- c.runner.run(&task{outside: func(conn *sql.Conn) error {
			return conn.Raw(func(raw any) error {
				select {
				case got <- raw.(rawConn):
					<-back
				case <-back: // no one waits any more
				}
				return nil
			})
		}})
	}()
	select {
	case c.raw = <-got:
		c.back = func() {
			close(back)
			<-failed //nolint:errcheck // the borrower knows what failed
			c.raw, c.back = nil, nil
			c.runner.flushed()
		}
		return nil
	case err := <-failed:
		return errors.Join(sqlstore.ErrClosed, err)
	case <-ctx.Done():
		close(back)
		return ctx.Err()
	}
}

// ExecContext implements [driver.ExecerContext].
func (c *lent) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	if c.raw == nil {
		if err := c.borrow(ctx); err != nil {
			return nil, err
		}
		defer c.back()
	}
	result, err := c.raw.ExecContext(ctx, query, args)
	return result, explain(err)
}

// QueryContext implements [driver.QueryerContext].
func (c *lent) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	alone := c.raw == nil
	if alone {
		if err := c.borrow(ctx); err != nil {
			return nil, err
		}
	}
	rows, err := c.raw.QueryContext(ctx, query, args)
	if !alone {
		return rows, explain(err)
	}
	if err != nil {
		c.back()
		return nil, explain(err)
	}
	return &lentRows{rows, c.back}, nil
}

// BeginTx implements [driver.ConnBeginTx].
func (c *lent) BeginTx(ctx context.Context, _ driver.TxOptions) (driver.Tx, error) {
	if err := c.borrow(ctx); err != nil {
		return nil, err
	}
	if _, err := c.raw.ExecContext(context.WithoutCancel(ctx), "BEGIN IMMEDIATE", nil); err != nil {
		c.back()
		return nil, explain(err)
	}
	return c, nil
}

// Begin implements [driver.Conn].
func (c *lent) Begin() (driver.Tx, error) { return c.BeginTx(context.Background(), driver.TxOptions{}) }

// Commit implements [driver.Tx].
func (c *lent) Commit() error {
	defer c.back()
	_, err := c.raw.ExecContext(context.Background(), "COMMIT", nil)
	if err != nil {
		_, _ = c.raw.ExecContext(context.Background(), "ROLLBACK", nil) // fails if SQLite has done so
		return explain(err)
	}
	c.runner.commits.Add(1)
	return nil
}

// Rollback implements [driver.Tx].
func (c *lent) Rollback() error {
	defer c.back()
	_, err := c.raw.ExecContext(context.Background(), "ROLLBACK", nil)
	return explain(err)
}

// Prepare implements [driver.Conn]. The statement is prepared each time it is used.
func (c *lent) Prepare(query string) (driver.Stmt, error) { return &lentStmt{c, query}, nil }

// Close implements [driver.Conn]: a transaction that is still open is undone.
func (c *lent) Close() error {
	if c.back != nil {
		return c.Rollback()
	}
	return nil
}

// lentRows returns the connection when they are closed.
type lentRows struct {
	driver.Rows
	back func()
}

func (r *lentRows) Close() error {
	defer r.back()
	return r.Rows.Close()
}

type lentStmt struct {
	conn  *lent
	query string
}

func (s *lentStmt) Close() error  { return nil }
func (s *lentStmt) NumInput() int { return -1 }

func (s *lentStmt) Exec(args []driver.Value) (driver.Result, error) {
	return s.conn.ExecContext(context.Background(), s.query, named(args))
}

func (s *lentStmt) Query(args []driver.Value) (driver.Rows, error) {
	return s.conn.QueryContext(context.Background(), s.query, named(args))
}

func named(args []driver.Value) []driver.NamedValue {
	all := make([]driver.NamedValue, len(args))
	for i, v := range args {
		all[i] = driver.NamedValue{Ordinal: i + 1, Value: v}
	}
	return all
}
