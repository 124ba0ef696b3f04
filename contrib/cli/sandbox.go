package cli

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/socialdata/socialdata"
	"github.com/socialdata/socialdata/contrib/mcp"
	"github.com/socialdata/socialdata/credits"
	"github.com/socialdata/socialdata/keys"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/mock"
	"github.com/socialdata/socialdata/server"
	"github.com/socialdata/socialdata/store/records"
)

// sandboxKey is the key of every sandbox. No other store accepts it.
const sandboxKey = "sk_test_sandboxsandboxsandboxsandboxsand2GluQk"

const sandboxCredits = 1_000_000_000

// serveSandbox serves only the sandbox until the context ends. It stores nothing, and every magic word works.
func (c *serveCmd) serveSandbox(e *env, log *slog.Logger) (err error) {
	if len(e.cli.Postgres) > 0 || c.Shared.Valkey != "" || e.cli.ReplayURL != "" {
		return errors.New("--sandbox keeps everything in memory and uses no upstream: leave out --postgres, --valkey and " +
			"--replay-url")
	}
	accounts, ledger, err := sandboxBooks(e.ctx, e.cfg.Now)
	if err != nil {
		return err
	}
	store := records.NewMemory(records.MemoryConfig{Now: e.cfg.Now})
	e.cfg.Providers = func(Environment) ([]providers.Chain, error) {
		return []providers.Chain{mock.New(mock.Config{Faults: true})}, nil
	}
	client, err := e.client(append(c.webhooks(),
		socialdata.WithLedger(ledger), socialdata.WithKeys(accounts), socialdata.WithRecords(store),
		socialdata.WithLogger(log), socialdata.WithEnvironment("sandbox"), socialdata.WithTimeout(c.Timeout),
		socialdata.WithRate(keys.Rate{Capacity: c.RateCapacity, Refill: c.RateRefill}),
	)...)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closed(e.ctx, client)) }()
	opts := append(append(c.Reach.options(), c.Reach.managing()...), server.WithLogger(log),
		server.WithSections(e.sandbox()...), server.WithLimits(server.Limits{
			InFlight: c.InFlight, Connections: c.Connections, Sandbox: c.InFlight, PerAccount: c.InFlight,
		}))
	if c.Reach.MCP == "on" {
		opts = append(opts, server.WithMount(mcpPath,
			mcp.New(client, mcp.Config{Records: store, Logger: log, Now: e.cfg.Now}).Handler()))
	}
	at, err := c.Reach.listen(e.ctx, c.Reach.Addr, log)
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
