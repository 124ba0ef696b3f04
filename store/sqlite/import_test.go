package sqlite

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/socialdata/socialdata/credits"
	"github.com/socialdata/socialdata/store/bookkeeping/bookkeepingtest"
)

func TestBookkeeping(t *testing.T) {
	t.Parallel()
	bookkeepingtest.Run(t, func(t *testing.T) bookkeepingtest.Store {
		t.Helper()
		db := openDB(t, Config{Path: filepath.Join(t.TempDir(), "test.db")})
		return bookkeepingtest.Store{Bookkeeper: db, Admin: db.Keys(), Ledger: db.Ledger()}
	})
}

func TestAnImportDoesNotBlockCallers(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "test.db")
	db := openDB(t, Config{Path: path})
	admin := openDB(t, Config{Path: path, Admin: true})
	addAccount(t, db, "acct", 10)
	if err := admin.Import(t.Context(), strings.NewReader("")); !errors.Is(err, ErrInUse) {
		t.Errorf("Import beside a server = %v; want ErrInUse", err)
	}
	r, w := io.Pipe()
	done := make(chan error, 1)
	go func() { done <- db.Import(context.WithoutCancel(t.Context()), r) }()
	if _, err := io.WriteString(w, `{"socialdata":{"version":1}}`); err != nil { // Import has begun to read
		t.Fatal(err)
	}
	spend(t, db.Ledger(), credits.Spender{Account: "acct"}, 1, credits.Charge{})
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-done; !errors.Is(err, ErrImport) {
		t.Errorf("Import of a part = %v; want ErrImport", err)
	}
}

func TestImportRefusesImpossibleEntries(t *testing.T) {
	t.Parallel()
	const at = `"2026-01-01T00:00:00Z"`
	account := func(id, name string) string {
		return fmt.Sprintf(`{"account":{"id":%q,"name":"%s","created_at":%s}}`, id, name, at)
	}
	key := func(with string) string {
		fields := []string{
			`"id":"key_0"`, `"account":"acct_0"`, `"name":"n"`, `"prefix":"sk_live_abcd"`, `"environment":"live"`,
			`"created_at":` + at, `"last_used_at":null`, `"revoked_at":null`, `"hash":"` + strings.Repeat("ab", 32) + `"`,
		}
		name, _, _ := strings.Cut(with, ":")
		for i, f := range fields {
			if strings.HasPrefix(f, name+":") {
				fields[i] = ""
			}
		}
		return `{"key":{` + strings.Join(append(strings.FieldsFunc(strings.Join(fields, "\n"),
			func(r rune) bool { return r == '\n' }), with), ",") + `}}`
	}
	file := func(keys int, lines ...string) string {
		end := fmt.Sprintf(`{"end":{"accounts":%d,"keys":%d,"entries":0}}`, len(lines)-keys, keys)
		return strings.Join(append(append([]string{`{"socialdata":{"version":1}}`}, lines...), end), "\n")
	}
	good := account("acct_0", "first")
	tests := []struct {
		name, text string
		want       error
	}{
		{"a valid file", file(1, good, key(`"name":""`)), nil},
		{"a control character in a name", file(0, account("acct_0", `\u0007`)), ErrImport},
		{"no name", file(0, account("acct_0", "")), ErrImport},
		{"no id", file(0, account("", "first")), ErrImport},
		{"a space in an id", file(0, account("a b", "first")), ErrImport},
		{"a name that is another's id", file(0, good, account("acct_1", "acct_0")), ErrExists},
		{"an id that is another's name", file(0, account("acct_1", "acct_0"), good), ErrExists},
		{"a name that an account in the file has as its id", file(0, account("acct_0", "acct_there")), ErrExists},
		{"a name twice", file(0, good, account("acct_1", "first")), ErrExists},
		{"no time", strings.Replace(file(0, good), at, `"0000-01-01T00:00:00Z"`, 1), ErrImport},
		{"a rate of 0", file(1, good, key(`"capacity":0,"refill_per_s":0`)), ErrImport},
		{"a huge rate", file(1, good, key(`"capacity":1,"refill_per_s":1e300`)), ErrImport},
		{"a negative cap", file(1, good, key(`"day_cap":-5`)), ErrImport},
		{"a huge cap", file(1, good, key(`"total_cap":9007199254740993`)), ErrImport},
		{"no prefix", file(1, good, key(`"prefix":""`)), ErrImport},
		{"a prefix of another environment", file(1, good, key(`"prefix":"sk_test_abcd"`)), ErrImport},
		{"another environment", file(1, good, key(`"environment":"staging"`)), ErrImport},
		{"a short hash", file(1, good, key(`"hash":"abab"`)), ErrImport},
		{"a key of an unknown account", file(1, good, key(`"account":"acct_9"`)), ErrImport},
		{"a key twice", file(2, good, key(`"name":"a"`), key(`"name":"b"`)), ErrExists},
		{"a hash twice", file(2, good, key(`"name":"a"`), key(`"id":"key_1"`)), ErrExists},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			db := openDB(t, Config{Path: filepath.Join(t.TempDir(), "test.db")})
			addAccount(t, db, "acct_there", 0)
			before := wantAudit(t, db)
			if err := db.Import(t.Context(), strings.NewReader(tt.text)); !errors.Is(err, tt.want) {
				t.Fatalf("Import = %v; want %v", err, tt.want)
			}
			after := wantAudit(t, db)
			if diff := cmp.Diff(before, after); tt.want != nil && diff != "" {
				t.Errorf("audit (-before +after):\n%s", diff)
			}
		})
	}
}

func TestAClockThatWasSetBackIsExportedToo(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	from := openDB(t, Config{
		Path: filepath.Join(t.TempDir(), "from.db"), Now: func() time.Time { return now }, FlushEvery: time.Hour,
	})
	addAccount(t, from, "acct_1", 10)
	now = now.Add(-time.Hour)
	spend(t, from.Ledger(), credits.Spender{Account: "acct_1"}, 1, credits.Charge{})
	to, export := copied(t, from)
	if n := strings.Count(export, `"clock":`); n != 1 {
		t.Errorf("%d entries have a clock of their own; want 1:\n%s", n, export)
	}
	got, err := to.Ledger().Entries(t.Context(), credits.Query{Account: "acct_1", Limit: 1})
	if err != nil || !got[0].Time().Equal(now) {
		t.Errorf("the last entry is %+v, %v; want one of %v", got, err, now)
	}
	wantAudit(t, to)
}

func TestAnExportOfManyRowsIsWhole(t *testing.T) {
	t.Parallel()
	db := openDB(t, Config{Path: filepath.Join(t.TempDir(), "test.db")})
	addAccount(t, db, "acct_1", 0)
	for i, n := range []int{exportedAtOnce - 1, 1, 1, exportedAtOnce - 1} {
		err := db.writer.do(&task{alone: true, apply: func(w *writer) error {
			b := &cached{account: "acct_1"}
			for range n {
				if _, err := w.append(b,
					credits.Entry{Account: "acct_1", Kind: credits.Granted, Amount: 1, At: w.now()}); err != nil {
					return err
				}
			}
			return nil
		}})
		if err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		if err := db.Export(t.Context(), &out); err != nil {
			t.Fatal(err)
		}
		to := openDB(t, Config{Path: filepath.Join(t.TempDir(), fmt.Sprint(i, ".db"))})
		if err := to.Import(t.Context(), &out); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(wantAudit(t, db), wantAudit(t, to)); diff != "" {
			t.Errorf("audit (-want +got):\n%s", diff)
		}
	}
}

// TestASlowExportLetsTheLogBeReused pauses in the middle of an export, like a pager.
func TestASlowExportLetsTheLogBeReused(t *testing.T) {
	t.Parallel()
	db := openFilled(t)
	r, w := io.Pipe()
	done := make(chan error, 1)
	go func() {
		err := db.Export(context.WithoutCancel(t.Context()), w)
		done <- errors.Join(err, w.CloseWithError(err))
	}()
	one := make([]byte, 1)
	if _, err := io.ReadFull(r, one); err != nil { // the export waits for the reader
		t.Fatal(err)
	}
	all, err := db.Keys().Accounts(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	spend(t, db.Ledger(), credits.Spender{Account: all[0].ID}, 1, credits.Charge{})
	err = db.writer.do(&task{outside: true, apply: func(w *writer) error {
		if left, err := frames(w.c, "PRAGMA wal_checkpoint(PASSIVE)"); err != nil || left != 0 {
			t.Errorf("%d frames of the log are left, %v", left, err)
		}
		return nil
	}})
	if err != nil {
		t.Error(err)
	}
	rest, err := io.ReadAll(r)
	if err := errors.Join(err, <-done); err != nil {
		t.Fatal(err)
	}
	to := openDB(t, Config{Path: filepath.Join(t.TempDir(), "other.db")})
	if err := to.Import(t.Context(), io.MultiReader(bytes.NewReader(one), bytes.NewReader(rest))); err != nil {
		t.Fatal(err)
	}
	if got := wantAudit(t, to).Entries; got != 16 {
		t.Errorf("%d entries came; want the 16 that were there in the beginning", got)
	}
}
