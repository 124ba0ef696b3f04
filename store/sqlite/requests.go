package sqlite

import (
	"context"
	"strings"
	"time"

	"github.com/socialdata/socialdata/requests"
)

// Requests is the request log and the usage in the file. A write shares its transaction with charges.
type Requests struct{ file *file }

var _ requests.Store = (*Requests)(nil)

// Add implements [requests.Store].
func (s *Requests) Add(ctx context.Context, added []requests.Request, tallies []requests.Tally) error {
	var at int64
	for i := range added {
		at = max(at, added[i].At.UnixMicro())
	}
	packed := requests.Pack(added)
	return s.do(ctx, func(w *writer) error {
		if len(added) > 0 {
			if _, err := w.c.exec("INSERT INTO requests (at, n, batch) VALUES (?, ?, ?)", at, len(added), packed); err != nil {
				return err
			}
		}
		return addTallies(w, tallies)
	})
}

func addTallies(w *writer, tallies []requests.Tally) error {
	for _, t := range tallies {
		_, err := w.c.exec("INSERT INTO usage VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET n = n + excluded.n",
			t.Account, t.Day, t.Key, t.Platform, t.Operation, t.What, t.N)
		if err != nil {
			return err
		}
	}
	return nil
}

// do applies a change in the transaction that it shares with others.
func (s *Requests) do(ctx context.Context, apply func(*writer) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	return s.file.writer.do(&task{apply: apply})
}

// listedAtOnce is how many batches one query of the log reads.
const listedAtOnce = 200

// List implements [requests.Store].
func (s *Requests) List(ctx context.Context, q requests.Query) (found []requests.Request, err error) {
	type batch struct {
		no     int64
		packed []byte
	}
	scan := func(row interface{ Scan(...any) error }) (b batch, err error) {
		err = row.Scan(&b.no, &b.packed)
		return b, err
	}
	before := int64(1) << 62
	if q.Before > 0 {
		before = requests.BatchOf(q.Before) + 1
	}
	for {
		batches, err := list(ctx, s.file.read, scan,
			"SELECT no, batch FROM requests WHERE no < ? AND no >= ? ORDER BY no DESC LIMIT ?",
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
	var last int64 // last batch that exceeds the bounds
	err := s.file.read.QueryRowContext(ctx, `SELECT coalesce(max(no), 0) FROM (
		SELECT no, at, sum(n) OVER (ORDER BY no DESC) AS n FROM requests) WHERE at <= ? OR n > ?`,
		now.Add(-b.Life).UnixMicro(), b.Most).Scan(&last)
	if err != nil {
		return explain(err)
	}
	// In parts, because charges wait meanwhile.
	for _, query := range []struct {
		text string
		arg  int64
	}{
		{"DELETE FROM requests WHERE no IN (SELECT no FROM requests WHERE no <= ? LIMIT 1000)", last},
		{"DELETE FROM usage WHERE (account, day, key, platform, operation, what) IN " +
			"(SELECT account, day, key, platform, operation, what FROM usage WHERE day < ? LIMIT 1000)", requests.DayOf(now) - int64(b.Days) + 1},
	} {
		for n := int64(1000); n == 1000; {
			err := s.do(ctx, func(w *writer) (err error) {
				n, err = w.c.exec(query.text, query.arg)
				return err
			})
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// Folded implements [requests.Store].
func (s *Requests) Folded(ctx context.Context, account string) (seq int64, err error) {
	err = s.file.read.QueryRowContext(ctx, "SELECT coalesce(max(seq), 0) FROM usage_folded WHERE account = ?",
		account).Scan(&seq)
	return seq, explain(err)
}

// Fold implements [requests.Store].
func (s *Requests) Fold(ctx context.Context, account string, after, through int64, tallies []requests.Tally) error {
	return s.do(ctx, func(w *writer) error {
		current, err := w.c.number("SELECT coalesce(max(seq), 0) FROM usage_folded WHERE account = ?", account)
		if err != nil {
			return err
		}
		if current != after {
			return refusal{requests.ErrFolded}
		}
		_, err = w.c.exec("INSERT INTO usage_folded VALUES (?, ?) ON CONFLICT DO UPDATE SET seq = excluded.seq", account,
			through)
		if err != nil {
			return err
		}
		return addTallies(w, tallies)
	})
}

// Sums implements [requests.Store].
func (s *Requests) Sums(ctx context.Context, q requests.SumQuery) ([]requests.Tally, error) {
	query, args := sumsQuery(q)
	return list(ctx, s.file.read, func(row interface{ Scan(...any) error }) (t requests.Tally, err error) {
		err = row.Scan(&t.Account, &t.Day, &t.Key, &t.Platform, &t.Operation, &t.What, &t.N)
		return t, err
	}, query, args...)
}

func sumsQuery(q requests.SumQuery) (query string, args []any) {
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
		until = 1 << 62
	}
	where := []string{"day >= ?", "day < ?"}
	args = []any{q.Since, until}
	for _, only := range []struct{ column, value string }{
		{"account", q.Account}, {"key", q.Key}, {"platform", q.Platform}, {"operation", q.Operation},
	} {
		if only.value != "" {
			where, args = append(where, only.column+" = ?"), append(args, only.value)
		}
	}
	return "SELECT " + columns[requests.ByAccount] + ", " + columns[requests.ByDay] + ", " + columns[requests.ByKey] +
		", " +
		columns[requests.ByPlatform] + ", " + columns[requests.ByOperation] + ", what, sum(n) FROM usage WHERE " +
		strings.Join(where, " AND ") + " GROUP BY 1, 2, 3, 4, 5, 6", args
}
