package postgres

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"syscall"
	"time"

	"github.com/cenkalti/backoff/v5"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/socialdata/socialdata/keys"
)

// tx is one attempt at a transaction. It sends its statements in steps, one round trip each; BEGIN is sent with the
// first one and COMMIT with the last.
type tx struct {
	conn   *pgxpool.Conn
	begun  bool
	ending bool // COMMIT was sent
	// unsure means that an earlier attempt may have been committed.
	unsure bool
}

// durably makes a commit wait for the disk even if the server, the database or the role has it disabled.
const durably = "SELECT set_config('synchronous_commit', 'on', true) WHERE current_setting('synchronous_commit') = " +
	"'off'"

// step sends the statements that queue adds.
func (t *tx) step(ctx context.Context, queue func(b *pgx.Batch)) error {
	b := &pgx.Batch{}
	if !t.begun {
		t.begun = true
		b.Queue("BEGIN")
		b.Queue(durably)
	}
	queue(b)
	return t.conn.SendBatch(ctx, b).Close()
}

// commit sends the statements that queue adds and ends the transaction.
func (t *tx) commit(ctx context.Context, queue func(b *pgx.Batch)) error {
	t.ending = true
	return t.step(ctx, func(b *pgx.Batch) {
		queue(b)
		b.Queue("COMMIT")
	})
}

// sqlFlush is a transaction that waits for the disk, and so for everything that was committed before it, also by other
// connections. It does so even if the server, the database or the role has that disabled.
const sqlFlush = "SELECT pg_logical_emit_message(true, 'socialdata', ''), " +
	"CASE WHEN current_setting('synchronous_commit') = 'off' THEN set_config('synchronous_commit', 'on', true) END"

// commitThenFlush is a whole transaction in one round trip. It commits without waiting for the disk, so that no row is
// locked meanwhile, and then waits for the disk if flush is set. When it returns nil, what was written, and what was
// read, is durable.
func (t *tx) commitThenFlush(ctx context.Context, flush bool, queue func(b *pgx.Batch)) error {
	b := &pgx.Batch{}
	b.Queue("BEGIN")
	b.Queue("SET LOCAL synchronous_commit = off")
	queue(b)
	committed := false
	b.Queue("COMMIT").Exec(func(pgconn.CommandTag) error {
		committed = true
		return nil
	})
	if flush {
		b.Queue(sqlFlush)
	}
	t.begun, t.ending = true, true
	err := t.conn.SendBatch(ctx, b).Close()
	_, answered := errors.AsType[*pgconn.PgError](err)
	_, unsent := errors.AsType[pgx.ErrPreprocessingBatch](err)
	if err == nil || unsent || answered && !committed {
		return err
	}
	return lost{err, true}
}

// end commits what was written, unless there is an error.
func (t *tx) end(ctx context.Context, err error) error {
	if err != nil {
		return err
	}
	return t.commit(ctx, func(*pgx.Batch) {})
}

// transact runs do in a transaction until that is committed, fails permanently, or patience ends. do may be called
// several times. If it returns an error, or nil without a commit, the transaction is rolled back.
func (db *DB) transact(ctx context.Context, do func(ctx context.Context, t *tx) error) error {
	return db.retry(ctx, func(unsure bool) error { return db.attempt(ctx, unsure, do) })
}

// attempt is one attempt of transact.
func (db *DB) attempt(ctx context.Context, unsure bool, do func(ctx context.Context, t *tx) error) error {
	if err := db.unserved(); err != nil {
		return err
	}
	conn, err := db.pool.Acquire(ctx)
	if err != nil {
		return err
	}
	defer conn.Release() // the pool closes a connection that is still in a transaction
	t := &tx{conn: conn, unsure: unsure}
	err = do(ctx, t)
	switch {
	case conn.Conn().IsClosed():
		_, unsent := errors.AsType[pgx.ErrPreprocessingBatch](err)
		return lost{err, t.ending && !unsent}
	case conn.Conn().PgConn().TxStatus() != 'I':
		_, _ = conn.Exec(ctx, "ROLLBACK") // if it fails, the pool closes the connection
	}
	return err
}

// committed reports whether an attempt that failed with err may have been committed.
func committed(err error) bool {
	l, ok := errors.AsType[lost](err)
	return ok && l.unsure || isCode(err, completionUnknown)
}

// lost is the error of a connection that broke.
type lost struct {
	error
	unsure bool // during a commit
}

func (l lost) Unwrap() error { return l.error }

// retry runs do until it succeeds, fails permanently, or patience ends. unsure tells do whether an earlier attempt may
// have been committed. If that is still unknown at the end, the error is also ErrUnsure.
func (db *DB) retry(ctx context.Context, do func(unsure bool) error) error {
	wait := backoff.NewExponentialBackOff()
	wait.InitialInterval, wait.MaxInterval = 2*time.Millisecond, 250*time.Millisecond
	unsure := false
	_, err := backoff.Retry(ctx, func() (struct{}, error) {
		err := db.unserved()
		if err == nil {
			err = db.explain(ctx, do(unsure))
		}
		unsure = unsure || committed(err)
		if err != nil && !again(ctx, err) {
			err = backoff.Permanent(err)
		}
		return struct{}{}, err
	}, backoff.WithBackOff(wait), backoff.WithMaxElapsedTime(db.cfg.Patience))
	if transient(err) || broken(err) {
		err = unavailable{err}
	}
	if err != nil && unsure && !errors.Is(err, keys.ErrTaken) { // ErrTaken means that it was not written
		err = fmt.Errorf("%w: %w", ErrUnsure, err)
	}
	return err
}

// read is retry for reads: it also repeats them when their connection breaks.
func (db *DB) read(ctx context.Context, do func() error) error {
	return db.retry(ctx, func(bool) error {
		err := do()
		if broken(err) {
			err = lost{err, false}
		}
		return err
	})
}

// broken reports whether err is that of a broken connection.
func broken(err error) bool {
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return false
	}
	_, ok := errors.AsType[net.Error](err)
	return ok || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) || errors.Is(err, net.ErrClosed) ||
		errors.Is(err, syscall.EPIPE) || errors.Is(err, syscall.ECONNRESET)
}

// unavailable is the error of a database that could not be used during all of our patience.
type unavailable struct{ error }

func (u unavailable) Unwrap() error { return u.error }

// Unavailable reports that the call may succeed later.
func (unavailable) Unavailable() bool { return true }

// transient reports whether err may not occur again when the transaction is repeated. A conflict with existing rows
// may.
func transient(err error) bool {
	return err != nil && again(context.Background(), err) && !isCode(err, uniqueViolation, duplicateSchema, duplicateTable)
}

// refused reports whether the database itself refuses the transaction, however often it is tried.
func refused(err error) bool {
	_, ok := errors.AsType[*pgconn.PgError](err)
	return ok && !again(context.Background(), err)
}

// Error codes of https://www.postgresql.org/docs/current/errcodes-appendix.html.
const (
	serializationFailure = "40001"
	completionUnknown    = "40003"
	deadlockDetected     = "40P01"
	uniqueViolation      = "23505" // another transaction has written the same first
	duplicateSchema      = "42P06" // or created it first
	duplicateTable       = "42P07"
	readOnlyTransaction  = "25006" // a primary that has become a standby
	undefinedColumn      = "42703" // the schema has another version
	undefinedTable       = "42P01"
	tooManyConnections   = "53300"
	adminShutdown        = "57P01"
	crashShutdown        = "57P02"
	cannotConnectNow     = "57P03"

	// The limits that a role can have.
	lockTimeout              = "55P03"
	statementTimeout         = "57014"
	idleInTransactionTimeout = "25P03"
	transactionTimeout       = "25P04"
	idleSessionTimeout       = "57P05"
)

// isCode reports whether err is an error of PostgreSQL with one of these codes.
func isCode(err error, codes ...string) bool {
	e, ok := errors.AsType[*pgconn.PgError](err)
	return ok && slices.Contains(codes, e.Code)
}

// again reports whether to try once more after err.
func again(ctx context.Context, err error) bool {
	if ctx.Err() != nil {
		return false
	}
	if e, ok := errors.AsType[*pgconn.PgError](err); ok {
		switch e.Code {
		case serializationFailure, completionUnknown, deadlockDetected, uniqueViolation, duplicateSchema, duplicateTable,
			readOnlyTransaction, tooManyConnections, adminShutdown, crashShutdown, cannotConnectNow,
			lockTimeout, statementTimeout, idleInTransactionTimeout, transactionTimeout, idleSessionTimeout:
			return true
		}
		return e.Code[:2] == "08" // connection exceptions
	}
	if _, ok := errors.AsType[lost](err); ok {
		return true
	}
	_, ok := errors.AsType[*pgconn.ConnectError](err)
	return ok
}
