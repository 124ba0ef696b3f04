package postgres

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/socialdata/socialdata/credits"
	"github.com/socialdata/socialdata/credits/ledgertest"
	"github.com/socialdata/socialdata/keys/keystest"
	"github.com/socialdata/socialdata/records"
	"github.com/socialdata/socialdata/records/recordstest"
)

// TestBehindPgBouncer runs the suites and the race through a PgBouncer that assigns three connections for one
// transaction each.
func TestBehindPgBouncer(t *testing.T) {
	t.Parallel()
	pooled := startPgBouncer(t)
	schema := func(t *testing.T) Config {
		t.Helper()
		cfg := newSchema(t)
		cfg.DSN = pooled
		return cfg
	}
	timed := func(t *testing.T, balance int64, now func() time.Time) credits.Ledger {
		t.Helper()
		cfg := schema(t)
		cfg.Now = now
		db := openDB(t, cfg)
		addAccount(t, db, ledgertest.Account, balance)
		return db.Ledger()
	}
	ledgertest.Run(t, func(t *testing.T, balance int64) credits.Ledger { t.Helper(); return timed(t, balance, nil) })
	ledgertest.RunTimed(t, timed)
	keystest.Run(t, func(t *testing.T) keystest.Store { t.Helper(); return openDB(t, schema(t)).Keys() })
	recordstest.Run(t, func(t *testing.T, now func() time.Time, ownerBytes int64) records.Store {
		t.Helper()
		cfg := schema(t)
		cfg.Now, cfg.OwnerBytes = now, ownerBytes
		return openDB(t, cfg).Records()
	})
	t.Run("race", func(t *testing.T) {
		t.Parallel()
		cfg := schema(t)
		replicas := []*DB{openDB(t, cfg), openDB(t, cfg)}
		addAccount(t, replicas[0], "acct", 500)
		race(t, replicas, 500, new(atomic.Int64))
	})
}

// startPgBouncer starts a PgBouncer in front of the tests' database until the test ends, and returns its DSN.
func startPgBouncer(t *testing.T) string {
	t.Helper()
	program, err := exec.LookPath("pgbouncer")
	if err != nil {
		t.Skip("pgbouncer is not installed")
	}
	to, err := pgx.ParseConfig(newSchema(t).DSN)
	if err != nil {
		t.Fatal(err)
	}
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_, port, err := net.SplitHostPort(l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	settings := filepath.Join(dir, "pgbouncer.ini")
	password := ""
	if to.Password != "" {
		password = "password='" + strings.ReplaceAll(to.Password, "'", "''") + "'"
	}
	if err := os.WriteFile(settings, fmt.Appendf(nil, `[databases]
pooled = host=%s port=%d dbname=%s user=%s %s
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = %s
unix_socket_dir =
auth_type = any
pool_mode = transaction
default_pool_size = 3
max_client_conn = 1000
`, to.Host, to.Port, to.Database, to.User, password, port), 0o644); err != nil {
		t.Fatal(err)
	}
	args := []string{settings}
	if os.Getuid() == 0 { // PgBouncer refuses to run as root
		args = []string{"-u", "nobody", settings}
		for _, d := range []string{dir, filepath.Dir(dir)} {
			if err := os.Chmod(d, 0o755); err != nil {
				t.Fatal(err)
			}
		}
	}
	ctx, stop := context.WithCancel(context.Background())
	cmd := exec.CommandContext(ctx, program, args...)
	var log bytes.Buffer
	cmd.Stderr = &log
	if err := cmd.Start(); err != nil {
		stop()
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		err = cmd.Wait() // "signal: killed", if all went well
	}()
	t.Cleanup(func() {
		stop()
		<-ended
	})
	dsn := "postgres://anybody@127.0.0.1:" + port + "/pooled?sslmode=disable"
	for {
		c, err := pgx.Connect(t.Context(), dsn)
		if err == nil {
			_ = c.Close(t.Context())
			return dsn
		}
		select {
		case <-ended:
			t.Fatalf("pgbouncer: %v\n%s", err, log.String())
		case <-time.After(10 * time.Millisecond):
		}
	}
}
