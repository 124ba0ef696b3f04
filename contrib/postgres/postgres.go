package postgres

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"

	"github.com/socialdata/socialdata/store/sqlstore"
)

// Config is the configuration of a [DB].
type Config struct {
	// DSN is a connection string of pgx, a URL or keywords and values, such as
	// "postgres://user:secret@host/database?pool_max_conns=20". Missing values come from the PG* variables of the
	// environment. See https://pkg.go.dev/github.com/jackc/pgx/v5/pgxpool#ParseConfig.
	DSN string
	// Schema is the schema that the tables are in, which is created if it does not exist; "" means "socialdata".
	Schema string
	// NoAdvisoryLock migrates the schema without an advisory lock.
	NoAdvisoryLock bool
	// Now is the clock. Nil means that of the database, which all replicas share, for the ledger, holds and records.
	Now    func() time.Time
	Logger *slog.Logger // nil disables logging

	// Patience is how long a call is repeated while the database is unavailable; 0 means 10 seconds.
	Patience time.Duration
	// CachedKeys is the maximum number of keys in the cache, each for a second at most; 0 means 100,000.
	CachedKeys int
	// OwnerBytes is how many bytes the records of one owner can have; 0 means records.DefaultOwnerBytes.
	OwnerBytes int64
	// FlushEvery is the interval at which the times of the last use of keys are written and expired records are
	// removed; 0 means 5 seconds.
	FlushEvery time.Duration

	// Tracer is called for every statement, such as the tracer of an OpenTelemetry package for pgx; nil for none.
	Tracer pgx.QueryTracer

	lease      time.Duration // how long a key is cached; only tests shorten it
	checkEvery time.Duration // see [sqlstore.Config]; only tests change it
	maxUses    int           // see [keys.NewUses]; only tests change it
}

func (c Config) withDefaults() Config {
	defaultTo(&c.Schema, "socialdata")
	defaultTo(&c.Patience, 10*time.Second)
	defaultTo(&c.lease, maxLease)
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	return c
}

func defaultTo[T int | int64 | time.Duration | string](field *T, value T) {
	var zero T
	if *field <= zero {
		*field = value
	}
}

// maxLease is how long a replica may use a key that it has read.
const maxLease = time.Second

// DB is one replica's access to a database. Its stores are those of [sqlstore.DB].
type DB struct {
	*sqlstore.DB
	runner *runner
	schema string
}

// Schema returns the schema that the tables are in.
func (db *DB) Schema() string { return db.schema }

// Pool returns the connections, for packages with tables of their own in the schema. Do not close it.
func (db *DB) Pool() *pgxpool.Pool { return db.runner.pool }

// SQL returns the connections of Pool. Do not close it.
func (db *DB) SQL() *sql.DB { return db.runner.db }

// Direct reports whether connections are known to be those of the server, and not of a pooler that may assign another
// one to the next transaction: then a connection has state, such as what it listens to.
func (db *DB) Direct() bool { return db.runner.direct }

// Retry repeats do, whose transaction must be safe to repeat, while the database cannot be reached for a short time.
func (db *DB) Retry(ctx context.Context, do func() error) error { return db.runner.retry(ctx, do) }

// maxIdle is how long a connection may have been idle to be used without checking that it still works.
const maxIdle = time.Minute

// defaultConns is the maximum number of connections of a replica whose DSN has none.
const defaultConns = 10

// Open connects to the database and migrates its schema. It fails with [sqlstore.ErrNewer].
func Open(ctx context.Context, cfg Config) (*DB, error) {
	db, err := open(ctx, cfg.withDefaults())
	if err != nil {
		return nil, fmt.Errorf("postgres: open: %w", err)
	}
	return db, nil
}

func open(ctx context.Context, cfg Config) (*DB, error) {
	if cfg.DSN == "" {
		return nil, errors.New("Config.DSN is empty")
	}
	r := &runner{patience: cfg.Patience}
	pool, err := openPool(ctx, cfg, r)
	if err != nil {
		return nil, err
	}
	r.pool, r.db = pool, stdlib.OpenDBFromPool(pool)
	db := &DB{runner: r, schema: cfg.Schema}
	if err = db.createSchema(ctx, cfg.Schema); err == nil {
		db.DB, err = sqlstore.Open(ctx, sqlstore.Config{
			Runner: r, Dialect: dialect(cfg), Now: cfg.Now, Logger: cfg.Logger, KeyLease: cfg.lease, CachedKeys: cfg.CachedKeys,
			OwnerBytes: cfg.OwnerBytes, FlushEvery: cfg.FlushEvery, CheckEvery: cfg.checkEvery, MaxUses: cfg.maxUses,
		})
	}
	if err != nil {
		return nil, errors.Join(err, r.close())
	}
	return db, nil
}

// createSchema creates the schema unless there is one: a role without the permission to create schemas can use it.
func (db *DB) createSchema(ctx context.Context, name string) error {
	return db.runner.retry(ctx, func() error {
		var exists bool
		err := db.runner.pool.QueryRow(ctx, "SELECT EXISTS (SELECT 1 FROM pg_namespace WHERE nspname = $1)", name).
			Scan(&exists)
		if err == nil && !exists {
			_, err = db.runner.pool.Exec(ctx, "CREATE SCHEMA "+pgx.Identifier{name}.Sanitize())
		}
		return err
	})
}

// openPool opens the connections. Statements are prepared once for each connection, which saves the database half of
// its work, unless a pooler may assign another connection to the next transaction: then no state is left in a
// connection. A default_query_exec_mode in the DSN takes precedence.
func openPool(ctx context.Context, cfg Config, r *runner) (*pgxpool.Pool, error) {
	p, err := pgxpool.ParseConfig(cfg.DSN)
	if err != nil { // which may contain a password
		return nil, errors.New("the DSN cannot be read: it must be a URL such as postgres://user:secret@host/database, " +
			"or keywords and values such as host=HOST user=USER password=SECRET dbname=DATABASE")
	}
	if !strings.Contains(cfg.DSN, "pool_max_conns") {
		p.MaxConns = defaultConns
	}
	p.ConnConfig.Tracer = cfg.Tracer
	// A check before each use would double the time of a call. A broken connection is noticed when it is used, and the
	// call is tried again.
	p.ShouldPing = func(_ context.Context, c pgxpool.ShouldPingParams) bool { return c.IdleDuration > maxIdle }
	if !strings.Contains(cfg.DSN, "default_query_exec_mode") {
		p.ConnConfig.DefaultQueryExecMode = pgx.QueryExecModeCacheDescribe
		if err := r.retry(ctx, func() error { return r.prepareIfDirect(ctx, p) }); err != nil {
			return nil, err
		}
	}
	return pgxpool.NewWithConfig(ctx, p)
}

// prepareIfDirect enables prepared statements if there is no pooler. A pooler gives its clients process ids of its own,
// and not that of the server process.
func (r *runner) prepareIfDirect(ctx context.Context, p *pgxpool.Config) error {
	c, err := pgx.ConnectConfig(ctx, p.ConnConfig)
	if err != nil {
		return err
	}
	var pid uint32
	err = c.QueryRow(ctx, "SELECT pg_backend_pid()").Scan(&pid)
	if r.direct = err == nil && pid == c.PgConn().PID(); r.direct {
		p.ConnConfig.DefaultQueryExecMode = pgx.QueryExecModeCacheStatement
		// For reads; transactions set this themselves.
		p.ConnConfig.RuntimeParams["plan_cache_mode"] = "force_custom_plan"
		p.ConnConfig.RuntimeParams["jit"] = "off"
	}
	return errors.Join(err, c.Close(ctx))
}

// Ping returns nil when the database can be read and written, and its schema is one that this program serves.
func (db *DB) Ping(ctx context.Context) error {
	var standby bool
	err := db.runner.pool.QueryRow(ctx, "SELECT pg_is_in_recovery()").Scan(&standby)
	switch {
	case err != nil:
		return err
	case standby:
		return errors.New("postgres: the database is a standby, which cannot be written")
	}
	return db.CheckVersion(ctx)
}

// Close waits for calls in progress, writes what is pending, and closes the connections. Calls after it fail with
// [sqlstore.ErrClosed]; closing again does nothing. Open holds stay until another replica settles them or they expire.
func (db *DB) Close() error { return errors.Join(db.DB.Close(), db.runner.close()) }

func (r *runner) close() error {
	err := r.db.Close()
	r.pool.Close()
	return err
}
