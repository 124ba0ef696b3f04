package postgres

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/socialdata/socialdata/privacy"
	"github.com/socialdata/socialdata/schema"
	"github.com/socialdata/socialdata/watch"
)

// Watches is the monitors in the database, with the feeds of their accounts. All replicas poll the same monitors.
type Watches struct{ db *DB }

var (
	_ watch.Store            = (*Watches)(nil)
	_ privacy.MentionCounter = (*Watches)(nil)
)

// watched is a row of monitors. Its times are nanoseconds since 1970.
type watched struct {
	watch.Monitor

	no    int64 // 0 when there is no such row
	lease string
	until int64
}

const monitorColumns = "no, account, name, key, paused, created_at, baseline, definition, progress, lease, until"

func scanMonitor(row pgx.CollectableRow) (watched, error) {
	var m watched
	var created int64
	var definition, progress []byte
	err := row.Scan(&m.no, &m.Account, &m.Name, &m.Key, &m.Paused, &created, &m.Baseline, &definition, &progress, &m.lease,
		&m.until)
	m.CreatedAt = fromNanos(created)
	if err == nil {
		err = json.Unmarshal(definition, &m.Definition)
	}
	if err == nil {
		err = json.Unmarshal(progress, &m.Progress)
	}
	if err != nil {
		return m, fmt.Errorf("postgres: monitor %d cannot be read: %w", m.no, err)
	}
	return m, nil
}

// lock returns the row of a monitor, locked until the transaction ends. Its number is 0 when there is none.
func (s *Watches) lock(ctx context.Context, t *tx, account, name string) (m watched, err error) {
	err = t.step(ctx, func(q *pgx.Batch) {
		q.Queue(s.db.sql("SELECT "+monitorColumns+" FROM @monitors WHERE account = $1 AND name = $2 FOR UPDATE"), account,
			name).
			Query(func(rows pgx.Rows) error {
				found, err := pgx.CollectRows(rows, scanMonitor)
				if err == nil && len(found) > 0 {
					m = found[0]
				}
				return err
			})
	})
	return m, err
}

// keep queues the update of a row.
func (m *watched) keep(db *DB, q *pgx.Batch) error {
	definition, err := schema.Marshal(&m.Definition)
	if err != nil {
		return err
	}
	progress, err := schema.Marshal(&m.Progress)
	if err != nil {
		return err
	}
	var due *int64
	if m.Due() {
		due = new(m.NextAt.UnixNano())
	}
	var contentAt *int64
	if at := m.Snapshot.ContentAt(); !at.IsZero() {
		contentAt = new(at.UnixNano())
	}
	q.Queue(db.sql(`UPDATE @monitors SET key = $2, paused = $3, baseline = $4, definition = $5, progress = $6, lease = $7,
		until = $8, next_at = $9, platform = $10, content_at = $11 WHERE no = $1`),
		m.no, m.Key, m.Paused, m.Baseline, definition, progress, m.lease, m.until, due, m.Platform, contentAt)
	return nil
}

// change changes the row of a monitor with alter and commits, unless alter fails.
func (s *Watches) change(ctx context.Context, account, name string, alter func(m *watched, q *pgx.Batch) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	return s.db.transact(ctx, func(ctx context.Context, t *tx) error {
		m, err := s.lock(ctx, t, account, name)
		if err != nil {
			return err
		}
		b := &pgx.Batch{}
		if err := alter(&m, b); err != nil {
			return err
		}
		return t.commit(ctx, func(q *pgx.Batch) { q.QueuedQueries = append(q.QueuedQueries, b.QueuedQueries...) })
	})
}

// Put implements [watch.Store].
func (s *Watches) Put(ctx context.Context, m watch.Monitor, most int) (stored watch.Monitor, made bool, err error) {
	if err := ctx.Err(); err != nil {
		return watch.Monitor{}, false, err
	}
	err = s.db.transact(ctx, func(ctx context.Context, t *tx) error {
		// The account's feed is locked first, so that monitors which are made at the same time are counted one after
		// the other.
		n := 0
		if err := t.step(ctx, func(q *pgx.Batch) {
			q.Queue(s.db.sql("INSERT INTO @feeds VALUES ($1, 0) ON CONFLICT DO NOTHING"), m.Account)
			q.Queue(s.db.sql("SELECT seq FROM @feeds WHERE account = $1 FOR UPDATE"), m.Account)
			q.Queue(s.db.sql("SELECT count(*) FROM @monitors WHERE account = $1"), m.Account).
				QueryRow(func(row pgx.Row) error { return row.Scan(&n) })
		}); err != nil {
			return err
		}
		row, err := s.lock(ctx, t, m.Account, m.Name)
		if err != nil {
			return err
		}
		if row.no == 0 && m.Heard > 0 {
			return watch.ErrAbsent
		}
		if row.no == 0 {
			if most > 0 && n >= most {
				return watch.ErrFull
			}
			stored, made = m, true
			stored.Baseline, stored.Progress = 1, watch.Progress{State: watch.Active, NextAt: m.NextAt}
			return s.insert(ctx, t, stored)
		}
		// An earlier attempt that may have been committed made it.
		made = t.unsure && row.Polls == 0 && row.CreatedAt.Equal(m.CreatedAt)
		if row.Replace(m) {
			row.lease, row.until = "", 0
			if err := t.step(ctx, func(q *pgx.Batch) {
				q.Queue(s.db.sql("DELETE FROM @samples WHERE monitor = $1"), row.no)
			}); err != nil {
				return err
			}
		}
		stored = row.Monitor
		return s.write(ctx, t, &row)
	})
	return stored, made, err
}

func (s *Watches) insert(ctx context.Context, t *tx, m watch.Monitor) error {
	row := watched{Monitor: m}
	if err := t.step(ctx, func(q *pgx.Batch) {
		q.Queue(s.db.sql("INSERT INTO @monitors (account, name, key, paused, created_at, baseline, definition, progress, "+
			"lease, until) "+
			"VALUES ($1, $2, '', false, $3, 1, '', '', '', 0) RETURNING no"), m.Account, m.Name, m.CreatedAt.UnixNano()).
			QueryRow(func(r pgx.Row) error { return r.Scan(&row.no) })
	}); err != nil {
		return err
	}
	return s.write(ctx, t, &row)
}

// write writes a row and commits.
func (s *Watches) write(ctx context.Context, t *tx, row *watched) error {
	var broken error
	return errors.Join(t.commit(ctx, func(q *pgx.Batch) { broken = row.keep(s.db, q) }), broken)
}

// Pause implements [watch.Store].
func (s *Watches) Pause(
	ctx context.Context, account, name string, paused bool, next time.Time,
) (m watch.Monitor, err error) {
	err = s.change(ctx, account, name, func(row *watched, q *pgx.Batch) error {
		if row.no == 0 {
			return watch.ErrAbsent
		}
		if row.Paused && !paused {
			row.NextAt = next
		}
		row.Paused = paused
		m = row.Monitor
		return row.keep(s.db, q)
	})
	return m, err
}

// Monitor implements [watch.Store].
func (s *Watches) Monitor(ctx context.Context, account, name string) (watch.Monitor, error) {
	found, err := list(ctx, s.db, scanMonitor, "SELECT "+monitorColumns+" FROM @monitors WHERE account = $1 AND name = $2",
		account, name)
	if err != nil {
		return watch.Monitor{}, err
	}
	if len(found) == 0 {
		return watch.Monitor{}, watch.ErrAbsent
	}
	return found[0].Monitor, nil
}

// Monitors implements [watch.Store].
func (s *Watches) Monitors(ctx context.Context, account, after string, limit int) ([]watch.Monitor, error) {
	found, err := list(ctx, s.db, scanMonitor, "SELECT "+monitorColumns+
		` FROM @monitors WHERE account = $1 AND name COLLATE "C" > $2 ORDER BY name COLLATE "C" LIMIT $3`, account, after,
		orAll(limit))
	out := make([]watch.Monitor, len(found))
	for i := range found {
		out[i] = found[i].Monitor
	}
	return out, err
}

// orAll returns the limit for a query, where 0 means none.
func orAll(limit int) *int {
	if limit <= 0 {
		return nil
	}
	return &limit
}

// End implements [watch.Store].
func (s *Watches) End(ctx context.Context, account, name string) error {
	return s.change(ctx, account, name, func(row *watched, q *pgx.Batch) error {
		if row.no == 0 {
			return watch.ErrAbsent
		}
		q.Queue(s.db.sql("DELETE FROM @samples WHERE monitor = $1"), row.no)
		q.Queue(s.db.sql("DELETE FROM @monitors WHERE no = $1"), row.no)
		return nil
	})
}

// Claim implements [watch.Store].
func (s *Watches) Claim(ctx context.Context, now time.Time, n int, lease time.Duration) ([]watch.Claim, error) {
	var due []watched
	err := s.db.retry(ctx, func(bool) error {
		rows, err := s.db.pool.Query(ctx, s.db.sql(`
			UPDATE @monitors SET lease = $3 || '-' || no, until = $4 WHERE no IN (
				SELECT no FROM @monitors WHERE next_at <= $1 AND until <= $1 ORDER BY next_at LIMIT $2 FOR UPDATE SKIP LOCKED
			) RETURNING `+monitorColumns), now.UnixNano(), n, rand.Text(), now.Add(lease).UnixNano())
		if err != nil {
			return err
		}
		due, err = pgx.CollectRows(rows, scanMonitor)
		return err
	})
	slices.SortFunc(due, func(a, b watched) int { return a.NextAt.Compare(b.NextAt) })
	claims := make([]watch.Claim, 0, len(due))
	for _, m := range due {
		claims = append(claims, watch.Claim{Monitor: m.Monitor, Due: m.NextAt, Lease: m.lease, Until: fromNanos(m.until)})
	}
	return claims, err
}

// Commit implements [watch.Store].
func (s *Watches) Commit(ctx context.Context, p watch.Poll) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	of := &p.Claim.Monitor
	return s.db.transact(ctx, func(ctx context.Context, t *tx) error {
		m, err := s.lock(ctx, t, of.Account, of.Name)
		if err != nil {
			return err
		}
		if m.no == 0 || m.lease == "" || m.lease != p.Claim.Lease || m.Baseline != of.Baseline {
			if t.unsure && m.no != 0 && m.Polls == p.Progress.Polls && m.LastAt.Equal(p.Progress.LastAt) {
				return nil // an earlier attempt was committed
			}
			return watch.ErrLease
		}
		m.Progress, m.lease, m.until = p.Progress, "", 0
		told, err := s.tell(ctx, t, of.Account, p.Changes)
		if err != nil {
			return err
		}
		forgotten, err := s.forgetGone(ctx, t, &m, &p)
		if err != nil {
			return err
		}
		var broken error
		return errors.Join(t.commit(ctx, func(q *pgx.Batch) {
			broken = m.keep(s.db, q)
			forgotten(q)
			for _, v := range p.Samples {
				q.Queue(s.db.sql("INSERT INTO @samples VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING"),
					m.no, v.Field, v.At.UnixNano(), v.Value)
			}
			told(q)
		}), broken)
	})
}

// forgetGone returns a function that removes everything from the changes about what a poll has found to be gone, except
// that it is gone.
func (s *Watches) forgetGone(
	ctx context.Context, t *tx, m *watched, p *watch.Poll,
) (queue func(*pgx.Batch), err error) {
	gone := p.Gone()
	if len(gone) == 0 {
		return func(*pgx.Batch) {}, nil
	}
	var rows []toldChange
	if err := t.step(ctx, func(q *pgx.Batch) {
		for _, g := range gone {
			q.Queue(s.db.sql("SELECT account, monitor, seq, body FROM @changes WHERE account = $1 AND monitor = $2 AND key = "+
				"$3 AND platform = $4"),
				m.Account, m.Name, g.Key, g.Platform).Query(func(r pgx.Rows) error {
				found, err := pgx.CollectRows(r, scanTold)
				rows = append(rows, found...)
				return err
			})
		}
	}); err != nil {
		return nil, err
	}
	bodies, err := rewritten(rows, watch.Forget)
	if err != nil {
		return nil, err
	}
	return func(q *pgx.Batch) {
		bodies(s.db, q)
		if !m.List {
			q.Queue(s.db.sql("DELETE FROM @samples WHERE monitor = $1"), m.no)
		}
	}, nil
}

// rewritten returns a function that queues the replacement of changes by the result of as.
func rewritten(rows []toldChange, as func(schema.Change) schema.Change) (queue func(*DB, *pgx.Batch), err error) {
	type line struct {
		change schema.Change
		body   []byte
	}
	lines := make([]line, len(rows))
	for i, r := range rows {
		var c schema.Change
		if err := json.Unmarshal(r.body, &c); err != nil {
			return nil, fmt.Errorf("postgres: change %d of the account %s cannot be read: %w", r.seq, r.account, err)
		}
		lines[i].change = as(c)
		if lines[i].body, err = schema.Marshal(&lines[i].change); err != nil {
			return nil, err
		}
	}
	return func(db *DB, q *pgx.Batch) {
		for i, l := range lines {
			q.Queue(db.sql("UPDATE @changes SET type = $3, body = $4, content = $5 WHERE account = $1 AND seq = $2"),
				rows[i].account, rows[i].seq, l.change.Type, l.body, watch.HasContent(&l.change))
		}
	}, nil
}

// tell queues the changes of an account's feed, except those that are in it already. It locks the feed, so that
// positions are assigned in order and none is visible before an earlier one.
func (s *Watches) tell(
	ctx context.Context, t *tx, account string, changes []schema.Change,
) (queue func(*pgx.Batch), err error) {
	if len(changes) == 0 {
		return func(*pgx.Batch) {}, nil
	}
	var seq int64
	var there []string
	ids := make([]string, len(changes))
	for i := range changes {
		ids[i] = changes[i].ID
	}
	if err := t.step(ctx, func(q *pgx.Batch) {
		q.Queue(s.db.sql("INSERT INTO @feeds VALUES ($1, 0) ON CONFLICT DO NOTHING"), account)
		q.Queue(s.db.sql("SELECT seq FROM @feeds WHERE account = $1 FOR UPDATE"), account).
			QueryRow(func(row pgx.Row) error { return row.Scan(&seq) })
		q.Queue(s.db.sql("SELECT id FROM @changes WHERE account = $1 AND id = ANY ($2)"), account, ids).
			Query(func(rows pgx.Rows) (err error) {
				there, err = pgx.CollectRows(rows, pgx.RowTo[string])
				return err
			})
	}); err != nil {
		return nil, err
	}
	type line struct {
		change schema.Change
		body   []byte
	}
	var lines []line
	for _, c := range changes {
		if slices.Contains(there, c.ID) {
			continue
		}
		there = append(there, c.ID)
		seq++
		c.Seq = seq
		body, err := schema.Marshal(&c)
		if err != nil {
			return nil, err
		}
		lines = append(lines, line{c, body})
	}
	return func(q *pgx.Batch) {
		size := 0
		for _, l := range lines {
			size += len(l.body)
			monitor := ""
			if l.change.Monitor != nil {
				monitor = *l.change.Monitor
			}
			about := watch.ThingOf(&l.change)
			q.Queue(s.db.sql("INSERT INTO @changes VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)"),
				account, l.change.Seq, l.change.ID, l.change.At.UnixNano(), monitor, l.change.Type, l.body,
				about.Platform, about.Key, watch.HasContent(&l.change))
		}
		q.Queue(s.db.sql("UPDATE @feeds SET seq = $2, bytes = bytes + $3 WHERE account = $1"), account, seq, size)
	}, nil
}

// Changes implements [watch.Store].
func (s *Watches) Changes(ctx context.Context, q watch.Since) ([]schema.Change, error) {
	return list(ctx, s.db, func(row pgx.CollectableRow) (c schema.Change, err error) {
		var body []byte
		if err = row.Scan(&body); err == nil {
			err = json.Unmarshal(body, &c)
		}
		return c, err
	}, `SELECT body FROM @changes WHERE account = $1 AND seq > $2 AND ($3 = '' OR monitor = $3) AND ($4 = '' OR type = $4)
		AND at >= $5 ORDER BY seq LIMIT $6`,
		q.Account, q.After, q.Monitor, q.Type, nanosOrLeast(q.From), orAll(q.Limit))
}

// nanosOrLeast returns a time as it is stored; the zero time is before all others.
func nanosOrLeast(t time.Time) int64 {
	if t.IsZero() {
		return -1 << 63
	}
	return t.UnixNano()
}

// Samples implements [watch.Store].
func (s *Watches) Samples(ctx context.Context, q watch.Numbers) ([]watch.Sample, error) {
	var no int64
	err := s.db.read(ctx, func() error {
		return s.db.pool.QueryRow(ctx, s.db.sql("SELECT no FROM @monitors WHERE account = $1 AND name = $2"), q.Account,
			q.Monitor).Scan(&no)
	})
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, watch.ErrAbsent
	}
	if err != nil {
		return nil, err
	}
	until := int64(1<<63 - 1)
	if !q.Until.IsZero() {
		until = q.Until.UnixNano()
	}
	return list(ctx, s.db, func(row pgx.CollectableRow) (watch.Sample, error) {
		v := watch.Sample{Field: q.Field}
		var at int64
		err := row.Scan(&at, &v.Value)
		v.At = fromNanos(at)
		return v, err
	}, "SELECT at, value FROM @samples WHERE monitor = $1 AND field = $2 AND at >= $3 AND at < $4 ORDER BY at LIMIT $5",
		no, q.Field, nanosOrLeast(q.Since), until, orAll(q.Limit))
}
