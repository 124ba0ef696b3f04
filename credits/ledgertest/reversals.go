package ledgertest

import (
	"errors"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/socialdata/socialdata/credits"
)

// granter is a ledger in which credits can be granted.
type granter interface {
	credits.Ledger
	credits.Granter
}

// testReversals takes grants back. A ledger that is not a [credits.Granter] is skipped.
func testReversals(t *testing.T, open Open) {
	t.Helper()
	l, ok := open(t, 100).(granter)
	if !ok {
		t.Skip("no credits.Granter")
	}
	give := credits.Gift{Account: Account, Kind: credits.Granted, Amount: 50, Key: "invoice 9"}
	if _, err := l.Give(t.Context(), give); err != nil {
		t.Fatal(err)
	}
	spend(t, l, 10, credits.Charge{RequestID: "req_1"})
	if _, err := l.Refund(t.Context(), Account, 1, "req_1", ""); err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		account string
		seq     int64
		reason  string
		want    error
	}{
		"a charge":              {Account, 3, "", credits.ErrNotGrant},
		"a refund":              {Account, 4, "", credits.ErrNotGrant},
		"no entry":              {Account, 5, "", credits.ErrNotGrant},
		"zero":                  {Account, 0, "", credits.ErrNotGrant},
		"a negative number":     {Account, -1, "", credits.ErrNotGrant},
		"another account":       {"acct_other", 1, "", credits.ErrUnknownAccount},
		"a reason with control": {Account, 2, "a\x00b", credits.ErrInvalid},
	} {
		if _, err := l.Reverse(t.Context(), tt.account, tt.seq, tt.reason); !errors.Is(err, tt.want) {
			t.Errorf("Reverse of %s = %v; want %v", name, err, tt.want)
		}
	}
	got, err := l.Reverse(t.Context(), Account, 2, "a slip")
	if err != nil {
		t.Fatal(err)
	}
	want := credits.Reversal{Balance: 91, Entry: credits.Entry{
		Seq: 5, Account: Account, Kind: credits.Reversed, Amount: -50, Balance: 91, Reason: "a slip",
		Hold: credits.ReversalHold(Account, 2),
	}}
	ignore := cmpopts.IgnoreFields(credits.Entry{}, "At", "Hash")
	if diff := cmp.Diff(want, got, ignore); diff != "" {
		t.Errorf("Reverse (-want +got):\n%s", diff)
	}
	want.Earlier = true
	if again, err := l.Reverse(t.Context(), Account, 2, "again"); err != nil || !cmp.Equal(want, again, ignore) {
		t.Errorf("Reverse again = %v (-want +got):\n%s", err, cmp.Diff(want, again, ignore))
	}
	if _, err := l.Reverse(t.Context(), Account, 5, ""); !errors.Is(err, credits.ErrNotGrant) {
		t.Errorf("Reverse of a reversal = %v; want ErrNotGrant", err)
	}
	if n, err := l.Give(t.Context(), give); err != nil || n != 91 {
		t.Errorf("Give of a reversed grant again = %d, %v; want 91 and no entry", n, err)
	}
	hold := reserve(t, l, 1)[0] // 90 are free, of the first grant of 100
	if _, err := l.Reverse(t.Context(), Account, 1, ""); !errors.Is(err, credits.ErrInsufficient) {
		t.Errorf("Reverse of what is spent and held = %v; want ErrInsufficient", err)
	}
	settle(t, l, hold, credits.Charge{})
	wantBalance(t, l, 91)
	checkChain(t, entries(t, l, credits.Query{}))
	reverseTogether(t, l)
}

// reverseTogether reverses a grant from many callers, while others spend: it is reversed once or not at all, and no
// hold is left uncovered. The account can spend 91.
func reverseTogether(t *testing.T, l granter) {
	t.Helper()
	if _, err := l.Grant(t.Context(), Account, 9, ""); err != nil {
		t.Fatal(err)
	}
	seq := entries(t, l, credits.Query{Limit: 1})[0].Seq
	const callers = 8
	var wg sync.WaitGroup
	var reversed, charged atomic.Int64
	for range callers {
		wg.Go(func() {
			r, err := l.Reverse(t.Context(), Account, seq, "")
			switch {
			case err == nil && !r.Earlier:
				reversed.Add(-r.Entry.Amount)
			case err != nil && !errors.Is(err, credits.ErrInsufficient):
				t.Errorf("Reverse: %v", err)
			}
		})
		wg.Go(func() {
			holds, err := l.Reserve(t.Context(), who, ttl, 13)
			if errors.Is(err, credits.ErrInsufficient) {
				return
			}
			if err != nil {
				t.Errorf("Reserve: %v", err)
				return
			}
			if _, err := l.Settle(t.Context(), holds[0], credits.Charge{Amount: 13}); err != nil {
				t.Errorf("Settle of a hold beside a reversal: %v", err)
				return
			}
			charged.Add(13)
		})
	}
	wg.Wait()
	if n := reversed.Load(); n != 9 && n != 0 {
		t.Errorf("%d credits were taken back; want all 9 or none", n)
	}
	wantBalance(t, l, 100-reversed.Load()-charged.Load())
	checkChain(t, entries(t, l, credits.Query{Limit: 1000}))
}
