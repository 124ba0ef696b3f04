package bulk

import (
	"context"
	"database/sql"
	"errors"
	"strings"

	"github.com/riverqueue/river/riverdriver"
	"github.com/riverqueue/river/riverdriver/riverdatabasesql"
	"github.com/riverqueue/river/riverdriver/riversqlite"

	"github.com/socialdata/socialdata/contrib/postgres"
	"github.com/socialdata/socialdata/store/sqlite"
)

// database is what differs between the two databases. In statements, @name is a table, $1 a parameter, and {word} one of
// words.
type database struct {
	writer, reader *sql.DB
	driver         riverdriver.Driver[*sql.Tx]
	schema         string   // of River's tables
	pollOnly       bool     // nothing tells River of a new job
	reindexed      []string // the indexes that River makes anew each day; nil for those that it names itself
	words          *strings.Replacer
	retry          func(ctx context.Context, do func() error) error
	lock           string // a statement that keeps others from migrating until the transaction ends; "" if it does so
	close          func() error
}

func onPostgres(db *postgres.DB) *database {
	d := &database{
		writer: db.SQL(), reader: db.SQL(), schema: db.Schema(), pollOnly: !db.Direct(), retry: db.Retry,
		words: strings.NewReplacer("@", `"`+strings.ReplaceAll(db.Schema(), `"`, `""`)+`".`,
			"{bytes}", "BYTEA", "{text}", `TEXT COLLATE "C"`, "{lock}", "FOR UPDATE", "{skip}", "FOR UPDATE SKIP LOCKED",
			"{now}", "CAST(extract(epoch FROM clock_timestamp()) * 1000 AS BIGINT)",
			"{attempted}", "CAST(extract(epoch FROM attempted_at) * 1000 AS BIGINT)"),
		lock: "SELECT pg_advisory_xact_lock(hashtextextended('socialdata bulk " +
			strings.ReplaceAll(db.Schema(), "'", "''") + "', 0))",
		close: func() error { return nil },
	}
	if db.Direct() {
		d.driver = riverdatabasesql.NewWithPgxListener(db.SQL(), db.Pool())
	} else {
		d.driver = riverdatabasesql.New(db.SQL())
	}
	return d
}

func onSQLite(db *sqlite.DB) *database {
	writer := db.Writer()
	return &database{
		writer: writer, reader: db.Readers(), driver: riversqlite.New(writer), pollOnly: true, reindexed: []string{},
		words: strings.NewReplacer("@", "", "$", "?", "{bytes}", "BLOB", "{text}", "TEXT", "{lock}", "", "{skip}", "",
			"{now}", "CAST(unixepoch('subsec') * 1000 AS INTEGER)",
			"{attempted}", "CAST(unixepoch(attempted_at, 'subsec') * 1000 AS INTEGER)"),
		retry: func(_ context.Context, do func() error) error { return do() },
		close: writer.Close,
	}
}

// querier is a pool or a transaction.
type querier interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// tx is a transaction, or a pool that only reads, with statements in the words of this package.
type tx struct {
	ctx context.Context //nolint:containedctx // it lives as long as the call
	q   querier
	sql *sql.Tx // nil if it only reads
	db  *database
}

// exec runs a statement and returns how many rows it has changed.
func (t tx) exec(query string, args ...any) (int64, error) {
	result, err := t.q.ExecContext(t.ctx, t.db.words.Replace(query), args...)
	if err != nil {
		return 0, err
	}
	return result.RowsAffected()
}

// row reads one row. It reports whether there is one.
func (t tx) row(into []any, query string, args ...any) (bool, error) {
	err := t.q.QueryRowContext(t.ctx, t.db.words.Replace(query), args...).Scan(into...)
	if errors.Is(err, sql.ErrNoRows) {
		return false, nil
	}
	return err == nil, err
}

// rows calls each after it has read each row into into, until that returns errEnough.
func (t tx) rows(into []any, each func() error, query string, args ...any) (err error) {
	rows, err := t.q.QueryContext(t.ctx, t.db.words.Replace(query), args...)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		if err := rows.Scan(into...); err != nil {
			return err
		}
		if err := each(); errors.Is(err, errEnough) {
			return nil
		} else if err != nil {
			return err
		}
	}
	return rows.Err()
}

var errEnough = errors.New("bulk: no more rows are needed")

// write runs do in a transaction, again if the database could not be reached for a short time.
func (s *Service) write(ctx context.Context, do func(tx) error) error {
	return s.db.retry(ctx, func() error {
		t, err := s.db.writer.BeginTx(ctx, nil)
		if err != nil {
			return err
		}
		if err := do(tx{ctx, t, t, s.db}); err != nil {
			_ = t.Rollback() // a connection that cannot do so is closed
			return err
		}
		return t.Commit()
	})
}

// read runs do, which only reads.
func (s *Service) read(ctx context.Context, do func(tx) error) error {
	return s.db.retry(ctx, func() error { return do(tx{ctx, s.db.reader, nil, s.db}) })
}
