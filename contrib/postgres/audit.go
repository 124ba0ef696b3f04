package postgres

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/socialdata/socialdata/credits"
	"github.com/socialdata/socialdata/keys"
	"github.com/socialdata/socialdata/store/bookkeeping"
)

var (
	_ bookkeeping.Bookkeeper = (*DB)(nil)
	_ bookkeeping.Bookkeeper = (*Shards)(nil)
)

// Audit proves that every balance is the sum of its account's entries and never below 0; that no entry was changed,
// added or removed (each hash covers the previous one, and each account's row has the last one); that what is held is
// the sum of the holds; and that the spending of each key with a cap is the sum of its charges. It checks a snapshot of
// each account, a page at a time, while replicas charge. Findings are in the report; the error is not nil when the
// database could not be read.
//
// It needs no long transaction and no isolation level: one statement reads an account's head, its holds and any entries
// after its last one, and entries before that never change.
//
// Someone who can write the database can rewrite all of it consistently, which only [DB.AuditAgainst] detects.
func (db *DB) Audit(ctx context.Context) (bookkeeping.Report, error) {
	return db.audit(ctx, bookkeeping.NewAuditor(nil))
}

// AuditAgainst is [DB.Audit], and also compares the database with what [DB.Heads], or Heads of another store, wrote
// earlier. It fails with bookkeeping.ErrHeads when that is not complete.
func (db *DB) AuditAgainst(ctx context.Context, heads io.Reader) (bookkeeping.Report, error) {
	kept, err := bookkeeping.ReadHeads(heads)
	if err != nil {
		return bookkeeping.Report{}, err
	}
	return db.audit(ctx, bookkeeping.NewAuditor(kept))
}

func (db *DB) audit(ctx context.Context, a *bookkeeping.Auditor) (bookkeeping.Report, error) {
	if err := db.auditWith(ctx, a); err != nil {
		return bookkeeping.Report{}, err
	}
	return a.Report(), nil
}

// auditWith passes everything in the database to a.
func (db *DB) auditWith(ctx context.Context, a *bookkeeping.Auditor) error {
	err := db.eachKey(ctx, func(k keys.Key) error { // before the accounts, because a new key can belong to a new account
		a.Key(k)
		return nil
	})
	if err == nil {
		err = db.auditBooks(ctx, a)
	}
	if err != nil {
		return fmt.Errorf("postgres: audit: %w", err)
	}
	return nil
}

func (db *DB) auditBooks(ctx context.Context, a *bookkeeping.Auditor) error {
	return db.eachPart(ctx, func(p part) error {
		for _, h := range p.accounts {
			a.Account(h.ID)
			if h.held != h.holds {
				a.Problem("account %s counts %d held credits, and its holds add up to %d", h.ID, h.held, h.holds)
			}
			if h.behind > 0 {
				a.Problem("account %s ends with entry %d, and %d more follow it", h.ID, h.last.Seq, h.behind)
			}
			for key, spent := range h.spent {
				a.Spending(h.ID, key, spent)
			}
		}
		strays := map[int64]int{} // number of entries, by the numbers of accounts that were not read
		err := db.eachEntry(ctx, p, func(no int64, h *head, e credits.Entry) error {
			if h == nil {
				strays[no]++
			} else {
				a.Entry(e)
			}
			return nil
		})
		for _, h := range p.accounts {
			a.Last(h.ID, h.last)
		}
		if err == nil {
			err = db.auditStrays(ctx, a, strays)
		}
		return err
	})
}

// auditStrays reports entries without an account. A new account is committed together with its first entries, so it
// exists by now.
func (db *DB) auditStrays(ctx context.Context, a *bookkeeping.Auditor, strays map[int64]int) error {
	if len(strays) == 0 {
		return nil
	}
	nobodys, err := list(ctx, db, pgx.RowTo[int64], "SELECT no FROM unnest($1::bigint[]) AS u (no) "+
		"WHERE NOT EXISTS (SELECT 1 FROM @accounts a WHERE a.no = u.no) ORDER BY no", slices.Collect(maps.Keys(strays)))
	for _, no := range nobodys {
		a.Problem("%d entries belong to account number %d, which does not exist", strays[no], no)
	}
	return err
}
