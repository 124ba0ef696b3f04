package postgres

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"syscall"
	"time"

	"github.com/cenkalti/backoff/v5"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/socialdata/socialdata/keys"
)

// tx is one attempt at a transaction. Its statements go to the database in steps, a round trip each; BEGIN goes with the
// first one and COMMIT with the last.
type tx struct {
	conn   *pgxpool.Conn
	begun  bool
	ending bool // COMMIT is on its way
	// unsure tells that an attempt before this one may have been committed.
	unsure bool
}

// durably lets a commit wait for the disk though the server, the database or the role says that none does.
const durably = "SELECT set_config('synchronous_commit', 'on', true) WHERE current_setting('synchronous_commit') = 'off'"

// step sends what queue queues.
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

// commit sends what queue queues and ends the transaction.
func (t *tx) commit(ctx context.Context, queue func(b *pgx.Batch)) error {
	t.ending = true
	return t.step(ctx, func(b *pgx.Batch) {
		queue(b)
		b.Queue("COMMIT")
	})
}

// end commits what was written, unless err says that it could not be.
func (t *tx) end(ctx context.Context, err error) error {
	if err != nil {
		return err
	}
	return t.commit(ctx, func(*pgx.Batch) {})
}

// transact runs do in a transaction until that was committed, has failed for good, or patience is at its end. Do may
// run any number of times. When it returns nil without a commit, or an error, the transaction is undone.
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
	defer conn.Release() // the pool closes one that is still in a transaction
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

// committed reports whether an attempt that has failed with err may have been committed.
func committed(err error) bool {
	l, ok := errors.AsType[lost](err)
	return ok && l.unsure || isCode(err, completionUnknown)
}

// lost is the error of a connection that broke.
type lost struct {
	error
	unsure bool // a commit was under way
}

func (l lost) Unwrap() error { return l.error }

// retry runs do until it succeeds, has failed for good, or patience is at its end. Do hears whether an earlier attempt
// may have been committed; when that is left open, the error is ErrUnsure, too.
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
	if err != nil && unsure && !errors.Is(err, keys.ErrTaken) { // what is another's was not written
		err = fmt.Errorf("%w: %w", ErrUnsure, err)
	}
	return err
}

// read is retry for what changes nothing: it runs again when its connection breaks.
func (db *DB) read(ctx context.Context, do func() error) error {
	return db.retry(ctx, func(bool) error {
		err := do()
		if broken(err) {
			err = lost{err, false}
		}
		return err
	})
}

// broken reports whether err is of a connection that broke.
func broken(err error) bool {
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return false
	}
	_, ok := errors.AsType[net.Error](err)
	return ok || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) || errors.Is(err, net.ErrClosed) ||
		errors.Is(err, syscall.EPIPE) || errors.Is(err, syscall.ECONNRESET)
}

// unavailable is an error of a database that could not be reached, or not be used for the moment, in all of our patience.
type unavailable struct{ error }

func (u unavailable) Unwrap() error { return u.error }

// Unavailable reports that the call may succeed later.
func (unavailable) Unavailable() bool { return true }

// transient reports whether err says that nothing was wrong but the moment, and not that something was there already.
func transient(err error) bool {
	return err != nil && again(context.Background(), err) && !isCode(err, uniqueViolation, duplicateSchema, duplicateTable)
}

// refused tells whether the database itself will have none of it, however often it is tried.
func refused(err error) bool {
	_, ok := errors.AsType[*pgconn.PgError](err)
	return ok && !again(context.Background(), err)
}

// Error codes of https://www.postgresql.org/docs/current/errcodes-appendix.html.
const (
	serializationFailure = "40001"
	completionUnknown    = "40003"
	deadlockDetected     = "40P01"
	uniqueViolation      = "23505" // another was faster to write the same
	duplicateSchema      = "42P06" // and to make it
	duplicateTable       = "42P07"
	readOnlyTransaction  = "25006" // a primary that has become a standby
	undefinedColumn      = "42703" // another version of the schema
	undefinedTable       = "42P01"
	tooManyConnections   = "53300"
	adminShutdown        = "57P01"
	crashShutdown        = "57P02"
	cannotConnectNow     = "57P03"

	// The limits that a role may have.
	lockTimeout              = "55P03"
	statementTimeout         = "57014"
	idleInTransactionTimeout = "25P03"
	transactionTimeout       = "25P04"
	idleSessionTimeout       = "57P05"
)

// again tells whether to try once more after err: when nothing was wrong but the moment.
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
