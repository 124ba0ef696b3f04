package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/socialdata/socialdata/credits"
)

// Report is what an audit found.
type Report struct {
	Accounts, Keys, Entries int64
	Credits                 int64    // sum of all balances
	Problems                []string // at most 100, the first ones; none when the books are in order
}

// OK tells whether the books are in order.
func (r Report) OK() bool { return len(r.Problems) == 0 }

const maxProblems = 100

func (r *Report) problem(format string, args ...any) {
	if len(r.Problems) < maxProblems {
		r.Problems = append(r.Problems, fmt.Sprintf(format, args...))
	}
}

// Audit reads the whole file as it is at one moment and proves that every balance is the sum of its account's entries
// and never below 0, that no entry was changed, added or taken away (each one's hash covers the one before it, and
// the file counts them), and that what is kept about the spending of keys with a cap is what their charges come to.
// The error is not nil when the file could not be read; what it found is in the report.
//
// Whoever can write the file can write all of it anew; [DB.AuditAgainst] finds that out.
func (db *DB) Audit(ctx context.Context) (Report, error) {
	return db.audit(ctx, &keptHeads{})
}

func (db *DB) audit(ctx context.Context, kept *keptHeads) (Report, error) {
	tx, err := db.read.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return Report{}, explain(err)
	}
	defer tx.Rollback() //nolint:errcheck // it only ends a snapshot
	a := auditor{tx: tx, kept: kept, books: map[int64]*audited{}, spending: map[spender]*credits.Spent{}}
	for _, step := range []func(context.Context) error{
		a.pages, a.accounts, a.keys, a.capped, a.entries, a.totals,
	} {
		if err := step(ctx); err != nil {
			return a.report, fmt.Errorf("sqlite: audit: %w", explain(err))
		}
	}
	kept.rest(&a.report, a.books)
	return a.report, nil
}

// auditor is the state of one audit. Its memory grows with the accounts, not with the entries.
type auditor struct {
	tx       *sql.Tx
	report   Report
	kept     *keptHeads
	books    map[int64]*audited
	spending map[spender]*credits.Spent // what charges come to
}

type audited struct {
	id   string
	last credits.Entry
}

// pages lets SQLite look for damage to the file.
func (a *auditor) pages(ctx context.Context) error {
	return a.each(ctx, "PRAGMA quick_check(10)", func(rows *sql.Rows) error {
		var found string
		err := rows.Scan(&found)
		if found != "ok" {
			a.report.problem("damaged file: %s", found)
		}
		return err
	})
}

func (a *auditor) accounts(ctx context.Context) error {
	return a.each(ctx, "SELECT no, id FROM accounts", func(rows *sql.Rows) error {
		var no int64
		b := &audited{}
		err := rows.Scan(&no, &b.id)
		a.books[no] = b
		a.report.Accounts++
		return err
	})
}

func (a *auditor) keys(ctx context.Context) error {
	err := a.each(ctx, "PRAGMA foreign_key_check", func(rows *sql.Rows) error {
		var table, parent string
		var row, constraint int64
		err := rows.Scan(&table, &row, &parent, &constraint)
		a.report.problem("row %d of %s belongs to none of %s", row, table, parent)
		return err
	})
	return errors.Join(err, a.each(ctx, selectKeys, func(rows *sql.Rows) error {
		k, err := scanKey(rows)
		a.report.Keys++
		a.kept.key(&a.report, k)
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
		if b, ok := a.books[no]; ok {
			a.spending[spender{b.id, key}] = &credits.Spent{}
		} else {
			a.report.problem("the spending of key %s is kept for account number %d, which is not there", key, no)
		}
		return nil
	})
}

func (a *auditor) entries(ctx context.Context) error {
	return a.each(ctx, "SELECT account, "+entryColumns+" FROM entries ORDER BY no", func(rows *sql.Rows) error {
		var no int64
		var e credits.Entry
		if err := scanEntry(rows, &e, &no); err != nil {
			return err
		}
		a.report.Entries++
		a.report.Credits += e.Amount
		b, ok := a.books[no]
		if !ok {
			a.report.problem("an entry belongs to account number %d, which is not there", no)
			return nil
		}
		e.Account = b.id
		if err := e.Follows(b.last); err != nil {
			a.report.problem("%v", err)
		}
		a.kept.entry(&a.report, b.id, e.Seq, e.Hash)
		a.spend(e)
		b.last = credits.Entry{Seq: e.Seq, Balance: e.Balance, At: e.At, Hash: e.Hash}
		return nil
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

// totals compares what the file counts with what was found.
func (a *auditor) totals(ctx context.Context) error {
	var entries, sum int64
	if err := a.tx.QueryRowContext(ctx, "SELECT entries, credits FROM totals").Scan(&entries, &sum); err != nil {
		return err
	}
	if entries != a.report.Entries || sum != a.report.Credits {
		a.report.problem("the file counts %d entries of %d credits, and there are %d of %d",
			entries, sum, a.report.Entries, a.report.Credits)
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
			a.report.problem("key %s of account %s spent %d in all and %d on its last day, not %d and %d",
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
