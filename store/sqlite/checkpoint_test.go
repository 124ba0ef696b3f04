package sqlite

import (
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/socialdata/socialdata/credits"
	"github.com/socialdata/socialdata/records"
)

func TestANoopCheckpointCopiesNothing(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "test.db")
	db := openDB(t, Config{Path: path})
	addAccount(t, db, "acct", 10)
	c, err := sql.Open("sqlite", dsn(path, writerParams))
	if err != nil {
		t.Fatal(err)
	}
	for _, step := range []struct {
		mode string
		left bool
	}{
		{"NOOP", true}, {"NOOP", true}, {"PASSIVE", false},
	} {
		if left, err := checkpoint(c, step.mode); err != nil || (left > 0) != step.left {
			t.Errorf("%s left %d frames, %v; want some: %v", step.mode, left, err, step.left)
		}
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
}

// TestTheLogStaysShort writes many times the maximum length of the log, and checks that it is reused each time.
func TestTheLogStaysShort(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "test.db")
	db := openDB(t, Config{Path: path})
	addAccount(t, db, "acct", 1_000_000)
	beside, err := openCheckpointer(path, db.runner) // a second one, which the test calls itself
	if err != nil {
		t.Fatal(err)
	}
	big := make([]byte, 1<<20)
	who := credits.Spender{Account: "acct"}
	for range 10 {
		for range checkpointCommits {
			if _, err := db.Records().Put(t.Context(), records.Record{Key: "big", Value: big}, 1<<40); err != nil {
				t.Fatal(err)
			}
			spend(t, db.Ledger(), who, 1, credits.Charge{})
		}
		if err := beside.copy(checkpointFrames); err != nil {
			t.Fatal(err)
		}
	}
	info, err := os.Stat(path + "-wal")
	if err != nil || info.Size() > 80<<20 {
		t.Errorf("the log has %d bytes, %v, of 320 MB written", info.Size(), err)
	}
	wantAudit(t, db)
	if err := errors.Join(beside.pool.Close(), db.Close()); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path + "-wal"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the log is still there after Close: %v", err)
	}
}
