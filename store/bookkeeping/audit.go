package bookkeeping

import (
	"fmt"
	"time"

	"github.com/socialdata/socialdata/credits"
	"github.com/socialdata/socialdata/keys"
)

// Report is the result of an audit.
type Report struct {
	Accounts, Keys, Entries int64
	Credits                 int64    // sum of all balances
	Problems                []string // the first 100 at most; none when everything is in order
	Changed                 []string // ids of keys that were changed or rotated since the heads were written, 100 at most
	Losses                  []Loss   // accepted losses, oldest first
}

// Loss is data that a store lost and whose loss the operator accepted.
type Loss struct {
	Accepted               time.Time // when it was accepted
	At                     time.Time // when the store last had the data
	HadEntries, HadCredits int64
	Entries, Credits       int64 // present when it was accepted
}

// OK reports whether the audit found no problems.
func (r Report) OK() bool { return len(r.Problems) == 0 }

const maxProblems = 100

// Auditor audits what a store passes to it piece by piece: that every balance is the sum of its account's entries and
// never negative, that no entry was changed, added or removed in the middle, and that the stored spending of a key
// equals the sum of its charges. Its memory grows with the accounts, not with the entries.
type Auditor struct {
	report   Report
	heads    *Heads
	last     map[string]credits.Entry
	spending map[spender]*spending
	owners   map[string]string // a key for each account that has one
}

type spender struct{ account, key string }

// spending is the stored spending of a key, and the sum of its charges.
type spending struct{ kept, found credits.Spent }

// NewAuditor returns an auditor that also compares with heads, unless that is nil. Heads can be used for one audit
// only.
func NewAuditor(heads *Heads) *Auditor {
	if heads == nil {
		heads = &Heads{}
	}
	return &Auditor{heads: heads, last: map[string]credits.Entry{}, spending: map[spender]*spending{}, owners: map[string]string{}}
}

// Problem records a problem that the store itself has found.
func (a *Auditor) Problem(format string, args ...any) {
	if len(a.report.Problems) < maxProblems {
		a.report.Problems = append(a.report.Problems, fmt.Sprintf(format, args...))
	}
}

// changed records that a key was changed or rotated since the heads were written, which is allowed.
func (a *Auditor) changed(id string) {
	if len(a.report.Changed) < maxProblems {
		a.report.Changed = append(a.report.Changed, id)
	}
}

// Loss is called for every accepted loss.
func (a *Auditor) Loss(l Loss) { a.report.Losses = append(a.report.Losses, l) }

// Account is called for every account, before anything that belongs to it.
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

// Spending is called for every key whose spending is stored, with the stored value, before the account's entries.
func (a *Auditor) Spending(account, key string, kept credits.Spent) {
	a.spending[spender{account, key}] = &spending{kept: kept}
}

// Entry is called for every entry of an existing account, in order for each account.
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

// Last compares the last entry of an account with what the store keeps about it besides the entries: the only trace if
// the last entries were removed. It is called after all entries of the account.
func (a *Auditor) Last(account string, kept credits.Entry) {
	found := a.last[account]
	if found.Seq != kept.Seq || found.Balance != kept.Balance || found.Hash != kept.Hash {
		a.Problem("account %s ends with entry %d and a balance of %d, but its record says entry %d and %d",
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
			a.Problem("key %s belongs to account %s, which does not exist", key, account)
		}
	}
	a.heads.rest(a)
	return a.report
}

// SoFar returns the report so far, for an audit that cannot continue.
func (a *Auditor) SoFar() Report { return a.report }
