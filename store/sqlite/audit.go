package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/socialdata/socialdata/credits"
	"github.com/socialdata/socialdata/store/bookkeeping"
)

// audit checks the whole file in one snapshot, and compares it with kept unless that is nil.
func audit(ctx context.Context, f *file, kept *bookkeeping.Heads) (bookkeeping.Report, error) {
	tx, err := f.read.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return bookkeeping.Report{}, explain(err)
	}
	defer tx.Rollback() //nolint:errcheck // it only ends a snapshot
	a := auditor{
		tx: tx, found: bookkeeping.NewAuditor(kept), accountIDs: map[int64]string{}, spending: map[spender]*credits.Spent{},
	}
	if f.lost != nil {
		a.found.Problem("%v", f.lost)
	}
	for _, step := range []func(context.Context) error{
		a.pages, a.accounts, a.keys, a.capped, a.entries, a.totals, a.journal, a.losses,
	} {
		if err := step(ctx); err != nil {
			return a.whole(a.found.SoFar()), fmt.Errorf("sqlite: audit: %w", explain(err))
		}
	}
	return a.whole(a.found.Report()), nil
}

// auditor is the state of one audit. Its memory grows with the accounts, not with the entries.
type auditor struct {
	tx         *sql.Tx
	found      *bookkeeping.Auditor
	accountIDs map[int64]string // by row number
	counted    int64            // entries, including those without an account
	sum        int64            // of the credits of those entries
	// spending is the sum of the charges that are folded, for each key that has a sum in the file.
	spending map[spender]*credits.Spent
}

// whole returns r with the entries that belong to no account added.
func (a *auditor) whole(r bookkeeping.Report) bookkeeping.Report {
	r.Entries, r.Credits = a.counted, a.sum
	return r
}

// pages lets SQLite check the file for damage.
func (a *auditor) pages(ctx context.Context) error {
	return a.each(ctx, "PRAGMA quick_check(10)", func(rows *sql.Rows) error {
		var found string
		err := rows.Scan(&found)
		if found != "ok" {
			a.found.Problem("damaged file: %s", found)
		}
		return err
	})
}

func (a *auditor) accounts(ctx context.Context) error {
	return a.each(ctx, "SELECT no, id FROM accounts", func(rows *sql.Rows) error {
		var no int64
		var id string
		err := rows.Scan(&no, &id)
		a.accountIDs[no] = id
		a.found.Account(id)
		return err
	})
}

func (a *auditor) keys(ctx context.Context) error {
	err := a.each(ctx, "PRAGMA foreign_key_check", func(rows *sql.Rows) error {
		var table, parent string
		var row, constraint int64
		err := rows.Scan(&table, &row, &parent, &constraint)
		a.found.Problem("row %d of %s has no row in %s", row, table, parent)
		return err
	})
	return errors.Join(err, a.each(ctx, selectKeys, func(rows *sql.Rows) error {
		k, err := scanKey(rows)
		a.found.Key(k)
		return err
	}))
}

func (a *auditor) capped(ctx context.Context) error {
	return a.each(ctx, "SELECT account, key FROM spending", func(rows *sql.Rows) error {
		var no int64
		var key string
		if err := rows.Scan(&no, &key); err != nil {
			return err
		}
		if id, ok := a.accountIDs[no]; ok {
			a.spending[spender{id, key}] = &credits.Spent{}
		} else {
			a.found.Problem("the spending of key %s is kept for account number %d, which does not exist", key, no)
		}
		return nil
	})
}

func (a *auditor) entries(ctx context.Context) error {
	return a.each(ctx, "SELECT account, "+entryColumns+" FROM entries ORDER BY no", func(rows *sql.Rows) error {
		var e numbered
		if err := scanEntry(rows, &e.Entry, &e.account); err != nil {
			return err
		}
		if a.entry(&e) {
			a.spend(e.Entry)
		}
		return nil
	})
}

// entry checks the next entry, and reports whether its account exists.
func (a *auditor) entry(e *numbered) bool {
	a.counted++
	a.sum += e.Amount
	id, ok := a.accountIDs[e.account]
	if !ok {
		a.found.Problem("an entry belongs to account number %d, which does not exist", e.account)
		return false
	}
	e.Account = id
	a.found.Entry(e.Entry)
	return true
}

// journal checks the entries that are not folded yet: no row that was written and not folded may be missing.
func (a *auditor) journal(ctx context.Context) error {
	const query = `
		SELECT coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'journal'), 0) - folded, (SELECT count(*) FROM journal),
			folded, (SELECT coalesce(min(no), folded + 1) FROM journal)
		FROM totals`
	var want, there, folded, first int64
	if err := a.tx.QueryRowContext(ctx, query).Scan(&want, &there, &folded, &first); err != nil {
		return err
	}
	if want != there || first != folded+1 {
		a.found.Problem("the journal should have %d rows after row %d, and has %d from row %d", want, folded, there, first)
	}
	err := readJournal(ctx, a.tx, func(e numbered) error {
		a.entry(&e)
		return nil
	})
	if errors.Is(err, ErrCorrupt) {
		a.found.Problem("%v", err)
		return nil
	}
	return err
}

// losses reports the losses that were accepted.
func (a *auditor) losses(ctx context.Context) error {
	const query = "SELECT accepted, at, had_entries, had_credits, entries, credits FROM losses ORDER BY no"
	return a.each(ctx, query, func(rows *sql.Rows) error {
		var l bookkeeping.Loss
		var accepted, at int64
		err := rows.Scan(&accepted, &at, &l.HadEntries, &l.HadCredits, &l.Entries, &l.Credits)
		l.Accepted, l.At = fromMicros(accepted), fromMicros(at)
		a.found.Loss(l)
		return err
	})
}

func (a *auditor) spend(e credits.Entry) {
	who := spender{e.Account, e.Key}
	spent, ok := a.spending[who]
	if !ok || e.Kind != credits.Charged {
		return
	}
	*spent = spent.Add(-e.Amount, e.Time())
}

// totals compares the totals in the file with those of the table of entries.
func (a *auditor) totals(ctx context.Context) error {
	var entries, sum int64
	if err := a.tx.QueryRowContext(ctx, "SELECT entries, credits FROM totals").Scan(&entries, &sum); err != nil {
		return err
	}
	if entries != a.counted || sum != a.sum {
		a.found.Problem("the file counts %d entries of %d credits, and there are %d of %d",
			entries, sum, a.counted, a.sum)
	}
	const query = "SELECT a.id, s.key, s.total, s.day, s.today FROM spending s JOIN accounts a ON a.no = s.account"
	return a.each(ctx, query, func(rows *sql.Rows) error {
		var who spender
		var total, day, today int64
		if err := rows.Scan(&who.account, &who.key, &total, &day, &today); err != nil {
			return err
		}
		found := *a.spending[who]
		if found != (credits.Spent{Total: total, Day: day, Today: today}) && (found.Total != 0 || total != 0 || today != 0) {
			a.found.Problem("key %s of account %s spent %d in all and %d on its last day, not %d and %d",
				who.key, who.account, found.Total, found.Today, total, today)
		}
		return nil
	})
}

func (a *auditor) each(ctx context.Context, query string, row func(*sql.Rows) error) (err error) {
	rows, err := a.tx.QueryContext(ctx, query)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		if err := row(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}
