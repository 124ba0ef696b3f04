package sqlstore

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/socialdata/socialdata/privacy"
	"github.com/socialdata/socialdata/schema"
	"github.com/socialdata/socialdata/watch"
)

// Erase implements [watch.Store].
func (s *Watches) Erase(ctx context.Context, who privacy.Subject) (map[string]int, error) {
	removed := map[string]int{}
	if !who.DryRun {
		// A poll in progress may have read what is erased, and must be repeated.
		if err := s.db.write(ctx, func(t tx) error {
			return t.exec("UPDATE @monitors SET lease = '', until = 0 WHERE lease <> ''")
		}); err != nil {
			return removed, err
		}
	}
	ended := map[[2]string]bool{} // monitors by account and name
	if err := s.everyMonitor(ctx, func(m *monitorRow) error {
		copied := m.Monitor
		if changed, _ := copied.Erase(who, map[string]int{}); !changed {
			return nil
		}
		ends, err := s.eraseMonitor(ctx, m.Account, m.Name, who, removed)
		ended[[2]string{m.Account, m.Name}] = ends
		return err
	}); err != nil {
		return removed, err
	}
	var found [][]any
	if err := s.everyChange(ctx, func(c *storedChange) error {
		var change schema.Change
		err := json.Unmarshal(c.body, &change)
		if err == nil && (watch.Holds(&change, who) || ended[[2]string{c.account, watch.NameIn(&change)}]) {
			found = append(found, []any{c.account, c.seq})
		}
		return err
	}); err != nil {
		return removed, err
	}
	privacy.Add(removed, map[string]int{watch.ErasedChanges: len(found)})
	for keys := range slices.Chunk(found, changedAtOnce) {
		if err := s.eraseChanges(ctx, keys, who.DryRun, removed); err != nil {
			return removed, err
		}
	}
	return removed, nil
}

// eraseMonitor erases from a monitor, counts what it has removed, and reports whether the monitor ends.
func (s *Watches) eraseMonitor(
	ctx context.Context, account, name string, who privacy.Subject, removed map[string]int,
) (ends bool, err error) {
	var found map[string]int
	err = s.db.write(ctx, func(t tx) error {
		ends, found = false, map[string]int{}
		m, err := t.monitor(account, name)
		if err != nil || m.no == 0 {
			return err
		}
		var changed bool
		if changed, ends = m.Erase(who, found); ends {
			samples := 0
			if err := t.row([]any{&samples}, "SELECT count(*) FROM @samples WHERE monitor = ?", m.no); err != nil {
				return err
			}
			privacy.Add(found, map[string]int{watch.ErasedSamples: samples})
		}
		switch {
		case who.DryRun || !changed:
			return nil
		case ends:
			return m.end(t)
		}
		return m.keep(t)
	})
	privacy.Add(removed, found)
	return ends, err
}

// eraseChanges removes changes with their deliveries, and counts the deliveries.
func (s *Watches) eraseChanges(ctx context.Context, keys [][]any, dryRun bool, removed map[string]int) error {
	deliveries := 0
	err := s.db.write(ctx, func(t tx) error {
		table, args := t.rows("tn", keys)
		err := t.row([]any{&deliveries},
			"SELECT count(*) FROM @deliveries WHERE (account, seq) IN (SELECT c1, c2 FROM "+table+")", args...)
		if err != nil || dryRun {
			return err
		}
		return t.removeChanges(keys)
	})
	privacy.Add(removed, map[string]int{watch.ErasedDeliveries: deliveries})
	return err
}

// Mentions implements [privacy.MentionCounter].
func (s *Watches) Mentions(ctx context.Context, who privacy.Subject) (n int, err error) {
	if err := s.everyMonitor(ctx, func(m *monitorRow) error {
		if m.Mentions(who) {
			n++
		}
		return nil
	}); err != nil {
		return n, err
	}
	err = s.everyChange(ctx, func(c *storedChange) error {
		mentioned, err := watch.Mentions(c.body, who)
		if mentioned {
			n++
		}
		return err
	})
	return n, err
}

// watchesAtOnce is how many rows one query of an erasure reads.
const watchesAtOnce = 200

// everyMonitor calls do for the monitors of all accounts.
func (s *Watches) everyMonitor(ctx context.Context, do func(*monitorRow) error) error {
	return pages(func(last monitorRow) ([]monitorRow, error) {
		return list(ctx, s.db, scanMonitor, selectMonitors+"no > ? ORDER BY no LIMIT ?", last.no, watchesAtOnce)
	}, do)
}

// storedChange is a change with its place in the feed.
type storedChange struct {
	account string
	seq     int64
	body    []byte
}

// everyChange calls do for the changes of all accounts.
func (s *Watches) everyChange(ctx context.Context, do func(*storedChange) error) error {
	return pages(func(last storedChange) ([]storedChange, error) {
		return list(ctx, s.db, func(r row) (c storedChange, err error) {
			err = r.Scan(&c.account, &c.seq, &c.body)
			return c, err
		}, "SELECT account, seq, body FROM @changes WHERE (account, seq) > (?, ?) ORDER BY account, seq LIMIT ?",
			last.account, last.seq, watchesAtOnce)
	}, do)
}

// pages calls do for the rows that next returns: a page after the last row of the page before, until one is empty.
func pages[T any](next func(last T) ([]T, error), do func(*T) error) error {
	for last := *new(T); ; {
		page, err := next(last)
		if err != nil || len(page) == 0 {
			return err
		}
		for i := range page {
			if err := do(&page[i]); err != nil {
				return err
			}
		}
		last = page[len(page)-1]
	}
}
