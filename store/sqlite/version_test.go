package sqlite

import (
	"errors"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/socialdata/socialdata/credits"
	"github.com/socialdata/socialdata/internal/await"
	"github.com/socialdata/socialdata/keys"
	"github.com/socialdata/socialdata/store/sqlstore"
)

// newer returns statements with which a newer program migrates the file.
func newer(compatible bool) string {
	return fmt.Sprintf("ALTER TABLE entries ADD COLUMN later INTEGER; INSERT INTO schema_versions VALUES (%d, %t)",
		sqlstore.Version+1, compatible)
}

// TestANewerFileIsDetected lets a command of a newer program migrate the file while it is served.
func TestANewerFileIsDetected(t *testing.T) {
	t.Parallel()
	who := credits.Spender{Account: "acct"}
	for _, compatible := range []bool{true, false} {
		t.Run(fmt.Sprintf("compatible %v", compatible), func(t *testing.T) {
			t.Parallel()
			cfg := Config{Path: filepath.Join(t.TempDir(), "test.db"), checkEvery: 10 * time.Millisecond}
			db := openDB(t, cfg)
			addAccount(t, db, "acct", 10)
			if err := tamper(db, newer(compatible)); err != nil {
				t.Fatal(err)
			}
			if compatible {
				if err := db.Ping(t.Context()); err != nil {
					t.Errorf("Ping: %v", err)
				}
				spend(t, db.Ledger(), who, 1, credits.Charge{})
				if err := db.Close(); err != nil {
					t.Fatal(err)
				}
				spend(t, openDB(t, cfg).Ledger(), who, 1, credits.Charge{}) // like a server that restarts meanwhile
				return
			}
			await.Until(t, "calls to be refused", func() bool {
				_, err := db.Keys().Lookup(t.Context(), keys.Hash{})
				return errors.Is(err, sqlstore.ErrNewer)
			})
			_, err := db.Keys().Lookup(t.Context(), keys.Hash{})
			if !unavailable(err) || !errors.Is(err, sqlstore.ErrNewer) {
				t.Errorf("Lookup: %v; want sqlstore.ErrNewer, unavailable", err)
			}
			if _, err := db.Ledger().Reserve(t.Context(), who, time.Minute, 1); !errors.Is(err, sqlstore.ErrNewer) {
				t.Errorf("Reserve: %v; want ErrNewer", err)
			}
			if _, err := db.Records().Get(t.Context(), "x"); !errors.Is(err, sqlstore.ErrNewer) {
				t.Errorf("Get: %v; want ErrNewer", err)
			}
			if err := db.Ping(t.Context()); !errors.Is(err, sqlstore.ErrNewer) {
				t.Errorf("Ping: %v; want ErrNewer", err)
			}
			// Like a restored backup.
			if err := tamper(db, fmt.Sprint("DELETE FROM schema_versions WHERE version > ", sqlstore.Version)); err != nil {
				t.Fatal(err)
			}
			await.Until(t, "calls to be served again", func() bool {
				_, err := db.Keys().Lookup(t.Context(), keys.Hash{})
				return errors.Is(err, keys.ErrUnknown)
			})
			spend(t, db.Ledger(), who, 10, credits.Charge{}) // nothing was charged meanwhile
		})
	}
}

// TestAMissingColumnChecksTheVersion checks that the reason is reported immediately, and not seconds later.
func TestAMissingColumnChecksTheVersion(t *testing.T) {
	t.Parallel()
	db := openDB(t, Config{Path: filepath.Join(t.TempDir(), "test.db"), checkEvery: time.Hour})
	if err := tamper(db, newer(false)+"; ALTER TABLE keys RENAME COLUMN hash TO digest"); err != nil {
		t.Fatal(err)
	}
	if _, err := db.Keys().Lookup(t.Context(), keys.Hash{}); !errors.Is(err, sqlstore.ErrNewer) {
		t.Errorf("Lookup: %v; want ErrNewer", err)
	}
}
