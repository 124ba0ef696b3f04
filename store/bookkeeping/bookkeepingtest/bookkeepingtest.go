// Package bookkeepingtest is the suite that every [bookkeeping.Bookkeeper] passes.
//
//	func TestBookkeeping(t *testing.T) {
//		bookkeepingtest.Run(t, func(t *testing.T) bookkeepingtest.Store {
//			db := openTemp(t)
//			return bookkeepingtest.Store{
//				Bookkeeper: db, Admin: db.Keys(), Ledger: db.Ledger(),
//				Watches: db.Watches(), Records: db.Records(), Blocklist: db.Blocklist(),
//			}
//		})
//	}
package bookkeepingtest

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/socialdata/socialdata/credits"
	"github.com/socialdata/socialdata/keys"
	"github.com/socialdata/socialdata/keys/keystest"
	"github.com/socialdata/socialdata/privacy"
	"github.com/socialdata/socialdata/records"
	"github.com/socialdata/socialdata/store/bookkeeping"
	"github.com/socialdata/socialdata/watch"
)

// Store is a bookkeeper and the stores that it works on.
type Store struct {
	bookkeeping.Bookkeeper
	keys.Admin
	keystest.Ledger

	// nil if the bookkeeper has only accounts, keys and entries.
	Watches   watch.Store
	Records   records.Store
	Blocklist privacy.Blocklist
}

// Open returns a new, empty store. It cleans up through t.
type Open func(t *testing.T) Store

// Run tests a bookkeeper.
func Run(t *testing.T, open Open) {
	t.Helper()
	topics := []struct {
		name string
		test func(t *testing.T, open Open)
	}{
		{"what is exported is imported", testMove},
		{"an import takes all or nothing", testRefused},
		{"heads show what was taken away", testHeads},
		{"beside callers that charge", testBeside},
		{"monitors, endpoints, records and the block list", testEverything},
		{"an export of an earlier program is imported", testEarlier},
	}
	for _, topic := range topics {
		t.Run(topic.name, func(t *testing.T) {
			t.Parallel()
			topic.test(t, open)
		})
	}
}

// fill creates three accounts, one of them empty, and keys of every kind; the last one is revoked.
func fill(t *testing.T, s Store) (accounts []keys.Account, made []keys.Key) {
	t.Helper()
	for name, n := range map[string]int64{"shop": 100, "متجر": 50, "empty": 0} {
		a, err := s.OpenAccount(t.Context(), name, n, "to begin with")
		if err != nil {
			t.Fatal(err)
		}
		accounts = append(accounts, a)
	}
	slices.SortFunc(accounts, func(a, b keys.Account) int { return strings.Compare(a.Name, b.Name) }) // empty, shop, متجر
	for _, n := range []keys.NewKey{
		{Environment: keys.Live},
		{Name: "crawler", Environment: keys.Test, Rate: &keys.Rate{Capacity: 5, Refill: 0.5}, DayCap: new(int64(40)), Manage: true, TotalCap: new(int64(60))},
		{Name: "old", Environment: keys.Live},
	} {
		n.Account = accounts[1].ID
		_, k, err := s.CreateKey(t.Context(), n)
		if err != nil {
			t.Fatal(err)
		}
		made = append(made, k)
	}
	_, _, err := s.Rotate(t.Context(), made[1].ID, time.Now().Add(time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	made[1], err = s.Change(t.Context(), made[1].ID, func(k *keys.Key) error {
		k.Bounds = &keys.Limits{Rate: &keys.Rate{Capacity: 7, Refill: 1.25}, DayCap: new(int64(50))}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Revoke(t.Context(), made[2].ID); err != nil {
		t.Fatal(err)
	}
	for i, key := range []keys.Key{made[0], made[1], made[1]} {
		charge(t, s, accounts[1].ID, key.ID, int64(10+i), "req_"+string(rune('1'+i)))
	}
	if _, err := s.Refund(t.Context(), accounts[1].ID, 3, "req_1", "sorry"); err != nil {
		t.Fatal(err)
	}
	return accounts, made
}

func charge(t *testing.T, s Store, account, key string, n int64, request string) {
	t.Helper()
	holds, err := s.Reserve(t.Context(), credits.Spender{Account: account, Key: key}, time.Hour, n)
	if err == nil {
		_, err = s.Settle(t.Context(), holds[0], credits.Charge{
			Amount: n, Operation: "profile", Platform: "x", RequestID: request, Cache: "MISS", IdempotencyKey: request,
		})
	}
	if err != nil {
		t.Error(err)
	}
}

// exportOf returns the lines of an export, in an order that does not depend on the store.
func exportOf(t *testing.T, s Store) (text string, lines []string) {
	t.Helper()
	var out bytes.Buffer
	if err := s.Export(t.Context(), &out); err != nil {
		t.Fatal(err)
	}
	return out.String(), slices.Sorted(strings.Lines(out.String()))
}

func headsOf(t *testing.T, s Store) string {
	t.Helper()
	var out bytes.Buffer
	if err := s.Heads(t.Context(), &out); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// wantAudit audits the store, against heads unless they are empty.
func wantAudit(t *testing.T, s Store, heads string) bookkeeping.Report {
	t.Helper()
	report, err := s.Audit(t.Context())
	if heads != "" {
		report, err = s.AuditAgainst(t.Context(), strings.NewReader(heads))
	}
	if err != nil || !report.OK() {
		t.Errorf("the audit found %q, %v", report.Problems, err)
	}
	return report
}

// testMove moves everything from the store to another of its kind, through memory, and continues there.
func testMove(t *testing.T, open Open) {
	t.Helper()
	from := open(t)
	accounts, made := fill(t, from)
	text, want := exportOf(t, from)
	heads, report := headsOf(t, from), wantAudit(t, from, "")
	if want := (bookkeeping.Report{Accounts: 3, Keys: 3, Entries: 6, Credits: 150 - 10 - 11 - 12 + 3}); !cmp.Equal(want, report) {
		t.Errorf("the report is %+v; want %+v", report, want)
	}
	for range 2 {
		to := open(t) // the second one gets the export of the first
		if err := to.Import(t.Context(), strings.NewReader(text)); err != nil {
			t.Fatal(err)
		}
		var got []string
		text, got = exportOf(t, to)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("the export of an import (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff(report, wantAudit(t, to, heads)); diff != "" {
			t.Errorf("the report of an import (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff(slices.Sorted(strings.Lines(heads)), slices.Sorted(strings.Lines(headsOf(t, to)))); diff != "" {
			t.Errorf("the heads of an import (-want +got):\n%s", diff)
		}
		if got, err := to.Keys(t.Context(), accounts[1].ID); err != nil || !cmp.Equal(made[:2], got[:2]) || got[2].RevokedAt == nil {
			t.Errorf("Keys = %+v, %v; want %+v", got, err, made)
		}
		for i, want := range []int64{0, 70, 50} {
			if got, err := to.Balance(t.Context(), accounts[i].ID); got != want || err != nil {
				t.Errorf("Balance of %s = %d, %v; want %d", accounts[i].Name, got, err, want)
			}
		}
		capped := credits.Spender{Account: accounts[1].ID, Key: made[1].ID, DayCap: made[1].DayCap}
		if _, err := to.Reserve(t.Context(), capped, time.Hour, 40-11-12+1); !errors.Is(err, credits.ErrCap) {
			t.Errorf("Reserve above the cap = %v; want ErrCap", err)
		}
		holds, err := to.Reserve(t.Context(), capped, time.Hour, 1)
		if err != nil {
			t.Fatal(err)
		}
		again := credits.Charge{Amount: 1, RequestID: "req_2", IdempotencyKey: "req_2"}
		if r, err := to.Settle(t.Context(), holds[0], again); err != nil || r.Charged != 11 || !r.Earlier {
			t.Errorf("Settle of a request that was charged before = %+v, %v; want its 11 credits", r, err)
		}
	}
}

func testRefused(t *testing.T, open Open) {
	t.Helper()
	s := open(t)
	fill(t, s)
	text, want := exportOf(t, s)
	other := open(t)
	fill(t, other)
	_, others := exportOf(t, other)
	lines := strings.SplitAfter(text, "\n")
	tests := []struct {
		name, text string
		into       Store
		before     []string
		want       error
	}{
		{"twice", text, s, want, bookkeeping.ErrExists},
		{"other accounts of the same names", text, other, others, bookkeeping.ErrExists},
		{"without its end", strings.Join(lines[:len(lines)-2], ""), open(t), nil, bookkeeping.ErrImport},
		{"nothing", "", open(t), nil, bookkeeping.ErrImport},
		{"a changed amount", strings.Replace(text, `"amount":-12,"balance"`, `"amount":-11,"balance"`, 1), open(t), nil, credits.ErrBroken},
	}
	for _, tt := range tests {
		if err := tt.into.Import(t.Context(), strings.NewReader(tt.text)); !errors.Is(err, tt.want) {
			t.Errorf("%s: Import = %v; want %v", tt.name, err, tt.want)
		}
		if tt.before == nil {
			if report := wantAudit(t, tt.into, ""); report.Accounts+report.Keys+report.Entries > 0 {
				t.Errorf("%s: %+v is there", tt.name, report)
			}
			continue
		}
		if _, got := exportOf(t, tt.into); !cmp.Equal(tt.before, got) {
			t.Errorf("%s: it has changed (-want +got):\n%s", tt.name, cmp.Diff(tt.before, got))
		}
	}
}

func testHeads(t *testing.T, open Open) {
	t.Helper()
	s := open(t)
	accounts, made := fill(t, s)
	before, _ := exportOf(t, s)
	if _, err := s.Revoke(t.Context(), made[0].ID); err != nil {
		t.Fatal(err)
	}
	charge(t, s, accounts[2].ID, "", 1, "req_last")
	heads := headsOf(t, s)
	if _, err := s.Grant(t.Context(), accounts[0].ID, 5, "more"); err != nil {
		t.Fatal(err)
	}
	wantAudit(t, s, heads)
	older := open(t)
	if err := older.Import(t.Context(), strings.NewReader(before)); err != nil {
		t.Fatal(err)
	}
	wantAudit(t, older, "")
	report, err := older.AuditAgainst(t.Context(), strings.NewReader(heads))
	if err != nil {
		t.Fatal(err)
	}
	found := strings.Join(report.Problems, "\n")
	for _, want := range []string{"key " + made[0].ID + " was revoked", "account " + accounts[2].ID + " had 2 entries"} {
		if !strings.Contains(found, want) {
			t.Errorf("problems %q; want one that says %q", found, want)
		}
	}
	if len(report.Problems) != 2 {
		t.Errorf("problems %q; want two", found)
	}
	cut := heads[:strings.LastIndexByte(strings.TrimSuffix(heads, "\n"), '\n')+1]
	if _, err := s.AuditAgainst(t.Context(), strings.NewReader(cut)); !errors.Is(err, bookkeeping.ErrHeads) {
		t.Errorf("AuditAgainst heads that are not whole = %v; want ErrHeads", err)
	}
}

// testBeside audits and exports while accounts are opened and charged.
func testBeside(t *testing.T, open Open) {
	t.Helper()
	s := open(t)
	accounts, made := fill(t, s)
	done := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		for i := range 200 {
			select {
			case <-done:
				return
			default:
			}
			if _, err := s.Grant(t.Context(), accounts[1].ID, 1, ""); err != nil {
				t.Error(err)
				return
			}
			charge(t, s, accounts[1].ID, made[0].ID, 1, "")
			if i%10 == 9 {
				a, err := s.OpenAccount(t.Context(), "new "+keys.NewID("n"), 3, "")
				if err != nil {
					t.Error(err)
					return
				}
				if _, _, err := s.CreateKey(t.Context(), keys.NewKey{Account: a.ID, Environment: keys.Live}); err != nil {
					t.Error(err)
					return
				}
				charge(t, s, a.ID, "", 1, "")
			}
		}
	})
	for range 5 {
		heads := headsOf(t, s)
		wantAudit(t, s, heads)
		text, _ := exportOf(t, s)
		to := open(t)
		if err := to.Import(t.Context(), strings.NewReader(text)); err != nil {
			t.Error(err)
		}
		wantAudit(t, to, heads)
	}
	close(done)
	wg.Wait()
}
