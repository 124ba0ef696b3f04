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
	"github.com/socialdata/socialdata/store/bookkeeping"
	"github.com/socialdata/socialdata/store/records"
	"github.com/socialdata/socialdata/store/sqlite"
)

// store is where everything is kept: one SQLite file, or PostgreSQL for any number of servers.
type store struct {
	ledger  ledger
	keys    keyStore
	records records.Store
	bookkeeper
	close func() error

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
	bookkeeping.Bookkeeper
}

// Ledger returns the books.
func (s *store) Ledger() ledger { return s.ledger }

// Keys returns the accounts and keys.
func (s *store) Keys() keyStore { return s.keys }

// Records returns the jobs and answers that are kept.
func (s *store) Records() records.Store { return s.records }

// Close lets go of the store.
func (s *store) Close() error { return s.close() }

// open opens the store beside servers that may be using it.
func (e *env) open() (*store, error) {
	if len(e.cli.Postgres) > 0 {
		return e.openPostgres(nil)
	}
	return e.openFile(sqlite.Config{Admin: true})
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
	return &store{db.Ledger(), db.Keys(), db.Records(), db, db.Close, db.Backup}, nil
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
		return &store{db.Ledger(), db.Keys(), db.Records(), db, db.Close, nil}, nil
	}
	db, err := postgres.Open(e.ctx, cfgs[0])
	if err != nil {
		return nil, err
	}
	return &store{db.Ledger(), db.Keys(), db.Records(), db, db.Close, nil}, nil
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
