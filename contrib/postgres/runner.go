package postgres

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/cenkalti/backoff/v5"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/socialdata/socialdata/store/sqlstore"
)

// runner runs transactions and reads on a pool of connections.
type runner struct {
	pool     *pgxpool.Pool
	db       *sql.DB // the same connections, for reads
	patience time.Duration
	direct   bool // see [DB.Direct]
}

// maxConflicts is how often a transaction is repeated after another one has added the same row, or removed one that it
// refers to.
const maxConflicts = 5

// retry runs do until it succeeds, fails permanently, or patience ends.
func (r *runner) retry(ctx context.Context, do func() error) error {
	wait := backoff.NewExponentialBackOff()
	wait.InitialInterval, wait.MaxInterval = 2*time.Millisecond, 250*time.Millisecond
	conflicts := 0
	_, err := backoff.Retry(ctx, func() (struct{}, error) {
		err := do()
		if isEnd(err) && ctx.Err() == nil && !errors.Is(err, sqlstore.ErrUnsure) { // the driver's own time is over
			err = fmt.Errorf("%w: %v", errBroken, err) //nolint:errorlint // must not match the end of the caller's context
		}
		again := err != nil && passing(err) && !errors.Is(err, sqlstore.ErrUnsure)
		if isCode(err, uniqueViolation, foreignKeyViolation) && conflicts < maxConflicts {
			conflicts++
			again = true
		}
		if err != nil && (!again || ctx.Err() != nil) {
			err = backoff.Permanent(err)
		}
		return struct{}{}, err
	}, backoff.WithBackOff(wait), backoff.WithMaxElapsedTime(r.patience))
	return explain(err)
}

// Read implements [sqlstore.Runner].
func (r *runner) Read(ctx context.Context, do func(*sql.DB) error) error {
	return r.retry(ctx, func() error { return do(r.db) })
}

// Write implements [sqlstore.Runner].
func (r *runner) Write(ctx context.Context, do func(sqlstore.Tx) error) error {
	return r.retry(ctx, func() error { return r.attempt(ctx, do) })
}

// settings are those of each transaction. Statements are planned each time: a plan that was made while a table was
// empty reads all of it later, and to compile one takes longer than to run it. A commit waits for the disk even if the
// server, the database or the role has that disabled.
const settings = `SELECT set_config('plan_cache_mode', 'force_custom_plan', true), set_config('jit', 'off', true),
	CASE WHEN current_setting('synchronous_commit') = 'off' THEN set_config('synchronous_commit', 'on', true) END`

// attempt is one attempt at a transaction.
func (r *runner) attempt(ctx context.Context, do func(sqlstore.Tx) error) error {
	conn, err := r.pool.Acquire(ctx)
	if err != nil {
		return err
	}
	defer conn.Release() // the pool closes a connection that is still in a transaction
	t := &tx{ctx: ctx, conn: conn.Conn(), batch: &pgx.Batch{}}
	t.batch.Queue("BEGIN")
	t.batch.Queue(settings)
	t.batch.Queue("SELECT pg_current_xact_id()::text").QueryRow(func(row pgx.Row) error { return row.Scan(&t.id) })
	err = do(t)
	if err == nil && t.written && t.id == "" {
		err = t.send() // so that the id is known before the commit is sent
	}
	if err != nil || !t.written {
		switch {
		case conn.Conn().IsClosed():
			if err != nil && !isEnd(err) {
				err = fmt.Errorf("%w: %w", errBroken, err)
			}
		case t.sent:
			_, _ = conn.Exec(ctx, "ROLLBACK") // if it fails, the pool closes the connection
		}
		return err
	}
	t.batch.Queue("COMMIT")
	err = t.send()
	if err == nil || !broken(err) && !conn.Conn().IsClosed() {
		return err
	}
	return r.fate(ctx, t.id, err)
}

// asking is how long after its caller's time a lost commit is still asked for.
const asking = 500 * time.Millisecond

// fate returns nil when the transaction was committed whose commit was not answered, [sqlstore.ErrNotWritten] when it
// was not, which is then repeated, and [sqlstore.ErrUnsure] when the database does not say so in time.
func (r *runner) fate(caller context.Context, id string, lost error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(caller), r.patience)
	defer cancel()
	defer context.AfterFunc(caller, func() { time.AfterFunc(asking, cancel) })()
	for {
		var status string
		err := r.pool.QueryRow(ctx, "SELECT coalesce(pg_xact_status($1::text::xid8), 'unknown')", id).Scan(&status)
		switch status {
		case "committed":
			return nil
		case "aborted":
			return sqlstore.Unavailable(fmt.Errorf("%w: %w", sqlstore.ErrNotWritten, lost))
		case "unknown":
			return sqlstore.Unavailable(fmt.Errorf("%w: %w", sqlstore.ErrUnsure, lost))
		}
		select {
		case <-ctx.Done():
			return sqlstore.Unavailable(fmt.Errorf("%w: %w", sqlstore.ErrUnsure, errors.Join(lost, err)))
		case <-time.After(10 * time.Millisecond): // "in progress": the server has not noticed yet
		}
	}
}

// tx is one attempt at a transaction. Statements without rows are sent with the next one that has rows, or with COMMIT:
// a group of charges takes four round trips.
type tx struct {
	ctx     context.Context //nolint:containedctx // it lives as long as the call
	conn    *pgx.Conn
	batch   *pgx.Batch // what was not sent yet
	id      string     // "" until it was sent
	sent    bool
	written bool
}

func (t *tx) send() error {
	b := t.batch
	t.batch, t.sent = &pgx.Batch{}, true
	return t.conn.SendBatch(t.ctx, b).Close()
}

func (t *tx) queue(query string, args []any) *pgx.QueuedQuery {
	t.written = t.written || !strings.HasPrefix(strings.TrimSpace(query), "SELECT")
	return t.batch.Queue(query, args...)
}

// Exec implements [sqlstore.Tx]. One without parameters is sent at once: it may create what the next ones, which are
// prepared before any of them is run, are about.
func (t *tx) Exec(query string, args ...any) error {
	t.queue(query, args)
	if len(args) == 0 {
		return t.send()
	}
	return nil
}

// Query implements [sqlstore.Tx].
func (t *tx) Query(into []any, each func() error, query string, args ...any) error {
	t.queue(query, args).Query(func(rows pgx.Rows) error {
		_, err := pgx.ForEachRow(rows, into, func() error {
			if each == nil {
				return nil
			}
			return each()
		})
		return err
	})
	return t.send()
}
