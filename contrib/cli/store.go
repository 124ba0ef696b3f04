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
	"github.com/socialdata/socialdata/server/dashboard"
	"github.com/socialdata/socialdata/store/bookkeeping"
	"github.com/socialdata/socialdata/store/records"
	"github.com/socialdata/socialdata/store/sqlite"
	"github.com/socialdata/socialdata/watch"
)

// store is the store of a server: one SQLite file, or PostgreSQL for any number of servers.
type store struct {
	ledger   ledger
	keys     keyStore
	records  records.Store
	requests requests.Store
	watches  watch.Store
	bookkeeper
	close func() error

	blocklist privacy.Blocklist
	erasers   []privacy.Eraser // what has personal data besides the records

	// warnings returns which settings of the database can cause the loss of committed data; nil for a file, which has
	// none.
	warnings func(ctx context.Context) ([]string, error)
	// backup copies the file; nil for PostgreSQL, which has tools of its own.
	backup func(ctx context.Context, path string, progress func(done, total int64)) error
}

// ledger is the ledger with its administration.
type ledger interface {
	credits.Ledger
	credits.Granter
}

// keyStore is accounts and keys with their administration.
type keyStore interface {
	keys.Store
	keys.Admin
}

// bookkeeper audits and exports the ledger.
type bookkeeper interface {
	Ping(ctx context.Context) error
	Sizes(ctx context.Context) ([]bookkeeping.Size, error)
	bookkeeping.Bookkeeper
}

// Ledger returns the ledger.
func (s *store) Ledger() ledger { return s.ledger }

// Keys returns the accounts and keys.
func (s *store) Keys() keyStore { return s.keys }

// Records returns the stored jobs and answers.
func (s *store) Records() records.Store { return s.records }

// Requests returns the request log and the usage.
func (s *store) Requests() requests.Store { return s.requests }

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

// Watches returns the monitors and their changes.
func (s *store) Watches() watch.Store { return s.watches }

// Close closes the store.
func (s *store) Close() error { return s.close() }

// open opens the store, while servers may be using it.
func (e *env) open() (*store, error) {
	if len(e.cli.Postgres) > 0 {
		return e.openPostgres(nil)
	}
	return e.openFile(sqlite.Config{Admin: true, Logger: newLog(e.log, slog.LevelWarn)})
}

// openServing opens the store to serve it. If acceptLoss is set, it accepts the loss of a file that has lost something.
func (e *env) openServing(log *slog.Logger, acceptLoss bool) (*store, error) {
	if len(e.cli.Postgres) > 0 {
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
	return &store{
		ledger: db.Ledger(), keys: db.Keys(), records: db.Records(), watches: db.Watches(), requests: db.Requests(),
		bookkeeper: db, close: db.Close, backup: db.Backup,
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
			ledger: db.Ledger(), keys: db.Keys(), records: db.Records(), watches: db.Watches(), requests: db.Requests(),
			bookkeeper: db, close: db.Close, warnings: db.Warnings,
			blocklist: db.Blocklist(), erasers: []privacy.Eraser{db.Watches()},
		}, nil
	}
	db, err := postgres.Open(e.ctx, cfgs[0])
	if err != nil {
		return nil, err
	}
	return &store{
		ledger: db.Ledger(), keys: db.Keys(), records: db.Records(), watches: db.Watches(), requests: db.Requests(),
		bookkeeper: db, close: db.Close, warnings: db.Warnings,
		blocklist: db.Blocklist(), erasers: []privacy.Eraser{db.Watches()},
	}, nil
}

// with opens an existing store for do and closes it again.
func (e *env) with(do func(*store) error) error {
	if _, err := os.Stat(e.cli.DB); errors.Is(err, os.ErrNotExist) && len(e.cli.Postgres) == 0 {
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
