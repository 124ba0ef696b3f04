package sqlite

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"encoding/json"
	"errors"
	"time"

	"github.com/socialdata/socialdata/privacy"
	"github.com/socialdata/socialdata/schema"
	"github.com/socialdata/socialdata/store/records"
	"github.com/socialdata/socialdata/watch"
)

// marked is a record with the marks of its subjects.
type marked struct {
	no, version int64
	key         string
	subjects    privacy.Marks
}

const (
	looksAtOnce  = 1000
	wholeAtOnce  = 100 // with what is in them
	erasedAtOnce = 100 // few, because charges wait during each of the erasure's transactions
)

// Erase implements [records.Store].
func (r *Records) Erase(ctx context.Context, s privacy.Subject) (map[string]int, error) {
	removed := map[string]int{}
	for last := int64(0); ; {
		part, err := listRows(ctx, r.file.read, func(rows *sql.Rows) (m marked, err error) {
			err = rows.Scan(&m.no, &m.version, &m.key, &m.subjects)
			return m, err
		}, "SELECT no, version, key, subjects FROM records WHERE no > ? AND subjects <> x'' ORDER BY no LIMIT ?", last,
			looksAtOnce)
		if err != nil || len(part) == 0 {
			return removed, err
		}
		last = part[len(part)-1].no
		var found []marked
		for _, m := range part {
			if s.In(m.subjects) {
				found = append(found, m)
				removed[records.Kind(m.key)]++
			}
		}
		if s.DryRun {
			continue
		}
		if err := inSteps(ctx, found, func(step []marked) error { return r.erase(step) }); err != nil {
			return removed, err
		}
	}
}

// Mentions implements [privacy.MentionCounter].
func (r *Records) Mentions(ctx context.Context, s privacy.Subject) (n int, err error) {
	type row struct {
		no       int64
		value    []byte
		subjects privacy.Marks
	}
	for last := int64(0); ; {
		part, err := listRows(ctx, r.file.read, func(rows *sql.Rows) (v row, err error) {
			err = rows.Scan(&v.no, &v.value, &v.subjects)
			return v, err
		}, "SELECT no, value, subjects FROM records WHERE no > ? ORDER BY no LIMIT ?", last, wholeAtOnce)
		if err != nil || len(part) == 0 {
			return n, err
		}
		last = part[len(part)-1].no
		for _, v := range part {
			if records.Mentions(v.value, v.subjects, s) {
				n++
			}
		}
	}
}

// inSteps calls do with a part of all at a time, so that charges can be written in between.
func inSteps[T any](ctx context.Context, all []T, do func([]T) error) error {
	for len(all) > 0 {
		n := min(len(all), erasedAtOnce)
		if err := errors.Join(ctx.Err(), do(all[:n])); err != nil {
			return err
		}
		all = all[n:]
	}
	return nil
}

// erase removes records, unless they were replaced meanwhile.
func (r *Records) erase(all []marked) error {
	return r.file.writer.do(&task{apply: func(w *writer) error {
		for _, m := range all {
			if _, err := w.c.exec("DELETE FROM records WHERE no = ? AND version = ?", m.no, m.version); err != nil {
				return err
			}
		}
		return nil
	}})
}

// scrubEvery is the interval at which an erasure checks whether others still read the log, and scrubTries the number of
// checks.
const (
	scrubEvery = 20 * time.Millisecond
	scrubTries = 250
)

var errLogInUse = errors.New("sqlite: another process keeps reading the write-ahead log, which holds what was " +
	"erased; erase again")

// scrub empties the write-ahead log, which has pages from before something was removed.
func (f *file) scrub(ctx context.Context) (err error) {
	c, err := openConn(dsn(f.path, scrubParams))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.Close()) }()
	for range scrubTries {
		var v [3]driver.Value // busy, frames in the log, frames copied
		_, err := c.row("PRAGMA wal_checkpoint(TRUNCATE)", v[:])
		if err == nil && value[int64](v[0]) == 0 {
			return nil
		}
		if err != nil && !isBusy(err) {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(scrubEvery):
		}
	}
	return errLogInUse
}

// Erase implements [watch.Store].
func (s *Watches) Erase(ctx context.Context, who privacy.Subject) (map[string]int, error) {
	e := &erasing{Watches: s, who: who, removed: map[string]int{}}
	if !who.DryRun {
		// A poll in progress may have read what is erased. It has to be repeated.
		if err := s.do(ctx, func(w *writer) error {
			_, err := w.c.exec("UPDATE monitors SET lease = '', until = 0 WHERE lease <> ''")
			return err
		}); err != nil {
			return nil, err
		}
	}
	if err := e.monitors(ctx); err != nil {
		return e.removed, err
	}
	return e.removed, e.changes(ctx)
}

// Mentions implements [privacy.MentionCounter].
func (s *Watches) Mentions(ctx context.Context, who privacy.Subject) (n int, err error) {
	for last := int64(0); ; {
		part, err := listRows(ctx, s.file.read, scanWatched, selectMonitors+" WHERE no > ? ORDER BY no LIMIT ?", last,
			wholeAtOnce)
		if err != nil {
			return n, err
		}
		if len(part) == 0 {
			break
		}
		last = part[len(part)-1].no
		for i := range part {
			if part[i].Mentions(who) {
				n++
			}
		}
	}
	type row struct {
		no   int64
		body []byte
	}
	for last := int64(0); ; {
		part, err := listRows(ctx, s.file.read, func(rows *sql.Rows) (r row, err error) {
			err = rows.Scan(&r.no, &r.body)
			return r, err
		}, "SELECT no, body FROM changes WHERE no > ? ORDER BY no LIMIT ?", last, looksAtOnce)
		if err != nil || len(part) == 0 {
			return n, err
		}
		last = part[len(part)-1].no
		for _, r := range part {
			mentioned, err := watch.Mentions(r.body, who)
			if err != nil {
				return n, err
			}
			if mentioned {
				n++
			}
		}
	}
}

// erasing is one erasure from the monitors of all accounts.
type erasing struct {
	*Watches

	who     privacy.Subject
	removed map[string]int
	ended   map[[2]string]bool // monitors by account and name
}

// monitors erases from the monitors, and ends those that watch the subject.
func (e *erasing) monitors(ctx context.Context) error {
	e.ended = map[[2]string]bool{}
	numbers, err := listRows(ctx, e.file.read, func(rows *sql.Rows) (no int64, err error) {
		err = rows.Scan(&no)
		return no, err
	}, "SELECT no FROM monitors ORDER BY no")
	if err != nil {
		return err
	}
	return inSteps(ctx, numbers, func(step []int64) error {
		var found map[string]int
		var ended [][2]string
		err := e.do(ctx, func(w *writer) error {
			found, ended = map[string]int{}, nil
			for _, no := range step {
				account, name, err := e.monitor(w, no, found)
				if err != nil {
					return err
				}
				if name != "" {
					ended = append(ended, [2]string{account, name})
				}
			}
			return nil
		})
		for _, m := range ended {
			e.ended[m] = true
		}
		privacy.Add(e.removed, found)
		return err
	})
}

// monitor erases from one monitor and, if that ends, returns its account and name.
func (e *erasing) monitor(w *writer, no int64, found map[string]int) (account, name string, err error) {
	var v columns
	there, err := w.c.row(selectMonitors+" WHERE no = ?", v[:], no)
	if err != nil || !there {
		return "", "", err
	}
	m, err := v.read()
	if err != nil {
		return "", "", err
	}
	changed, ends := m.Erase(e.who, found)
	if ends {
		account, name = m.Account, m.Name
		n, err := w.c.number("SELECT count(*) FROM samples WHERE monitor = ?", no)
		if err != nil {
			return "", "", err
		}
		privacy.Add(found, map[string]int{watch.ErasedSamples: int(n)})
	}
	switch {
	case e.who.DryRun || !changed:
		return account, name, nil
	case !ends:
		return "", "", m.keep(w)
	}
	if _, err := w.c.exec("DELETE FROM samples WHERE monitor = ?", no); err != nil {
		return "", "", err
	}
	_, err = w.c.exec("DELETE FROM monitors WHERE no = ?", no)
	return account, name, err
}

// changes removes the changes that contain the subject, and those of the monitors that end.
func (e *erasing) changes(ctx context.Context) error {
	type row struct {
		no, seq       int64
		account, name string
		body          []byte
	}
	for last := int64(0); ; {
		part, err := listRows(ctx, e.file.read, func(rows *sql.Rows) (r row, err error) {
			err = rows.Scan(&r.no, &r.seq, &r.account, &r.name, &r.body)
			return r, err
		}, "SELECT no, seq, account, monitor, body FROM changes WHERE no > ? ORDER BY no LIMIT ?", last, looksAtOnce)
		if err != nil || len(part) == 0 {
			return err
		}
		last = part[len(part)-1].no
		var found []int64
		for _, r := range part {
			var c schema.Change
			if err := json.Unmarshal(r.body, &c); err != nil {
				return err
			}
			if watch.Holds(&c, e.who) || e.ended[[2]string{r.account, r.name}] {
				found = append(found, r.no)
				if err := e.deliveries(ctx, r.account, r.seq); err != nil {
					return err
				}
			}
		}
		privacy.Add(e.removed, map[string]int{watch.ErasedChanges: len(found)})
		if e.who.DryRun {
			continue
		}
		if err := inSteps(ctx, found, func(step []int64) error { return e.remove(ctx, step) }); err != nil {
			return err
		}
	}
}

// deliveries counts the deliveries of a change, which are removed with it.
func (e *erasing) deliveries(ctx context.Context, account string, seq int64) error {
	n := 0
	err := e.file.read.QueryRowContext(ctx, "SELECT count(*) FROM deliveries WHERE account = ? AND seq = ?", account,
		seq).Scan(&n)
	privacy.Add(e.removed, map[string]int{watch.ErasedDeliveries: n})
	return explain(err)
}

func (e *erasing) remove(ctx context.Context, changes []int64) error {
	return e.do(ctx, func(w *writer) error {
		for _, no := range changes {
			if _, err := w.c.exec("DELETE FROM changes WHERE no = ?", no); err != nil {
				return err
			}
		}
		return nil
	})
}
