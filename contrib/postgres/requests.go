package postgres

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/socialdata/socialdata/keys"
	"github.com/socialdata/socialdata/requests"
)

// Requests is the request log and the usage in the database, of all replicas.
type Requests struct{ db *DB }

var _ requests.Store = (*Requests)(nil)

// Add implements [requests.Store].
func (s *Requests) Add(ctx context.Context, added []requests.Request, tallies []requests.Tally) error {
	var at int64
	for i := range added {
		at = max(at, added[i].At.UnixMicro())
	}
	if len(added) == 0 {
		at = time.Now().UnixMicro()
	}
	// The row, even of a batch that only has tallies, shows that an earlier attempt was committed.
	id, packed := keys.NewID("log"), requests.Pack(added)
	return s.db.transact(ctx, func(ctx context.Context, t *tx) error {
		var wrote int64
		if err := t.step(ctx, func(q *pgx.Batch) {
			q.Queue(s.db.sql("INSERT INTO @requests (id, at, n, batch) VALUES ($1, $2, $3, $4) ON CONFLICT (id) DO NOTHING"),
				id, at, len(added), packed).Exec(func(tag pgconn.CommandTag) error {
				wrote = tag.RowsAffected()
				return nil
			})
		}); err != nil || wrote == 0 {
			return t.end(ctx, err)
		}
		return t.commit(ctx, func(q *pgx.Batch) { s.add(q, tallies) })
	})
}

// add queues tallies in a fixed order, so that transactions that write the same rows do not deadlock.
func (s *Requests) add(q *pgx.Batch, tallies []requests.Tally) {
	n := len(tallies)
	days, counts := make([]int64, n), make([]int64, n)
	var texts [5][]string
	for i := range texts {
		texts[i] = make([]string, n)
	}
	for i, t := range tallies {
		days[i], counts[i] = t.Day, t.N
		texts[0][i], texts[1][i], texts[2][i], texts[3][i], texts[4][i] = t.Account, t.Key, t.Platform, t.Operation, t.What
	}
	q.Queue(s.db.sql(`
		INSERT INTO @usage AS u (account, day, key, platform, operation, what, n)
		SELECT * FROM unnest($1::text[], $2::bigint[], $3::text[], $4::text[], $5::text[], $6::text[], $7::bigint[])
		ON CONFLICT (account, day, key, platform, operation, what) DO UPDATE SET n = u.n + excluded.n`),
		texts[0], days, texts[1], texts[2], texts[3], texts[4], counts)
}

// listedAtOnce is how many batches one query of the log reads.
const listedAtOnce = 200

// packedBatch is a row of requests.
type packedBatch struct {
	no     int64
	packed []byte
}

func scanBatch(row pgx.CollectableRow) (b packedBatch, err error) {
	err = row.Scan(&b.no, &b.packed)
	return b, err
}

// List implements [requests.Store].
func (s *Requests) List(ctx context.Context, q requests.Query) (found []requests.Request, err error) {
	before := int64(1) << 62
	if q.Before > 0 {
		before = requests.BatchOf(q.Before) + 1
	}
	for {
		batches, err := list(ctx, s.db, scanBatch,
			"SELECT no, batch FROM @requests WHERE no < $1 AND no >= $2 ORDER BY no DESC LIMIT $3",
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
	return s.db.retry(ctx, func(bool) error {
		_, err := s.db.pool.Exec(ctx, s.db.sql(`DELETE FROM @requests WHERE no <= (SELECT coalesce(max(no), 0) FROM (
			SELECT no, at, sum(n) OVER (ORDER BY no DESC) AS n FROM @requests) AS r WHERE at <= $1 OR n > $2)`),
			now.Add(-b.Life).UnixMicro(), b.Most)
		if err == nil {
			_, err = s.db.pool.Exec(ctx, s.db.sql("DELETE FROM @usage WHERE day < $1"), requests.DayOf(now)-int64(b.Days)+1)
		}
		return err
	})
}

// Folded implements [requests.Store].
func (s *Requests) Folded(ctx context.Context, account string) (seq int64, err error) {
	found, err := list(ctx, s.db, pgx.RowTo[int64], "SELECT seq FROM @usage_folded WHERE account = $1", account)
	if err != nil || len(found) == 0 {
		return 0, err
	}
	return found[0], nil
}

// Fold implements [requests.Store]. If an earlier attempt was committed without an answer, the next one fails with
// ErrFolded, and [Requests.Folded] then shows that the entries are counted.
func (s *Requests) Fold(ctx context.Context, account string, after, through int64, tallies []requests.Tally) error {
	return s.db.transact(ctx, func(ctx context.Context, t *tx) error {
		var moved int64
		err := t.step(ctx, func(q *pgx.Batch) {
			q.Queue(s.db.sql("INSERT INTO @usage_folded VALUES ($1, 0) ON CONFLICT DO NOTHING"), account)
			q.Queue(s.db.sql("UPDATE @usage_folded SET seq = $3 WHERE account = $1 AND seq = $2"), account, after, through).
				Exec(func(tag pgconn.CommandTag) error {
					moved = tag.RowsAffected()
					return nil
				})
		})
		if err != nil {
			return err
		}
		if moved == 0 {
			return requests.ErrFolded
		}
		return t.commit(ctx, func(q *pgx.Batch) { s.add(q, tallies) })
	})
}

// Sums implements [requests.Store].
func (s *Requests) Sums(ctx context.Context, q requests.SumQuery) ([]requests.Tally, error) {
	columns := map[requests.Dimension]string{
		requests.ByAccount: "''", requests.ByDay: "0::bigint", requests.ByKey: "''", requests.ByPlatform: "''",
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
	where, args := []string{"day >= $1", "day < $2"}, []any{q.Since, until}
	for _, only := range []struct{ column, value string }{
		{"account", q.Account}, {"key", q.Key}, {"platform", q.Platform}, {"operation", q.Operation},
	} {
		if only.value != "" {
			args = append(args, only.value)
			where = append(where, fmt.Sprintf("%s = $%d", only.column, len(args)))
		}
	}
	query := "SELECT " + columns[requests.ByAccount] + ", " + columns[requests.ByDay] + ", " + columns[requests.ByKey] +
		", " +
		columns[requests.ByPlatform] + ", " + columns[requests.ByOperation] + ", what, sum(n)::bigint FROM @usage WHERE " +
		strings.Join(where, " AND ") + " GROUP BY 1, 2, 3, 4, 5, 6"
	return list(ctx, s.db, scanTally, query, args...)
}

func scanTally(row pgx.CollectableRow) (t requests.Tally, err error) {
	err = row.Scan(&t.Account, &t.Day, &t.Key, &t.Platform, &t.Operation, &t.What, &t.N)
	return t, err
}
