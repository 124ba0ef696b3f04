package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"strings"
	"time"

	"github.com/socialdata/socialdata/credits"
)

const entryColumns = "seq, kind, amount, balance, key, operation, platform, request_id, cache, reason, hold, " +
	"idempotency_key, at, clock, hash"

// scanEntry scans entryColumns, and the columns in front of them into before.
func scanEntry(r row, e *credits.Entry, before ...any) error {
	var at int64
	var clock *int64
	var hash []byte
	err := r.Scan(append(before, &e.Seq, &e.Kind, &e.Amount, &e.Balance, &e.Key, &e.Operation, &e.Platform, &e.RequestID,
		&e.Cache, &e.Reason, &e.Hold, &e.IdempotencyKey, &at, &clock, &hash)...)
	e.At = fromMicros(at)
	if clock != nil {
		e.Clock = fromMicros(*clock)
	}
	copy(e.Hash[:], hash)
	return err
}

// Entries implements [credits.Ledger].
func (l *Ledger) Entries(ctx context.Context, q credits.Query) ([]credits.Entry, error) {
	no, err := one(ctx, l.db, scanOne[int64], "SELECT no FROM @accounts WHERE id = ?", q.Account)
	if errors.Is(err, sql.ErrNoRows) {
		err = credits.ErrUnknownAccount
	}
	if err != nil {
		return nil, err
	}
	if !storable(q.RequestID) || !storable(q.Platform) {
		return []credits.Entry{}, nil
	}
	from, where, args, err := l.selectEntries(ctx, no, q)
	if err != nil {
		return nil, err
	}
	if q.Limit <= 0 {
		q.Limit = credits.DefaultLimit
	}
	return list(ctx, l.db, func(r row) (credits.Entry, error) {
		e := credits.Entry{Account: q.Account}
		err := scanEntry(r, &e)
		return e, err
	}, "SELECT "+entryColumns+" FROM "+from+" WHERE "+where+" ORDER BY seq DESC LIMIT ?", append(args, q.Limit)...)
}

// selectEntries returns a query that indexes serve completely. No index has the time: an account's entries are in
// its order, so that a time becomes a number.
func (l *Ledger) selectEntries(
	ctx context.Context,
	no int64,
	q credits.Query,
) (from, where string, args []any, err error) {
	from = "@entries"
	conditions := []string{"account = ?"}
	args = []any{no}
	if q.RequestID != "" { // by either index: the sign keeps a database from taking that of the account
		from = "(SELECT account, " + entryColumns + " FROM @entries WHERE request_id = ? AND account = ? AND " + ownRequest +
			" UNION ALL SELECT account, " + entryColumns + " FROM @entries WHERE hold >= ? AND hold < ? AND hold <> '' " +
			"AND request_id = ? AND +account = ?) AS e"
		conditions = []string{"true"}
		args = []any{q.RequestID, no, q.RequestID + "/", q.RequestID + "0", q.RequestID, no}
	}
	and := func(condition string, arg any) {
		conditions, args = append(conditions, condition), append(args, arg)
	}
	if q.Platform != "" {
		and("platform = ?", q.Platform)
	}
	if q.Before > 0 {
		and("seq < ?", q.Before)
	}
	if !q.Until.IsZero() {
		seq, err := l.firstAt(ctx, no, q.Until)
		if err != nil {
			return "", "", nil, err
		}
		and("seq < ?", seq)
	}
	if !q.Since.IsZero() {
		seq, err := l.firstAt(ctx, no, q.Since)
		if err != nil {
			return "", "", nil, err
		}
		and("seq >= ?", seq)
	}
	return from, strings.Join(conditions, " AND "), args, nil
}

// firstAt returns the number of the account's first entry at that time or later, or of its next one if there is none.
func (l *Ledger) firstAt(ctx context.Context, no int64, t time.Time) (int64, error) {
	last, err := one(ctx, l.db, scanOne[int64], "SELECT seq FROM @accounts WHERE no = ?", no)
	if err != nil {
		return 0, err
	}
	low, high := int64(1), last+1 // the answer is between them
	for low < high {
		middle := low + (high-low)/2
		at, err := one(ctx, l.db, scanOne[int64], "SELECT at FROM @entries WHERE account = ? AND seq = ?", no, middle)
		if err != nil {
			return 0, err
		}
		if fromMicros(at).Before(t) {
			low = middle + 1
		} else {
			high = middle
		}
	}
	return low, nil
}
