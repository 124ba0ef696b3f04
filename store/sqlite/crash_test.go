package sqlite

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/socialdata/socialdata/credits"
	"github.com/socialdata/socialdata/credits/ledgertest"
)

// crashFile is the variable that tells a child of this test which file to serve until it is killed; crashFold is the
// one for the number of entries in the journal above which it folds.
const (
	crashFile = "SOCIALDATA_CRASH_FILE"
	crashFold = "SOCIALDATA_CRASH_FOLD"
)

func TestMain(m *testing.M) {
	if path := os.Getenv(crashFile); path != "" {
		if err := serveUntilKilled(path); err != nil {
			_, _ = os.Stderr.WriteString(err.Error() + "\n")
		}
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// TestNothingIsLostWhenTheProcessIsKilled kills a process that serves a file, 5 times or SOCIALDATA_CRASH_ROUNDS times.
func TestNothingIsLostWhenTheProcessIsKilled(t *testing.T) {
	t.Parallel()
	killAndLook(t, foldLong)
}

// TestNothingIsLostWhenTheProcessIsKilledWhileItFolds does the same with a process that folds some entries in each
// transaction.
func TestNothingIsLostWhenTheProcessIsKilledWhileItFolds(t *testing.T) {
	t.Parallel()
	killAndLook(t, 20)
}

func killAndLook(t *testing.T, foldAbove int) {
	t.Helper()
	rounds := 5
	if s := os.Getenv("SOCIALDATA_CRASH_ROUNDS"); s != "" {
		n, err := strconv.Atoi(s)
		if err != nil {
			t.Fatal(err)
		}
		rounds = n
	}
	path := filepath.Join(t.TempDir(), "test.db")
	admin := openDB(t, Config{Path: path, Admin: true})
	addAccount(t, admin, ledgertest.Account, 1_000_000_000)
	ledgertest.RunCrash(t, ledgertest.Crash{
		Rounds: rounds,
		Start:  func(t *testing.T) ledgertest.Process { t.Helper(); return startServer(t, path, foldAbove) },
		Books: func(ctx context.Context) ([]credits.Entry, error) {
			t.Logf("%d entries are in the journal", inJournal(t, admin))
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

// startServer starts this test binary as a process that serves the file.
func startServer(t *testing.T, path string, foldAbove int) ledgertest.Process {
	t.Helper()
	return ledgertest.StartChild(t, crashFile+"="+path, crashFold+"="+strconv.Itoa(foldAbove))
}

// serveUntilKilled runs in the child.
func serveUntilKilled(path string) error {
	ctx := context.Background()
	db, err := Open(ctx, Config{Path: path})
	if err != nil {
		return err
	}
	n, err := strconv.Atoi(os.Getenv(crashFold))
	if err != nil {
		return err
	}
	if err := setFolding(db.writer, folding{long: n}); err != nil {
		return err
	}
	return ledgertest.ServeChild(ctx, func(ctx context.Context, requestID string) (int64, error) {
		return ledgertest.ChargeOnce(ctx, db.Ledger(), time.Minute, requestID)
	})
}
