package sqlite

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/socialdata/socialdata/keys"
	"github.com/socialdata/socialdata/keys/keystest"
	"github.com/socialdata/socialdata/store/records"
	"github.com/socialdata/socialdata/store/records/recordstest"
)

func openKeys(t *testing.T) keystest.Store {
	t.Helper()
	return openDB(t, Config{Path: filepath.Join(t.TempDir(), "test.db")}).Keys()
}

func openRecords(t *testing.T, now func() time.Time, ownerBytes int64) records.Store {
	t.Helper()
	return openDB(t, Config{Path: filepath.Join(t.TempDir(), "test.db"), Now: now, OwnerBytes: ownerBytes}).Records()
}

func TestKeys(t *testing.T) {
	t.Parallel()
	keystest.Run(t, openKeys)
	keystest.RunOpening(t, func(t *testing.T) (keys.Admin, keystest.Ledger) {
		t.Helper()
		db := openDB(t, Config{Path: filepath.Join(t.TempDir(), "test.db")})
		return db.Keys(), db.Ledger()
	})
}

// TestAccountsThatAnotherProcessOpens opens accounts with Config.Admin while another process serves the file.
func TestAccountsThatAnotherProcessOpens(t *testing.T) {
	t.Parallel()
	keystest.RunOpening(t, func(t *testing.T) (keys.Admin, keystest.Ledger) {
		t.Helper()
		path := filepath.Join(t.TempDir(), "test.db")
		server := openDB(t, Config{Path: path, FlushEvery: time.Hour})
		return openDB(t, Config{Path: path, Admin: true, FlushEvery: time.Hour}).Keys(), server.Ledger()
	})
}

func TestRecords(t *testing.T) {
	t.Parallel()
	recordstest.Run(t, openRecords)
	recordstest.RunJumps(t, openRecords)
}

func TestATimeOfUseThatCouldNotBeWrittenIsKept(t *testing.T) {
	t.Parallel()
	db := openDB(t, Config{Path: filepath.Join(t.TempDir(), "test.db"), FlushEvery: time.Hour})
	addAccount(t, db, "acct", 0)
	at := time.Unix(1_000_000_000, 0).UTC()
	var ids []string
	for range flushedAtOnce + 1 {
		_, k, err := db.Keys().CreateKey(t.Context(), keys.NewKey{Account: "acct", Environment: keys.Live})
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, k.ID)
		db.Keys().Touch(k.ID, at)
	}
	change := func(query string) {
		t.Helper()
		err := db.writer.alone(func(c *conn) error {
			_, err := c.exec(query)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	change("CREATE TRIGGER full BEFORE UPDATE ON keys BEGIN SELECT raise(ABORT, 'the disk is full'); END")
	if err := db.Keys().flush(); err == nil {
		t.Fatal("what was to fail has not")
	}
	db.Keys().Touch(ids[0], at.Add(time.Second)) // used again meanwhile
	change("DROP TRIGGER full")
	for i, id := range ids {
		want := at
		if i == 0 {
			want = at.Add(time.Second)
		}
		k, err := db.Keys().Key(t.Context(), id)
		if err != nil || k.LastUsedAt == nil || !k.LastUsedAt.Equal(want) {
			t.Fatalf("key %d was last used at %v, %v; want %v", i, k.LastUsedAt, err, want)
		}
	}
}
