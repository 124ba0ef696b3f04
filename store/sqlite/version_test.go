package sqlite

import (
	"errors"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/socialdata/socialdata/credits"
	"github.com/socialdata/socialdata/keys"
)

func TestWhichFilesAreServed(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name       string
		version    int64
		compatible bool
		want       error
	}{
		{"its own", currentVersion, true, nil},
		{"its own, which earlier programs cannot serve", currentVersion, false, nil},
		{"the next one, compatible", currentVersion + 1, true, nil},
		{"the next one, not compatible", currentVersion + 1, false, ErrNewer},
		{"the one after that, however compatible", currentVersion + 2, true, ErrNewer},
		{"the previous one", currentVersion - 1, true, ErrOlder},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if err := serves(tt.version, tt.compatible); !errors.Is(err, tt.want) {
				t.Errorf("version %d: %v; want %v", tt.version, err, tt.want)
			}
		})
	}
}

// newer returns statements with which a newer program migrates the file.
func newer(compatible bool) string {
	script := fmt.Sprintf("ALTER TABLE entries ADD COLUMN later INTEGER; PRAGMA user_version = %d", currentVersion+1)
	if compatible {
		script += "; " + fmt.Sprintf(insertCompatible, currentVersion+1)
	}
	return script
}

// TestAFileThatANewerProgramChangesIsWatched lets a command of a newer program migrate the file while it is served.
func TestAFileThatANewerProgramChangesIsWatched(t *testing.T) {
	t.Parallel()
	who := credits.Spender{Account: "acct"}
	for _, compatible := range []bool{true, false} {
		t.Run(fmt.Sprintf("compatible %v", compatible), func(t *testing.T) {
			t.Parallel()
			cfg := Config{Path: filepath.Join(t.TempDir(), "test.db"), FlushEvery: 10 * time.Millisecond}
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
			// Entries are refused immediately, and reads soon after.
			if _, err := db.Ledger().Charge(t.Context(), who, credits.Charge{Amount: 1}); !errors.Is(err, ErrNewer) {
				t.Errorf("Charge: %v; want ErrNewer", err)
			}
			for db.fit() == nil {
				time.Sleep(time.Millisecond)
			}
			_, err := db.Keys().Lookup(t.Context(), keys.Hash{})
			if says, ok := errors.AsType[interface {
				error
				Unavailable() bool
			}](err); !ok || !says.Unavailable() || !errors.Is(err, ErrNewer) {
				t.Errorf("Lookup: %v; want ErrNewer, unavailable", err)
			}
			if _, err := db.Ledger().Reserve(t.Context(), who, time.Minute, 1); !errors.Is(err, ErrNewer) {
				t.Errorf("Reserve: %v; want ErrNewer", err)
			}
			if _, err := db.Records().Get(t.Context(), "x"); !errors.Is(err, ErrNewer) {
				t.Errorf("Get: %v; want ErrNewer", err)
			}
			if err := db.Ping(t.Context()); !errors.Is(err, ErrNewer) {
				t.Errorf("Ping: %v; want ErrNewer", err)
			}
			// Like a restored backup.
			if err := tamper(db, fmt.Sprintf("PRAGMA user_version = %d", currentVersion)); err != nil {
				t.Fatal(err)
			}
			for db.fit() != nil {
				time.Sleep(time.Millisecond)
			}
			spend(t, db.Ledger(), who, 10, credits.Charge{}) // nothing was charged meanwhile
		})
	}
}

// TestAMissingColumnChecksTheVersion checks that the reason is reported immediately, and not seconds later.
func TestAMissingColumnChecksTheVersion(t *testing.T) {
	t.Parallel()
	db := openDB(t, Config{Path: filepath.Join(t.TempDir(), "test.db"), FlushEvery: time.Hour})
	if err := tamper(db, newer(false)+"; ALTER TABLE keys RENAME COLUMN hash TO digest"); err != nil {
		t.Fatal(err)
	}
	if _, err := db.Keys().Lookup(t.Context(), keys.Hash{}); !errors.Is(err, ErrNewer) {
		t.Errorf("Lookup: %v; want ErrNewer", err)
	}
}
