package postgres

import (
	"context"
	"net"
	"net/url"
	"strings"
	"testing"

	"github.com/socialdata/socialdata/internal/faultnet"
)

// withParam returns cfg with one more parameter in its DSN, which must be a URL.
func withParam(cfg Config, param string) Config {
	separator := "?"
	if strings.Contains(cfg.DSN, "?") {
		separator = "&"
	}
	cfg.DSN += separator + param
	return cfg
}

// throughProxy returns cfg with a proxy in front of the database until the test ends.
func throughProxy(tb testing.TB, cfg Config) (Config, *faultnet.Proxy) {
	tb.Helper()
	u, err := url.Parse(cfg.DSN)
	if err != nil || u.Host == "" {
		tb.Skip("the DSN is not a URL")
	}
	if u.Port() == "" {
		u.Host = net.JoinHostPort(u.Hostname(), "5432")
	}
	p, err := faultnet.Listen(u.Host)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = p.Close() })
	u.Host = p.Addr()
	cfg.DSN = u.String()
	return cfg, p
}

// script runs statements. @ stands for what the names of tables begin with.
func script(tb testing.TB, db *DB, statements string) {
	tb.Helper()
	if err := run(tb.Context(), db, statements); err != nil {
		tb.Fatal(err)
	}
}

func run(ctx context.Context, db *DB, statements string) error {
	c, err := db.runner.pool.Acquire(ctx)
	if err != nil {
		return err
	}
	defer c.Release()
	_, err = c.Conn().PgConn().Exec(ctx, db.sql(statements)).ReadAll()
	return err
}

func wantBalance(t *testing.T, db *DB, want int64) {
	t.Helper()
	if got, err := db.Ledger().Balance(t.Context(), "acct"); err != nil || got != want {
		t.Errorf("Balance = %d, %v; want %d", got, err, want)
	}
}

// number runs a query and returns its result. @ stands for what the names of tables begin with.
func number(t *testing.T, db *DB, query string) (n int64) {
	t.Helper()
	if err := db.runner.pool.QueryRow(t.Context(), db.sql(query)).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}
