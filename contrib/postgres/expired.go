package postgres

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"
)

const (
	// sweepEvery is how often holds are looked for that have run out and that no call has come across.
	sweepEvery = time.Minute
	// holdsAtOnce is how many of them one transaction removes, and of how many accounts it may lock the rows.
	holdsAtOnce, holdersAtOnce = 500, 100
)

// sweep removes holds that have run out, of accounts that nobody calls for: those of replicas that have died. It passes
// over accounts that are locked. Several replicas share the work.
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
			q.Queue("SET LOCAL synchronous_commit = off") // what is lost is swept again
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
