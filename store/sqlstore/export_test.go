package sqlstore

import (
	"context"

	"github.com/socialdata/socialdata/credits"
)

// EntriesQuery returns the statement and the arguments of [Ledger.Entries], for an account's number.
func (l *Ledger) EntriesQuery(ctx context.Context, no int64, q credits.Query) (query string, args []any, err error) {
	from, where, args, err := l.selectEntries(ctx, no, q)
	return l.db.text(
		"SELECT " + entryColumns + " FROM " + from + " WHERE " + where + " ORDER BY seq DESC LIMIT 100",
	), args, err
}

// List returns the last column of each row of a query.
func (db *DB) List(ctx context.Context, columns int, query string, args ...any) ([]string, error) {
	return list(ctx, db, func(r row) (last string, err error) {
		into := make([]any, columns)
		for i := range into {
			into[i] = new(any)
		}
		into[columns-1] = &last
		err = r.Scan(into...)
		return last, err
	}, query, args...)
}

// OwnRequest is the condition of the index of requests.
const OwnRequest = ownRequest
