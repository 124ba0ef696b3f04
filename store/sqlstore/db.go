package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/socialdata/socialdata/records"
	"github.com/socialdata/socialdata/store"
)

// Runner runs transactions and reads in a database. It is what a driver implements, beside its [Dialect].
type Runner interface {
	// Write runs do in a transaction and returns nil when that is durable. It repeats do, whose results must be set anew
	// each time, after a conflict with another transaction or while the database cannot be reached for a short time. It
	// returns the error of do as it is, [ErrNotWritten] when connections broke and nothing was written, and [ErrUnsure]
	// when that cannot be determined. A transaction that has only read is not committed.
	Write(ctx context.Context, do func(Tx) error) error
	// Read runs do, which only reads, and repeats it while the database cannot be reached for a short time.
	Read(ctx context.Context, do func(*sql.DB) error) error
}

// Tx is a transaction. It is used by one goroutine.
type Tx interface {
	// Exec runs a statement without rows. It may be sent together with the next one: then that returns its error.
	Exec(query string, args ...any) error
	// Query calls each, unless it is nil, after it has scanned each row into into.
	Query(into []any, each func() error, query string, args ...any) error
}

// Config configures a [DB]. Only Runner and Dialect are needed.
type Config struct {
	Runner  Runner
	Dialect *Dialect
	Now     func() time.Time // the clock; nil means that of the database if several machines share it, else time.Now
	Logger  *slog.Logger     // nil disables logging
	// KeyLease is how long a process may use a key that it has read, in which a revocation waits. 0 reads the key in each
	// call.
	KeyLease time.Duration
	// CachedKeys is how many keys are kept for a lease; 0 means 100,000.
	CachedKeys int
	// OwnerBytes is how many bytes the records of one owner can have; 0 means records.DefaultOwnerBytes.
	OwnerBytes int64
	// FlushEvery is the interval at which the times of the last use of keys are written, and expired records and holds
	// are removed; 0 means 5 seconds.
	FlushEvery time.Duration
	// CheckEvery is the interval at which the version of the schema is checked; 0 means 5 seconds.
	CheckEvery time.Duration
	// CommitWait is how long a call of the ledger whose context has ended waits for a transaction that has begun; 0 means
	// 2 seconds.
	CommitWait time.Duration
	// Scrub makes what was removed unreadable in the files, at the end of an erasure; nil where the database does so
	// itself.
	Scrub func(context.Context) error
	// Damage is what an audit asks of the database itself: it returns a sentence for each damage found; nil for none.
	Damage func(context.Context) ([]string, error)
	// MaxUses is how many keys may wait for the time of their last use to be written; 0 means as many as are kept.
	MaxUses int
}

func (c Config) withDefaults() Config {
	if c.Now == nil && !c.Dialect.Shared {
		c.Now = time.Now
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	if c.CachedKeys <= 0 {
		c.CachedKeys = 100_000
	}
	if c.OwnerBytes <= 0 {
		c.OwnerBytes = records.DefaultOwnerBytes
	}
	if c.FlushEvery <= 0 {
		c.FlushEvery = 5 * time.Second
	}
	if c.CommitWait <= 0 {
		c.CommitWait = 2 * time.Second
	}
	if c.CheckEvery <= 0 {
		c.CheckEvery = 5 * time.Second
	}
	return c
}

// DB is a database with every store.
type DB struct {
	cfg     Config
	dialect *Dialect
	texts   sync.Map              // statements in the words of the database, by what is written here
	unfit   atomic.Pointer[unfit] // why the schema cannot be served; nil while it can

	ledger  *Ledger
	keys    *Keys
	records *Records

	stop  chan struct{} // closed by Close
	tasks sync.WaitGroup
	close func() error
}

// Open migrates the database and returns its stores. It returns [ErrNewer] when a later version has migrated it.
func Open(ctx context.Context, cfg Config) (*DB, error) {
	cfg = cfg.withDefaults()
	db := &DB{cfg: cfg, dialect: cfg.Dialect, stop: make(chan struct{})}
	if err := db.migrate(ctx); err != nil {
		return nil, err
	}
	if err := db.CheckVersion(ctx); err != nil {
		return nil, err
	}
	db.ledger, db.keys, db.records = newLedger(db), newKeys(db), newRecords(db)
	db.close = sync.OnceValue(db.shut)
	db.tasks.Go(db.housekeeping)
	return db, nil
}

// Ledger returns the ledger.
func (db *DB) Ledger() *Ledger { return db.ledger }

// Close waits for calls in progress and writes what is pending. The driver then closes the connections. Closing again
// does nothing.
func (db *DB) Close() error { return db.close() }

func (db *DB) shut() error {
	close(db.stop)
	db.ledger.close()
	db.tasks.Wait()
	return db.keys.flush(context.Background())
}

// housekeeping does regular work in the background.
func (db *DB) housekeeping() {
	ctx, cancel := context.WithCancel(context.Background())
	db.tasks.Go(func() {
		<-db.stop
		cancel()
	})
	flush, check := time.NewTicker(db.cfg.FlushEvery), time.NewTicker(db.cfg.CheckEvery)
	defer flush.Stop()
	defer check.Stop()
	for {
		select {
		case <-db.stop:
			return
		case <-check.C:
			_ = db.CheckVersion(ctx) // it is logged; calls notice a database that cannot be reached
		case <-flush.C:
			db.tidy(ctx)
		case <-db.keys.uses.Crowded():
			db.tidy(ctx)
		}
	}
}

func (db *DB) tidy(ctx context.Context) {
	for _, task := range []struct {
		name string
		do   func(context.Context) error
	}{
		{"remove expired holds", db.ledger.sweep},
		{"remove expired records", db.records.sweep},
		{"write when keys were last used", db.keys.flush},
	} {
		if err := task.do(ctx); err != nil && ctx.Err() == nil {
			db.cfg.Logger.Error("store: "+task.name, "error", err)
		}
	}
}

// text returns a statement in the words of the database.
func (db *DB) text(query string) string {
	if text, ok := db.texts.Load(query); ok {
		return text.(string)
	}
	text := db.dialect.text(query)
	db.texts.Store(query, text)
	return text
}

// clock is the argument of {now}-queries: the time in nanoseconds, nil for that of the database.
func (db *DB) clock() any {
	if db.cfg.Now == nil {
		return nil
	}
	return db.cfg.Now().UnixNano()
}

// sqlNow is the current time in nanoseconds in a query; its argument is clock.
const sqlNow = "coalesce(CAST(? AS {int}), {now})"

// tx is a transaction, with statements in the words of this package.
type tx struct {
	Tx
	db *DB
}

// write runs do in a transaction: see [Runner].
func (db *DB) write(ctx context.Context, do func(t tx) error) error {
	if err := db.serveable(); err != nil {
		return err
	}
	return db.explain(ctx, db.cfg.Runner.Write(ctx, func(t Tx) error { return do(tx{t, db}) }))
}

// removedAtOnce is how many rows are removed in one transaction, for which others wait.
const removedAtOnce = 500

// removeAll repeats a transaction that removes some rows until it finds none.
func (db *DB) removeAll(ctx context.Context, some func(t tx) (removed int64, err error)) error {
	for {
		var removed int64
		err := db.write(ctx, func(t tx) (err error) {
			removed, err = some(t)
			return err
		})
		if err != nil || removed == 0 {
			return err
		}
	}
}

// exec runs a statement without rows.
func (t tx) exec(query string, args ...any) error { return t.Exec(t.db.text(query), args...) }

// each calls do after it has scanned each row into into.
func (t tx) each(into []any, do func() error, query string, args ...any) error {
	return t.Query(into, do, t.db.text(query), args...)
}

// row scans the only row of a query.
func (t tx) row(into []any, query string, args ...any) error {
	found, err := t.maybe(into, query, args...)
	if err == nil && !found {
		err = sql.ErrNoRows
	}
	return err
}

// maybe scans a row, and reports whether there is one.
func (t tx) maybe(into []any, query string, args ...any) (found bool, err error) {
	if !findable(args) {
		return false, nil
	}
	err = t.each(into, func() error {
		found = true
		return nil
	}, query, args...)
	return found, err
}

// collect returns the rows of a query, each scanned into the fields of a value.
func collect[T any](t tx, fields func(*T) []any, query string, args ...any) (found []T, err error) {
	var v T
	err = t.each(fields(&v), func() error {
		found = append(found, v)
		v = *new(T)
		return nil
	}, query, args...)
	return found, err
}

// count runs a statement that returns a row of one column for each row that it changes, and returns how many there are.
func (t tx) count(query string, args ...any) (n int64, err error) {
	var column any
	err = t.each([]any{&column}, func() error {
		n++
		return nil
	}, query, args...)
	return n, err
}

// rows returns a table of parameters, and its arguments: see [Dialect].
func (t tx) rows(types string, rows [][]any) (table string, args []any) {
	return t.db.dialect.Rows(types), t.db.dialect.RowArgs(types, rows)
}

// insert writes rows. columns are those of the table, in order, and types their letters; end is what the statement ends
// with.
func (t tx) insert(into, types, end string, rows [][]any) error {
	for len(rows) > 0 {
		if t.db.dialect.InsertMax == 0 {
			table, args := t.rows(types, rows)
			return t.exec(into+" SELECT * FROM "+table+end, args...)
		}
		n := 1
		if len(rows) >= t.db.dialect.InsertMax {
			n = t.db.dialect.InsertMax
		}
		one := "(?" + strings.Repeat(", ?", len(types)-1) + ")"
		args := make([]any, 0, n*len(types))
		for _, row := range rows[:n] {
			args = append(args, row...)
		}
		if err := t.exec(into+" VALUES "+one+strings.Repeat(", "+one, n-1)+end, args...); err != nil {
			return err
		}
		rows = rows[n:]
	}
	return nil
}

// now returns the current time. In a transaction that locks rows it is called after that, so that times follow the
// order in which transactions write.
func (t tx) now() (time.Time, error) {
	if t.db.cfg.Now != nil {
		return t.db.cfg.Now(), nil
	}
	var nanos int64
	err := t.row([]any{&nanos}, "SELECT {now}")
	return time.Unix(0, nanos).UTC(), err
}

// row is what a row of a query is scanned from.
type row interface{ Scan(into ...any) error }

// list returns what scan makes of each row of a query, not nil.
func list[T any](
	ctx context.Context,
	db *DB,
	scan func(row) (T, error),
	query string,
	args ...any,
) (found []T, err error) {
	err = db.read(ctx, func(pool querier) error {
		found, err = listFrom(ctx, db, pool, scan, query, args...)
		return err
	})
	return found, err
}

// one returns what scan makes of the only row of a query, or sql.ErrNoRows.
func one[T any](
	ctx context.Context,
	db *DB,
	scan func(row) (T, error),
	query string,
	args ...any,
) (found T, err error) {
	all, err := list(ctx, db, scan, query, args...)
	if err == nil && len(all) == 0 {
		err = sql.ErrNoRows
	}
	if err != nil {
		return found, err
	}
	return all[0], nil
}

// querier is a pool of connections, or a snapshot.
type querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

func listFrom[T any](
	ctx context.Context, db *DB, from querier, scan func(row) (T, error), query string, args ...any,
) (found []T, err error) {
	found = []T{}
	if !findable(args) {
		return found, nil
	}
	rows, err := from.QueryContext(ctx, db.text(query), args...)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		v, err := scan(rows)
		if err != nil {
			return nil, err
		}
		found = append(found, v)
	}
	return found, rows.Err()
}

// read runs do, which only reads: see [Runner].
func (db *DB) read(ctx context.Context, do func(pool querier) error) error {
	if err := db.serveable(); err != nil {
		return err
	}
	return db.explain(ctx, db.cfg.Runner.Read(ctx, func(pool *sql.DB) error { return do(pool) }))
}

// snapshot runs do on a snapshot of the database.
func (db *DB) snapshot(ctx context.Context, do func(querier) error) error {
	return db.explain(ctx, db.cfg.Runner.Read(ctx, func(pool *sql.DB) error {
		options := &sql.TxOptions{ReadOnly: true}
		if db.dialect.Shared {
			options.Isolation = sql.LevelRepeatableRead
		}
		t, err := pool.BeginTx(ctx, options)
		if err != nil {
			return err
		}
		return errors.Join(do(t), t.Rollback())
	}))
}

// fromMicros and fromNanos return a time that is stored.
func fromMicros(n int64) time.Time { return time.UnixMicro(n).UTC() }
func fromNanos(n int64) time.Time  { return time.Unix(0, n).UTC() }

// bit returns a truth value as it is stored.
func bit(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

// scanOne scans a row of one column.
func scanOne[T any](r row) (v T, err error) {
	err = r.Scan(&v)
	return v, err
}

// storable reports whether a text can be in a column of text. One that is looked up may be anything.
func storable(s string) bool { return plain(s) == s }

// plain returns a text as it can be in a column of text.
func plain(s string) string { return strings.ReplaceAll(strings.ToValidUTF8(s, ""), "\x00", "") }

// findable reports whether arguments can be those of a query that finds a row.
func findable(args []any) bool {
	return !slices.ContainsFunc(args, func(arg any) bool {
		s, ok := arg.(string)
		return ok && !storable(s)
	})
}

// Unavailable returns err as a [store.UnavailableError], for drivers.
func Unavailable(err error) error {
	return &store.UnavailableError{Err: err, MaybeWritten: errors.Is(err, ErrUnsure)}
}

// Writable makes a small write, and so finds out whether the database can be written to.
func (db *DB) Writable(ctx context.Context) error {
	return db.write(ctx, func(t tx) error {
		return t.exec("INSERT INTO @records (key, owner, value, version, expires, subjects) VALUES (?, '', ?, 1, 0, ?) "+
			"ON CONFLICT (key) DO UPDATE SET version = 1", []byte("probe"), []byte{}, []byte{})
	})
}

// Writable makes a small write: see [DB.Writable].
func (l *Ledger) Writable(ctx context.Context) error { return l.db.Writable(ctx) }

// Writable makes a small write: see [DB.Writable].
func (r *Records) Writable(ctx context.Context) error { return r.db.Writable(ctx) }
