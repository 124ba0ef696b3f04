package postgres

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"
)

const (
	// sweepEvery is the interval at which expired holds are removed that no call has removed.
	sweepEvery = time.Minute
	// holdsAtOnce is how many of them one transaction removes, and holdersAtOnce how many accounts it locks.
	holdsAtOnce, holdersAtOnce = 500, 100
)

// sweep removes expired holds of accounts without calls, such as those that replicas held when they died. It skips
// accounts that are locked. Several replicas share the work.
func (l *Ledger) sweep(ctx context.Context) error {
	if time.Since(l.swept) < sweepEvery {
		return nil
	}
	l.swept = time.Now()
	for ctx.Err() == nil {
		n, err := l.sweepSome(ctx)
		if err != nil || n == 0 {
			return err
		}
	}
	return nil
}

// sweepSome is one transaction of sweep. It returns how many holds it has removed.
func (l *Ledger) sweepSome(ctx context.Context) (removed int64, err error) {
	err = l.db.transact(ctx, func(ctx context.Context, t *tx) error {
		var locked []int64
		err := t.step(ctx, func(q *pgx.Batch) {
			q.Queue("SET LOCAL synchronous_commit = off") // what is lost is removed again
			q.Queue(l.db.sql("SELECT no FROM @accounts WHERE no IN (SELECT account FROM @holds WHERE expires <= "+sqlNow+
				" LIMIT $2) ORDER BY no FOR NO KEY UPDATE SKIP LOCKED"), l.db.clock(), holdersAtOnce).
				Query(func(rows pgx.Rows) (err error) {
					locked, err = pgx.CollectRows(rows, pgx.RowTo[int64])
					return err
				})
		})
		if err != nil {
			return err
		}
		return t.commit(ctx, func(q *pgx.Batch) {
			q.Queue(l.db.sql(sqlSweep), l.db.clock(), locked, holdsAtOnce).
				QueryRow(func(row pgx.Row) error { return row.Scan(&removed) })
		})
	})
	return removed, err
}

// sqlSweep removes holds of accounts that are locked.
const sqlSweep = `
	WITH old AS MATERIALIZED (
		SELECT account, id, key, amount FROM @holds WHERE account = ANY ($2) AND expires <= ` + sqlNow + ` LIMIT $3
	), gone AS (
		DELETE FROM @holds h USING old o WHERE h.account = o.account AND h.id = o.id
	), freed AS (
		UPDATE @accounts a SET held = a.held - o.amount, first = CASE WHEN a.held = o.amount THEN 0 ELSE coalesce((
			SELECT min(expires) FROM @holds h
			WHERE h.account = a.no AND NOT EXISTS (SELECT 1 FROM old WHERE old.account = h.account AND old.id = h.id)
		), 0) END
		FROM (SELECT account, sum(amount)::bigint AS amount FROM old GROUP BY account) AS o WHERE a.no = o.account
	), spendable AS (
		UPDATE @spending s SET held = s.held - o.amount
		FROM (SELECT account, key, sum(amount)::bigint AS amount FROM old GROUP BY account, key) AS o
		WHERE s.account = o.account AND s.key = o.key
	)
	SELECT count(*) FROM old`
