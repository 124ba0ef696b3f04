package sqlite

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/socialdata/socialdata/credits"
	"github.com/socialdata/socialdata/credits/ledgertest"
)

// foldAbove makes db fold whenever more than n entries are in the journal, and not when it is idle.
func foldAbove(tb testing.TB, db *DB, n int) {
	tb.Helper()
	if err := setFolding(db.writer, folding{long: n}); err != nil {
		tb.Fatal(err)
	}
}

func setFolding(w *writer, f folding) error {
	return w.do(&task{outside: true, apply: func(w *writer) error {
		f.failed = w.folding.failed
		w.folding = f
		return nil
	}})
}

// foldOne moves one row of the journal.
func foldOne(tb testing.TB, db *DB) {
	tb.Helper()
	if err := db.writer.do(&task{outside: true, apply: func(w *writer) error { return w.fold(1) }}); err != nil {
		tb.Fatal(err)
	}
}

// inJournal returns how many entries are not folded.
func inJournal(tb testing.TB, db *DB) (n int) {
	tb.Helper()
	err := db.writer.do(&task{outside: true, apply: func(w *writer) error {
		err := w.notice()
		n = w.tail.entries
		return err
	}})
	if err != nil {
		tb.Fatal(err)
	}
	return n
}

func TestLedgerThatFoldsAllTheTime(t *testing.T) {
	t.Parallel()
	open := func(t *testing.T, balance int64, now func() time.Time) credits.Ledger {
		t.Helper()
		l := openTimed(t, balance, now).(*Ledger)
		if err := setFolding(l.file.writer, folding{}); err != nil {
			t.Fatal(err)
		}
		return l
	}
	ledgertest.Run(t, func(t *testing.T, balance int64) credits.Ledger {
		t.Helper()
		return open(t, balance, time.Now)
	})
	ledgertest.RunTimed(t, open)
	ledgertest.RunModel(t, func(t *testing.T, now func() time.Time) ledgertest.Subject {
		t.Helper()
		s := openSubject(t, now)
		if err := setFolding(s.Ledger.(*Ledger).file.writer, folding{long: 2}); err != nil {
			t.Fatal(err)
		}
		restart := s.Restart
		s.Restart = func() (credits.Ledger, error) {
			l, err := restart()
			if err != nil {
				return nil, err
			}
			return l, setFolding(l.(*Ledger).file.writer, folding{long: 1})
		}
		return s
	})
}

// TestFoldingChangesNoAnswer reads everything again after each row of the journal that is moved.
func TestFoldingChangesNoAnswer(t *testing.T) {
	t.Parallel()
	db := openFilled(t)
	foldAbove(t, db, 1000)
	accounts, err := db.Keys().Accounts(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	keys, err := db.Keys().Keys(t.Context(), "first")
	if err != nil {
		t.Fatal(err)
	}
	id := accounts[0].ID
	charge := credits.Charge{Platform: "x", IdempotencyKey: "again"}
	spend(t, db.Ledger(), credits.Spender{Account: id, Key: keys[1].ID, DayCap: new(int64(50))}, 4, charge)
	all, err := db.Ledger().Entries(t.Context(), credits.Query{Account: id})
	if err != nil {
		t.Fatal(err)
	}
	type view struct {
		Export, Heads string
		Report        Report
		Found         [][]credits.Entry
		Balance       int64
		Again         credits.Receipt
		Left          int64
	}
	look := func() (v view) {
		var export bytes.Buffer
		if err := db.Export(t.Context(), &export); err != nil {
			t.Fatal(err)
		}
		v.Export, v.Heads, v.Report = export.String(), headsOf(t, db), wantAudit(t, db)
		for _, q := range []credits.Query{
			{},
			{Limit: 3},
			{Before: 4},
			{Platform: "x"},
			{Platform: "github", Limit: 2, Before: 6},
			{RequestID: "req001"},
			{Since: all[4].At},
			{Until: all[4].At},
			{Since: all[6].At, Until: all[2].At, Limit: 1},
		} {
			q.Account = id
			found, err := db.Ledger().Entries(t.Context(), q)
			if err != nil {
				t.Fatal(err)
			}
			v.Found = append(v.Found, found)
		}
		// As after a start: nothing of the account is cached.
		db.lock.forget()
		v.Balance, err = db.Ledger().Balance(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		if v.Again, err = db.Ledger().Settle(t.Context(), credits.Hold{
			ID: all[0].Hold, Spender: credits.Spender{Account: id},
		}, credits.Charge{Amount: 4}); err == nil && v.Again.Charged == 0 {
			t.Error("a charged hold is not known")
		}
		who := credits.Spender{Account: id, Key: keys[1].ID, DayCap: new(int64(50))}
		db.lock.forget()
		for ; ; v.Left++ { // the day's cap of the key is used up
			who.DayCap = new(v.Left)
			if _, err := db.Ledger().Reserve(t.Context(), who, -1, 1); err == nil {
				return v
			}
		}
	}
	want := look()
	for rows := 1; inJournal(t, db) > 3; rows++ {
		foldOne(t, db)
		if diff := cmp.Diff(want, look()); diff != "" {
			t.Fatalf("after %d rows (-want +got):\n%s", rows, diff)
		}
	}
	// The moment between the commit that moves the rest and the update of the tail.
	outside := func(do func(w *writer) error) {
		if err := db.writer.do(&task{outside: true, apply: do}); err != nil {
			t.Fatal(err)
		}
	}
	outside(func(w *writer) error { return errors.Join(w.begin(), w.table.move(w.tail.rows), w.c.script("COMMIT")) })
	if diff := cmp.Diff(want, look()); diff != "" {
		t.Fatalf("when the rest has just been moved (-want +got):\n%s", diff)
	}
	outside(func(w *writer) error {
		w.tail.drop(len(w.tail.rows))
		return nil
	})
	if diff := cmp.Diff(want, look()); diff != "" {
		t.Fatalf("when all is folded (-want +got):\n%s", diff)
	}
	if want.Left != 11 { // 1+2+3+4 were spent
		t.Errorf("a cap of %d lets the key spend one more; want 11", want.Left)
	}
	spend(t, db.Ledger(), credits.Spender{Account: id}, 9, charge) // its key was used: charges nothing
	if got := look().Balance; got != want.Balance {
		t.Errorf("Balance = %d; want %d", got, want.Balance)
	}
}

// TestTwoProcessesFoldOneJournal lets a server and another process charge, grant and fold in turn.
func TestTwoProcessesFoldOneJournal(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "test.db")
	server := openDB(t, Config{Path: path, FlushEvery: time.Hour})
	admin := openDB(t, Config{Path: path, Admin: true, FlushEvery: time.Hour})
	foldAbove(t, server, 1000)
	addAccount(t, server, "acct", 1000)
	who := credits.Spender{Account: "acct", Key: "key", TotalCap: new(int64(200))}
	want := int64(1000)
	for i := range 24 {
		for range 3 {
			spend(t, server.Ledger(), who, 1, credits.Charge{})
		}
		if want -= 3; i%2 == 0 {
			if _, err := admin.Ledger().Grant(t.Context(), "acct", 1, ""); err != nil {
				t.Fatal(err)
			}
			want++
		}
		switch i % 4 {
		case 0:
			foldOne(t, admin)
		case 1:
			fold(t, admin)
		case 2:
			foldOne(t, server)
		}
		for name, db := range map[string]*DB{"server": server, "other process": admin} {
			if got, err := db.Ledger().Balance(t.Context(), "acct"); got != want || err != nil {
				t.Fatalf("round %d: Balance of the %s = %d, %v; want %d", i, name, got, err, want)
			}
			found, err := db.Ledger().Entries(t.Context(), credits.Query{Account: "acct", Limit: 1})
			if err != nil || found[0].Balance != want {
				t.Fatalf("round %d: the last entry of the %s is %+v, %v; want a balance of %d", i, name, found, err, want)
			}
			wantAudit(t, db)
		}
	}
	if _, err := server.Ledger().Reserve(t.Context(), who, time.Hour, 200-24*3+1); !errors.Is(err, credits.ErrCap) {
		t.Errorf("Reserve above the cap = %v; want ErrCap", err)
	}
}

// TestReadsDuringFoldingAreExact reads while entries move from the journal into their table, and each time drops what
// is cached of a key with a cap. The key must be able to spend exactly its cap.
func TestReadsDuringFoldingAreExact(t *testing.T) {
	t.Parallel()
	db := openDB(t, Config{Path: filepath.Join(t.TempDir(), "test.db")})
	foldAbove(t, db, 5)
	const charges = 60
	who := credits.Spender{Account: "acct", Key: "key", TotalCap: new(int64(charges))}
	addAccount(t, db, who.Account, 2*charges)
	done := make(chan struct{})
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
				}
				found, err := db.Ledger().Entries(t.Context(), credits.Query{Account: who.Account, Limit: 2 * charges})
				if err != nil {
					t.Error(err)
					return
				}
				last := credits.Entry{}
				for _, e := range slices.Backward(found) {
					if err := e.Follows(last); err != nil {
						t.Error(err)
						return
					}
					last = e
				}
			}
		})
	}
	wg.Go(func() {
		defer close(done)
		for range charges {
			db.lock.forget()
			holds, err := db.Ledger().Reserve(t.Context(), who, time.Hour, 1)
			if err == nil {
				_, err = db.Ledger().Settle(t.Context(), holds[0], credits.Charge{Amount: 1})
			}
			if err != nil {
				t.Error(err)
				return
			}
		}
	})
	addAccount(t, db, "other", charges)
	for range charges { // so that something is folded between two charges of the key
		spend(t, db.Ledger(), credits.Spender{Account: "other"}, 1, credits.Charge{})
	}
	wg.Wait()
	if _, err := db.Ledger().Reserve(t.Context(), who, time.Hour, 1); !errors.Is(err, credits.ErrCap) {
		t.Errorf("Reserve above the cap = %v; want ErrCap", err)
	}
	wantAudit(t, db)
}

func TestTheJournalIsBounded(t *testing.T) {
	t.Parallel()
	db := openDB(t, Config{Path: filepath.Join(t.TempDir(), "test.db")})
	const long = 50
	foldAbove(t, db, long)
	addAccount(t, db, "acct", 10_000)
	var wg sync.WaitGroup
	for range 16 {
		wg.Go(func() {
			for range 50 {
				spend(t, db.Ledger(), credits.Spender{Account: "acct"}, 1, credits.Charge{})
			}
		})
	}
	wg.Wait()
	if n := inJournal(t, db); n > long {
		t.Errorf("%d entries are in the journal; want %d at most", n, long)
	}
	if got := wantAudit(t, db).Credits; got != 10_000-16*50 {
		t.Errorf("the entries add up to %d; want %d", got, 10_000-16*50)
	}
}

func TestAJournalThatCannotBeFoldedStaysBounded(t *testing.T) {
	t.Parallel()
	db := openDB(t, Config{Path: filepath.Join(t.TempDir(), "test.db")})
	addAccount(t, db, "acct", 1000)
	foldAbove(t, db, 10)
	const broken = "CREATE TRIGGER broken BEFORE INSERT ON entries BEGIN SELECT RAISE(ABORT, 'no more entries'); END"
	if err := tamper(db, broken); err != nil {
		t.Fatal(err)
	}
	charge := func() error {
		holds, err := db.Ledger().Reserve(t.Context(), credits.Spender{Account: "acct"}, time.Hour, 1)
		if err == nil {
			_, err = db.Ledger().Settle(t.Context(), holds[0], credits.Charge{Amount: 1})
		}
		return err
	}
	charged := int64(0)
	for range 60 {
		switch err := charge(); {
		case err == nil:
			charged++
		case !strings.Contains(err.Error(), "no more entries"):
			t.Errorf("Settle = %v; want the error of folding", err)
		}
	}
	if n := inJournal(t, db); n != 2*10+1 || charged != 2*10 { // the first entry was a grant
		t.Errorf("%d entries are in the journal after %d charges", n, charged)
	}
	wantAudit(t, db)
	if err := tamper(db, "DROP TRIGGER broken"); err != nil {
		t.Fatal(err)
	}
	fold(t, db)
	if err := charge(); err != nil {
		t.Errorf("Settle when it can be folded again = %v", err)
	}
	if got := wantAudit(t, db).Credits; got != 1000-charged-1 {
		t.Errorf("the entries add up to %d; want %d", got, 1000-charged-1)
	}
}

func TestAnIdleServerFolds(t *testing.T) {
	t.Parallel()
	db := openFilled(t)
	folded := func() (n int) {
		if err := db.read.QueryRowContext(t.Context(), "SELECT count(*) FROM entries").Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	for folded() < 16 { // all there are
		time.Sleep(foldAfter)
	}
	if n := inJournal(t, db); n > 0 {
		t.Errorf("%d entries are left in the journal", n)
	}
	wantAudit(t, db)
}

func TestAuditFindsTamperingInTheJournal(t *testing.T) {
	t.Parallel()
	const unlocked = "DROP TRIGGER journal_is_not_changed; DROP TRIGGER journal_is_not_removed;"
	tests := []struct{ name, script, want string }{
		{"a removed row", "DELETE FROM journal WHERE no = (SELECT min(no) + 1 FROM journal)", "rows after row"},
		{"a removed first row", "DELETE FROM journal WHERE no = (SELECT min(no) FROM journal)", "rows after row"},
		{"a removed last row", "DELETE FROM journal WHERE no = (SELECT max(no) FROM journal)", "rows after row"},
		{"no row left", "DELETE FROM journal", "rows after row"},
		{
			"a row twice", `INSERT INTO journal SELECT max(no) + 1, (SELECT entries FROM journal ORDER BY no DESC LIMIT 1)
			FROM journal`, "follows entry",
		},
		{
			"another request", `UPDATE journal SET entries = CAST(replace(CAST(entries AS TEXT), 'req000', 'req009') AS BLOB)
			WHERE instr(entries, 'req000')`, "another hash",
		},
		{"rows that are marked as folded", "UPDATE totals SET folded = folded + 1", "rows after row"},
		{"a truncated row", "UPDATE journal SET entries = substr(entries, 1, length(entries) - 1)", "damaged"},
		{"another format", "UPDATE journal SET entries = x'02'", "damaged"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			db := openFilled(t)
			foldAbove(t, db, 1000)
			if _, err := db.Ledger().Grant(t.Context(), accountOf(t, db), 1, "req000"); err != nil {
				t.Fatal(err)
			}
			wantFound(t, db, unlocked+tt.script, tt.want)
		})
	}
}

func accountOf(t *testing.T, db *DB) string {
	t.Helper()
	a, err := db.Keys().Account(t.Context(), "first")
	if err != nil {
		t.Fatal(err)
	}
	return a.ID
}

func TestTheJournalCannotBeChangedOrRemoved(t *testing.T) {
	t.Parallel()
	db := openFilled(t)
	foldAbove(t, db, 1000)
	spend(t, db.Ledger(), credits.Spender{Account: accountOf(t, db)}, 1, credits.Charge{})
	for _, script := range []string{"UPDATE journal SET entries = x''", "DELETE FROM journal"} {
		if err := tamper(db, script); err == nil {
			t.Errorf("%s succeeded", script)
		}
	}
	wantAudit(t, db)
}

// TestAnImportLooksForHoldsInTheJournal imports a charge of a hold that a charge of another account in the journal has.
func TestAnImportLooksForHoldsInTheJournal(t *testing.T) {
	t.Parallel()
	write := func(account string) *DB {
		db := openDB(t, Config{Path: filepath.Join(t.TempDir(), "test.db")})
		foldAbove(t, db, 1000)
		addAccount(t, db, account, 10)
		err := db.writer.do(&task{alone: true, apply: func(w *writer) error {
			_, err := w.append(&cached{account: account}, credits.Charge{Amount: 1}.Entry(
				credits.Hold{ID: "hold_1", Spender: credits.Spender{Account: account}}, w.now()))
			return err
		}})
		if err != nil {
			t.Fatal(err)
		}
		return db
	}
	var export bytes.Buffer
	if err := write("acct_1").Export(t.Context(), &export); err != nil {
		t.Fatal(err)
	}
	to := write("acct_2")
	if err := to.Import(context.WithoutCancel(t.Context()), &export); !errors.Is(err, ErrExists) {
		t.Errorf("Import = %v; want ErrExists", err)
	}
	fold(t, to)
	wantAudit(t, to)
}

func someEntries() []numbered {
	at := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	var entries []numbered
	last := credits.Entry{}
	for i, e := range []credits.Entry{
		{Kind: credits.Granted, Amount: credits.MaxBalance, Reason: "the largest values", At: at},
		{Kind: credits.Charged, Amount: -3, Key: "key", Operation: "profile", Platform: "x", RequestID: "r", At: at.Add(-time.Hour)},
		{Kind: credits.Charged, Amount: -1, Cache: "HIT", Hold: "h", IdempotencyKey: strings.Repeat("é", 2000), At: at.Add(1000)},
		{Kind: credits.Refunded, Amount: 2, At: at.Add(time.Hour)},
	} {
		last = e.Next(last)
		entries = append(entries, numbered{account: int64(i) << 40, Entry: last})
	}
	return entries
}

func TestTheJournalKeepsAllOfAnEntry(t *testing.T) {
	t.Parallel()
	want := someEntries()
	blob := appendEntries(nil, want)
	got, err := decodeEntries(1, blob)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(numbered{})); diff != "" {
		t.Errorf("decodeEntries (-want +got):\n%s", diff)
	}
	ends := []int{1} // where a complete entry ends
	for i := range want {
		ends = append(ends, len(appendEntries(nil, want[:i+1])))
	}
	for n := range blob {
		if _, err := decodeEntries(1, blob[:n]); (err == nil) != slices.Contains(ends, n) || err != nil &&
			!errors.Is(err, ErrCorrupt) {
			t.Fatalf("decodeEntries of %d of %d bytes = %v", n, len(blob), err)
		}
	}
}

func FuzzDecodeEntries(f *testing.F) {
	f.Add(appendEntries(nil, someEntries()))
	f.Fuzz(func(t *testing.T, blob []byte) {
		entries, err := decodeEntries(1, blob)
		if err != nil {
			return
		}
		again, err := decodeEntries(1, appendEntries(nil, entries))
		if diff := cmp.Diff(entries, again, cmp.AllowUnexported(numbered{})); diff != "" || err != nil {
			t.Errorf("decodeEntries of what came out = %v (-first +second):\n%s", err, fmt.Sprint(diff))
		}
	})
}
