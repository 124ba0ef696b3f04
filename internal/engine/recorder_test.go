package engine

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/socialdata/socialdata/credits"
	"github.com/socialdata/socialdata/requests"
)

// asked is a ledger that notes the accounts whose entries are read.
type asked struct {
	credits.Ledger
	accounts []string
}

func (a *asked) Entries(ctx context.Context, q credits.Query) ([]credits.Entry, error) {
	a.accounts = append(a.accounts, q.Account)
	return nil, nil
}

func TestAccountsWithManyChargesAreFoldedFirst(t *testing.T) {
	t.Parallel()
	books := &asked{}
	r := newRecorder(&Config{Ledger: books, Now: time.Now})
	for account, charges := range map[string]int{"few": 1, "many": 3} {
		for range charges {
			r.note(requests.Request{At: time.Now(), Account: account, Credits: 1})
		}
	}
	for _, least := range []int{3, 3, 1} {
		if err := r.foldCharged(t.Context(), least); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff([]string{"many", "few"}, books.accounts); diff != "" {
		t.Errorf("folded accounts (-want +got):\n%s", diff)
	}
}
