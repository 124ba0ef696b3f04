package sqlite

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/socialdata/socialdata/credits"
	"github.com/socialdata/socialdata/keys"
)

// wantAudit fails tb unless an audit finds nothing.
func wantAudit(tb testing.TB, db *DB) Report {
	tb.Helper()
	r, err := db.Audit(tb.Context())
	if err != nil {
		tb.Fatal(err)
	}
	if !r.OK() {
		tb.Errorf("audit: %s", strings.Join(r.Problems, "\n"))
	}
	return r
}

// spend charges n credits.
func spend(tb testing.TB, l *Ledger, who credits.Spender, n int64, c credits.Charge) {
	tb.Helper()
	holds, err := l.Reserve(tb.Context(), who, time.Hour, n)
	if err != nil {
		tb.Fatal(err)
	}
	c.Amount = n
	if _, err := l.Settle(tb.Context(), holds[0], c); err != nil {
		tb.Fatal(err)
	}
}

// openFilled opens a file with two accounts, keys of every kind and some entries.
func openFilled(tb testing.TB) *DB {
	tb.Helper()
	db := openDB(tb, Config{Path: filepath.Join(tb.TempDir(), "test.db")})
	for i, name := range []string{"first", "second"} {
		a, err := db.Keys().CreateAccount(tb.Context(), name)
		if err != nil {
			tb.Fatal(err)
		}
		if _, err := db.Ledger().Grant(tb.Context(), a.ID, 100, "to <start> with"); err != nil {
			tb.Fatal(err)
		}
		plain := keys.NewKey{Account: a.ID, Environment: keys.Live}
		capped := plain
		capped.DayCap, capped.Rate = new(int64(50)), &keys.Rate{Capacity: 2, Refill: 0.1}
		for j, n := range []keys.NewKey{plain, capped} {
			_, k, err := db.Keys().CreateKey(tb.Context(), n)
			if err != nil {
				tb.Fatal(err)
			}
			who := credits.Spender{Account: a.ID, Key: k.ID, DayCap: k.DayCap}
			for n := range 3 {
				spend(tb, db.Ledger(), who, int64(1+n), credits.Charge{
					Operation: "profile", Platform: "github", RequestID: fmt.Sprint("req", i, j, n), Cache: "HIT",
				})
			}
			db.Keys().Touch(k.ID, time.Now())
			if j == i {
				if _, err := db.Keys().Revoke(tb.Context(), k.ID); err != nil {
					tb.Fatal(err)
				}
			}
		}
		if _, err := db.Ledger().Refund(tb.Context(), a.ID, 2, fmt.Sprint("req", i, 0, 1), "a mistake"); err != nil {
			tb.Fatal(err)
		}
	}
	return db
}

func TestAuditOfAGoodLedger(t *testing.T) {
	t.Parallel()
	want := Report{Accounts: 2, Keys: 4, Entries: 16, Credits: 2 * (100 - 12 + 2)}
	if diff := cmp.Diff(want, wantAudit(t, openFilled(t))); diff != "" {
		t.Errorf("Audit (-want +got):\n%s", diff)
	}
}

func TestAuditFindsTampering(t *testing.T) {
	t.Parallel()
	unlocked := "DROP TRIGGER entries_are_not_changed; DROP TRIGGER entries_are_not_removed;"
	tests := []struct{ name, script, want string }{
		{"a changed amount", "UPDATE entries SET amount = amount + 1 WHERE no = 4", "balance 94 is not"},
		{
			"a changed amount and balance", "UPDATE entries SET amount = amount + 1, balance = balance + 1 WHERE no = 4",
			"another hash",
		},
		{"a changed request", "UPDATE entries SET request_id = 'x' WHERE no = 4", "another hash"},
		{"a removed entry", "DELETE FROM entries WHERE no = 4", "follows entry 3"},
		{"a removed last entry", "DELETE FROM entries WHERE no = (SELECT max(no) FROM entries)", "the file counts 16 entries"},
		{"an entry of another account", "UPDATE entries SET account = 9 WHERE no = 16", "account number 9"},
		{"a changed count of a key's spending", "UPDATE spending SET today = 0 WHERE account = 1", "on its last day"},
		{"a removed account", "PRAGMA foreign_keys = off; DELETE FROM accounts WHERE no = 2", "belongs to"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			db := openFilled(t)
			fold(t, db)
			wantFound(t, db, unlocked+tt.script, tt.want)
		})
	}
}

// wantFound fails t unless an audit finds what a script changed.
func wantFound(t *testing.T, db *DB, script, want string) {
	t.Helper()
	if err := tamper(db, script); err != nil {
		t.Fatal(err)
	}
	r, err := db.Audit(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(r.Problems, "\n"); r.OK() || !strings.Contains(got, want) {
		t.Errorf("Audit found %q; want %q", got, want)
	}
}

// tamper runs a script on the file.
func tamper(db *DB, script string) error {
	c, err := openConn(dsn(db.cfg.Path, "_busy_timeout=5000"))
	if err != nil {
		return err
	}
	return errors.Join(c.script(script), c.Close())
}

func TestEntriesCannotBeChangedOrRemoved(t *testing.T) {
	t.Parallel()
	db := openFilled(t)
	fold(t, db)
	for _, script := range []string{
		"UPDATE entries SET reason = ''", "DELETE FROM entries", "DELETE FROM entries WHERE no = 1",
	} {
		if err := tamper(db, script); err == nil {
			t.Errorf("%s succeeded", script)
		}
	}
	wantAudit(t, db)
}

// copied returns a file into which the export of from was imported, and that export. It fails t unless both export the
// same.
func copied(t *testing.T, from *DB) (to *DB, export string) {
	t.Helper()
	var first, second bytes.Buffer
	if err := from.Export(t.Context(), &first); err != nil {
		t.Fatal(err)
	}
	to = openDB(t, Config{Path: filepath.Join(t.TempDir(), "copy.db")})
	if err := to.Import(t.Context(), bytes.NewReader(first.Bytes())); err != nil {
		t.Fatal(err)
	}
	if err := to.Export(t.Context(), &second); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(first.String(), second.String()); diff != "" {
		t.Errorf("export of the import (-want +got):\n%s", diff)
	}
	return to, first.String()
}

func TestExportAndImportGiveTheSameFile(t *testing.T) {
	t.Parallel()
	from := openFilled(t)
	to, _ := copied(t, from)
	if diff := cmp.Diff(wantAudit(t, from), wantAudit(t, to)); diff != "" {
		t.Errorf("audit (-want +got):\n%s", diff)
	}
	// All state was imported, including caps.
	all, err := to.Keys().Keys(t.Context(), "second")
	if err != nil {
		t.Fatal(err)
	}
	who := credits.Spender{Account: all[1].Account, Key: all[1].ID, DayCap: new(int64(7))}
	if _, err := to.Ledger().Reserve(t.Context(), who, time.Hour, 2); !errors.Is(err, credits.ErrCap) {
		t.Errorf("Reserve above what the key had left = %v; want ErrCap", err)
	}
	spend(t, to.Ledger(), who, 1, credits.Charge{})
	wantAudit(t, to)
}

func TestImportIsAllOrNothing(t *testing.T) {
	t.Parallel()
	from := openFilled(t)
	var whole bytes.Buffer
	if err := from.Export(t.Context(), &whole); err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitAfter(strings.TrimSpace(whole.String())+"\n", "\n")
	lines = lines[:len(lines)-1]
	n := len(lines)
	join := func(parts ...[]string) string {
		text := ""
		for _, p := range parts {
			text += strings.Join(p, "")
		}
		return text
	}
	tests := []struct {
		name, text string
		want       error
	}{
		{"nothing", "", ErrImport},
		{"cut short", join(lines[:n-1]), ErrImport},
		{"cut in a line", whole.String()[:whole.Len()/2], ErrImport},
		{"an account lost", join(lines[:1], lines[2:]), ErrImport},
		{"an entry lost in the middle", join(lines[:9], lines[10:]), credits.ErrBroken},
		{"the last entry lost", join(lines[:n-2], lines[n-1:]), ErrImport},
		{"data after the end", whole.String() + "{}", ErrImport},
		{"no header", join(lines[1:]), ErrImport},
		{"another version", strings.Replace(whole.String(), `"version":1`, `"version":2`, 1), ErrImport},
		{"an unknown field", strings.Replace(whole.String(), `"seq"`, `"sequence"`, 1), ErrImport},
		{"a changed amount", strings.Replace(whole.String(), `"amount":-2`, `"amount":-1`, 1), credits.ErrBroken},
		{"an account twice", join(lines[:2], lines[1:]), ErrExists},
		{"no JSON", "\x00\x01", ErrImport},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			to := openDB(t, Config{Path: filepath.Join(t.TempDir(), "other.db")})
			if err := to.Import(t.Context(), strings.NewReader(tt.text)); !errors.Is(err, tt.want) {
				t.Errorf("Import = %v; want %v", err, tt.want)
			}
			if diff := cmp.Diff(Report{}, wantAudit(t, to)); diff != "" {
				t.Errorf("audit (-want +got):\n%s", diff)
			}
		})
	}
	t.Run("a file that already has the data", func(t *testing.T) {
		t.Parallel()
		before := wantAudit(t, from)
		if err := from.Import(t.Context(), bytes.NewReader(whole.Bytes())); !errors.Is(err, ErrExists) {
			t.Errorf("Import = %v; want ErrExists", err)
		}
		if diff := cmp.Diff(before, wantAudit(t, from)); diff != "" {
			t.Errorf("audit (-want +got):\n%s", diff)
		}
	})
}
