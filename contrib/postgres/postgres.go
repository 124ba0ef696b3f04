package postgres

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/socialdata/socialdata/store/records"
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

	// Lanes is the maximum number of transactions of holds and charges that a replica runs at the same time; 0 means 2.
	// Each account has one lane, so that its calls share transactions. All replicas should have the same number, so
	// that an account has the same lane everywhere.
	Lanes int
	// Batch is the maximum number of calls that share a transaction; 0 means 512.
	Batch int
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

	lease time.Duration // how long a key is cached; only tests shorten it
	look  time.Duration // the interval of [lookEvery]; only tests change it
}

func (c Config) withDefaults() Config {
	defaultTo(&c.Schema, "socialdata")
	defaultTo(&c.Lanes, 2)
	defaultTo(&c.Batch, 512)
	defaultTo(&c.Patience, 10*time.Second)
	defaultTo(&c.CachedKeys, 100_000)
	defaultTo(&c.OwnerBytes, records.DefaultOwnerBytes)
	defaultTo(&c.FlushEvery, 5*time.Second)
	defaultTo(&c.lease, maxLease)
	defaultTo(&c.look, lookEvery)
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

// DB is one replica's access to a database: its connections, its queues of charges and its cache of keys.
type DB struct {
	cfg    Config
	prefix string // of the names of tables
	pool   *pgxpool.Pool
	unfit  atomic.Pointer[unfit] // why the schema cannot be served; nil if it can

	ledger  *Ledger
	keys    *Keys
	records *Records

	stop  chan struct{} // closed by Close
	tasks sync.WaitGroup
	close func() error
}

// maxIdle is how long a connection may have been idle to be used without checking that it still works.
const maxIdle = time.Minute

// defaultConns is the maximum number of connections of a replica whose DSN has none.
const defaultConns = 10

// Open connects to the database and migrates its schema. It fails with ErrNewer, and with ErrPlacement when the
// database is one of several shards.
func Open(ctx context.Context, cfg Config) (*DB, error) {
	db, err := open(ctx, cfg.withDefaults(), 0, 1)
	if err != nil {
		return nil, fmt.Errorf("postgres: open: %w", err)
	}
	return db, nil
}

// open opens one of several shards.
func open(ctx context.Context, cfg Config, shard, shards int) (*DB, error) {
	if cfg.DSN == "" {
		return nil, errors.New("Config.DSN is empty")
	}
	pool, err := openPool(ctx, cfg)
	if err != nil {
		return nil, err
	}
	db := &DB{cfg: cfg, prefix: pgx.Identifier{cfg.Schema}.Sanitize() + ".", pool: pool, stop: make(chan struct{})}
	if err = db.migrate(ctx); err == nil {
		err = db.place(ctx, shard, shards)
	}
	if err != nil {
		pool.Close()
		return nil, err
	}
	db.close = sync.OnceValue(db.shut)
	db.ledger, db.keys, db.records = newLedger(db), newKeys(db), &Records{db}
	db.tasks.Go(db.housekeeping)
	return db, nil
}

// openPool opens the connections. Statements are prepared once for each connection, which saves the database half of
// its work, unless a pooler may assign another connection to the next transaction: then no state is left in a
// connection. A default_query_exec_mode in the DSN takes precedence.
func openPool(ctx context.Context, cfg Config) (*pgxpool.Pool, error) {
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
		db := &DB{cfg: cfg}
		if err := db.retry(ctx, func(bool) error { return prepareIfDirect(ctx, p) }); err != nil {
			return nil, err
		}
	}
	return pgxpool.NewWithConfig(ctx, p)
}

// prepareIfDirect enables prepared statements if there is no pooler. A pooler gives its clients process ids of its own,
// and not that of the server process.
func prepareIfDirect(ctx context.Context, p *pgxpool.Config) error {
	c, err := pgx.ConnectConfig(ctx, p.ConnConfig)
	if err != nil {
		return err
	}
	var pid uint32
	err = c.QueryRow(ctx, "SELECT pg_backend_pid()").Scan(&pid)
	if err == nil && pid == c.PgConn().PID() {
		p.ConnConfig.DefaultQueryExecMode = pgx.QueryExecModeCacheStatement
		// Statements are planned once, and not for each batch. PostgreSQL would otherwise read small tables completely,
		// including the dead rows that charges leave behind.
		p.ConnConfig.RuntimeParams["plan_cache_mode"] = "force_generic_plan"
		p.ConnConfig.RuntimeParams["enable_seqscan"] = "off"
		// With sequential scans disabled, statements that need one have a high estimated cost, for which PostgreSQL
		// would compile them each time: that takes a quarter of a second for a table without rows.
		p.ConnConfig.RuntimeParams["jit"] = "off"
	}
	return errors.Join(err, c.Close(ctx))
}

// place fails with ErrPlacement unless the database is shard number shard of shards, or is new.
func (db *DB) place(ctx context.Context, shard, shards int) error {
	var s, of int
	err := db.retry(ctx, func(bool) error {
		_, err := db.pool.Exec(ctx, db.sql("INSERT INTO @placement VALUES (1, $1, $2) ON CONFLICT DO NOTHING"), shard, shards)
		if err != nil {
			return err
		}
		return db.pool.QueryRow(ctx, db.sql("SELECT shard, shards FROM @placement")).Scan(&s, &of)
	})
	if err == nil && (s != shard || of != shards) {
		err = fmt.Errorf("%w: number %d of %d, and not %d of %d", ErrPlacement, s+1, of, shard+1, shards)
	}
	return err
}

// sql returns a statement with the schema in place of each @.
func (db *DB) sql(text string) string { return strings.ReplaceAll(text, "@", db.prefix) }

// clock is the argument for the current time in nanoseconds: NULL if the database's own clock is used.
func (db *DB) clock() *int64 {
	if db.cfg.Now == nil {
		return nil
	}
	return new(db.cfg.Now().UnixNano())
}

// sqlNow is the current time in nanoseconds; its argument is clock.
const sqlNow = "coalesce($1::bigint, (extract(epoch FROM clock_timestamp()) * 1000000)::bigint * 1000)"

// Ledger returns the ledger in the database.
func (db *DB) Ledger() *Ledger { return db.ledger }

// Keys returns the accounts and keys in the database.
func (db *DB) Keys() *Keys { return db.keys }

// Records returns the records in the database.
func (db *DB) Records() *Records { return db.records }

// Watches returns the monitors in the database.
func (db *DB) Watches() *Watches { return &Watches{db} }

// Blocklist returns the blocklist of erasures in the database.
func (db *DB) Blocklist() *Blocklist { return &Blocklist{db} }

// Requests returns the request log and the usage in the database.
func (db *DB) Requests() *Requests { return &Requests{db} }

// Ping returns nil when the database can be read and written, and its schema is one that this program serves.
func (db *DB) Ping(ctx context.Context) error {
	var standby bool
	err := db.pool.QueryRow(ctx, "SELECT pg_is_in_recovery()").Scan(&standby)
	switch {
	case err != nil:
		return err
	case standby:
		return errors.New("postgres: the database is a standby, which cannot be written")
	}
	return db.lookAtVersion(ctx)
}

// Close waits for calls in progress, writes what is pending, and closes the connections. Calls after it fail with
// ErrClosed; closing again does nothing. Open holds stay until they are settled by another replica or expire.
func (db *DB) Close() error { return db.close() }

func (db *DB) shut() error {
	close(db.stop)
	db.ledger.close()
	db.tasks.Wait()
	ctx, cancel := context.WithTimeout(context.Background(), db.cfg.Patience)
	defer cancel()
	err := db.keys.flush(ctx)
	db.pool.Close()
	return err
}

// housekeeping does regular work in the background.
func (db *DB) housekeeping() {
	ctx, cancel := context.WithCancel(context.Background())
	db.tasks.Go(func() {
		<-db.stop
		cancel()
	})
	db.tasks.Go(func() { db.keys.refresh(ctx) })
	db.tasks.Go(func() { db.watchVersion(ctx) })
	tick := time.NewTicker(db.cfg.FlushEvery)
	defer tick.Stop()
	for {
		select {
		case <-db.stop:
			return
		case <-tick.C:
		case <-db.keys.uses.Crowded():
		}
		db.tidy(ctx)
	}
}

// tidy does one round of it.
func (db *DB) tidy(ctx context.Context) {
	for what, do := range map[string]func(context.Context) error{
		"write when keys were last used": db.keys.flush, "remove old records": db.records.sweep,
		"remove old holds": db.ledger.sweep,
	} {
		if err := do(ctx); err != nil && ctx.Err() == nil {
			db.cfg.Logger.Error("postgres: "+what, "error", err)
		}
	}
}
