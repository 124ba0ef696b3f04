package sqlstore

import (
	"context"
	"math"
	"strings"
	"time"

	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/privacy"
	"github.com/socialdata/socialdata/watch"
)

// changedAtOnce is how many changes, samples or monitors a transaction of a sweep or of an erasure writes or removes:
// few, because charges may wait for it.
const changedAtOnce = 200

// Sweep implements [watch.Store]. It looks for rows outside of the transactions in which it changes them.
func (s *Watches) Sweep(ctx context.Context, l watch.Limits) (more bool, err error) {
	most := l.Bytes
	if most == 0 {
		most = math.MaxInt64
	}
	shrinkFeed := func(t tx, keys [][]any) error { return t.shrinkFeed(keys[0][0], most) }
	expire := func(t tx, keys [][]any) error { return t.expireSnapshots(keys, l.Content) }
	content, contentArgs := olderThan("at", l.Content)
	snapshots, snapshotsArgs := olderThan("content_at", l.Content)
	const day = int64(24 * time.Hour)
	for _, sweep := range []struct {
		do     func(t tx, keys [][]any) error
		atOnce int
		keys   int // how many columns a key has
		query  string
		args   []any
	}{
		{
			tx.removeChanges, changedAtOnce, 2, "SELECT account, seq FROM @changes WHERE at < ?",
			[]any{l.Changes.UnixNano()},
		},
		{shrinkFeed, 1, 1, "SELECT account FROM @feeds WHERE bytes > ?", []any{most}},
		{
			tx.bareChanges, changedAtOnce, 2, "SELECT account, seq FROM @changes WHERE content = 1 AND " + content,
			contentArgs,
		},
		{expire, changedAtOnce, 1, "SELECT no FROM @monitors WHERE " + snapshots, snapshotsArgs},
		{
			tx.removeSamples, changedAtOnce, 3, "SELECT monitor, field, at FROM @samples WHERE at < ?",
			[]any{l.Samples.UnixNano()},
		},
		{ // all but the last one of each day
			tx.removeSamples, changedAtOnce, 3, `SELECT monitor, field, at FROM @samples s WHERE at < ? AND EXISTS (
				SELECT 1 FROM @samples l WHERE l.monitor = s.monitor AND l.field = s.field AND l.at > s.at
				AND l.at / ? = s.at / ?)`,
			[]any{l.Raw.UnixNano(), day, day},
		},
	} {
		keys, err := list(ctx, s.db, scanKeys(sweep.keys), sweep.query+" LIMIT ?", append(sweep.args, sweep.atOnce)...)
		if err == nil && len(keys) > 0 {
			err = s.db.write(ctx, func(t tx) error { return sweep.do(t, keys) })
		}
		if err != nil {
			return false, err
		}
		more = more || len(keys) == sweep.atOnce
	}
	return more, nil
}

// scanKeys scans rows of n numbers and texts, for a table of parameters.
func scanKeys(n int) func(row) ([]any, error) {
	return func(r row) ([]any, error) {
		keys, into := make([]any, n), make([]any, n)
		for i := range keys {
			into[i] = &keys[i]
		}
		err := r.Scan(into...)
		return keys, err
	}
}

// olderThan returns a condition that a time in a column is before the cut of its row's platform.
func olderThan(column string, c watch.Cuts) (where string, args []any) {
	where = column + " < ? AND " + column + " < CASE platform WHEN '' THEN CAST(? AS {int})" +
		strings.Repeat(" WHEN ? THEN CAST(? AS {int})", len(c.Of)) + " ELSE CAST(? AS {int}) END"
	args = []any{c.Latest().UnixNano(), c.At("").UnixNano()}
	for on, at := range c.Of {
		args = append(args, on, at.UnixNano())
	}
	return where, append(args, c.Rest.UnixNano())
}

// shrinkFeed removes the oldest changes of a feed until most bytes are left, or as many as a transaction removes.
func (t tx) shrinkFeed(account any, most int64) error {
	var excess, seq, size int64
	err := t.row([]any{&excess}, "SELECT bytes - ? FROM @feeds WHERE account = ? {lock}", most, account)
	if err != nil {
		return err
	}
	var oldest [][]any
	err = t.each([]any{&seq, &size}, func() error {
		if excess > 0 {
			oldest = append(oldest, []any{account, seq})
		}
		excess -= size
		return nil
	}, "SELECT seq, length(body) FROM @changes WHERE account = ? ORDER BY seq LIMIT ?", account, changedAtOnce)
	if err != nil {
		return err
	}
	return t.removeChanges(oldest)
}

// bareChanges removes the content of changes.
func (t tx) bareChanges(keys [][]any) error {
	table, args := t.rows("tn", keys)
	return t.rewrite(watch.Bare, "(account, seq) IN (SELECT c1, c2 FROM "+table+")", args...)
}

// expireSnapshots removes old content from the snapshots of monitors.
func (t tx) expireSnapshots(keys [][]any, c watch.Cuts) error {
	table, args := t.rows("n", keys)
	found, err := collect(t, (*monitorRow).fields,
		selectMonitors+"no IN (SELECT c1 FROM "+table+") ORDER BY no {lock}", args...)
	if err != nil {
		return err
	}
	for i := range found {
		found[i].Expire(c)
		if err := found[i].keep(t); err != nil {
			return err
		}
	}
	return nil
}

func (t tx) removeSamples(keys [][]any) error {
	table, args := t.rows("ntn", keys)
	return t.exec("DELETE FROM @samples WHERE (monitor, field, at) IN (SELECT c1, c2, c3 FROM "+table+")", args...)
}

// Stored implements [watch.Store].
func (s *Watches) Stored(ctx context.Context) ([]privacy.Stored, error) {
	var all []privacy.Stored
	for kind, query := range map[string]string{
		watch.KeptChanges: "SELECT platform, count(*), CAST(sum(length(body)) AS {int}), min(at) FROM @changes " +
			"WHERE content = 1 GROUP BY platform",
		watch.KeptSnapshots: "SELECT platform, count(*), CAST(sum(length(progress)) AS {int}), min(content_at) " +
			"FROM @monitors WHERE content_at IS NOT NULL GROUP BY platform",
		watch.KeptSamples: "SELECT '', count(*), 40 * count(*), min(at) FROM @samples HAVING count(*) > 0",
	} {
		found, err := list(ctx, s.db, func(r row) (privacy.Stored, error) {
			k := privacy.Stored{Kind: kind}
			var on string
			err := r.Scan(&on, &k.Number, &k.Bytes, nanos{&k.Since})
			k.Platform = platform.ID(on)
			return k, err
		}, query)
		if err != nil {
			return nil, err
		}
		all = append(all, found...)
	}
	return privacy.SumStored(all), nil
}
