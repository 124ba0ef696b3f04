package cli

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/socialdata/socialdata"
	"github.com/socialdata/socialdata/contrib/bulk"
	"github.com/socialdata/socialdata/contrib/mcp"
	"github.com/socialdata/socialdata/credits"
	"github.com/socialdata/socialdata/keys"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/mock"
	"github.com/socialdata/socialdata/records"
	"github.com/socialdata/socialdata/server"
	"github.com/socialdata/socialdata/store/sqlite"
)

// sandboxKey is the key of every sandbox. No other store accepts it.
const sandboxKey = "sk_test_sandboxsandboxsandboxsandboxsand2GluQk"

const sandboxCredits = 1_000_000_000

// serveSandbox serves only the sandbox until the context ends. It stores nothing, and every magic word works.
func (c *serveCmd) serveSandbox(e *env, log *slog.Logger) (err error) {
	if e.cli.Postgres != "" || c.Shared.Valkey != "" || e.cli.ReplayURL+c.Record+c.Replay != "" {
		return errors.New("--sandbox keeps everything in memory and uses no upstream: leave out --postgres, --valkey, " +
			"--replay-url, --record and --replay")
	}
	accounts, ledger, err := sandboxBooks(e.ctx, e.cfg.Now)
	if err != nil {
		return err
	}
	store := records.NewMemory(records.MemoryConfig{Now: e.cfg.Now})
	pages := append(e.sandbox(), e.cfg.settings()...) // of all providers
	e.cfg.Providers = func(Environment) ([]providers.Chain, error) {
		return []providers.Chain{mock.New(mock.Config{Faults: true})}, nil
	}
	jobs, end, err := sandboxBulk(e.ctx, log)
	if err != nil {
		log.Warn("the sandbox has no bulk jobs", "error", err)
	}
	defer func() { err = errors.Join(err, end()) }()
	client, err := e.client(append(append(c.webhooks(), jobs...),
		socialdata.WithLedger(ledger), socialdata.WithKeys(accounts), socialdata.WithRecords(store),
		socialdata.WithLogger(log), socialdata.WithEnvironment("sandbox"), socialdata.WithTimeout(c.Timeout),
		socialdata.WithRate(keys.Rate{Capacity: c.RateCapacity, Refill: c.RateRefill}),
	)...)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closed(e.ctx, client)) }()
	opts := append(slices.Concat(c.Addresses.options(), c.Addresses.managing(), c.Addresses.status()), server.WithLogger(log),
		server.WithSandbox(sandboxKey),
		server.WithSections(pages...), server.WithLimits(server.Limits{
			InFlight: c.InFlight, Connections: c.Connections, Sandbox: c.InFlight, PerAccount: c.InFlight,
		}))
	if c.Addresses.MCP == "on" {
		opts = append(opts, server.WithMount(mcpPath,
			mcp.New(client, mcp.Config{Records: store, Logger: log, Now: e.cfg.Now}).Handler()))
	}
	at, err := c.Addresses.listen(e.ctx, c.Addresses.Addr, log)
	if err != nil {
		return err
	}
	srv, err := server.New(client, append(opts, at.options()...)...)
	if err != nil {
		return errors.Join(err, at.Close())
	}
	if err := e.printf(`The key of this sandbox is always the same:

    %s

Try it:

    curl -H "Authorization: Bearer %s" "%s/v1/mock/profile?handle=ann"

socialdata serves the sandbox alone on %s (%sdocumentation: %s/docs); nothing is kept
`, sandboxKey, sandboxKey, at.here(), at.url(), at.everywhere(), at.here()); err != nil {
		return errors.Join(err, at.Close())
	}
	return serve(e.ctx, front{srv, at})
}

// sandboxBulk returns the option for bulk jobs in a file that end removes.
func sandboxBulk(ctx context.Context, log *slog.Logger) (opts []socialdata.Option, end func() error, err error) {
	end = func() error { return nil }
	dir, err := os.MkdirTemp("", "socialdata-sandbox-")
	if err != nil {
		return nil, end, err
	}
	end = func() error { return os.RemoveAll(dir) }
	db, err := sqlite.Open(ctx, sqlite.Config{Path: filepath.Join(dir, "bulk.db"), Logger: log})
	if err != nil {
		return nil, end, err
	}
	end = func() error { return errors.Join(db.Close(), os.RemoveAll(dir)) }
	jobs, err := bulk.OpenSQLite(ctx, db, bulk.Config{Logger: log})
	if err != nil {
		return nil, end, err
	}
	end = func() error { return errors.Join(jobs.Close(), db.Close(), os.RemoveAll(dir)) }
	return []socialdata.Option{socialdata.WithBulk(jobs)}, end, nil
}

// sandboxBooks returns stores with the one account of a sandbox, with its key and its credits.
func sandboxBooks(ctx context.Context, now func() time.Time) (*keys.Memory, *credits.Memory, error) {
	if now == nil {
		now = time.Now
	}
	hash, err := keys.Parse(sandboxKey)
	if err != nil {
		return nil, nil, err
	}
	account := keys.Account{ID: "acct_sandbox", Name: "sandbox", CreatedAt: now()}
	key := keys.Key{
		ID: "key_sandbox", Account: account.ID, Name: "sandbox key", Prefix: sandboxKey[:keys.PrefixLen], Hash: hash,
		Environment: keys.Test, CreatedAt: now(), Manage: true,
	}
	ledger := credits.NewMemory(credits.MemoryConfig{Now: now})
	ledger.Open(account.ID)
	if _, err := ledger.Grant(ctx, account.ID, sandboxCredits, "for the sandbox"); err != nil {
		return nil, nil, err
	}
	store := keys.NewMemory(keys.MemoryConfig{Now: now})
	return store, ledger, store.Restore([]keys.Account{account}, []keys.Key{key}, func() error { return nil })
}
