package postgres

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"

	"github.com/socialdata/socialdata/credits"
)

// Entries implements [credits.Ledger].
func (l *Ledger) Entries(ctx context.Context, q credits.Query) (found []credits.Entry, err error) {
	if !keepable(q.Account) {
		return nil, credits.ErrUnknownAccount
	}
	err = l.db.read(ctx, func() error {
		var no int64
		err := l.db.pool.QueryRow(ctx, l.db.sql("SELECT no FROM @accounts WHERE id = $1"), q.Account).Scan(&no)
		if errors.Is(err, pgx.ErrNoRows) {
			return credits.ErrUnknownAccount
		}
		if err != nil {
			return err
		}
		if found = []credits.Entry{}; !keepable(q.Platform) || !keepable(q.RequestID) {
			return nil
		}
		query, args := selectEntries(no, q)
		rows, err := l.db.pool.Query(ctx, l.db.sql(query), args...)
		if err != nil {
			return err
		}
		found, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (credits.Entry, error) {
			return scanEntry(row, q.Account)
		})
		return err
	})
	return found, err
}

// keepable reports whether PostgreSQL can store s. If not, no row can have it.
func keepable(s string) bool { return utf8.ValidString(s) && strings.IndexByte(s, 0) < 0 }

const entryColumns = `seq, kind, amount, balance, key, operation, platform, request_id, cache, reason, hold,
	idempotency_key, at, clock, hash`

// selectEntries makes of q a query that indexes serve completely. There is no index for time: an account's entries are
// in the order of time, so a time is translated into a sequence number. Nor is there one for platforms: the index of the
// account's entries has their platforms, and is read from the newest backwards until the limit is reached.
func selectEntries(account int64, q credits.Query) (query string, args []any) {
	from, where := "@entries", []string{"account = $1"}
	args = []any{account}
	and := func(condition string, arg any) {
		args = append(args, arg)
		where = append(where, fmt.Sprintf(condition, len(args)))
	}
	if q.RequestID != "" {
		from, where = ofRequest(entryColumns, "$1", "$2::text"), []string{"true"}
		args = append(args, q.RequestID)
	}
	if q.Platform != "" {
		and("platform = $%d", q.Platform)
	}
	if q.Before > 0 {
		and("seq < $%d", q.Before)
	}
	if !q.Until.IsZero() {
		and("seq < ("+firstAt+")", micros(q.Until))
	}
	if !q.Since.IsZero() {
		and("seq >= ("+firstAt+")", micros(q.Since))
	}
	limit := q.Limit
	if limit <= 0 {
		limit = credits.DefaultLimit
	}
	args = append(args, limit)
	pick := func(columns string) string {
		return fmt.Sprintf("SELECT %s FROM %s WHERE %s ORDER BY seq DESC LIMIT $%d",
			columns, from, strings.Join(where, " AND "), len(args))
	}
	if q.Platform != "" && q.RequestID == "" { // the table is read only for the entries that are returned
		return "SELECT " + entryColumns + " FROM @entries WHERE account = $1 AND seq = ANY (ARRAY(" + pick("seq") + ")) " +
			"ORDER BY seq DESC", args
	}
	return pick(entryColumns), args
}

// ofRequest returns a table of columns of the account's entries for a request, in no order. Both are expressions. The
// entries of charges without a hold are found in the index of holds, among those that begin with the request's id and
// "/", which "0" follows in the order of bytes; those of a longer request id that begins like this are left out. Plans
// are often made without knowing the request. The account, which has many entries, is not looked for: "+ 0" makes its
// index no choice.
func ofRequest(columns, account, request string) string {
	return strings.NewReplacer("{columns}", columns, "{account}", account, "{request}", request).Replace(`(
		SELECT {columns} FROM @entries WHERE request_id = {request} AND account = {account} AND ` + ownRequest + `
		UNION ALL
		SELECT {columns} FROM @entries
		WHERE hold ~>=~ ({request} || '/') AND hold ~<~ ({request} || '0') AND hold <> ''
			AND request_id = {request} AND request_id <> '' AND account + 0 = {account}
	) AS e`)
}

// firstAt finds the seq of the account's first entry at that time or later, or the seq of its next entry if there is
// none, with a binary search.
const firstAt = `
	WITH RECURSIVE part (low, high) AS (
		SELECT 1::bigint, seq + 1 FROM @accounts WHERE no = $1
		UNION ALL
		SELECT CASE WHEN e.at < $%d THEN e.seq + 1 ELSE low END, CASE WHEN e.at < $%[1]d THEN high ELSE e.seq END
		FROM part JOIN @entries e ON e.account = $1 AND e.seq = (low + high) / 2
		WHERE low < high
	)
	SELECT low FROM part WHERE low = high`

// micros returns t in microseconds, rounded up.
func micros(t time.Time) int64 {
	n := t.UnixMicro()
	if time.UnixMicro(n).Before(t) {
		n++
	}
	return n
}

// scanEntry reads entryColumns of an account, and the columns in front of them into before.
func scanEntry(row pgx.CollectableRow, account string, before ...any) (credits.Entry, error) {
	e := credits.Entry{Account: account}
	var at int64
	var clock *int64
	var hash []byte
	err := row.Scan(append(before, &e.Seq, &e.Kind, &e.Amount, &e.Balance, &e.Key, &e.Operation, &e.Platform,
		&e.RequestID, &e.Cache, &e.Reason, &e.Hold, &e.IdempotencyKey, &at, &clock, &hash)...)
	e.At = fromMicros(at)
	if clock != nil {
		e.Clock = fromMicros(*clock)
	}
	copy(e.Hash[:], hash)
	return e, err
}
