package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"math"
	"strings"
	"time"

	"github.com/socialdata/socialdata/requests"
)

// Requests is the request log and the usage in a database.
type Requests struct{ db *DB }

var _ requests.Store = (*Requests)(nil)

// Requests returns the request log and the usage.
func (db *DB) Requests() *Requests { return &Requests{db} }

// Add implements [requests.Store].
func (s *Requests) Add(ctx context.Context, added []requests.Request, tallies []requests.Tally) error {
	var at int64
	for i := range added {
		at = max(at, added[i].At.UnixMicro())
	}
	packed := requests.Pack(added)
	return s.db.write(ctx, func(t tx) error {
		if len(added) > 0 {
			if err := t.exec("INSERT INTO @requests (at, n, batch) VALUES (?, ?, ?)", at, len(added), packed); err != nil {
				return err
			}
		}
		return t.addTallies(tallies)
	})
}

func (t tx) addTallies(tallies []requests.Tally) error {
	rows := make([][]any, len(tallies))
	for i, u := range tallies {
		rows[i] = []any{u.Account, u.Day, u.Key, u.Platform, u.Operation, u.What, u.N}
	}
	return t.insert("INSERT INTO @usage AS u (account, day, key, platform, operation, what, n)", "tnttttn",
		" ON CONFLICT (account, day, key, platform, operation, what) DO UPDATE SET n = u.n + excluded.n", rows)
}

// listedAtOnce is how many batches one query of the log reads.
const listedAtOnce = 200

// batch is a row of the log.
type batch struct {
	no     int64
	packed []byte
}

func scanBatch(r row) (b batch, err error) {
	err = r.Scan(&b.no, &b.packed)
	return b, err
}

// List implements [requests.Store].
func (s *Requests) List(ctx context.Context, q requests.Query) (found []requests.Request, err error) {
	before := int64(math.MaxInt64)
	if q.Before > 0 {
		before = requests.BatchOf(q.Before) + 1
	}
	for {
		batches, err := list(ctx, s.db, scanBatch,
			"SELECT no, batch FROM @requests WHERE no < ? AND no >= ? ORDER BY no DESC LIMIT ?",
			before, requests.BatchOf(q.After), listedAtOnce)
		if err != nil {
			return nil, err
		}
		for _, b := range batches {
			some, err := requests.Unpack(b.no, b.packed, q)
			if err != nil {
				return nil, err
			}
			if found = append(found, some...); q.Limit > 0 && len(found) >= q.Limit {
				return found[:q.Limit], nil
			}
			before = b.no
		}
		if len(batches) < listedAtOnce {
			return found, nil
		}
	}
}

// Trim implements [requests.Store].
func (s *Requests) Trim(ctx context.Context, b requests.Bounds, now time.Time) error {
	b = b.Filled()
	last, err := one(ctx, s.db, scanOne[int64], `SELECT coalesce(max(no), 0) FROM (
		SELECT no, at, sum(n) OVER (ORDER BY no DESC) AS n FROM @requests) AS r WHERE at <= ? OR n > ?`,
		now.Add(-b.Life).UnixMicro(), b.Most)
	if err != nil {
		return err
	}
	err = s.db.removeAll(ctx, func(t tx) (int64, error) {
		return t.count(
			"DELETE FROM @requests WHERE no IN (SELECT no FROM @requests WHERE no <= ? ORDER BY no LIMIT ? {skip}) "+
				"RETURNING 1",
			last,
			removedAtOnce,
		)
	})
	if err != nil {
		return err
	}
	return s.db.removeAll(ctx, func(t tx) (int64, error) { // a day at a time
		return t.count("DELETE FROM @usage WHERE day = (SELECT min(day) FROM @usage WHERE day < ?) RETURNING 1",
			requests.DayOf(now)-int64(b.Days)+1)
	})
}

// Folded implements [requests.Store].
func (s *Requests) Folded(ctx context.Context, account string) (int64, error) {
	seq, err := one(ctx, s.db, scanOne[int64], "SELECT seq FROM @usage_folded WHERE account = ?", account)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, nil
	}
	return seq, err
}

// Fold implements [requests.Store].
func (s *Requests) Fold(ctx context.Context, account string, after, through int64, tallies []requests.Tally) error {
	return s.db.write(ctx, func(t tx) error {
		var folded int64
		there, err := t.maybe([]any{&folded}, "SELECT seq FROM @usage_folded WHERE account = ? {lock}", account)
		if err != nil {
			return err
		}
		if folded != after {
			return requests.ErrFolded
		}
		query := "INSERT INTO @usage_folded (seq, account) VALUES (?, ?)" // if another transaction does so, one is repeated
		if there {
			query = "UPDATE @usage_folded SET seq = ? WHERE account = ?"
		}
		if err := t.exec(query, through, account); err != nil {
			return err
		}
		return t.addTallies(tallies)
	})
}

// Sums implements [requests.Store].
func (s *Requests) Sums(ctx context.Context, q requests.SumQuery) ([]requests.Tally, error) {
	columns := map[requests.Dimension]string{
		requests.ByAccount: "''", requests.ByDay: "0", requests.ByKey: "''", requests.ByPlatform: "''",
		requests.ByOperation: "''",
	}
	for _, d := range q.By {
		if _, known := columns[d]; known {
			columns[d] = string(d)
		}
	}
	until := q.Until
	if until == 0 {
		until = math.MaxInt64
	}
	conditions, args := []string{"day >= ?", "day < ?"}, []any{q.Since, until}
	if q.NoAccount {
		conditions = append(conditions, "account = ''")
	}
	for _, only := range []struct{ column, value string }{
		{"account", q.Account}, {"key", q.Key}, {"platform", q.Platform}, {"operation", q.Operation},
	} {
		if !storable(only.value) {
			return []requests.Tally{}, nil
		}
		if only.value != "" {
			conditions, args = append(conditions, only.column+" = ?"), append(args, only.value)
		}
	}
	return list(ctx, s.db, func(r row) (t requests.Tally, err error) {
		err = r.Scan(&t.Account, &t.Day, &t.Key, &t.Platform, &t.Operation, &t.What, &t.N)
		return t, err
	}, "SELECT "+columns[requests.ByAccount]+", "+columns[requests.ByDay]+", "+columns[requests.ByKey]+", "+
		columns[requests.ByPlatform]+", "+columns[requests.ByOperation]+", what, CAST(sum(n) AS {int}) FROM @usage WHERE "+
		strings.Join(conditions, " AND ")+" GROUP BY 1, 2, 3, 4, 5, 6", args...)
}
