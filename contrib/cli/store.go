package cli

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"

	"github.com/socialdata/socialdata/contrib/postgres"
	"github.com/socialdata/socialdata/credits"
	"github.com/socialdata/socialdata/keys"
	"github.com/socialdata/socialdata/privacy"
	"github.com/socialdata/socialdata/requests"
	"github.com/socialdata/socialdata/store/bookkeeping"
	"github.com/socialdata/socialdata/store/records"
	"github.com/socialdata/socialdata/store/sqlite"
	"github.com/socialdata/socialdata/watch"
)

// store is where everything is kept: one SQLite file, or PostgreSQL for any number of servers.
type store struct {
	ledger   ledger
	keys     keyStore
	records  records.Store
	requests requests.Store
	watches  watch.Store
	bookkeeper
	close func() error

	blocklist privacy.Blocklist
	erasers   []privacy.Eraser // what keeps data of people beside the records

	// warnings returns what settings of the database may lose; nil for a file, which has none.
	warnings func(ctx context.Context) ([]string, error)
	// backup copies the file; nil for PostgreSQL, which has tools of its own.
	backup func(ctx context.Context, path string, progress func(done, total int64)) error
}

// ledger is the books with what an owner does to them.
type ledger interface {
	credits.Ledger
	credits.Granter
}

// keyStore is accounts and keys with what an owner does to them.
type keyStore interface {
	keys.Store
	keys.Admin
}

// bookkeeper proves the books and moves them.
type bookkeeper interface {
	Ping(ctx context.Context) error
	Sizes(ctx context.Context) ([]bookkeeping.Size, error)
	bookkeeping.Bookkeeper
}

// Ledger returns the books.
func (s *store) Ledger() ledger { return s.ledger }

// Keys returns the accounts and keys.
func (s *store) Keys() keyStore { return s.keys }

// Records returns the jobs and answers that are kept.
func (s *store) Records() records.Store { return s.records }

// Requests returns the request log and the usage.
func (s *store) Requests() requests.Store { return s.requests }

// Watches returns the monitors and what they have told.
func (s *store) Watches() watch.Store { return s.watches }

// Close lets go of the store.
func (s *store) Close() error { return s.close() }

// open opens the store beside servers that may be using it.
func (e *env) open() (*store, error) {
	if len(e.cli.Postgres) > 0 {
		return e.openPostgres(nil)
	}
	return e.openFile(sqlite.Config{Admin: true, Logger: newLog(e.log, slog.LevelWarn)})
}

// openServing opens the store to serve it, and a file that has lost something if that is accepted.
func (e *env) openServing(log *slog.Logger, acceptLoss bool) (*store, error) {
	if len(e.cli.Postgres) > 0 {
		return e.openPostgres(log)
	}
	db, err := e.openFile(sqlite.Config{Logger: log, AcceptLoss: acceptLoss})
	if errors.Is(err, sqlite.ErrLost) {
		err = fmt.Errorf("%w; restore a newer backup or the -wal file, or go on without them with serve --accept-loss", err)
	}
	return db, err
}

func (e *env) openFile(cfg sqlite.Config) (*store, error) {
	cfg.Path, cfg.Now = e.cli.DB, e.cfg.Now
	db, err := sqlite.Open(e.ctx, cfg)
	if err != nil {
		return nil, err
	}
	return &store{
		ledger: db.Ledger(), keys: db.Keys(), records: db.Records(), watches: db.Watches(), requests: db.Requests(), bookkeeper: db, close: db.Close, backup: db.Backup,
		blocklist: db.Blocklist(), erasers: []privacy.Eraser{db.Watches()},
	}, nil
}

func (e *env) openPostgres(log *slog.Logger) (*store, error) {
	cfgs := make([]postgres.Config, len(e.cli.Postgres))
	for i, dsn := range e.cli.Postgres {
		cfgs[i] = postgres.Config{DSN: dsn, Logger: log}
	}
	if len(cfgs) > 1 {
		db, err := postgres.OpenShards(e.ctx, cfgs...)
		if err != nil {
			return nil, err
		}
		return &store{
			ledger: db.Ledger(), keys: db.Keys(), records: db.Records(), watches: db.Watches(), requests: db.Requests(), bookkeeper: db, close: db.Close, warnings: db.Warnings,
			blocklist: db.Blocklist(), erasers: []privacy.Eraser{db.Watches()},
		}, nil
	}
	db, err := postgres.Open(e.ctx, cfgs[0])
	if err != nil {
		return nil, err
	}
	return &store{
		ledger: db.Ledger(), keys: db.Keys(), records: db.Records(), watches: db.Watches(), requests: db.Requests(), bookkeeper: db, close: db.Close, warnings: db.Warnings,
		blocklist: db.Blocklist(), erasers: []privacy.Eraser{db.Watches()},
	}, nil
}

// with opens a store that is there for do and closes it again.
func (e *env) with(do func(*store) error) error {
	if _, err := os.Stat(e.cli.DB); errors.Is(err, os.ErrNotExist) && len(e.cli.Postgres) == 0 {
		return fmt.Errorf("there is no database %s; account create and serve make one", e.cli.DB)
	}
	return e.withNew(do)
}

// withNew is with for a store that may be made now.
func (e *env) withNew(do func(*store) error) error {
	db, err := e.open()
	if err != nil {
		return err
	}
	return errors.Join(do(db), db.Close())
}
