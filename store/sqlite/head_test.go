package sqlite

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/socialdata/socialdata/credits"
	"github.com/socialdata/socialdata/keys"
)

// crashed returns the path of a copy of a file as a crash of the machine leaves it: after 50 charges, most of them in
// the write-ahead log, and the revocation of a key.
func crashed(t *testing.T) string {
	t.Helper()
	from, to := t.TempDir(), filepath.Join(t.TempDir(), "test.db")
	db := openDB(t, Config{Path: filepath.Join(from, "test.db")})
	addAccount(t, db, "acct", 1_000)
	for range 50 {
		spend(t, db.Ledger(), credits.Spender{Account: "acct"}, 2, credits.Charge{})
	}
	_, k, err := db.Keys().CreateKey(t.Context(), keys.NewKey{Account: "acct", Environment: keys.Live})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.Keys().Revoke(t.Context(), k.ID); err != nil {
		t.Fatal(err)
	}
	for seen := (head{}); seen.Entries < 51 || seen.Revoked != k.ID; { // at most a second late
		if seen, _, err = db.head.read(); err != nil {
			t.Fatal(err)
		}
		if t.Context().Err() != nil {
			t.Fatal("the head was never written")
		}
	}
	for _, name := range []string{"", "-wal", "-head"} {
		b, err := os.ReadFile(db.path + name)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(to+name, b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return to
}

func TestAFileThatLostEntriesIsNotServed(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		damage func(path string) error
		lost   bool
	}{
		{"nothing", func(string) error { return nil }, false},
		{"the log is cut", func(path string) error {
			info, err := os.Stat(path + "-wal")
			if err != nil {
				return err
			}
			return os.Truncate(path+"-wal", info.Size()/2)
		}, true},
		{"one byte of the log is flipped", func(path string) error {
			b, err := os.ReadFile(path + "-wal")
			if err != nil {
				return err
			}
			b[len(b)/2] ^= 1
			return os.WriteFile(path+"-wal", b, 0o600)
		}, true},
		{"the log is removed", func(path string) error { return os.Remove(path + "-wal") }, true},
		{"the database is removed", func(path string) error {
			return errors.Join(os.Remove(path), os.Remove(path+"-wal"))
		}, true},
		{"a part of the head is written twice", func(path string) error {
			b, err := os.ReadFile(path + "-head")
			if err != nil {
				return err
			}
			return os.WriteFile(path+"-head", append(b, b[:len(b)-20]...), 0o600)
		}, false},
		{"the head is removed", func(path string) error { return os.Remove(path + "-head") }, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			path := crashed(t)
			if err := tt.damage(path); err != nil {
				t.Fatal(err)
			}
			if !tt.lost {
				if r := wantAudit(t, openDB(t, Config{Path: path})); r.Entries != 51 || r.Losses != nil {
					t.Errorf("the audit is %+v; want 51 entries and no loss", r)
				}
				return
			}
			for range 2 { // the first attempt changes nothing
				db, err := Open(t.Context(), Config{Path: path})
				if err == nil {
					t.Fatal(errors.Join(errors.New("it is served"), db.Close()))
				}
				if !errors.Is(err, ErrLost) || !strings.Contains(err.Error(), "had 51 entries of 900 credits") {
					t.Errorf("Open = %v; want ErrLost, with the earlier state", err)
				}
			}
			admin := openDB(t, Config{Path: path, Admin: true})
			r, err := admin.Audit(t.Context())
			if err != nil || r.OK() {
				t.Errorf("an audit says %+v, %v; want the loss", r, err)
			}
			if _, err := admin.Ledger().Grant(t.Context(), "acct", 1, "more"); !errors.Is(err, ErrLost) {
				t.Errorf("Grant = %v; want ErrLost", err)
			}
			if err := admin.Close(); err != nil {
				t.Fatal(err)
			}
			wantAccepted(t, path)
		})
	}
}

// wantAccepted serves a file that has lost something, twice, and checks that the audit reports the loss once.
func wantAccepted(t *testing.T, path string) {
	t.Helper()
	db, err := Open(t.Context(), Config{Path: path, AcceptLoss: true})
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	r := wantAudit(t, openDB(t, Config{Path: path}))
	if len(r.Losses) != 1 || r.Losses[0].HadEntries != 51 || r.Losses[0].Entries != r.Entries ||
		r.Losses[0].Accepted.IsZero() {
		t.Errorf("the audit has %+v after %d entries; want one loss of 51", r.Losses, r.Entries)
	}
}

// TestARevocationIsNotLost cuts the log page by page until something that was acknowledged is missing: the revocation,
// which was last.
func TestARevocationIsNotLost(t *testing.T) {
	t.Parallel()
	path := crashed(t)
	log, err := os.ReadFile(path + "-wal")
	if err != nil {
		t.Fatal(err)
	}
	const frame = 4096 + 24
	var found *LostError
	for found == nil && len(log) > frame {
		log = log[:len(log)-frame]
		cut := filepath.Join(t.TempDir(), "test.db")
		for name, from := range map[string]string{"": path, "-head": path + "-head"} {
			b, err := os.ReadFile(from)
			if err == nil {
				err = os.WriteFile(cut+name, b, 0o600)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		if err := os.WriteFile(cut+"-wal", log, 0o600); err != nil {
			t.Fatal(err)
		}
		db, err := Open(t.Context(), Config{Path: cut})
		if err == nil { // nothing that counts was cut off
			err = db.Close()
		}
		if err != nil && !errors.As(err, &found) {
			t.Fatal(err)
		}
	}
	if found == nil || !found.Revoked || found.Entries != 51 {
		t.Errorf("Open = %v; want an error that names the key, and all entries", found)
	}
}

func TestTheHeadFileStaysShort(t *testing.T) {
	t.Parallel()
	db := openDB(t, Config{Path: filepath.Join(t.TempDir(), "test.db")})
	addAccount(t, db, "acct", 10)
	many := bytes.Repeat(head{Entries: 1, Revoked: "key_none"}.line(), 1000)
	if err := os.WriteFile(db.head.path, many, 0o600); err != nil {
		t.Fatal(err)
	}
	for spend(t, db.Ledger(), credits.Spender{Account: "acct"}, 1, credits.Charge{}); db.head.long(); {
		if t.Context().Err() != nil {
			t.Fatal("the file was never rewritten")
		}
	}
	if newest, _, err := db.head.read(); err != nil || newest.Entries != 2 {
		t.Errorf("the newest head is %+v, %v; want one of 2 entries", newest, err)
	}
}
