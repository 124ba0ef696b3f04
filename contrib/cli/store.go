package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"

	"github.com/socialdata/socialdata/contrib/bulk"
	"github.com/socialdata/socialdata/contrib/postgres"
	"github.com/socialdata/socialdata/privacy"
	"github.com/socialdata/socialdata/server/dashboard"
	"github.com/socialdata/socialdata/store/sqlite"
	"github.com/socialdata/socialdata/store/sqlstore"
)

// store is the store of a server: one SQLite file, or PostgreSQL for any number of servers.
type store struct {
	*sqlstore.DB
	opened

	bulk *bulk.Service // the bulk jobs in it

	// warnings returns which settings of the database can cause the loss of committed data; nil for a file, which has
	// none.
	warnings func(ctx context.Context) ([]string, error)
	// backup copies the file; nil for PostgreSQL, which has tools of its own.
	backup func(ctx context.Context, path string, progress func(done, total int64)) error
}

// opened is what an open database of either kind does by itself.
type opened interface {
	Ping(ctx context.Context) error
	Import(ctx context.Context, r io.Reader) error
	Close() error
}

// Ping returns nil when the database can serve.
func (s *store) Ping(ctx context.Context) error { return s.opened.Ping(ctx) }

// Import adds everything that an export has, or nothing.
func (s *store) Import(ctx context.Context, r io.Reader) error { return s.opened.Import(ctx, r) }

// Close closes the database.
func (s *store) Close() error { return errors.Join(s.bulk.Close(), s.opened.Close()) }

// erasers are the stores that have personal data besides the records.
func (s *store) erasers() []privacy.Eraser { return []privacy.Eraser{s.Watches(), s.bulk} }

// audited audits the books for the dashboard.
func (s *store) audited(ctx context.Context) (dashboard.Audited, error) {
	r, err := s.Audit(ctx)
	a := dashboard.Audited{
		Accounts: r.Accounts, Keys: r.Keys, Entries: r.Entries, Credits: r.Credits, Problems: r.Problems,
	}
	for _, l := range r.Losses {
		a.Losses = append(a.Losses, dashboard.Loss(l))
	}
	return a, err
}

// open opens the store, while servers may be using it.
func (e *env) open() (*store, error) {
	if e.cli.Postgres != "" {
		return e.openPostgres(nil)
	}
	return e.openFile(sqlite.Config{Admin: true, Logger: newLog(e.log, slog.LevelWarn)})
}

// openServing opens the store to serve it. If acceptLoss is set, it accepts the loss of a file that has lost something.
func (e *env) openServing(log *slog.Logger, acceptLoss bool) (*store, error) {
	if e.cli.Postgres != "" {
		return e.openPostgres(log)
	}
	db, err := e.openFile(sqlite.Config{Logger: log, AcceptLoss: acceptLoss})
	if errors.Is(err, sqlite.ErrLost) {
		err = fmt.Errorf("%w; restore a newer backup or the -wal file, or accept the loss with serve --accept-loss", err)
	}
	return db, err
}

func (e *env) openFile(cfg sqlite.Config) (*store, error) {
	cfg.Path, cfg.Now = e.cli.DB, e.cfg.Now
	db, err := sqlite.Open(e.ctx, cfg)
	if err != nil {
		return nil, err
	}
	return e.withBulk(&store{DB: db.DB, opened: db, backup: db.Backup}, cfg.Logger, func(cfg bulk.Config) (*bulk.Service, error) {
		return bulk.OpenSQLite(e.ctx, db, cfg)
	})
}

func (e *env) openPostgres(log *slog.Logger) (*store, error) {
	db, err := postgres.Open(e.ctx, postgres.Config{DSN: e.cli.Postgres, Logger: log})
	if err != nil {
		return nil, err
	}
	return e.withBulk(&store{DB: db.DB, opened: db, warnings: db.Warnings}, log, func(cfg bulk.Config) (*bulk.Service, error) {
		return bulk.OpenPostgres(e.ctx, db, cfg)
	})
}

// withBulk opens the bulk jobs of a database, which it closes if that fails.
func (e *env) withBulk(s *store, log *slog.Logger, open func(bulk.Config) (*bulk.Service, error)) (*store, error) {
	cfg, err := e.cli.BulkStore.config(log)
	if err == nil {
		s.bulk, err = open(cfg)
	}
	if err != nil {
		return nil, errors.Join(err, s.opened.Close())
	}
	return s, nil
}

// with opens an existing store for do and closes it again.
func (e *env) with(do func(*store) error) error {
	if _, err := os.Stat(e.cli.DB); errors.Is(err, os.ErrNotExist) && e.cli.Postgres == "" {
		return fmt.Errorf("there is no database %s; account create and serve create one", e.cli.DB)
	}
	return e.withNew(do)
}

// withNew is like with, but creates the store if it does not exist.
func (e *env) withNew(do func(*store) error) error {
	db, err := e.open()
	if err != nil {
		return err
	}
	return errors.Join(do(db), db.Close())
}
