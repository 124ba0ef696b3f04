package sqlite

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/socialdata/socialdata/credits"
	"github.com/socialdata/socialdata/records"
)

// TestABackupBesideAServerHasWhatWasAcknowledged copies a file that is charged meanwhile, and restores the copy.
func TestABackupBesideAServerHasWhatWasAcknowledged(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	db := openDB(t, Config{Path: filepath.Join(dir, "test.db")})
	addAccount(t, db, "acct", 1_000_000)
	who := credits.Spender{Account: "acct"}
	if _, err := db.Records().Put(t.Context(), records.Record{Key: "big", Value: make([]byte, 4<<20)}, 1<<40); err != nil {
		t.Fatal(err)
	}
	for range 200 {
		spend(t, db.Ledger(), who, 1, credits.Charge{})
	}
	var heads bytes.Buffer
	if err := db.Heads(t.Context(), &heads); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	var charging sync.WaitGroup
	charging.Go(func() {
		for ctx.Err() == nil {
			if _, err := db.Ledger().Charge(t.Context(), who, credits.Charge{Amount: 1}); err != nil {
				t.Error(err)
				return
			}
		}
	})
	restored := filepath.Join(dir, "backup.db")
	var calls, done, total int64
	admin := openDB(t, Config{Path: db.path, Admin: true})
	err := admin.Backup(t.Context(), restored, func(d, n int64) { calls, done, total = calls+1, d, n })
	stop()
	charging.Wait()
	if err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(restored)
	if err != nil || info.Mode().Perm() != 0o600 || info.Size() != total {
		t.Errorf("the backup is %v, %v; want one of %d bytes for its owner alone", info, err, total)
	}
	if calls < 2 || done != total || total < 4<<20 {
		t.Errorf("progress was called %d times, at last with %d of %d", calls, done, total)
	}
	names, err := filepath.Glob(filepath.Join(dir, "*.part*"))
	if err != nil || len(names) > 0 {
		t.Errorf("left behind: %v, %v", names, err)
	}
	copied := openDB(t, Config{Path: restored})
	r, err := copied.AuditAgainst(t.Context(), &heads)
	if err != nil || !r.OK() || r.Entries < 201 {
		t.Errorf("the audit of the restored file: %+v, %v", r, err)
	}
	spend(t, copied.Ledger(), who, 1, credits.Charge{})
	wantAudit(t, copied)
}

func TestABackupThatFailsLeavesNothing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	db := openDB(t, Config{Path: filepath.Join(dir, "test.db")})
	addAccount(t, db, "acct", 10)
	if err := db.Backup(t.Context(), db.path, nil); !errors.Is(err, ErrThere) {
		t.Errorf("over the file itself: %v; want ErrThere", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	to := filepath.Join(dir, "backup")
	if err := db.Backup(ctx, to, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("interrupted: %v; want context.Canceled", err)
	}
	if found, err := filepath.Glob(to + "*"); err != nil || len(found) > 0 {
		t.Errorf("left behind: %v, %v", found, err)
	}
	wantAudit(t, db)
}
