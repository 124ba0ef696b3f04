package accounts

import (
	"cmp"
	"context"
	"crypto/rand"
	"iter"

	"github.com/socialdata/socialdata/internal/engine"
	"github.com/socialdata/socialdata/operation"
	"github.com/socialdata/socialdata/schema"
)

// All are all accounts of a service, for its operator: of this process, as that of a client of socialdata, or over HTTP,
// as that of package remote. An account is given by its name or its id; for an unknown one the error is not_found. Every
// error is a *[problem.Error].
type All struct{ caller operation.Caller }

// Over returns the accounts that c reaches, with the rows of socialdata.Changes.
func Over(c operation.Caller) All { return All{c} }

// List yields all accounts, oldest first, until the first error.
func (a All) List(ctx context.Context) iter.Seq2[schema.Account, error] {
	return func(yield func(schema.Account, error) bool) {
		for after := ""; ; {
			part, _, err := engine.ListAccounts.On(ctx, a.caller, after, struct{}{})
			if err != nil {
				yield(schema.Account{}, err)
				return
			}
			for _, account := range part.Accounts {
				if !yield(account, nil) {
					return
				}
			}
			if part.Next == nil {
				return
			}
			after = *part.Next
		}
	}
}

// Show returns one account.
func (a All) Show(ctx context.Context, account string) (schema.Account, error) {
	out, _, err := engine.ShowAccount.On(ctx, a.caller, account, struct{}{})
	return out, err
}

// Make makes an account, with spec.Credits to begin with, and reports whether it is new; of one that exists it changes
// the monthly credits only. Those are granted at once and then at 00:00 UTC on the first of each month, as entries of
// the ledger, once in each month whatever runs: a change counts from the next month, months in which no process ran are
// not made up, and what was not spent stays.
func (a All) Make(ctx context.Context, account string, spec schema.AccountSpec) (schema.Account, bool, error) {
	return engine.PutAccount.On(ctx, a.caller, account, spec)
}

// Grant gives an account credits. A grant with a key is made once, however often it is repeated; without one each call
// is another grant.
func (a All) Grant(ctx context.Context, account string, grant schema.CreditGrant) (schema.Account, error) {
	grant.Key = cmp.Or(grant.Key, rand.Text()) // a call over HTTP is repeated when its answer is lost
	out, _, err := engine.GrantCredits.On(ctx, a.caller, account, grant)
	return out, err
}

// Refund gives an account back what a request was charged, or a part of it: never more than that. Keys are those of
// [All.Grant].
func (a All) Refund(ctx context.Context, account string, refund schema.CreditRefund) (schema.Account, error) {
	refund.Key = cmp.Or(refund.Key, rand.Text())
	out, _, err := engine.RefundCredits.On(ctx, a.caller, account, refund)
	return out, err
}

// Close closes an account for good: its keys are revoked, its monitors and endpoints ended. Its entries and its balance
// stay. Closing it again completes what an earlier call has not done.
func (a All) Close(ctx context.Context, account string) (schema.Account, error) {
	out, _, err := engine.CloseAccount.On(ctx, a.caller, account, struct{}{})
	return out, err
}
