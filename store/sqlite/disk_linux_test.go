package sqlite

import (
	"errors"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/socialdata/socialdata/credits"
	"github.com/socialdata/socialdata/store/sqlstore"
)

// mount mounts a file system in memory on a new directory, or skips t when that is not permitted.
func mount(t *testing.T, options string) string {
	t.Helper()
	dir := t.TempDir()
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, options); err != nil {
		t.Skipf("cannot mount a file system to fill: %v", err)
	}
	t.Cleanup(func() {
		if err := unix.Unmount(dir, unix.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	return dir
}

// TestARealDisk fills a disk during charges, frees some space, and then makes the disk read-only.
func TestARealDisk(t *testing.T) {
	t.Parallel()
	dir := mount(t, "size=1m")
	path := filepath.Join(dir, "test.db")
	db, err := Open(t.Context(), Config{Path: path})
	if err != nil {
		t.Fatal(err)
	}
	addAccount(t, db, "acct", 1_000_000)
	who := credits.Spender{Account: "acct", Key: "key"}
	charged, held := int64(0), int64(0)
	charge := func() error {
		holds, err := db.Ledger().Reserve(t.Context(), who, time.Hour, 1)
		if err != nil {
			return err
		}
		_, err = db.Ledger().Settle(t.Context(), holds[0], credits.Charge{Amount: 1, Platform: "github"})
		if err != nil { // its hold stays until it expires
			held++
		}
		return err
	}
	wantCharged := func() {
		t.Helper()
		if got := wantAudit(t, db).Credits; got != 1_000_000-charged {
			t.Errorf("the entries add up to %d; want %d", got, 1_000_000-charged)
		}
		if got, err := db.Ledger().Balance(t.Context(), "acct"); got != 1_000_000-charged-held || err != nil {
			t.Errorf("Balance = %d, %v; want %d", got, err, 1_000_000-charged-held)
		}
	}
	for ; err == nil; err = charge() {
		charged++
	}
	charged-- // nothing was charged in the first round
	if !errors.Is(err, sqlstore.ErrFull) {
		t.Errorf("Settle on a full disk = %v; want ErrFull", err)
	}
	wantCharged()
	if err := unix.Mount("tmpfs", dir, "tmpfs", unix.MS_REMOUNT, "size=8m"); err != nil {
		t.Fatal(err)
	}
	if err := charge(); err != nil {
		t.Errorf("Settle with free space again = %v", err)
	}
	charged++
	wantCharged()
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if err := unix.Mount("tmpfs", dir, "tmpfs", unix.MS_REMOUNT|unix.MS_RDONLY, "size=8m"); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(t.Context(), Config{Path: path}); !errors.Is(err, sqlstore.ErrReadOnly) {
		t.Errorf("Open on a read-only disk = %v; want ErrReadOnly", err)
	}
	if err := unix.Mount("tmpfs", dir, "tmpfs", unix.MS_REMOUNT, "size=8m"); err != nil {
		t.Fatal(err)
	}
	db = openDB(t, Config{Path: path})
	held = 0 // the holds of the process before are gone
	wantCharged()
}
