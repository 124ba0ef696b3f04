package postgres

import (
	"context"
	"errors"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/socialdata/socialdata/credits"
	"github.com/socialdata/socialdata/credits/ledgertest"
	"github.com/socialdata/socialdata/internal/await"
)

// crashSchema is the variable that tells a child of this test which schema to serve until it is killed.
const crashSchema = "SOCIALDATA_CRASH_SCHEMA"

func TestMain(m *testing.M) {
	if schema := os.Getenv(crashSchema); schema != "" {
		if err := serveUntilKilled(Config{DSN: os.Getenv(dsnVariable), Schema: schema}); err != nil {
			_, _ = os.Stderr.WriteString(err.Error() + "\n")
		}
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// TestNothingIsLostWhenAReplicaIsKilled kills one of two replicas repeatedly; the other one grants.
func TestNothingIsLostWhenAReplicaIsKilled(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("starts processes and kills them")
	}
	cfg := newSchema(t)
	other := openDB(t, cfg)
	addAccount(t, other, ledgertest.Account, 1_000_000_000)
	ledgertest.RunCrash(t, ledgertest.Crash{
		Rounds: 5,
		Start:  func(t *testing.T) ledgertest.Process { t.Helper(); return startReplica(t, cfg) },
		Books: func(ctx context.Context) ([]credits.Entry, error) {
			if err := auditOf(ctx, other); err != nil {
				return nil, err
			}
			return other.Ledger().Entries(ctx, credits.Query{Account: ledgertest.Account, Limit: 10_000_000})
		},
		Grant: func(ctx context.Context, n int64) error {
			_, err := other.Ledger().Grant(ctx, ledgertest.Account, n, "while others call")
			return err
		},
	})
	// What the killed replicas held expires.
	entries, err := other.Ledger().Entries(t.Context(), credits.Query{Account: ledgertest.Account, Limit: 1})
	if err != nil {
		t.Fatal(err)
	}
	awaitBalance(t, other, entries[0].Balance)
}

// TestAKilledReplicaChargesNothing kills a replica that holds credits: they stay held until the hold expires, and
// nothing is charged.
func TestAKilledReplicaChargesNothing(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("starts processes and kills them")
	}
	cfg := newSchema(t)
	db := openDB(t, cfg)
	addAccount(t, db, ledgertest.Account, 100)
	p := startReplica(t, cfg)
	if _, err := p.Call(t.Context(), 0, holdOnly); err != nil {
		t.Fatal(err)
	}
	if err := p.Kill(); err != nil {
		t.Fatal(err)
	}
	l := db.Ledger()
	who := credits.Spender{Account: ledgertest.Account}
	if _, err := l.Reserve(t.Context(), who, time.Hour, 100); !errors.Is(err, credits.ErrInsufficient) {
		t.Errorf("Reserve of what the killed one holds = %v; want ErrInsufficient", err)
	}
	awaitBalance(t, db, 100)
	if _, err := l.Reserve(t.Context(), who, time.Hour, 100); err != nil {
		t.Errorf("Reserve of all, after the time of the hold: %v", err)
	}
	entries, err := l.Entries(t.Context(), credits.Query{Account: ledgertest.Account})
	if err != nil || len(entries) != 1 {
		t.Errorf("%d entries, %v; want the grant alone", len(entries), err)
	}
	wantAudit(t, db)
}

func awaitBalance(t *testing.T, db *DB, want int64) {
	t.Helper()
	await.Until(t, fmt.Sprint("a balance of ", want), func() bool {
		got, err := db.Ledger().Balance(t.Context(), ledgertest.Account)
		if err != nil {
			t.Fatal(err)
		}
		return got == want
	})
}

// startReplica starts this test binary as a replica on the schema.
func startReplica(t *testing.T, cfg Config) ledgertest.Process {
	t.Helper()
	return ledgertest.StartChild(t, crashSchema+"="+cfg.Schema)
}

// holdOnly is the request to hold the whole balance for five seconds and charge nothing.
const holdOnly = "hold only"

// serveUntilKilled runs in the child. Its holds expire soon, so that the test can wait for that.
func serveUntilKilled(cfg Config) error {
	ctx := context.Background()
	db, err := Open(ctx, cfg)
	if err != nil {
		return err
	}
	l := db.Ledger()
	return ledgertest.ServeChild(ctx, func(ctx context.Context, requestID string) (int64, error) {
		if requestID == holdOnly {
			_, err := l.Reserve(ctx, credits.Spender{Account: ledgertest.Account}, 5*time.Second, 99, 1)
			return 0, err
		}
		return ledgertest.ChargeOnce(ctx, l, 2*time.Second, requestID)
	})
}
