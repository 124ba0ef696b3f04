package ledgertest

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/socialdata/socialdata/credits"
)

// requestIDs returns ids of requests that a ledger may confuse: some begin with others, or have what is special in a
// pattern, a range or a name.
func requestIDs() []string {
	return []string{
		"req_1", "req_10", "req_1/", "req_1/2", "req_1//", "req_10/", "req_1 2", "req_1 ", " ", "/", "//", "0", "/0", "req_",
		"req_%", "req%", "%", "_", "req_1%", `req_1\`, `\`, `req_1\/`, "req*", "[r]eq_1", "'", `"`, "REQ_1", "req_1é", "é", "e\u0301",
		"\ufffd", "\U0010ffff", "req_1\U0010ffff", "طلب", fmt.Sprintf("%0256d", 1), fmt.Sprintf("%0300d", 1),
	}
}

// testRequests charges and refunds requests in every way, and looks for the entries of each.
func testRequests(t *testing.T, open Open) {
	t.Helper()
	l := open(t, 100_000)
	charger, _ := l.(credits.Charger)
	granter, _ := l.(credits.Granter)
	ids, amount := requestIDs(), int64(0)
	charge := func(id, own string) {
		t.Helper()
		amount++ // so that a sum with a wrong entry is wrong
		c := credits.Charge{Amount: amount, Platform: "x", RequestID: id, Cache: "HIT", ID: own}
		if charger == nil {
			spend(t, l, amount, c)
			return
		}
		if r, err := charger.Charge(t.Context(), who, c); err != nil || r.Charged != amount {
			t.Fatalf("Charge for %q = %+v, %v", id, r, err)
		}
	}
	for i, id := range ids {
		charge(id, "")
		amount++
		spend(t, l, amount, credits.Charge{Platform: "github", RequestID: id, Cache: "MISS"})
		charge(id, "")
		charge(id, fmt.Sprint("own_", i))
		charge(id, fmt.Sprint(id, credits.RequestEnd, "own_", i))
		if granter != nil {
			if _, err := granter.Refund(t.Context(), Account, 1, id, "once"); err != nil {
				t.Fatalf("Refund of %q: %v", id, err)
			}
			g := credits.Gift{Account: Account, Kind: credits.Refunded, Amount: 1, RequestID: id, Key: fmt.Sprint("again ", i)}
			if _, err := granter.Give(t.Context(), g); err != nil {
				t.Fatalf("Give to %q: %v", id, err)
			}
		}
	}
	charge("", "")
	charge("", fmt.Sprint("req_1", credits.RequestEnd, "of none"))
	all := entries(t, l, credits.Query{Limit: 10_000})
	checkChain(t, all)
	for _, id := range append(ids, "req", "req_1/own", "\x00", "\xff") {
		of := slices.DeleteFunc(slices.Clone(all), func(e credits.Entry) bool { return e.RequestID != id })
		pages := map[string]credits.Query{
			"all": {}, "the last three": {Limit: 3}, "of a platform": {Platform: "x"}, "of a platform that was not": {Platform: "y"},
		}
		if len(of) > 3 {
			pages["before one"], pages["before the first"] = credits.Query{Before: of[1].Seq}, credits.Query{Before: 1}
			pages["between two times"] = credits.Query{Since: of[3].At, Until: of[1].At}
			pages["a page of a platform"] = credits.Query{Platform: "x", Before: of[1].Seq, Limit: 2}
		}
		for name, q := range pages {
			q.Account, q.RequestID = Account, id
			if q.Limit == 0 {
				q.Limit = 1000
			}
			want := []credits.Entry{}
			for _, e := range of {
				if q.Selects(e) && len(want) < q.Limit {
					want = append(want, e)
				}
			}
			if diff := cmp.Diff(want, entries(t, l, q)); diff != "" {
				t.Errorf("request %q, %s (-want +got):\n%s", id, name, diff)
			}
		}
		left := int64(0)
		for _, e := range of {
			left -= e.Amount
		}
		if n, err := credits.Refundable(t.Context(), l, Account, id); n != left || err != nil {
			t.Errorf("Refundable of %q = %d, %v; want %d", id, n, err, left)
		}
		if granter == nil || left == 0 {
			continue
		}
		if _, err := granter.Refund(t.Context(), Account, left+1, id, "too much"); !errors.Is(err, credits.ErrAmount) {
			t.Errorf("Refund of more than remains of %q = %v; want ErrAmount", id, err)
		}
		if _, err := granter.Refund(t.Context(), Account, left, id, "the rest"); err != nil {
			t.Errorf("Refund of what remains of %q: %v", id, err)
		}
		if n, err := credits.Refundable(t.Context(), l, Account, id); n != 0 || err != nil {
			t.Errorf("Refundable of %q after that = %d, %v; want 0", id, n, err)
		}
	}
}

// OldEntries returns entries as they were before the ids of charges began with those of their requests: some holds begin
// so by chance. They have no account, time or place in a chain yet.
func OldEntries() []credits.Entry {
	return []credits.Entry{
		{Kind: credits.Granted, Amount: 1000},
		{Kind: credits.Charged, Amount: -2, Platform: "x", RequestID: "req_1", Hold: "h1"},
		{Kind: credits.Charged, Amount: -3, Platform: "x", RequestID: "req_10", Hold: "h2"},
		{Kind: credits.Charged, Amount: -5, Platform: "github", RequestID: "req_1", Hold: "req_1/h3"},
		{Kind: credits.Charged, Amount: -7, Platform: "github", RequestID: "req_1/h4", Hold: "req_1/h4"},
		{Kind: credits.Refunded, Amount: 1, RequestID: "req_1"},
		{Kind: credits.Refunded, Amount: 1, RequestID: "req_10", Hold: "gift acct req_1/"},
	}
}

// CheckOldEntries checks that entries are found and refunded by their request. all are those of [OldEntries] as they are
// stored for an account; a charge of 11 credits for "req_1" on platform "x" has been made since.
func CheckOldEntries(t *testing.T, l interface {
	credits.Ledger
	credits.Granter
}, all []credits.Entry,
) {
	t.Helper()
	account := all[0].Account
	newest, err := l.Entries(t.Context(), credits.Query{Account: account, Limit: 1})
	if err != nil {
		t.Fatal(err)
	}
	all = slices.Concat(all, newest)
	for id, refundable := range map[string]int64{"req_1": 17, "req_10": 2, "req_1/h4": 7, "req_1/": 0, "h1": 0} {
		for _, platform := range []string{"", "x"} {
			q, want := credits.Query{Account: account, RequestID: id, Platform: platform}, []credits.Entry{}
			for _, e := range slices.Backward(all) {
				if q.Selects(e) {
					want = append(want, e)
				}
			}
			got, err := l.Entries(t.Context(), q)
			if diff := cmp.Diff(want, got); diff != "" || err != nil {
				t.Errorf("%+v: %v (-want +got):\n%s", q, err, diff)
			}
		}
		if _, err := l.Refund(t.Context(), account, refundable+1, id, ""); !errors.Is(err, credits.ErrAmount) {
			t.Errorf("a refund of %d of %s = %v; want ErrAmount", refundable+1, id, err)
		}
		if refundable == 0 {
			continue
		}
		if _, err := l.Refund(t.Context(), account, refundable, id, ""); err != nil {
			t.Errorf("a refund of %d of %s: %v", refundable, id, err)
		}
	}
}
