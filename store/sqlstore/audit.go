package sqlstore

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/socialdata/socialdata/store/bookkeeping"
)

var _ bookkeeping.Bookkeeper = (*DB)(nil)

// Audit proves that every balance is the sum of its account's entries and never below 0; that no entry was changed,
// added or removed (each hash covers the previous one, and the row of each account has the last one); and that the
// spending of each key with a cap is the sum of its charges. It checks a snapshot of each account, a page at a time,
// while others charge: one snapshot has the account's last entry and what its keys have spent, and entries before that
// never change. Findings are in the report; the error is not nil when the database could not be read.
//
// Someone who can write to the database can rewrite all of it consistently, which only [DB.AuditAgainst] detects.
func (db *DB) Audit(ctx context.Context) (bookkeeping.Report, error) { return db.audit(ctx, nil) }

// AuditAgainst is [DB.Audit], and also compares the database with what [DB.Heads], or Heads of another store, wrote
// earlier. It returns bookkeeping.ErrHeads when that is not complete.
func (db *DB) AuditAgainst(ctx context.Context, heads io.Reader) (bookkeeping.Report, error) {
	kept, err := bookkeeping.ReadHeads(heads)
	if err != nil {
		return bookkeeping.Report{}, err
	}
	return db.audit(ctx, kept)
}

func (db *DB) audit(ctx context.Context, kept *bookkeeping.Heads) (bookkeeping.Report, error) {
	a := bookkeeping.NewAuditor(kept)
	for _, step := range []func(context.Context, *bookkeeping.Auditor) error{
		db.auditDamage, db.auditLosses,
		db.auditKeys, // before the accounts, because a new key can belong to a new account
		db.auditAccounts,
	} {
		if err := step(ctx, a); err != nil {
			return a.SoFar(), fmt.Errorf("store: audit: %w", err)
		}
	}
	return a.Report(), nil
}

func (db *DB) auditDamage(ctx context.Context, a *bookkeeping.Auditor) error {
	if db.cfg.Damage == nil {
		return nil
	}
	found, err := db.cfg.Damage(ctx)
	for _, damage := range found {
		a.Problem("%s", damage)
	}
	return err
}

func (db *DB) auditLosses(ctx context.Context, a *bookkeeping.Auditor) error {
	found, err := list(ctx, db, func(r row) (l bookkeeping.Loss, err error) {
		var accepted, at int64
		err = r.Scan(&accepted, &at, &l.HadEntries, &l.HadCredits, &l.Entries, &l.Credits)
		l.Accepted, l.At = fromMicros(accepted), fromMicros(at)
		return l, err
	}, "SELECT accepted, at, had_entries, had_credits, entries, credits FROM @losses ORDER BY no")
	for _, l := range found {
		a.Loss(l)
	}
	return err
}

func (db *DB) auditKeys(ctx context.Context, a *bookkeeping.Auditor) error {
	return db.eachKey(ctx, func(k *numberedKey) error {
		a.Key(k.Key)
		return nil
	})
}

func (db *DB) auditAccounts(ctx context.Context, a *bookkeeping.Auditor) error {
	return db.eachPart(ctx, func(p *part) error {
		for _, h := range p.heads {
			a.Account(h.account.ID)
			if h.after > 0 {
				a.Problem("account %s ends with entry %d, and %d more follow it", h.account.ID, h.last.Seq, h.after)
			}
		}
		for _, s := range p.spent {
			if h := p.byNumber[s.account]; h != nil {
				a.Spending(h.account.ID, s.key, s.Spent)
			} else {
				a.Problem("the spending of key %s is that of account number %d, which does not exist", s.key, s.account)
			}
		}
		foreign := map[int64]int{} // number of entries, by the numbers of accounts that are not in the part
		err := db.eachEntry(ctx, p, func(h *head, e *numberedEntry) error {
			if h == nil {
				foreign[e.no]++
			} else {
				a.Entry(e.Entry)
			}
			return nil
		})
		if err != nil {
			return err
		}
		for _, h := range p.heads {
			a.Last(h.account.ID, h.last)
		}
		return db.auditForeign(ctx, a, foreign)
	})
}

// auditForeign reports entries without an account. A new account is committed before its first entries or together with
// them, so it exists by now.
func (db *DB) auditForeign(ctx context.Context, a *bookkeeping.Auditor, foreign map[int64]int) error {
	for _, no := range slices.Sorted(maps.Keys(foreign)) {
		there, err := list(ctx, db, scanOne[int64], "SELECT no FROM @accounts WHERE no = ?", no)
		if err != nil {
			return err
		}
		if len(there) == 0 {
			a.Problem("%d entries belong to account number %d, which does not exist", foreign[no], no)
		}
	}
	return nil
}

// Heads writes the last entry of every account, and every key, as JSON Lines of some 150 bytes each. If they are stored
// where someone who can write to the database cannot write, [DB.AuditAgainst] detects what an audit of the database
// alone cannot: that the last entries of an account were removed with all their traces, that a whole history was
// rewritten, or that a revoked key became valid again.
func (db *DB) Heads(ctx context.Context, w io.Writer) error {
	out := bookkeeping.NewHeadsWriter(w)
	err := db.eachPart(ctx, func(p *part) error {
		for _, h := range p.heads {
			if err := out.Account(h.account.ID, h.last); err != nil {
				return err
			}
		}
		return nil
	})
	if err == nil {
		err = db.eachKey(ctx, func(k *numberedKey) error { return out.Key(k.Key) })
	}
	if err != nil {
		return fmt.Errorf("store: heads: %w", err)
	}
	return out.Close()
}
