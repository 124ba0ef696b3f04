package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/socialdata/socialdata/credits"
)

// Entries implements [credits.Ledger].
func (l *Ledger) Entries(ctx context.Context, q credits.Query) ([]credits.Entry, error) {
	tail, err := l.tail(q.Account)
	if err != nil {
		return nil, err
	}
	if q.Limit <= 0 {
		q.Limit = credits.DefaultLimit
	}
	found := []credits.Entry{}
	for _, e := range slices.Backward(tail) {
		if len(found) == q.Limit {
			return found, nil
		}
		if q.Selects(e.Entry) {
			found = append(found, e.Entry)
		}
	}
	if len(tail) > 0 && (q.Before <= 0 || tail[0].Seq < q.Before) {
		q.Before = tail[0].Seq // some of the tail may have been folded after it was read
	}
	q.Limit -= len(found)
	folded, err := l.folded(ctx, q)
	if err != nil {
		return nil, err
	}
	return append(found, folded...), nil
}

// folded returns the entries that q selects from the table of entries.
func (l *Ledger) folded(ctx context.Context, q credits.Query) ([]credits.Entry, error) {
	tx, err := l.file.read.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return nil, explain(err)
	}
	defer tx.Rollback() //nolint:errcheck // it only ends a snapshot
	var account int64
	err = tx.QueryRowContext(ctx, "SELECT no FROM accounts WHERE id = ?", q.Account).Scan(&account)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, credits.ErrUnknownAccount
	}
	if err != nil {
		return nil, explain(err)
	}
	query, args, err := selectEntries(ctx, tx, account, q)
	if err != nil {
		return nil, explain(err)
	}
	return scanEntries(ctx, tx, q.Account, query, args)
}

// selectEntries makes of q a query that indexes serve completely. There is no index for time: an account's entries are
// in the order of time, so a time is translated into a sequence number. Nor is there one for platforms: the index of the
// account's entries has their platforms, and is read from the newest backwards until the limit is reached.
func selectEntries(
	ctx context.Context, tx *sql.Tx, account int64, q credits.Query,
) (query string, args []any, err error) {
	from, where := "entries INDEXED BY entries_account", []string{"account = ?1"}
	args = []any{account}
	if q.RequestID != "" {
		from, args = ofRequest(entryColumns+", account"), append(args, q.RequestID)
	}
	if q.Platform != "" {
		where, args = append(where, "platform = ?"), append(args, q.Platform)
	}
	below := q.Before
	if !q.Until.IsZero() {
		seq, err := firstAt(ctx, tx, account, q.Until)
		if err != nil {
			return "", nil, err
		}
		if below <= 0 || seq < below {
			below = seq
		}
	}
	if below > 0 {
		where, args = append(where, "seq < ?"), append(args, below)
	}
	if !q.Since.IsZero() {
		seq, err := firstAt(ctx, tx, account, q.Since)
		if err != nil {
			return "", nil, err
		}
		where, args = append(where, "seq >= ?"), append(args, seq)
	}
	return "SELECT " + entryColumns + " FROM " + from + " WHERE " + strings.Join(where, " AND ") +
		" ORDER BY seq DESC LIMIT ?", append(args, q.Limit), nil
}

// ofRequest returns a table of columns of the entries of account ?1 for the request ?2, in no order. The entries of
// charges without a hold are found in the index of holds, among those that begin with the request's id and "/"; those of
// a longer request id that begins like this are left out.
func ofRequest(columns string) string {
	return "(SELECT " + columns + ` FROM entries INDEXED BY entries_request
		WHERE request_id = ?2 AND account = ?1 AND ` + ownRequest + `
		UNION ALL
		SELECT ` + columns + ` FROM entries INDEXED BY entries_hold
		WHERE hold >= ?2 || '/' AND hold < ?2 || '0' AND hold <> '' AND request_id = ?2 AND request_id <> '' AND account = ?1)`
}

// firstAt returns the seq of the account's first entry at that time or later, or the seq of its next entry if there is
// none.
func firstAt(ctx context.Context, tx *sql.Tx, account int64, t time.Time) (seq int64, err error) {
	var last int64
	err = tx.QueryRowContext(ctx, "SELECT coalesce(max(seq), 0) FROM entries WHERE account = ?", account).Scan(&last)
	if err != nil {
		return 0, err
	}
	at, err := tx.PrepareContext(ctx, "SELECT at FROM entries WHERE account = ? AND seq = ?")
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, at.Close()) }()
	low, high := int64(1), last+1 // the answer is between them
	for low < high {
		middle := low + (high-low)/2
		var micros int64
		if err := at.QueryRowContext(ctx, account, middle).Scan(&micros); err != nil {
			return 0, err
		}
		if fromMicros(micros).Before(t) {
			low = middle + 1
		} else {
			high = middle
		}
	}
	return low, nil
}

func scanEntries(
	ctx context.Context, tx *sql.Tx, account, query string, args []any,
) (found []credits.Entry, err error) {
	rows, err := tx.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, explain(err)
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	found = []credits.Entry{}
	for rows.Next() {
		e := credits.Entry{Account: account}
		if err := scanEntry(rows, &e); err != nil {
			return nil, explain(err)
		}
		found = append(found, e)
	}
	return found, explain(rows.Err())
}
