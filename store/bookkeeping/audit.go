package bookkeeping

import (
	"fmt"
	"time"

	"github.com/socialdata/socialdata/credits"
	"github.com/socialdata/socialdata/keys"
)

// Report is what an audit found.
type Report struct {
	Accounts, Keys, Entries int64
	Credits                 int64    // sum of all balances
	Problems                []string // at most 100, the first ones; none when the books are in order
	Losses                  []Loss   // what was lost and accepted, oldest first
}

// Loss is what books had and lost, and that an owner went on without it.
type Loss struct {
	Accepted               time.Time // when
	At                     time.Time // when the books last showed what they had
	HadEntries, HadCredits int64
	Entries, Credits       int64 // that were there when it was accepted
}

// OK tells whether the books are in order.
func (r Report) OK() bool { return len(r.Problems) == 0 }

const maxProblems = 100

// Auditor proves books that a store hands it piece by piece: that every balance is the sum of its account's entries and
// never below 0, that no entry was changed, added or taken away in the middle, and that what is kept about the spending
// of a key is what its charges come to. Its memory grows with the accounts, not with the entries.
type Auditor struct {
	report   Report
	heads    *Heads
	last     map[string]credits.Entry
	spending map[spender]*spending
	owners   map[string]string // a key of each account that has one
}

type spender struct{ account, key string }

// spending is what a store keeps about a key, and what its charges come to.
type spending struct{ kept, found credits.Spent }

// NewAuditor returns an auditor that compares with heads, too, unless that is nil. An auditor uses its heads up.
func NewAuditor(heads *Heads) *Auditor {
	if heads == nil {
		heads = &Heads{}
	}
	return &Auditor{heads: heads, last: map[string]credits.Entry{}, spending: map[spender]*spending{}, owners: map[string]string{}}
}

// Problem notes what a store itself has found wrong.
func (a *Auditor) Problem(format string, args ...any) {
	if len(a.report.Problems) < maxProblems {
		a.report.Problems = append(a.report.Problems, fmt.Sprintf(format, args...))
	}
}

// Loss is called for every loss that was accepted.
func (a *Auditor) Loss(l Loss) { a.report.Losses = append(a.report.Losses, l) }

// Account is called for every account, before anything of it.
func (a *Auditor) Account(id string) {
	a.report.Accounts++
	a.last[id] = credits.Entry{}
}

// Key is called for every key.
func (a *Auditor) Key(k keys.Key) {
	a.report.Keys++
	a.owners[k.Account] = k.ID
	a.heads.key(a, k)
}

// Spending is called for every key whose spending the store keeps, with what it keeps, before the account's entries.
func (a *Auditor) Spending(account, key string, kept credits.Spent) {
	a.spending[spender{account, key}] = &spending{kept: kept}
}

// Entry is called for every entry of an account that is there, those of one account in their order.
func (a *Auditor) Entry(e credits.Entry) {
	a.report.Entries++
	a.report.Credits += e.Amount
	if err := e.Follows(a.last[e.Account]); err != nil {
		a.Problem("%v", err)
	}
	a.last[e.Account] = Head(e)
	a.heads.entry(a, e)
	if s, ok := a.spending[spender{e.Account, e.Key}]; ok && e.Kind == credits.Charged {
		s.found = s.found.Add(-e.Amount, e.Time())
	}
}

// Last compares the last entry of an account with what the store keeps of it beside the entries: the only trace that
// the last entries were taken away. It is called when all entries of the account were handed in.
func (a *Auditor) Last(account string, kept credits.Entry) {
	found := a.last[account]
	if found.Seq != kept.Seq || found.Balance != kept.Balance || found.Hash != kept.Hash {
		a.Problem("account %s ends with entry %d and a balance of %d, and not with entry %d and %d as is kept of it",
			account, found.Seq, found.Balance, kept.Seq, kept.Balance)
	}
}

// Report ends the audit.
func (a *Auditor) Report() Report {
	for who, s := range a.spending {
		if s.kept != s.found && (s.found.Total != 0 || s.kept.Total != 0 || s.kept.Today != 0) {
			a.Problem("key %s of account %s spent %d in all and %d on its last day, not %d and %d",
				who.key, who.account, s.found.Total, s.found.Today, s.kept.Total, s.kept.Today)
		}
	}
	for account, key := range a.owners {
		if _, ok := a.last[account]; !ok {
			a.Problem("key %s belongs to account %s, which is not there", key, account)
		}
	}
	a.heads.rest(a)
	return a.report
}

// SoFar returns what was found until now, for an audit that cannot go on.
func (a *Auditor) SoFar() Report { return a.report }
