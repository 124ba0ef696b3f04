package bulk

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/riverqueue/river"

	"github.com/socialdata/socialdata/bulkjob"
	"github.com/socialdata/socialdata/contrib/postgres"
	"github.com/socialdata/socialdata/store/sqlite"
)

// Config is the configuration of a [Service]. The zero value is a good one.
type Config struct {
	// Sink gets the results; nil stores them in a table of the database.
	Sink Sink
	// ResultBytes is how many bytes the results of one account can have in the table, compressed; 0 means 1 GiB. A job
	// waits when they are used up.
	ResultBytes int64
	// Keep is how long a job that is done or ended is kept with its results; 0 means 30 days.
	Keep time.Duration
	// RetryFor is the time in which a line that fails is tried 8 times, with growing distance; 0 means 24 hours.
	RetryFor time.Duration
	// Jobs is how many jobs of one account can be open, and Lines how many lines they can have together; 0 means 20 jobs
	// and 10,000,000 lines.
	Jobs  int
	Lines int64

	Logger *slog.Logger // nil disables logging

	tick  time.Duration // between two checks of what is open; only tests change it
	lease time.Duration // of a chunk that is worked; only tests change it
	wait  time.Duration // how long a job waits before it ends; only tests change it
}

func (c Config) withDefaults() Config {
	defaultTo(&c.ResultBytes, 1<<30)
	defaultTo(&c.Keep, 30*24*time.Hour)
	defaultTo(&c.RetryFor, 24*time.Hour)
	defaultTo(&c.Jobs, 20)
	defaultTo(&c.Lines, 10_000_000)
	defaultTo(&c.tick, time.Second)
	defaultTo(&c.lease, 20*time.Second)
	defaultTo(&c.wait, 7*24*time.Hour)
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	return c
}

func defaultTo[T int | int64 | time.Duration](field *T, value T) {
	if *field <= 0 {
		*field = value
	}
}

// Service is a [bulkjob.Service] on River.
type Service struct {
	cfg      Config
	db       *database
	inserter *river.Client[*sql.Tx]
	process  string // of this service alone, as the holder of leases
	codec    *codec

	mu      sync.Mutex
	working int           // chunks that this process has a lease of
	wake    chan struct{} // has Run check what is open
}

var _ bulkjob.Service = (*Service)(nil)

// OpenPostgres makes the tables if they do not exist, in the schema of db, and returns their service. Close it before
// db.
func OpenPostgres(ctx context.Context, db *postgres.DB, cfg Config) (*Service, error) {
	return open(ctx, onPostgres(db), cfg)
}

// OpenSQLite is like [OpenPostgres], for the file of db.
func OpenSQLite(ctx context.Context, db *sqlite.DB, cfg Config) (*Service, error) {
	return open(ctx, onSQLite(db), cfg)
}

func open(ctx context.Context, db *database, cfg Config) (*Service, error) {
	s := &Service{cfg: cfg.withDefaults(), db: db, process: rand.Text(), wake: make(chan struct{}, 1)}
	var err error
	if s.codec, err = newCodec(); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	if err = s.migrate(ctx); err == nil {
		s.inserter, err = river.NewClient(db.driver, &river.Config{Logger: s.riverLog(), Schema: db.schema})
	}
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// Close releases what the service has, and not the database. Run must have returned.
func (s *Service) Close() error { return s.db.close() }

// riverLog is the log of River, which says much that is of no use to an operator.
func (s *Service) riverLog() *slog.Logger { return slog.New(warnings{s.cfg.Logger.Handler()}) }

// warnings passes on what is at least a warning.
type warnings struct{ slog.Handler }

func (w warnings) Enabled(ctx context.Context, level slog.Level) bool {
	return level >= slog.LevelWarn && w.Handler.Enabled(ctx, level)
}

func (w warnings) WithAttrs(attrs []slog.Attr) slog.Handler {
	return warnings{w.Handler.WithAttrs(attrs)}
}
func (w warnings) WithGroup(name string) slog.Handler { return warnings{w.Handler.WithGroup(name)} }

// wakeRun has Run check now what is open.
func (s *Service) wakeRun() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}
