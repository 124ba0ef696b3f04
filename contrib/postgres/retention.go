package postgres

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/privacy"
	"github.com/socialdata/socialdata/watch"
)

// Sweep implements [watch.Store]. Several replicas share the work.
func (s *Watches) Sweep(ctx context.Context, l watch.Limits) (more bool, err error) {
	for _, sweep := range []func(context.Context, watch.Limits) (bool, error){
		s.sweepRows, s.sweepFeeds, s.sweepContent, s.sweepSnapshots,
	} {
		left, err := sweep(ctx, l)
		if err != nil {
			return false, err
		}
		more = more || left
	}
	return more, nil
}

// sweepRows removes whole changes, and samples.
func (s *Watches) sweepRows(ctx context.Context, l watch.Limits) (more bool, err error) {
	const day = int64(24 * time.Hour)
	for _, d := range []struct {
		query string
		args  []any
	}{
		{
			`WITH gone AS (DELETE FROM @changes WHERE (account, seq) IN (
				SELECT account, seq FROM @changes WHERE at < $1 LIMIT $2 FOR UPDATE SKIP LOCKED) RETURNING 1) SELECT count(*) FROM gone`,
			[]any{l.Changes.UnixNano(), sweptAtOnce},
		},
		{
			`WITH gone AS (DELETE FROM @samples WHERE (monitor, field, at) IN (
				SELECT monitor, field, at FROM @samples WHERE at < $1 LIMIT $2 FOR UPDATE SKIP LOCKED) RETURNING 1) SELECT count(*) FROM gone`,
			[]any{l.Samples.UnixNano(), sweptAtOnce},
		},
		{
			`WITH gone AS (DELETE FROM @samples WHERE (monitor, field, at) IN (
				SELECT monitor, field, at FROM @samples s WHERE at < $1 AND EXISTS (
					SELECT 1 FROM @samples l WHERE l.monitor = s.monitor AND l.field = s.field AND l.at > s.at AND l.at / $3 = s.at / $3)
				LIMIT $2 FOR UPDATE SKIP LOCKED) RETURNING 1) SELECT count(*) FROM gone`,
			[]any{l.Raw.UnixNano(), sweptAtOnce, day},
		},
	} {
		n := 0
		if err := s.db.retry(ctx, func(bool) error {
			return s.db.pool.QueryRow(ctx, s.db.sql(d.query), d.args...).Scan(&n)
		}); err != nil {
			return false, err
		}
		more = more || n >= sweptAtOnce
	}
	return more, nil
}

// sweepFeeds removes the oldest changes of the feeds that are too large.
func (s *Watches) sweepFeeds(ctx context.Context, l watch.Limits) (more bool, err error) {
	if l.Bytes == 0 {
		return false, nil
	}
	large, err := list(ctx, s.db, pgx.RowTo[string], "SELECT account FROM @feeds WHERE bytes > $1", l.Bytes)
	if err != nil {
		return false, err
	}
	for _, account := range large {
		left, err := s.shrink(ctx, account, l.Bytes)
		if err != nil {
			return false, err
		}
		more = more || left
	}
	return more, nil
}

// shrink counts the bytes of a feed, removes the oldest changes until most bytes are left, as many as one step removes,
// and reports whether there are more. It locks the feed, so that nothing is added meanwhile.
func (s *Watches) shrink(ctx context.Context, account string, most int64) (more bool, err error) {
	err = s.db.transact(ctx, func(ctx context.Context, t *tx) error {
		var size, last int64
		if err := t.step(ctx, func(q *pgx.Batch) {
			q.Queue(s.db.sql("SELECT FROM @feeds WHERE account = $1 FOR UPDATE"), account)
			q.Queue(s.db.sql("SELECT coalesce(sum(length(body)), 0)::bigint FROM @changes WHERE account = $1"), account).
				QueryRow(func(row pgx.Row) error { return row.Scan(&size) })
			q.Queue(s.db.sql("SELECT seq, length(body) FROM @changes WHERE account = $1 ORDER BY seq LIMIT $2"), account,
				sweptAtOnce).Query(func(rows pgx.Rows) error {
				var seq, bytes int64
				_, err := pgx.ForEachRow(rows, []any{&seq, &bytes}, func() error {
					if size > most {
						last, size = seq, size-bytes
					}
					return nil
				})
				return err
			})
		}); err != nil {
			return err
		}
		more = size > most
		return t.commit(ctx, func(q *pgx.Batch) {
			q.Queue(s.db.sql("DELETE FROM @changes WHERE account = $1 AND seq <= $2"), account, last)
			q.Queue(s.db.sql("UPDATE @feeds SET bytes = $2 WHERE account = $1"), account, size)
		})
	})
	return more, err
}

// cutArguments are the arguments of [olderThan]: the latest time of all, that of the rest, and those of platforms.
func cutArguments(c watch.Cuts) []any {
	on, at := []string{""}, []int64{c.At("").UnixNano()}
	for p, cut := range c.Of {
		on, at = append(on, p), append(at, cut.UnixNano())
	}
	return []any{c.Latest().UnixNano(), c.Rest.UnixNano(), on, at}
}

// olderThan returns a condition that a time in a column of r is before the cut of its row's platform.
func olderThan(column string) string {
	return "r." + column + " < $1 AND r." + column +
		" < coalesce((SELECT u.at FROM unnest($3::text[], $4::bigint[]) AS u (platform, at) " +
		"WHERE u.platform = r.platform), $2)"
}

// sweepContent removes the content of changes.
func (s *Watches) sweepContent(ctx context.Context, l watch.Limits) (more bool, err error) {
	n := 0
	err = s.db.transact(ctx, func(ctx context.Context, t *tx) error {
		var rows []toldChange
		if err := t.step(ctx, func(q *pgx.Batch) {
			q.Queue(s.db.sql("SELECT account, monitor, seq, body FROM @changes r WHERE content AND "+olderThan("at")+
				" LIMIT $5 FOR UPDATE SKIP LOCKED"), append(cutArguments(l.Content), erasedAtOnce)...).
				Query(func(r pgx.Rows) (err error) {
					rows, err = pgx.CollectRows(r, scanTold)
					return err
				})
		}); err != nil {
			return err
		}
		n = len(rows)
		bodies, err := rewritten(rows, watch.Bare)
		if err != nil {
			return err
		}
		return t.commit(ctx, func(q *pgx.Batch) { bodies(s.db, q) })
	})
	return n == erasedAtOnce, err
}

// sweepSnapshots removes old content from the snapshots.
func (s *Watches) sweepSnapshots(ctx context.Context, l watch.Limits) (more bool, err error) {
	n := 0
	err = s.db.transact(ctx, func(ctx context.Context, t *tx) error {
		var rows []watched
		if err := t.step(ctx, func(q *pgx.Batch) {
			q.Queue(s.db.sql("SELECT "+monitorColumns+" FROM @monitors r WHERE "+olderThan("content_at")+
				" LIMIT $5 FOR UPDATE SKIP LOCKED"), append(cutArguments(l.Content), erasedAtOnce)...).
				Query(func(r pgx.Rows) (err error) {
					rows, err = pgx.CollectRows(r, scanMonitor)
					return err
				})
		}); err != nil {
			return err
		}
		n = len(rows)
		b := &pgx.Batch{}
		for i := range rows {
			rows[i].Expire(l.Content)
			if err := rows[i].keep(s.db, b); err != nil {
				return err
			}
		}
		return t.commit(ctx, func(q *pgx.Batch) { q.QueuedQueries = append(q.QueuedQueries, b.QueuedQueries...) })
	})
	return n == erasedAtOnce, err
}

// Kept implements [watch.Store].
func (s *Watches) Kept(ctx context.Context) ([]privacy.Kept, error) {
	var out []privacy.Kept
	for _, of := range []struct{ kind, query string }{
		{
			watch.KeptChanges,
			"SELECT platform, count(*), sum(length(body))::bigint, min(at) FROM @changes WHERE content GROUP BY platform",
		},
		{
			watch.KeptSnapshots,
			"SELECT platform, count(*), sum(length(progress))::bigint, min(content_at) FROM @monitors WHERE content_at IS NOT " +
				"NULL " +
				"GROUP BY platform",
		},
		{watch.KeptSamples, "SELECT '', count(*), 40 * count(*), coalesce(min(at), 0) FROM @samples"},
	} {
		found, err := list(ctx, s.db, func(row pgx.CollectableRow) (k privacy.Kept, err error) {
			var on string
			var since int64
			err = row.Scan(&on, &k.Number, &k.Bytes, &since)
			k.Kind, k.Platform, k.Since = of.kind, platform.ID(on), fromNanos(since)
			return k, err
		}, of.query)
		if err != nil {
			return nil, err
		}
		for _, k := range found {
			if k.Number > 0 {
				out = append(out, k)
			}
		}
	}
	return privacy.SumKept(out), nil
}
