package sqlite

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"strings"
	"time"

	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/privacy"
	"github.com/socialdata/socialdata/watch"
)

// dayNanos is a day of UTC in nanoseconds.
const dayNanos = int64(24 * time.Hour)

// Sweep implements [watch.Store]. It searches for the rows to remove outside of the writer, which charges share.
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
	err = s.do(ctx, func(w *writer) error {
		more = false
		for _, d := range []struct {
			query string
			args  []any
		}{
			{"DELETE FROM changes WHERE no IN (SELECT no FROM changes WHERE at < ? LIMIT ?)", []any{l.Changes.UnixNano(), sweptAtOnce}},
			{
				"DELETE FROM samples WHERE (monitor, field, at) IN (SELECT monitor, field, at FROM samples WHERE at < ? LIMIT ?)",
				[]any{l.Samples.UnixNano(), sweptAtOnce},
			},
			{`DELETE FROM samples WHERE (monitor, field, at) IN (SELECT monitor, field, at FROM samples s WHERE at < ?1 AND EXISTS (
				SELECT 1 FROM samples l WHERE l.monitor = s.monitor AND l.field = s.field AND l.at > s.at AND l.at / ?2 = s.at / ?2)
				LIMIT ?3)`, []any{l.Raw.UnixNano(), dayNanos, sweptAtOnce}},
		} {
			n, err := w.c.exec(d.query, d.args...)
			if err != nil {
				return err
			}
			more = more || n >= sweptAtOnce
		}
		return nil
	})
	return more, err
}

// sweepFeeds removes the oldest changes of the feeds that are too large.
func (s *Watches) sweepFeeds(ctx context.Context, l watch.Limits) (more bool, err error) {
	if l.Bytes == 0 {
		return false, nil
	}
	large, err := listRows(ctx, s.file.read, func(rows *sql.Rows) (account string, err error) {
		err = rows.Scan(&account)
		return account, err
	}, "SELECT account FROM feed_sizes WHERE bytes > ?", l.Bytes)
	if err != nil {
		return false, err
	}
	for _, account := range large {
		if err := s.do(ctx, func(w *writer) error {
			left, err := shrink(w, account, l.Bytes)
			more = more || left
			return err
		}); err != nil {
			return false, err
		}
	}
	return more, nil
}

// shrink removes the oldest changes of a feed until most bytes are left, as many as one step removes, and reports
// whether there are more.
func shrink(w *writer, account string, most int64) (more bool, err error) {
	size, err := w.c.number("SELECT bytes FROM feed_sizes WHERE account = ?", account)
	if err != nil {
		return false, err
	}
	var v [2]driver.Value
	last := int64(0)
	if err := w.c.each("SELECT seq, length(body) FROM changes WHERE account = ? ORDER BY seq LIMIT ?", v[:], func() {
		if size > most {
			last, size = value[int64](v[0]), size-value[int64](v[1])
		}
	}, account, sweptAtOnce); err != nil {
		return false, err
	}
	_, err = w.c.exec("DELETE FROM changes WHERE account = ? AND seq <= ?", account, last)
	return size > most, err
}

// beforeCut returns a condition that a time in a column is before the cut of its row's platform, with its arguments.
func beforeCut(column string, c watch.Cuts) (where string, args []any) {
	var b strings.Builder
	b.WriteString(column + " < ? AND " + column + " < CASE platform WHEN '' THEN ?")
	args = []any{c.Latest().UnixNano(), c.At("").UnixNano()}
	for on, at := range c.Of {
		b.WriteString(" WHEN ? THEN ?")
		args = append(args, on, at.UnixNano())
	}
	b.WriteString(" ELSE ? END")
	return b.String(), append(args, c.Rest.UnixNano())
}

// numbers returns the row numbers that a query selects, as many as one step removes.
func (s *Watches) numbers(ctx context.Context, query string, args ...any) ([]int64, error) {
	return listRows(ctx, s.file.read, func(rows *sql.Rows) (no int64, err error) {
		err = rows.Scan(&no)
		return no, err
	}, query+" LIMIT ?", append(args, erasedAtOnce)...)
}

// sweepContent removes the content of changes.
func (s *Watches) sweepContent(ctx context.Context, l watch.Limits) (more bool, err error) {
	where, args := beforeCut("at", l.Content)
	found, err := s.numbers(ctx, "SELECT no FROM changes WHERE content = 1 AND "+where, args...)
	if err != nil || len(found) == 0 {
		return false, err
	}
	return len(found) == erasedAtOnce, s.do(ctx, func(w *writer) error {
		for _, no := range found {
			if err := rewrite(w, watch.Bare, "no = ?", no); err != nil {
				return err
			}
		}
		return nil
	})
}

// sweepSnapshots removes old content from the snapshots.
func (s *Watches) sweepSnapshots(ctx context.Context, l watch.Limits) (more bool, err error) {
	where, args := beforeCut("content_at", l.Content)
	found, err := s.numbers(ctx, "SELECT no FROM monitors WHERE "+where, args...)
	if err != nil || len(found) == 0 {
		return false, err
	}
	return len(found) == erasedAtOnce, s.do(ctx, func(w *writer) error {
		for _, no := range found {
			var v columns
			there, err := w.c.row(selectMonitors+" WHERE no = ?", v[:], no)
			if err != nil {
				return err
			}
			if !there {
				continue
			}
			m, err := v.read()
			if err != nil {
				return err
			}
			m.Expire(l.Content)
			if err := m.keep(w); err != nil {
				return err
			}
		}
		return nil
	})
}

// Kept implements [watch.Store].
func (s *Watches) Kept(ctx context.Context) ([]privacy.Kept, error) {
	var out []privacy.Kept
	for _, of := range []struct{ kind, query string }{
		{watch.KeptChanges, "SELECT platform, count(*), sum(length(body)), min(at) FROM changes WHERE content = 1 GROUP BY platform"},
		{
			watch.KeptSnapshots,
			"SELECT platform, count(*), sum(length(progress)), min(content_at) FROM monitors WHERE content_at IS NOT NULL " +
				"GROUP BY platform",
		},
		{watch.KeptSamples, "SELECT '', count(*), 40 * count(*), coalesce(min(at), 0) FROM samples"},
	} {
		found, err := listRows(ctx, s.file.read, func(rows *sql.Rows) (k privacy.Kept, err error) {
			var on string
			var since int64
			err = rows.Scan(&on, &k.Number, &k.Bytes, &since)
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
