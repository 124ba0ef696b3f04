package sqlstoretest

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime/metrics"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/socialdata/socialdata/credits"
	"github.com/socialdata/socialdata/keys"
	"github.com/socialdata/socialdata/store/bookkeeping"
	"github.com/socialdata/socialdata/store/sqlstore"
)

// Books is an open database whose tables a test can change.
type Books struct {
	*sqlstore.DB
	Admin keys.Admin
	// Script runs statements, also those that a database refuses to others: entries can be changed and removed. @ stands
	// for what the names of tables begin with.
	Script func(statements string) error
}

// OpenBooks returns a new, empty database with a clock, nil for the driver's. It cleans up through tb.
type OpenBooks func(tb testing.TB, now func() time.Time) Books

// RunBooks tests the audit of a driver's database, and how it is moved. Every driver passes the suite of
// bookkeepingtest, too.
func RunBooks(t *testing.T, open OpenBooks) {
	t.Helper()
	topics := []struct {
		name string
		test func(t *testing.T, open OpenBooks)
	}{
		{"an audit finds tampering", testTampering},
		{"later changes agree with the heads", testLater},
		{"a move of more rows than a query reads", testManyRows},
		{"a clock that was set back is exported too", testClockSetBack},
		{"what is taken already is not imported", testTaken},
		{"an accepted loss is reported", testLoss},
	}
	for _, topic := range topics {
		t.Run(topic.name, func(t *testing.T) {
			t.Parallel()
			topic.test(t, open)
		})
	}
}

// wantAudit returns what an audit reports, which must be no problem.
func (s Books) wantAudit(tb testing.TB) bookkeeping.Report {
	tb.Helper()
	r, err := s.Audit(tb.Context())
	if err != nil || !r.OK() {
		tb.Errorf("Audit = %q, %v", r.Problems, err)
	}
	return r
}

func (s Books) headsOf(tb testing.TB) string {
	tb.Helper()
	var b bytes.Buffer
	if err := s.Heads(tb.Context(), &b); err != nil {
		tb.Fatal(err)
	}
	return b.String()
}

func (s Books) exportOf(tb testing.TB) string {
	tb.Helper()
	var b bytes.Buffer
	if err := s.Export(tb.Context(), &b); err != nil {
		tb.Fatal(err)
	}
	return b.String()
}

// fill makes two accounts with a grant, a refund, and three charges by each of two keys, one of which has a cap and one
// of which is revoked: 16 entries.
func (s Books) fill(t *testing.T) {
	t.Helper()
	for i, name := range []string{"first", "second"} {
		a, err := s.Admin.OpenAccount(t.Context(), name, 100, "to <start> with")
		if err != nil {
			t.Fatal(err)
		}
		for j, daily := range []*int64{nil, new(int64(50))} {
			_, k, err := s.Admin.CreateKey(t.Context(), keys.NewKey{Account: a.ID, Environment: keys.Live, DayCap: daily})
			if err != nil {
				t.Fatal(err)
			}
			who := credits.Spender{Account: a.ID, Key: k.ID, DayCap: daily}
			for n := range 3 {
				_, err := s.Ledger().Charge(t.Context(), who, credits.Charge{
					Amount: int64(
						1 + n,
					), Operation: "profile", Platform: "github", RequestID: fmt.Sprint("req", i, j, n), Cache: "HIT",
				})
				if err != nil {
					t.Fatal(err)
				}
			}
			if j == i {
				if _, err := s.Admin.Revoke(t.Context(), k.ID); err != nil {
					t.Fatal(err)
				}
			}
		}
		if _, err := s.Ledger().Refund(t.Context(), a.ID, 2, fmt.Sprint("req", i, 0, 1), "a mistake"); err != nil {
			t.Fatal(err)
		}
	}
}

func testTampering(t *testing.T, open OpenBooks) {
	t.Helper()
	const first, last = "(SELECT min(no) FROM @accounts)", "(SELECT max(no) FROM @accounts)"
	const again = ", kind, amount, balance, key, operation, platform, request_id, cache, reason, '', idempotency_key, at, " +
		"clock, hash FROM @entries WHERE seq = 8 AND account = " + first
	tests := []struct {
		name, script, want string
		heads              bool // found only with earlier heads
	}{
		{"an amount", "UPDATE @entries SET amount = amount + 1 WHERE seq = 4", "is not", false},
		{
			"an amount and the balance",
			"UPDATE @entries SET amount = amount + 1, balance = balance + 1 WHERE seq = 4",
			"another hash",
			false,
		},
		{"a text", "UPDATE @entries SET request_id = 'x' WHERE seq = 4", "another hash", false},
		{"an entry in the middle is gone", "DELETE FROM @entries WHERE seq = 4", "follows entry 3", false},
		{"the last entries are gone", "DELETE FROM @entries WHERE seq = 8", "ends with entry 7", false},
		{"an entry after the last", "INSERT INTO @entries SELECT account, seq + 1" + again, "and 1 more follow it", false},
		{
			"two entries of one number", "INSERT INTO @entries SELECT account, 4" + strings.Replace(again, "platform", "'a'", 1),
			"4 follows entry", false,
		},
		{
			"entries of an account whose row has none", `
			INSERT INTO @accounts (id, name, created_at, hash) SELECT 'acct_new', 'new', 0, hash FROM @accounts WHERE no = ` + first + `;
			INSERT INTO @entries SELECT (SELECT no FROM @accounts WHERE id = 'acct_new'), seq` + again,
			"acct_new ends with entry 0, and 1 more follow it", false,
		},
		{"a balance", "UPDATE @accounts SET balance = balance + 1", "but its record says entry 8", false},
		{
			"entries of an unknown account",
			"UPDATE @entries SET account = 9999 WHERE account = " + last,
			"8 entries belong to account number 9999",
			false,
		},
		{
			"an entry of an account before all others",
			"UPDATE @entries SET account = -5 WHERE seq = 8 AND account = " + first,
			"account number -5",
			false,
		},
		{"what a key has spent", "UPDATE @spending SET today = 0, total = 0", "spent 6 in all", false},
		{
			"what a key of an unknown account has spent",
			"INSERT INTO @spending VALUES (9999, 'key_1', 1, 1, 1)",
			"account number 9999",
			false,
		},
		{
			"an account is gone", "DELETE FROM @keys WHERE account = (SELECT id FROM @accounts WHERE no = " + last + ");" +
				"DELETE FROM @accounts WHERE no = " + last, "8 entries belong to", false,
		},
		{
			"the last entries with all their traces", `
			DELETE FROM @entries WHERE seq = 8;
			UPDATE @accounts AS a SET seq = e.seq, balance = e.balance, at = e.at, hash = e.hash
				FROM @entries AS e WHERE e.account = a.no AND e.seq = 7`, "has fewer now", true,
		},
		{"a revoked key is valid again", "UPDATE @keys SET revoked_at = NULL", "was revoked", true},
		{"a cap is gone", "UPDATE @keys SET day_cap = NULL", "changed key_", true},
		{
			"a key of another account",
			"UPDATE @keys SET account = (SELECT id FROM @accounts WHERE no = " + first + ")",
			"differs from the one when",
			true,
		},
		{"a key is gone", "DELETE FROM @keys WHERE no = (SELECT min(no) FROM @keys)", "existed", true},
		{
			"an account is gone with everything it had", `
			DELETE FROM @entries WHERE account = ` + last + `; DELETE FROM @spending WHERE account = ` + last + `;
			DELETE FROM @keys WHERE account = (SELECT id FROM @accounts WHERE no = ` + last + `);
			DELETE FROM @accounts WHERE no = ` + last, "existed", true,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := open(t, nil)
			s.fill(t)
			want := bookkeeping.Report{Accounts: 2, Keys: 4, Entries: 16, Credits: 2 * (100 - 12 + 2)}
			if diff := cmp.Diff(want, s.wantAudit(t)); diff != "" {
				t.Errorf("Audit before (-want +got):\n%s", diff)
			}
			heads := s.headsOf(t)
			if err := s.Script(tt.script); err != nil {
				t.Fatal(err)
			}
			alone, err := s.Audit(t.Context())
			if err != nil || alone.OK() != tt.heads {
				t.Errorf("Audit = %q, %v", alone.Problems, err)
			}
			r, err := s.AuditAgainst(t.Context(), strings.NewReader(heads))
			if err != nil {
				t.Fatal(err)
			}
			found := r.Problems
			for _, id := range r.Changed {
				found = append(found, "changed "+id)
			}
			if !strings.Contains(strings.Join(found, "\n"), tt.want) {
				t.Errorf("AuditAgainst found %q; want %q", found, tt.want)
			}
		})
	}
}

func testLater(t *testing.T, open OpenBooks) {
	t.Helper()
	s := open(t, nil)
	s.fill(t)
	if _, err := s.Admin.OpenAccount(t.Context(), "empty", 0, ""); err != nil {
		t.Fatal(err)
	}
	heads := s.headsOf(t)
	if got := strings.Count(heads, "\n"); got != 3+4+1 {
		t.Errorf("%d lines; want one for each of 3 accounts and 4 keys, and an end:\n%s", got, heads)
	}
	all, err := s.Admin.Keys(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range all {
		if _, err := s.Admin.Revoke(t.Context(), k.ID); err != nil {
			t.Fatal(err)
		}
	}
	_, err = s.Ledger().Grant(t.Context(), all[0].Account, 5, "")
	if err == nil {
		_, _, err = s.Admin.CreateKey(t.Context(), keys.NewKey{Account: all[0].Account, Environment: keys.Live})
	}
	if err != nil {
		t.Fatal(err)
	}
	if r, err := s.AuditAgainst(t.Context(), strings.NewReader(heads)); err != nil || !r.OK() {
		t.Errorf("AuditAgainst = %q, %v", r.Problems, err)
	}
	if _, err := s.AuditAgainst(t.Context(), strings.NewReader("{}\n")); !errors.Is(err, bookkeeping.ErrHeads) {
		t.Errorf("AuditAgainst no heads = %v; want ErrHeads", err)
	}
}

// writeBooks returns an export of accounts, each of which has a key with a cap and entries.
func writeBooks(tb testing.TB, accounts, entries int) string {
	tb.Helper()
	var out bytes.Buffer
	w, err := bookkeeping.NewWriter(&out)
	if err != nil {
		tb.Fatal(err)
	}
	must := func(err error) {
		tb.Helper()
		if err != nil {
			tb.Fatal(err)
		}
	}
	now := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	minted := make([]keys.Key, accounts)
	for i := range accounts {
		id := fmt.Sprintf("acct_%09d", i)
		must(w.Account(keys.Account{ID: id, Name: "account " + strconv.Itoa(i), CreatedAt: now}))
		_, minted[i], err = keys.NewKey{Environment: keys.Live, DayCap: new(int64(1 << 40))}.Mint(id, now)
		must(err)
	}
	for _, k := range minted {
		must(w.Key(k))
	}
	for i, k := range minted {
		e := credits.Entry{Account: k.Account, Kind: credits.Granted, Amount: 1 << 30, At: now}.Next(credits.Entry{})
		must(w.Entry(e))
		for n := range entries - 1 {
			request := fmt.Sprintf("req_%d_%d", i, n)
			e = credits.Entry{
				Account: k.Account, Kind: credits.Charged, Amount: -1, Key: k.ID, Operation: "profile", Platform: "github",
				RequestID: request, Cache: "HIT", Hold: request + "/0", At: now.Add(time.Duration(n) * time.Second),
			}.Next(e)
			must(w.Entry(e))
		}
	}
	must(w.Close())
	return out.String()
}

func testManyRows(t *testing.T, open OpenBooks) {
	t.Helper()
	for _, n := range [][2]int{{1001, 2}, {1, 2001}, {2, 1000}, {499, 1}} {
		text := writeBooks(t, n[0], n[1])
		s := open(t, nil)
		if err := s.Import(t.Context(), strings.NewReader(text)); err != nil {
			t.Fatal(err)
		}
		if r := s.wantAudit(t); r.Accounts != int64(n[0]) || r.Keys != int64(n[0]) || r.Entries != int64(n[0]*n[1]) {
			t.Errorf("%d accounts of %d entries: Audit = %+v", n[0], n[1], r)
		}
		if s.exportOf(t) != text {
			t.Errorf("%d accounts of %d entries: the export differs from what was imported", n[0], n[1])
		}
	}
}

func testClockSetBack(t *testing.T, open OpenBooks) {
	t.Helper()
	now := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	from := open(t, func() time.Time { return now })
	a, err := from.Admin.OpenAccount(t.Context(), "shop", 10, "")
	if err != nil {
		t.Fatal(err)
	}
	now = now.Add(-time.Hour)
	if _, err := from.Ledger().Grant(t.Context(), a.ID, 1, ""); err != nil {
		t.Fatal(err)
	}
	text := from.exportOf(t)
	if n := strings.Count(text, `"clock":`); n != 1 {
		t.Errorf("%d entries have a clock of their own; want 1:\n%s", n, text)
	}
	to := open(t, nil)
	if err := to.Import(t.Context(), strings.NewReader(text)); err != nil {
		t.Fatal(err)
	}
	got, err := to.Ledger().Entries(t.Context(), credits.Query{Account: a.ID, Limit: 1})
	if err != nil || !got[0].Time().Equal(now) {
		t.Errorf("the last entry is %+v, %v; want one of %v", got, err, now)
	}
	to.wantAudit(t)
}

// testTaken imports what collides with what is there, in each table. Nothing may be added.
func testTaken(t *testing.T, open OpenBooks) {
	t.Helper()
	s := open(t, nil)
	s.fill(t)
	before := s.exportOf(t)
	all, err := s.Admin.Keys(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	entries, err := s.Ledger().Entries(t.Context(), credits.Query{Account: all[0].Account, Limit: 3})
	if err != nil {
		t.Fatal(err)
	}
	text := writeBooks(t, 1, 3)
	_, hash, _ := strings.Cut(text, `"hash":"`)
	_, key, _ := strings.Cut(text, `"key":{"id":"`)
	valid := slices.IndexFunc(all, func(k keys.Key) bool { return k.RevokedAt == nil })
	for name, text := range map[string]string{
		"a name":                     strings.Replace(text, "account 0", "first", 1),
		"a name that is an id":       strings.Replace(text, "account 0", all[0].Account, 1),
		"an id that is a name":       writeEntry(t, keys.Account{ID: "second", Name: "third"}, ""),
		"a key":                      strings.Replace(text, key[:strings.IndexByte(key, '"')], all[0].ID, 1),
		"a secret":                   strings.Replace(text, hash[:64], fmt.Sprintf("%x", all[valid].Hash), 1),
		"the hold of a charge":       writeEntry(t, keys.Account{ID: "acct_third", Name: "third"}, entries[2].Hold),
		"an account with all it has": before,
	} {
		if name == "a key" { // whose entries must follow from each other
			text = strings.Split(text, `{"entry"`)[0] + `{"end":{"accounts":1,"keys":1,"entries":0}}`
		}
		if err := s.Import(t.Context(), strings.NewReader(text)); !errors.Is(err, bookkeeping.ErrExists) {
			t.Errorf("%s: Import = %v; want ErrExists", name, err)
		}
		if diff := cmp.Diff(before, s.exportOf(t)); diff != "" {
			t.Errorf("%s: it has changed (-want +got):\n%s", name, diff)
		}
	}
}

// writeEntry returns an export of an account with a grant and a charge of a hold.
func writeEntry(t *testing.T, a keys.Account, hold string) string {
	t.Helper()
	a.CreatedAt = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	var out bytes.Buffer
	w, err := bookkeeping.NewWriter(&out)
	if err != nil {
		t.Fatal(err)
	}
	grant := credits.Entry{Account: a.ID, Kind: credits.Granted, Amount: 5, At: a.CreatedAt}.Next(credits.Entry{})
	charge := credits.Entry{Account: a.ID, Kind: credits.Charged, Amount: -1, Hold: hold, At: a.CreatedAt}.Next(grant)
	if err := errors.Join(w.Account(a), w.Entry(grant), w.Entry(charge), w.Close()); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func testLoss(t *testing.T, open OpenBooks) {
	t.Helper()
	s := open(t, nil)
	loss := bookkeeping.Loss{
		At:         time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC),
		HadEntries: 9,
		HadCredits: 90,
		Entries:    8,
		Credits:    80,
	}
	if err := s.AcceptLoss(t.Context(), loss); err != nil {
		t.Fatal(err)
	}
	r := s.wantAudit(t)
	if len(r.Losses) != 1 || r.Losses[0].Accepted.IsZero() {
		t.Fatalf("Losses = %+v; want one", r.Losses)
	}
	loss.Accepted = r.Losses[0].Accepted
	if diff := cmp.Diff([]bookkeeping.Loss{loss}, r.Losses); diff != "" {
		t.Errorf("Losses (-want +got):\n%s", diff)
	}
}

// BenchmarkMove exports a database of SOCIALDATA_BENCH_ENTRIES entries, 10,000 by default, and imports that into an
// empty one. It reports the seconds and the most heap in use, and checks that the heads of all accounts are equal.
func BenchmarkMove(b *testing.B, open OpenBooks) {
	b.Helper()
	n := 10_000
	if text := os.Getenv("SOCIALDATA_BENCH_ENTRIES"); text != "" {
		var err error
		if n, err = strconv.Atoi(text); err != nil {
			b.Fatal(err)
		}
	}
	from := open(b, nil)
	if err := from.Import(b.Context(), strings.NewReader(writeBooks(b, max(1, n/100), 100))); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		file, err := os.Create(filepath.Join(b.TempDir(), "export.jsonl"))
		if err != nil {
			b.Fatal(err)
		}
		to := open(b, nil)
		measured(b, "export", func() error { return from.Export(b.Context(), file) })
		if _, err := file.Seek(0, 0); err != nil {
			b.Fatal(err)
		}
		measured(b, "import", func() error { return to.Import(b.Context(), file) })
		measured(b, "audit", func() error { to.wantAudit(b); return nil })
		if err := file.Close(); err != nil {
			b.Fatal(err)
		}
		if from.headsOf(b) != to.headsOf(b) {
			b.Error("the heads of the import are others")
		}
	}
	b.ReportMetric(0, "ns/op") // of several measurements: it would mean nothing
}

// measured reports how long do takes, and the most heap in use meanwhile.
func measured(b *testing.B, what string, do func() error) {
	b.Helper()
	stop, most := make(chan struct{}), make(chan float64)
	go func() {
		tick := time.NewTicker(10 * time.Millisecond)
		defer tick.Stop()
		heap := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
		for peak := 0.0; ; {
			metrics.Read(heap)
			peak = max(peak, float64(heap[0].Value.Uint64())/1e6)
			select {
			case <-stop:
				most <- peak
				return
			case <-tick.C:
			}
		}
	}()
	start := time.Now()
	err := do()
	took := time.Since(start)
	close(stop)
	b.ReportMetric(took.Seconds(), what+"-s")
	b.ReportMetric(<-most, what+"-heap-MB")
	if err != nil {
		b.Fatal(err)
	}
}
