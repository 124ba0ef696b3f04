package sqlstore

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"time"

	"github.com/socialdata/socialdata/privacy"
	"github.com/socialdata/socialdata/schema"
	"github.com/socialdata/socialdata/watch"
)

// Watches is the monitors in the database, with the feeds of their accounts and the endpoints that these are sent to.
// Several processes poll the same monitors.
type Watches struct{ db *DB }

var (
	_ watch.Store            = (*Watches)(nil)
	_ privacy.MentionCounter = (*Watches)(nil)
)

// Watches returns the monitors.
func (db *DB) Watches() *Watches { return &Watches{db} }

// monitorRow is a row of monitors. Times in it are nanoseconds since 1970.
type monitorRow struct {
	watch.Monitor

	no    int64 // 0 when there is no such row
	lease string
	until int64

	nextAt, contentAt *int64 // set when the row is written, as are the next three
	together          bool
	stage             string
	readAt            int64
	unreadable        bool // the definition or the progress is not what a program wrote
}

// stored is a field that is stored as JSON. A monitor with one that cannot be read is shown as stopped.
type stored[T any] struct {
	inJSON[T]
	of *monitorRow
}

// Scan implements [database/sql.Scanner].
func (f stored[T]) Scan(column any) error {
	if f.inJSON.Scan(column) != nil {
		f.of.unreadable = true
	}
	if f.of.unreadable {
		f.of.Progress = watch.Progress{State: watch.Stopped, Detail: errUnreadable.Error()}
	}
	return nil
}

var errUnreadable = errors.New("the stored monitor cannot be read: end it, or make it again")

// columns are all that is read and written of a monitor: a new one is a line here, and one of a migration.
func (m *monitorRow) columns() columns {
	return columns{
		{"no", &m.no},
		{"account", &m.Account},
		{"name", &m.Name},
		{"platform", &m.Platform},
		{"key", &m.Key},
		{"paused", truth{&m.Paused}},
		{"created_at", nanos{&m.CreatedAt}},
		{"feed", &m.Feed},
		{"baseline", &m.Baseline},
		{"definition", stored[watch.Definition]{inJSON[watch.Definition]{&m.Definition}, m}},
		{"progress", stored[watch.Progress]{inJSON[watch.Progress]{&m.Progress}, m}},
		{"content_at", &m.contentAt},
		{"panel", &m.Panel},
		{"together", truth{&m.together}},
		{"stage", &m.stage},
		{"read_at", &m.readAt},
		{"month", &m.Month},
		{"credits", &m.Credits},
		{"next_at", &m.nextAt},
		{"lease", &m.lease},
		{"until", &m.until},
	}
}

func (m *monitorRow) fields() []any { return m.columns().fields() }

var (
	monitorColumns = new(monitorRow).columns().names("")
	selectMonitors = "SELECT " + monitorColumns + " FROM @monitors WHERE "
)

func scanMonitor(r row) (m monitorRow, err error) {
	err = r.Scan(m.fields()...)
	return m, err
}

// monitor returns the row of a monitor, locked until the transaction ends.
func (t tx) monitor(account, name string) (m monitorRow, err error) {
	_, err = t.maybe(m.fields(), selectMonitors+"account = ? AND name = ? {lock}", account, name)
	return m, err
}

// keep writes the row.
func (m *monitorRow) keep(t tx) error {
	if m.unreadable {
		return errUnreadable
	}
	m.nextAt, m.contentAt = nil, nil
	if m.Due() {
		m.nextAt = new(m.NextAt.UnixNano())
	}
	m.together, m.stage, m.readAt = m.Panel != "" && m.Together, m.Stage(), 0
	if !m.Snapshot.At.IsZero() {
		m.readAt = m.Snapshot.At.UnixNano()
	}
	if at := m.Snapshot.ContentAt(); !at.IsZero() {
		m.contentAt = new(at.UnixNano())
	}
	if m.no == 0 {
		return t.insertRow("monitors", m.columns())
	}
	return t.updateRow("monitors", m.columns())
}

// end removes the row with its samples and its members.
func (m *monitorRow) end(t tx) error {
	if m.Each != "" {
		if err := t.eachMember(m, (*monitorRow).end); err != nil {
			return err
		}
	}
	return errors.Join(m.forgetSamples(t), t.exec("DELETE FROM @monitors WHERE no = ?", m.no))
}

func (m *monitorRow) forgetSamples(t tx) error {
	return t.exec("DELETE FROM @samples WHERE monitor = ?", m.no)
}

// change runs do for a monitor in a transaction, or returns [watch.ErrAbsent].
func (s *Watches) change(ctx context.Context, account, name string, do func(t tx, m *monitorRow) error) error {
	return s.db.write(ctx, func(t tx) error {
		m, err := t.monitor(account, name)
		if err == nil && m.no == 0 {
			err = watch.ErrAbsent
		}
		if err != nil {
			return err
		}
		return do(t, &m)
	})
}

// Put implements [watch.Store].
func (s *Watches) Put(ctx context.Context, m watch.Monitor, most int) (stored watch.Monitor, made bool, err error) {
	err = s.db.write(ctx, func(t tx) error {
		made = false
		row, err := t.monitor(m.Account, m.Name)
		if err != nil {
			return err
		}
		switch {
		case row.no == 0 && m.Processed > 0:
			return watch.ErrAbsent
		case row.no == 0:
			made, row.Monitor = true, m
			row.Baseline, row.Progress, row.Members = 1, watch.Progress{State: watch.Active, NextAt: m.NextAt}, nil
			if _, err := t.lockFeed(m.Account); err != nil { // so that what is made at the same time is counted
				return err
			}
			if err := t.allowOneMore("monitors", " AND panel = ''", m.Account, most, watch.ErrFull); err != nil {
				return err
			}
		}
		if !made {
			err = row.replace(t, m)
		} else {
			err = row.keep(t)
		}
		stored = row.Monitor
		if err != nil || m.Processed > 0 {
			return err
		}
		return t.putMembers(&m, most)
	})
	return stored, made, err
}

// putMembers makes, changes and ends the members of a panel.
func (t tx) putMembers(m *watch.Monitor, most int) error {
	wanted := make(map[string]watch.Monitor, len(m.Members))
	for _, value := range m.Members {
		own := m.MemberOf(value, m.NextAt)
		wanted[own.Name] = own
	}
	if most > 0 && len(wanted) > 0 {
		if _, err := t.lockFeed(m.Account); err != nil { // so that what is made at the same time is counted
			return err
		}
		var others int
		err := t.row([]any{&others}, "SELECT count(*) FROM @monitors WHERE account = ? AND panel <> '' AND panel <> ?",
			m.Account, m.Name)
		if err == nil && others+len(wanted) > most*watch.MembersOf {
			err = watch.ErrMembersFull
		}
		if err != nil {
			return err
		}
	}
	if err := t.eachMember(&monitorRow{Monitor: *m}, func(row *monitorRow, t tx) error {
		own, ok := wanted[row.Name]
		if !ok {
			return row.end(t)
		}
		delete(wanted, row.Name)
		if row.Same(own.Definition) && row.Key == own.Key && row.Paused == own.Paused && row.State != watch.Stopped {
			return nil
		}
		return row.replace(t, own)
	}); err != nil {
		return err
	}
	for _, value := range m.Members {
		if own, ok := wanted[m.Name+"/"+value]; ok {
			delete(wanted, own.Name)
			if err := (&monitorRow{Monitor: own}).keep(t); err != nil {
				return err
			}
		}
	}
	return nil
}

// replace gives a row the definition of another monitor, and writes it.
func (m *monitorRow) replace(t tx, by watch.Monitor) error {
	if m.Replace(by) || m.unreadable {
		m.lease, m.until, m.unreadable = "", 0, false
		if err := m.forgetSamples(t); err != nil {
			return err
		}
	}
	return m.keep(t)
}

// eachMember runs do for the rows of the members of a panel.
func (t tx) eachMember(panel *monitorRow, do func(m *monitorRow, t tx) error) error {
	members, err := collect(t, (*monitorRow).fields, selectMonitors+"account = ? AND panel = ? AND panel <> '' ORDER BY no {lock}",
		panel.Account, panel.Name)
	for i := range members {
		if err == nil {
			err = do(&members[i], t)
		}
	}
	return err
}

// allowOneMore returns full when an account has most rows of a table already that a condition selects; 0 is no limit.
func (t tx) allowOneMore(table, where, account string, most int, full error) error {
	var n int
	err := t.row([]any{&n}, "SELECT count(*) FROM @"+table+" WHERE account = ?"+where, account)
	if err == nil && most > 0 && n >= most {
		err = full
	}
	return err
}

// Pause implements [watch.Store].
func (s *Watches) Pause(
	ctx context.Context, account, name string, paused bool, next time.Time,
) (stored watch.Monitor, err error) {
	err = s.change(ctx, account, name, func(t tx, m *monitorRow) error {
		m.SetPaused(paused, next)
		stored = m.Monitor
		if m.Each != "" {
			if err := t.eachMember(m, func(own *monitorRow, t tx) error {
				own.SetPaused(paused, next)
				return own.keep(t)
			}); err != nil {
				return err
			}
		}
		return m.keep(t)
	})
	return stored, err
}

// Monitor implements [watch.Store].
func (s *Watches) Monitor(ctx context.Context, account, name string) (watch.Monitor, error) {
	m, err := one(ctx, s.db, scanMonitor, selectMonitors+"account = ? AND name = ?", account, name)
	if errors.Is(err, sql.ErrNoRows) {
		err = watch.ErrAbsent
	}
	return m.Monitor, err
}

// Monitors implements [watch.Store].
func (s *Watches) Monitors(
	ctx context.Context, account, panel, after string, limit int,
) ([]watch.Monitor, error) {
	return list(ctx, s.db, func(r row) (watch.Monitor, error) {
		m, err := scanMonitor(r)
		return m.Monitor, err
	}, selectMonitors+"account = ? AND panel = ? AND name > ? ORDER BY name LIMIT ?", account, panel, after, orAll(limit))
}

// Coverage implements [watch.Store].
func (s *Watches) Coverage(ctx context.Context, account, panel, month string) (c watch.Coverage, err error) {
	type stage struct {
		name       string
		n, credits int64
		last, next time.Time
	}
	stages, err := list(ctx, s.db, func(r row) (g stage, err error) {
		err = r.Scan(&g.name, &g.n, &g.credits, nanos{&g.last}, nanos{&g.next})
		return g, err
	}, `SELECT stage, count(*), CAST(sum(CASE WHEN month = ? THEN credits ELSE 0 END) AS {int}), max(nullif(read_at, 0)),
		min(next_at) FROM @monitors WHERE account = ? AND panel = ? AND panel <> '' GROUP BY stage`, month, account, panel)
	for _, g := range stages {
		c.Add(g.name, int(g.n), g.credits, g.last, g.next)
	}
	if err != nil || c.Members() == c.Stages[watch.StageRead]+c.Stages[watch.StageWaiting]+c.Stages[watch.StageGone] {
		return c, err
	}
	m, err := one(ctx, s.db, scanMonitor, selectMonitors+`account = ? AND panel = ? AND panel <> '' AND
		stage NOT IN ('read', 'gone', 'unread') ORDER BY no LIMIT 1`, account, panel)
	if errors.Is(err, sql.ErrNoRows) { // it was read meanwhile
		return c, nil
	}
	c.Code, c.Detail = m.Code, m.Detail
	return c, err
}

// orAll returns the limit for a query, where 0 means none.
func orAll(limit int) int64 {
	if limit <= 0 {
		return math.MaxInt64
	}
	return int64(limit)
}

// End implements [watch.Store].
func (s *Watches) End(ctx context.Context, account, name string) error {
	return s.change(ctx, account, name, func(t tx, m *monitorRow) error { return m.end(t) })
}

// SetFeed implements [watch.Store].
func (s *Watches) SetFeed(ctx context.Context, account, name, hash string) (stored watch.Monitor, err error) {
	err = s.change(ctx, account, name, func(t tx, m *monitorRow) error {
		if stored = m.Monitor; stored.Feed != "" && hash != "" {
			return nil
		}
		m.Feed, stored.Feed = hash, hash
		return t.exec("UPDATE @monitors SET feed = ? WHERE no = ?", hash, m.no)
	})
	return stored, err
}

// OfFeed implements [watch.Store].
func (s *Watches) OfFeed(ctx context.Context, hash string) (watch.Monitor, error) {
	m, err := one(ctx, s.db, scanMonitor, selectMonitors+"feed = ? AND feed <> ''", hash)
	if errors.Is(err, sql.ErrNoRows) {
		err = watch.ErrAbsent
	}
	return m.Monitor, err
}

// Claim implements [watch.Store]. A monitor that cannot be read is not due any more.
func (s *Watches) Claim(ctx context.Context, now time.Time, n int, lease time.Duration) ([]watch.Claim, error) {
	until := now.Add(lease)
	var due, unreadable []monitorRow
	err := s.db.write(ctx, func(t tx) (err error) {
		unreadable = nil
		at := now.UnixNano()
		take := func(where string, n int, args ...any) error {
			found, err := collect(t, (*monitorRow).fields, `
				UPDATE @monitors SET lease = CAST(? AS TEXT) || '-' || no, until = ? WHERE no IN (
					SELECT no FROM @monitors m WHERE next_at <= ? AND until <= ? AND `+where+`
					ORDER BY next_at, read_at, no LIMIT ? {skip}
				) RETURNING `+monitorColumns, slices.Concat([]any{newLease(), until.UnixNano(), at, at}, args, []any{n})...)
			due = append(due, found...)
			return err
		}
		due = nil
		// Of the panels whose members poll together, those of which few are polling.
		err = take(`(together = 0 OR (SELECT count(*) FROM @monitors o WHERE o.account = m.account AND o.panel = m.panel
			AND o.panel <> '' AND o.until > ?) < ?)`, min(n, watch.PanelClaim), at, watch.MostInProgress)
		if err != nil {
			return err
		}
		panels := map[[2]string]int{} // with how many of their members are claimed
		for i := range due {
			if due[i].together {
				panels[[2]string{due[i].Account, due[i].Panel}]++
			}
		}
		for panel, taken := range panels {
			if err := take("account = ? AND panel = ? AND panel <> ''", watch.PanelClaim-taken, panel[0], panel[1]); err != nil {
				return err
			}
		}
		due = slices.DeleteFunc(due, func(m monitorRow) bool {
			if m.unreadable {
				unreadable = append(unreadable, m)
			}
			return m.unreadable
		})
		for _, m := range unreadable {
			if err := t.exec("UPDATE @monitors SET next_at = NULL, lease = '', until = 0 WHERE no = ?", m.no); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	for _, m := range unreadable {
		s.db.cfg.Logger.ErrorContext(ctx, "store: a monitor cannot be read and is not polled any more",
			"account", m.Account, "monitor", m.Name)
	}
	slices.SortFunc(due, func(a, b monitorRow) int {
		return cmp.Or(a.NextAt.Compare(b.NextAt), cmp.Compare(a.readAt, b.readAt), cmp.Compare(a.no, b.no))
	})
	claims := make([]watch.Claim, len(due))
	for i, m := range due {
		claims[i] = watch.Claim{Monitor: m.Monitor, Due: m.NextAt, Lease: m.lease, Until: until}
	}
	return claims, nil
}

func newLease() string { return strconv.FormatUint(rand.Uint64(), 36) }

// Commit implements [watch.Store].
func (s *Watches) Commit(ctx context.Context, p watch.Poll) error {
	of := &p.Claim.Monitor
	err := s.change(ctx, of.Account, of.Name, func(t tx, m *monitorRow) error {
		if m.lease == "" || m.lease != p.Claim.Lease || m.Baseline != of.Baseline {
			return watch.ErrLease
		}
		m.Progress, m.lease, m.until = p.Progress, "", 0
		if err := m.keep(t); err != nil {
			return err
		}
		for _, v := range p.Samples {
			if err := t.exec("INSERT INTO @samples (monitor, field, at, value) VALUES (?, ?, ?, ?) "+
				"ON CONFLICT DO NOTHING", m.no, v.Field, v.At.UnixNano(), v.Value); err != nil {
				return err
			}
		}
		for _, gone := range p.Gone() {
			if err := m.forget(t, gone); err != nil {
				return err
			}
		}
		return t.tell(m.Account, p.Changes)
	})
	if errors.Is(err, watch.ErrAbsent) {
		err = watch.ErrLease
	}
	return err
}

// forget removes everything about an object that is gone, except that it is gone.
func (m *monitorRow) forget(t tx, gone watch.Thing) error {
	if err := t.rewrite(watch.Forget, "account = ? AND monitor = ? AND key = ? AND key <> '' AND platform = ?",
		m.Account, cmp.Or(m.Panel, m.Name), plain(gone.Key), gone.Platform); err != nil || m.List {
		return err
	}
	return m.forgetSamples(t)
}

// rewrite replaces the changes that a condition selects by the result of as.
func (t tx) rewrite(as func(schema.Change) schema.Change, where string, args ...any) error {
	type stored struct {
		account string
		size    int64
		change  schema.Change
	}
	found, err := collect(t, func(c *stored) []any {
		return []any{&c.account, &c.size, inJSON[schema.Change]{&c.change}}
	}, "SELECT account, length(body), body FROM @changes WHERE "+where+" ORDER BY account, seq {lock}", args...)
	if err != nil {
		return err
	}
	grown := map[string]int64{}
	for _, c := range found {
		seq := c.change.Seq
		c.change = as(c.change)
		body, err := schema.Marshal(&c.change)
		if err != nil {
			return err
		}
		grown[c.account] += int64(len(body)) - c.size
		if err := t.exec("UPDATE @changes SET type = ?, content = ?, body = ? WHERE account = ? AND seq = ?",
			c.change.Type, bit(watch.HasContent(&c.change)), body, c.account, seq); err != nil {
			return err
		}
	}
	return t.growFeeds(grown)
}

// removeChanges removes changes by their accounts and numbers, with their deliveries.
func (t tx) removeChanges(keys [][]any) error {
	table, args := t.rows("tn", keys)
	grown := map[string]int64{}
	var account string
	var size int64
	err := t.each([]any{&account, &size}, func() error {
		grown[account] -= size
		return nil
	}, "DELETE FROM @changes WHERE (account, seq) IN (SELECT c1, c2 FROM "+table+") RETURNING account, length(body)",
		args...)
	if err != nil {
		return err
	}
	return t.growFeeds(grown)
}

// growFeeds adds to the bytes of feeds.
func (t tx) growFeeds(by map[string]int64) error {
	for _, account := range slices.Sorted(maps.Keys(by)) { // all in the same order
		if err := t.exec("UPDATE @feeds SET bytes = bytes + ? WHERE account = ?", by[account], account); err != nil {
			return err
		}
	}
	return nil
}

// lockFeed locks an account's feed until the transaction ends, and returns the number of its last change. So numbers
// are given in the order in which transactions end, and a reader never misses a lower one.
func (t tx) lockFeed(account string) (seq int64, err error) {
	err = t.exec("INSERT INTO @feeds (account, seq, bytes) VALUES (?, 0, 0) ON CONFLICT DO NOTHING", account)
	if err != nil {
		return 0, err
	}
	err = t.row([]any{&seq}, "SELECT seq FROM @feeds WHERE account = ? {lock}", account)
	return seq, err
}

// tell adds changes to an account's feed, except those that are in it already.
func (t tx) tell(account string, changes []schema.Change) error {
	if len(changes) == 0 {
		return nil
	}
	seq, err := t.lockFeed(account)
	if err != nil {
		return err
	}
	known, err := t.storedIDs(account, changes)
	if err != nil {
		return err
	}
	var rows [][]any
	size := int64(0)
	for _, c := range changes {
		if known[c.ID] {
			continue
		}
		known[c.ID] = true
		seq++
		c.Seq = seq
		body, err := schema.Marshal(&c)
		if err != nil {
			return err
		}
		monitor, about := "", watch.ThingOf(&c)
		if c.Monitor != nil {
			monitor = *c.Monitor
		}
		rows = append(rows, []any{
			account, seq, c.ID, c.At.UnixNano(), monitor, c.Type, about.Platform, plain(about.Key),
			bit(watch.HasContent(&c)), body,
		})
		size += int64(len(body))
	}
	if err := t.insert("INSERT INTO @changes (account, seq, id, at, monitor, type, platform, key, content, body)",
		"tntnttttnb", "", rows); err != nil {
		return err
	}
	return t.exec("UPDATE @feeds SET seq = ?, bytes = bytes + ? WHERE account = ?", seq, size, account)
}

// storedIDs returns the ids of changes that are in an account's feed.
func (t tx) storedIDs(account string, changes []schema.Change) (map[string]bool, error) {
	ids := make([][]any, len(changes))
	for i := range changes {
		ids[i] = []any{changes[i].ID}
	}
	table, args := t.rows("t", ids)
	stored := map[string]bool{}
	var id string
	err := t.each([]any{&id}, func() error {
		stored[id] = true
		return nil
	}, "SELECT id FROM @changes WHERE id IN (SELECT c1 FROM "+table+") AND account = ?", append(args, account)...)
	return stored, err
}

// Changes implements [watch.Store].
func (s *Watches) Changes(ctx context.Context, q watch.Since) ([]schema.Change, error) {
	order := ""
	if q.Newest {
		order = " DESC"
	}
	return list(ctx, s.db, func(r row) (c schema.Change, err error) {
		err = r.Scan(inJSON[schema.Change]{&c})
		return c, err
	}, `SELECT body FROM @changes WHERE account = ? AND seq > ? AND (? = '' OR monitor = ?) AND (? = '' OR type = ?)
		AND at >= ? ORDER BY seq`+order+` LIMIT ?`,
		q.Account, q.After, q.Monitor, q.Monitor, q.Type, q.Type, nanosOr(q.From, math.MinInt64), orAll(q.Limit))
}

// nanosOr returns a time as it is stored, or limit for the zero time.
func nanosOr(t time.Time, limit int64) int64 {
	if t.IsZero() {
		return limit
	}
	return t.UnixNano()
}

// Samples implements [watch.Store].
func (s *Watches) Samples(ctx context.Context, q watch.Numbers) ([]watch.Sample, error) {
	no, err := one(ctx, s.db, scanOne[int64], "SELECT no FROM @monitors WHERE account = ? AND name = ?",
		q.Account, q.Monitor)
	if errors.Is(err, sql.ErrNoRows) {
		err = watch.ErrAbsent
	}
	if err != nil {
		return nil, err
	}
	return list(ctx, s.db, func(r row) (watch.Sample, error) {
		v := watch.Sample{Field: q.Field}
		err := r.Scan(nanos{&v.At}, &v.Value)
		return v, err
	}, "SELECT at, value FROM @samples WHERE monitor = ? AND field = ? AND at >= ? AND at < ? ORDER BY at LIMIT ?",
		no, q.Field, nanosOr(q.Since, math.MinInt64), nanosOr(q.Until, math.MaxInt64), orAll(q.Limit))
}
