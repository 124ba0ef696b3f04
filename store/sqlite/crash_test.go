package sqlite

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/socialdata/socialdata/credits"
	"github.com/socialdata/socialdata/credits/ledgertest"
	"github.com/socialdata/socialdata/internal/testsize"
)

// crashFile is the variable that tells a child of this test which file to serve until it is killed.
const crashFile = "SOCIALDATA_CRASH_FILE"

func TestMain(m *testing.M) {
	if path := os.Getenv(crashFile); path != "" {
		if err := serveUntilKilled(path); err != nil {
			_, _ = os.Stderr.WriteString(err.Error() + "\n")
		}
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// TestNothingIsLostWhenTheProcessIsKilled kills a process that serves a file, 5 times, or 100 times with SIZE=full.
func TestNothingIsLostWhenTheProcessIsKilled(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("starts processes and kills them")
	}
	path := filepath.Join(t.TempDir(), "test.db")
	admin := openDB(t, Config{Path: path, Admin: true})
	addAccount(t, admin, ledgertest.Account, 1_000_000_000)
	ledgertest.RunCrash(t, ledgertest.Crash{
		Rounds: testsize.Of(5, 100),
		Start: func(t *testing.T) ledgertest.Process {
			t.Helper()
			return ledgertest.StartChild(t, crashFile+"="+path)
		},
		Books: func(ctx context.Context) ([]credits.Entry, error) {
			r, err := admin.Audit(ctx)
			if err == nil && !r.OK() {
				err = errors.New(strings.Join(r.Problems, "\n"))
			}
			if err != nil {
				return nil, err
			}
			return admin.Ledger().Entries(ctx, credits.Query{Account: ledgertest.Account, Limit: 10_000_000})
		},
		Grant: func(ctx context.Context, n int64) error {
			_, err := admin.Ledger().Grant(ctx, ledgertest.Account, n, "while others call")
			return err
		},
	})
}

func serveUntilKilled(path string) error {
	ctx := context.Background()
	db, err := Open(ctx, Config{Path: path})
	if err != nil {
		return err
	}
	return ledgertest.ServeChild(ctx, func(ctx context.Context, requestID string) (int64, error) {
		return ledgertest.ChargeOnce(ctx, db.Ledger(), time.Minute, requestID)
	})
}
