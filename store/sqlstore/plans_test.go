package sqlstore_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/socialdata/socialdata/credits"
	"github.com/socialdata/socialdata/keys"
	"github.com/socialdata/socialdata/store/sqlite"
	"github.com/socialdata/socialdata/store/sqlstore"
)

// openAccount opens a file with an account of 100 credits.
func openAccount(t *testing.T) (*sqlite.DB, keys.Account) {
	t.Helper()
	db, err := sqlite.Open(t.Context(), sqlite.Config{Path: filepath.Join(t.TempDir(), "test.db")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	a, err := db.Keys().OpenAccount(t.Context(), "acct", 100, "")
	if err != nil {
		t.Fatal(err)
	}
	return db, a
}

func TestEveryQueryOfEntriesIsServedByIndexes(t *testing.T) {
	t.Parallel()
	db, _ := openAccount(t)
	now := time.Now()
	const hold = "entries_hold (hold>? AND hold<?)"
	tests := []struct {
		name string
		q    credits.Query
		want []string
	}{
		{"all", credits.Query{}, []string{"entries_account (account=?)"}},
		{"before", credits.Query{Before: 5}, []string{"entries_account (account=? AND seq<?)"}},
		{
			"time",
			credits.Query{Since: now.Add(-time.Hour), Until: now},
			[]string{"entries_account (account=? AND seq>? AND seq<?)"},
		},
		{"platform", credits.Query{Platform: "x", Before: 5}, []string{"entries_account (account=? AND seq<?)"}},
		{"platform and time", credits.Query{Platform: "x", Since: now}, []string{"entries_account (account=? AND seq>?)"}},
		{"request", credits.Query{RequestID: "r"}, []string{"entries_request (request_id=? AND account=?)", hold}},
		{
			"request on a platform, before",
			credits.Query{RequestID: "r", Platform: "x", Before: 5},
			[]string{"entries_request (request_id=? AND account=? AND seq<?)", hold},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			query, args, err := db.Ledger().EntriesQuery(t.Context(), 1, tt.q)
			if err != nil {
				t.Fatal(err)
			}
			plan, err := db.List(t.Context(), 4, "EXPLAIN QUERY PLAN "+query, args...)
			if err != nil {
				t.Fatal(err)
			}
			searches, sorts := []string{}, 0
			for _, step := range plan {
				if index, ok := strings.CutPrefix(step, "SEARCH entries USING INDEX "); ok {
					searches = append(searches, index)
				} else if strings.Contains(step, "SCAN") {
					t.Errorf("it scans: %q", step)
				} else if strings.Contains(step, "TEMP B-TREE") {
					sorts++
				}
			}
			if diff := cmp.Diff(tt.want, searches); diff != "" || sorts != len(tt.want)-1 { // those of one request are sorted
				t.Errorf("planned as %q (-want +got):\n%s", plan, diff)
			}
		})
	}
}

// TestTheEntryOfAHitIsInTwoIndexes counts the entries that each partial index has.
func TestTheEntryOfAHitIsInTwoIndexes(t *testing.T) {
	t.Parallel()
	db, a := openAccount(t)
	who := credits.Spender{Account: a.ID}
	c := credits.Charge{Amount: 1, Operation: "profile", Platform: "x", RequestID: "req_1", Cache: "HIT"}
	charge := func(c credits.Charge) func() error {
		return func() error { _, err := db.Ledger().Charge(t.Context(), who, c); return err }
	}
	keyed := c
	keyed.IdempotencyKey = "once"
	for _, tt := range []struct {
		name string
		add  func() error
		want []string // the indexes, beside that of the account
	}{
		{"a hit", charge(c), []string{"hold"}},
		{"another of the same request", charge(c), []string{"hold"}},
		{"a hit under an idempotency key", charge(keyed), []string{"hold", "keyed"}},
		{"a miss", func() error {
			holds, err := db.Ledger().Reserve(t.Context(), who, time.Minute, 1)
			if err == nil {
				_, err = db.Ledger().Settle(t.Context(), holds[0], c)
			}
			return err
		}, []string{"hold", "request"}},
		{"a refund", func() error { _, err := db.Ledger().Refund(t.Context(), a.ID, 1, "req_1", ""); return err }, []string{"request"}},
	} {
		if err := tt.add(); err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, index := range []string{"hold", "keyed", "request"} {
			in, err := db.List(
				t.Context(),
				1,
				fmt.Sprintf("SELECT count(*) FROM entries WHERE seq = (SELECT max(seq) FROM entries) AND %s",
					map[string]string{"hold": "hold <> ''", "keyed": "idempotency_key <> ''", "request": sqlstore.OwnRequest}[index]),
			)
			if err != nil {
				t.Fatal(err)
			}
			if in[0] == "1" {
				got = append(got, index)
			}
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s is in other indexes (-want +got):\n%s", tt.name, diff)
		}
	}
}
