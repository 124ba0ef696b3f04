package postgres

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/socialdata/socialdata/privacy"
	"github.com/socialdata/socialdata/schema"
	"github.com/socialdata/socialdata/store/records"
	"github.com/socialdata/socialdata/watch"
)

const (
	looksAtOnce  = 1000
	wholeAtOnce  = 100 // with what is in them
	erasedAtOnce = 100 // few, because each of the erasure's transactions locks that many rows
)

// marked is a record with the marks of its subjects.
type marked struct {
	key      []byte
	version  int64
	subjects []byte
}

// Erase implements [records.Store].
func (r *Records) Erase(ctx context.Context, s privacy.Subject) (map[string]int, error) {
	removed := map[string]int{}
	for last := []byte{}; ; {
		part, err := list(ctx, r.db, func(row pgx.CollectableRow) (m marked, err error) {
			err = row.Scan(&m.key, &m.version, &m.subjects)
			return m, err
		}, "SELECT key, version, subjects FROM @records WHERE key > $1 ORDER BY key LIMIT $2", last, looksAtOnce)
		if err != nil || len(part) == 0 {
			return removed, err
		}
		last = part[len(part)-1].key
		var keys [][]byte
		var versions []int64
		for _, m := range part {
			if s.In(privacy.Marks(m.subjects)) {
				keys, versions = append(keys, m.key), append(versions, m.version)
				removed[records.Kind(string(m.key))]++
			}
		}
		for ; !s.DryRun && len(keys) > 0; keys, versions = keys[min(erasedAtOnce, len(keys)):],
			versions[min(erasedAtOnce, len(versions)):] {
			n := min(erasedAtOnce, len(keys))
			if err := r.erase(ctx, keys[:n], versions[:n]); err != nil {
				return removed, err
			}
		}
	}
}

// Mentions implements [privacy.MentionCounter].
func (r *Records) Mentions(ctx context.Context, s privacy.Subject) (n int, err error) {
	type row struct{ key, value, subjects []byte }
	for last := []byte{}; ; {
		part, err := list(ctx, r.db, func(in pgx.CollectableRow) (v row, err error) {
			err = in.Scan(&v.key, &v.value, &v.subjects)
			return v, err
		}, "SELECT key, value, subjects FROM @records WHERE key > $1 ORDER BY key LIMIT $2", last, wholeAtOnce)
		if err != nil || len(part) == 0 {
			return n, err
		}
		last = part[len(part)-1].key
		for _, v := range part {
			if records.Mentions(v.value, privacy.Marks(v.subjects), s) {
				n++
			}
		}
	}
}

// erase removes records, unless they were replaced meanwhile.
func (r *Records) erase(ctx context.Context, keys [][]byte, versions []int64) error {
	return r.db.retry(ctx, func(bool) error {
		_, err := r.db.pool.Exec(ctx, r.db.sql(`
			WITH gone AS (
				DELETE FROM @records WHERE key IN (
					SELECT r.key FROM @records r JOIN unnest($1::bytea[], $2::bigint[]) AS u (key, version)
						ON r.key = u.key AND r.version = u.version ORDER BY r.key FOR UPDATE OF r
				) RETURNING owner, length(key) + length(value) AS size
			)
			UPDATE @record_owners o SET bytes = bytes - g.size
			FROM (SELECT owner, sum(size)::bigint AS size FROM gone GROUP BY owner) g WHERE g.owner = o.owner`), keys, versions)
		return err
	})
}

// Erase implements [watch.Store].
func (s *Watches) Erase(ctx context.Context, who privacy.Subject) (map[string]int, error) {
	e := &erasing{Watches: s, who: who, removed: map[string]int{}, ended: map[[2]string]bool{}}
	if !who.DryRun {
		// A poll in progress may have read what is erased. It has to be repeated.
		if err := s.db.retry(ctx, func(bool) error {
			_, err := s.db.pool.Exec(ctx, s.db.sql("UPDATE @monitors SET lease = '', until = 0 WHERE lease <> ''"))
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
		part, err := list(ctx, s.db, scanMonitor,
			"SELECT "+monitorColumns+" FROM @monitors WHERE no > $1 ORDER BY no LIMIT $2", last, wholeAtOnce)
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
	for last := (toldChange{}); ; {
		part, err := list(ctx, s.db, scanTold, selectTold, last.account, last.seq, looksAtOnce)
		if err != nil || len(part) == 0 {
			return n, err
		}
		last = part[len(part)-1]
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
	for last := int64(0); ; {
		part, err := list(ctx, e.db, scanMonitor,
			"SELECT "+monitorColumns+" FROM @monitors WHERE no > $1 ORDER BY no LIMIT $2", last, looksAtOnce)
		if err != nil || len(part) == 0 {
			return err
		}
		last = part[len(part)-1].no
		for i := range part {
			m := part[i].Monitor
			found := map[string]int{}
			if changed, _ := m.Erase(e.who, found); !changed {
				continue
			}
			if err := e.monitor(ctx, m.Account, m.Name); err != nil {
				return err
			}
		}
	}
}

// monitor erases from one monitor.
func (e *erasing) monitor(ctx context.Context, account, name string) error {
	var found map[string]int
	ended := false
	err := e.db.transact(ctx, func(ctx context.Context, t *tx) error {
		found = map[string]int{}
		m, err := e.lock(ctx, t, account, name)
		if err != nil || m.no == 0 {
			return err
		}
		changed, ends := m.Erase(e.who, found)
		if ended = ends; ends {
			samples := 0
			if err := t.step(ctx, func(q *pgx.Batch) {
				q.Queue(e.db.sql("SELECT count(*) FROM @samples WHERE monitor = $1"), m.no).
					QueryRow(func(row pgx.Row) error { return row.Scan(&samples) })
			}); err != nil {
				return err
			}
			privacy.Add(found, map[string]int{watch.ErasedSamples: samples})
		}
		switch {
		case e.who.DryRun || !changed:
			return nil
		case !ends:
			return e.write(ctx, t, &m)
		}
		return t.commit(ctx, func(q *pgx.Batch) {
			q.Queue(e.db.sql("DELETE FROM @samples WHERE monitor = $1"), m.no)
			q.Queue(e.db.sql("DELETE FROM @monitors WHERE no = $1"), m.no)
		})
	})
	e.ended[[2]string{account, name}] = ended
	privacy.Add(e.removed, found)
	return err
}

// toldChange is a change with its position in the feed.
type toldChange struct {
	account, monitor string
	seq              int64
	body             []byte
}

// selectTold selects the changes after an account and a position in its feed.
const selectTold = "SELECT account, monitor, seq, body FROM @changes WHERE (account, seq) > ($1, $2) " +
	"ORDER BY account, seq LIMIT $3"

func scanTold(row pgx.CollectableRow) (c toldChange, err error) {
	err = row.Scan(&c.account, &c.monitor, &c.seq, &c.body)
	return c, err
}

// changes removes the changes that contain the subject, and those of the monitors that end.
func (e *erasing) changes(ctx context.Context) error {
	for last := (toldChange{}); ; {
		part, err := list(ctx, e.db, scanTold, selectTold, last.account, last.seq, looksAtOnce)
		if err != nil || len(part) == 0 {
			return err
		}
		last = part[len(part)-1]
		var found []toldChange
		for _, r := range part {
			var c schema.Change
			if err := json.Unmarshal(r.body, &c); err != nil {
				return err
			}
			if watch.Holds(&c, e.who) || e.ended[[2]string{r.account, r.monitor}] {
				found = append(found, r)
			}
		}
		privacy.Add(e.removed, map[string]int{watch.ErasedChanges: len(found)})
		if err := e.deliveries(ctx, found); err != nil {
			return err
		}
		if e.who.DryRun {
			continue
		}
		for step := range slices.Chunk(found, erasedAtOnce) {
			if err := e.remove(ctx, step); err != nil {
				return err
			}
		}
	}
}

// deliveries counts the deliveries of changes, which are removed with them.
func (e *erasing) deliveries(ctx context.Context, changes []toldChange) error {
	if len(changes) == 0 {
		return nil
	}
	accounts, seqs := places(changes)
	n := 0
	err := e.db.retry(ctx, func(bool) error {
		return e.db.pool.QueryRow(ctx, e.db.sql("SELECT count(*) FROM @deliveries WHERE (account, seq) IN "+
			"(SELECT * FROM unnest($1::text[], $2::bigint[]))"), accounts, seqs).Scan(&n)
	})
	privacy.Add(e.removed, map[string]int{watch.ErasedDeliveries: n})
	return err
}

// places returns the accounts and the positions of changes.
func places(changes []toldChange) (accounts []string, seqs []int64) {
	accounts, seqs = make([]string, len(changes)), make([]int64, len(changes))
	for i, c := range changes {
		accounts[i], seqs[i] = c.account, c.seq
	}
	return accounts, seqs
}

func (e *erasing) remove(ctx context.Context, changes []toldChange) error {
	accounts, seqs := places(changes)
	return e.db.retry(ctx, func(bool) error {
		_, err := e.db.pool.Exec(ctx, e.db.sql("DELETE FROM @changes WHERE (account, seq) IN "+
			"(SELECT * FROM unnest($1::text[], $2::bigint[]))"), accounts, seqs)
		return err
	})
}
