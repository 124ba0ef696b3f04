package sqlite

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"time"

	"github.com/socialdata/socialdata/privacy"
	"github.com/socialdata/socialdata/schema"
	"github.com/socialdata/socialdata/watch"
)

// Watches is the monitors in the file, with the feeds of their accounts. A write is durable when it returns, and shares
// its transaction with charges.
type Watches struct{ file *file }

var (
	_ watch.Store            = (*Watches)(nil)
	_ privacy.MentionCounter = (*Watches)(nil)
)

// watched is a row of monitors.
type watched struct {
	watch.Monitor

	no    int64 // 0 when there is no such row
	lease string
	until int64 // nanoseconds since 1970, like all times of monitors
}

const selectMonitors = "SELECT no, account, name, key, paused, created_at, baseline, definition, progress, lease, " +
	"until FROM monitors"

// columns are the columns of selectMonitors, as the writer's connection returns them.
type columns [11]driver.Value

func (v *columns) read() (watched, error) {
	m := watched{no: value[int64](v[0]), lease: value[string](v[9]), until: value[int64](v[10])}
	m.Account, m.Name, m.Key = value[string](v[1]), value[string](v[2]), value[string](v[3])
	m.Paused, m.CreatedAt, m.Baseline = value[int64](v[4]) != 0, fromNanos(value[int64](v[5])), value[int64](v[6])
	return m, m.decode(value[[]byte](v[7]), value[[]byte](v[8]))
}

func (m *watched) decode(definition, progress []byte) error {
	err := json.Unmarshal(definition, &m.Definition)
	if err == nil {
		err = json.Unmarshal(progress, &m.Progress)
	}
	if err != nil {
		return fmt.Errorf("sqlite: monitor %d cannot be read: %w", m.no, err)
	}
	return nil
}

func fromNanos(n int64) time.Time { return time.Unix(0, n).UTC() }

// find returns the row of a monitor, in the transaction of w.
func find(w *writer, account, name string) (watched, error) {
	var v columns
	found, err := w.c.row(selectMonitors+" WHERE account = ? AND name = ?", v[:], account, name)
	if err != nil || !found {
		return watched{}, err
	}
	return v.read()
}

// mustFind is like find, but fails when there is no such monitor.
func mustFind(w *writer, account, name string) (watched, error) {
	m, err := find(w, account, name)
	if err == nil && m.no == 0 {
		err = refusal{watch.ErrAbsent}
	}
	return m, err
}

// keep updates a row.
func (m *watched) keep(w *writer) error {
	definition, err := schema.Marshal(&m.Definition)
	if err != nil {
		return err
	}
	progress, err := schema.Marshal(&m.Progress)
	if err != nil {
		return err
	}
	_, err = w.c.exec(`UPDATE monitors SET key = ?, paused = ?, baseline = ?, definition = ?, progress = ?, lease = ?, until = ?,
		next_at = ?, platform = ?, content_at = ? WHERE no = ?`, m.Key, m.Paused, m.Baseline, definition, progress, m.lease,
		m.until,
		m.due(), m.Platform, m.contentAt(), m.no)
	return err
}

// contentAt returns when the oldest content of the snapshot was read, or nil when it has none.
func (m *watched) contentAt() any {
	if at := m.Snapshot.ContentAt(); !at.IsZero() {
		return at.UnixNano()
	}
	return nil
}

// due returns when the monitor is due, or nil when it is not polled.
func (m *watched) due() any {
	if !m.Due() {
		return nil
	}
	return m.NextAt.UnixNano()
}

// do applies a change in the transaction that it shares with others.
func (s *Watches) do(ctx context.Context, apply func(*writer) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	return s.file.writer.do(&task{apply: apply})
}

// Put implements [watch.Store].
func (s *Watches) Put(ctx context.Context, m watch.Monitor, most int) (stored watch.Monitor, made bool, err error) {
	err = s.do(ctx, func(w *writer) error {
		made = false
		old, err := find(w, m.Account, m.Name)
		if err != nil {
			return err
		}
		if old.no == 0 && m.Heard > 0 {
			return refusal{watch.ErrAbsent}
		}
		if old.no == 0 {
			stored, err = insertMonitor(w, m, most)
			made = err == nil
			return err
		}
		if old.Replace(m) {
			old.lease, old.until = "", 0
			if _, err := w.c.exec("DELETE FROM samples WHERE monitor = ?", old.no); err != nil {
				return err
			}
		}
		stored = old.Monitor
		return old.keep(w)
	})
	return stored, made, err
}

func insertMonitor(w *writer, m watch.Monitor, most int) (watch.Monitor, error) {
	n, err := w.c.number("SELECT count(*) FROM monitors WHERE account = ?", m.Account)
	if err != nil {
		return m, err
	}
	if most > 0 && n >= int64(most) {
		return m, refusal{watch.ErrFull}
	}
	m.Baseline, m.Progress = 1, watch.Progress{State: watch.Active, NextAt: m.NextAt}
	if _, err := w.c.exec("INSERT INTO monitors (account, name, key, paused, created_at, baseline, definition, "+
		"progress, lease, until) "+
		"VALUES (?, ?, '', 0, ?, 1, x'', x'', '', 0)", m.Account, m.Name, m.CreatedAt.UnixNano()); err != nil {
		return m, err
	}
	row := watched{Monitor: m}
	if row.no, err = w.c.number("SELECT no FROM monitors WHERE account = ? AND name = ?", m.Account, m.Name); err != nil {
		return m, err
	}
	return m, row.keep(w)
}

// Pause implements [watch.Store].
func (s *Watches) Pause(
	ctx context.Context, account, name string, paused bool, next time.Time,
) (m watch.Monitor, err error) {
	err = s.do(ctx, func(w *writer) error {
		row, err := mustFind(w, account, name)
		if err != nil {
			return err
		}
		if row.Paused && !paused {
			row.NextAt = next
		}
		row.Paused = paused
		m = row.Monitor
		return row.keep(w)
	})
	return m, err
}

// Monitor implements [watch.Store].
func (s *Watches) Monitor(ctx context.Context, account, name string) (watch.Monitor, error) {
	found, err := s.list(ctx, selectMonitors+" WHERE account = ? AND name = ?", account, name)
	if err != nil {
		return watch.Monitor{}, err
	}
	if len(found) == 0 {
		return watch.Monitor{}, watch.ErrAbsent
	}
	return found[0], nil
}

// Monitors implements [watch.Store].
func (s *Watches) Monitors(ctx context.Context, account, after string, limit int) ([]watch.Monitor, error) {
	return s.list(ctx, selectMonitors+" WHERE account = ? AND name > ? ORDER BY name LIMIT ?", account, after,
		orAll(limit))
}

// orAll returns the limit for a query, where 0 means none.
func orAll(limit int) int {
	if limit <= 0 {
		return -1
	}
	return limit
}

func (s *Watches) list(ctx context.Context, query string, args ...any) ([]watch.Monitor, error) {
	return listRows(ctx, s.file.read, func(rows *sql.Rows) (watch.Monitor, error) {
		m, err := scanWatched(rows)
		return m.Monitor, err
	}, query, args...)
}

// scanWatched reads a row of selectMonitors.
func scanWatched(rows *sql.Rows) (m watched, err error) {
	var created int64
	var definition, progress []byte
	err = rows.Scan(&m.no, &m.Account, &m.Name, &m.Key, &m.Paused, &created, &m.Baseline, &definition, &progress,
		&m.lease, &m.until)
	if err == nil {
		m.CreatedAt = fromNanos(created)
		err = m.decode(definition, progress)
	}
	return m, err
}

// listRows returns the result of scan for each row of a query.
func listRows[T any](
	ctx context.Context, db *sql.DB, scan func(*sql.Rows) (T, error), query string, args ...any,
) (found []T, err error) {
	rows, err := db.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, explain(err)
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	found = []T{}
	for rows.Next() {
		v, err := scan(rows)
		if err != nil {
			return nil, explain(err)
		}
		found = append(found, v)
	}
	return found, explain(rows.Err())
}

// End implements [watch.Store].
func (s *Watches) End(ctx context.Context, account, name string) error {
	return s.do(ctx, func(w *writer) error {
		row, err := mustFind(w, account, name)
		if err != nil {
			return err
		}
		if _, err := w.c.exec("DELETE FROM samples WHERE monitor = ?", row.no); err != nil {
			return err
		}
		_, err = w.c.exec("DELETE FROM monitors WHERE no = ?", row.no)
		return err
	})
}

// Claim implements [watch.Store].
func (s *Watches) Claim(ctx context.Context, now time.Time, n int, lease time.Duration) ([]watch.Claim, error) {
	var one int
	err := s.file.read.QueryRowContext(ctx, "SELECT 1 FROM monitors WHERE next_at <= ? AND until <= ? LIMIT 1",
		now.UnixNano(), now.UnixNano()).Scan(&one)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil // nothing to write, so no transaction
	}
	if err != nil {
		return nil, explain(err)
	}
	var due []leased
	until := now.Add(lease)
	err = s.do(ctx, func(w *writer) (err error) {
		due, err = claim(w, now, until, n)
		return err
	})
	if err != nil {
		return nil, err
	}
	claims := make([]watch.Claim, 0, len(due))
	for _, l := range due {
		m, err := l.row.read()
		if err != nil {
			return nil, err
		}
		claims = append(claims, watch.Claim{Monitor: m.Monitor, Due: m.NextAt, Lease: l.lease, Until: until})
	}
	return claims, nil
}

// leased is a row of monitors with its new lease. It is decoded after the transaction, for which charges wait.
type leased struct {
	row   columns
	lease string
}

// claim leases what is due, at most n monitors.
func claim(w *writer, now, until time.Time, n int) ([]leased, error) {
	var due []leased
	var v columns
	err := w.c.each(selectMonitors+" WHERE next_at <= ? AND until <= ? ORDER BY next_at LIMIT ?", v[:], func() {
		for i := range v {
			if b, ok := v[i].([]byte); ok {
				v[i] = slices.Clone(b)
			}
		}
		due = append(due, leased{v, strconv.FormatUint(rand.Uint64(), 36)})
	}, now.UnixNano(), now.UnixNano(), n)
	if err != nil {
		return nil, err
	}
	for _, l := range due {
		if _, err := w.c.exec("UPDATE monitors SET lease = ?, until = ? WHERE no = ?", l.lease, until.UnixNano(),
			value[int64](l.row[0])); err != nil {
			return nil, err
		}
	}
	return due, nil
}

// Commit implements [watch.Store]. It encodes before the transaction, for which charges wait.
func (s *Watches) Commit(ctx context.Context, p watch.Poll) error {
	progress, err := schema.Marshal(&p.Progress)
	if err != nil {
		return err
	}
	return s.do(ctx, func(w *writer) error {
		m := watched{Monitor: p.Claim.Monitor}
		m.Progress = p.Progress
		if err := m.leave(w, p.Claim.Lease, progress); err != nil {
			return err
		}
		for _, v := range p.Samples {
			if _, err := w.c.exec("INSERT OR REPLACE INTO samples (monitor, field, at, value) VALUES (?, ?, ?, ?)",
				m.no, v.Field, v.At.UnixNano(), v.Value); err != nil {
				return err
			}
		}
		if err := forgetGone(w, &m, &p); err != nil {
			return err
		}
		return tell(w, m.Account, p.Changes)
	})
}

// leave ends a lease with the progress that was made under it, and sets the number of the row. It fails with
// [watch.ErrLease] if the lease was lost.
func (m *watched) leave(w *writer, lease string, progress []byte) error {
	var v [4]driver.Value
	found, err := w.c.row("SELECT no, lease, baseline, paused FROM monitors WHERE account = ? AND name = ?", v[:],
		m.Account, m.Name)
	if err != nil {
		return err
	}
	if held := value[string](v[1]); !found || held == "" || held != lease || value[int64](v[2]) != m.Baseline {
		return refusal{watch.ErrLease}
	}
	m.no, m.Paused = value[int64](v[0]), value[int64](v[3]) != 0
	_, err = w.c.exec("UPDATE monitors SET progress = ?, lease = '', until = 0, next_at = ?, content_at = ? WHERE no = ?",
		progress, m.due(), m.contentAt(), m.no)
	return err
}

// forgetGone removes everything from the changes about what a poll has found to be gone, except that it is gone.
func forgetGone(w *writer, m *watched, p *watch.Poll) error {
	for _, gone := range p.Gone() {
		if err := rewrite(w, watch.Forget, "account = ? AND monitor = ? AND key = ? AND platform = ?",
			m.Account, m.Name, gone.Key, gone.Platform); err != nil {
			return err
		}
		if m.List {
			continue
		}
		if _, err := w.c.exec("DELETE FROM samples WHERE monitor = ?", m.no); err != nil {
			return err
		}
	}
	return nil
}

// rewrite replaces the changes that a condition selects by the result of as.
func rewrite(w *writer, as func(schema.Change) schema.Change, where string, args ...any) error {
	type row struct {
		no   int64
		body []byte
	}
	var found []row
	var v [2]driver.Value
	if err := w.c.each("SELECT no, body FROM changes WHERE "+where, v[:], func() {
		found = append(found, row{value[int64](v[0]), append([]byte{}, value[[]byte](v[1])...)})
	}, args...); err != nil {
		return err
	}
	for _, r := range found {
		var c schema.Change
		if err := json.Unmarshal(r.body, &c); err != nil {
			return fmt.Errorf("sqlite: change %d cannot be read: %w", r.no, err)
		}
		c = as(c)
		body, err := schema.Marshal(&c)
		if err != nil {
			return err
		}
		if _, err := w.c.exec("UPDATE changes SET type = ?, body = ?, content = ? WHERE no = ?",
			c.Type, body, watch.HasContent(&c), r.no); err != nil {
			return err
		}
	}
	return nil
}

// tell adds changes to an account's feed, except those that are in it already.
func tell(w *writer, account string, changes []schema.Change) error {
	if len(changes) == 0 {
		return nil
	}
	seq, err := w.c.number("SELECT coalesce(max(seq), 0) FROM feeds WHERE account = ?", account)
	if err != nil {
		return err
	}
	for _, c := range changes {
		told, err := w.c.number("SELECT count(*) FROM changes WHERE account = ? AND id = ?", account, c.ID)
		if err != nil {
			return err
		}
		if told > 0 {
			continue
		}
		seq++
		c.Seq = seq
		body, err := schema.Marshal(&c)
		if err != nil {
			return err
		}
		monitor := ""
		if c.Monitor != nil {
			monitor = *c.Monitor
		}
		about := watch.ThingOf(&c)
		if _, err := w.c.exec(`INSERT INTO changes (account, seq, id, at, monitor, type, body, platform, key, content)
			VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`, account, seq, c.ID, c.At.UnixNano(), monitor, c.Type, body,
			about.Platform, about.Key, watch.HasContent(&c)); err != nil {
			return err
		}
	}
	_, err = w.c.exec("INSERT INTO feeds VALUES (?, ?) ON CONFLICT (account) DO UPDATE SET seq = excluded.seq", account,
		seq)
	return err
}

// Changes implements [watch.Store].
func (s *Watches) Changes(ctx context.Context, q watch.Since) ([]schema.Change, error) {
	return listRows(ctx, s.file.read, func(rows *sql.Rows) (c schema.Change, err error) {
		var body []byte
		if err = rows.Scan(&body); err == nil {
			err = json.Unmarshal(body, &c)
		}
		return c, err
	}, `SELECT body FROM changes WHERE account = ? AND seq > ? AND (? = '' OR monitor = ?) AND (? = '' OR type = ?) AND at >= ?
		ORDER BY seq LIMIT ?`,
		q.Account, q.After, q.Monitor, q.Monitor, q.Type, q.Type, nanosOrLeast(q.From), orAll(q.Limit))
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
	err := s.file.read.QueryRowContext(ctx, "SELECT no FROM monitors WHERE account = ? AND name = ?", q.Account,
		q.Monitor).Scan(&no)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, watch.ErrAbsent
	}
	if err != nil {
		return nil, explain(err)
	}
	until := int64(1<<63 - 1)
	if !q.Until.IsZero() {
		until = q.Until.UnixNano()
	}
	return listRows(ctx, s.file.read, func(rows *sql.Rows) (watch.Sample, error) {
		v := watch.Sample{Field: q.Field}
		var at int64
		err := rows.Scan(&at, &v.Value)
		v.At = fromNanos(at)
		return v, err
	}, "SELECT at, value FROM samples WHERE monitor = ? AND field = ? AND at >= ? AND at < ? ORDER BY at LIMIT ?",
		no, q.Field, nanosOrLeast(q.Since), until, orAll(q.Limit))
}
