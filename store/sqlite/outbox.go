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

	"github.com/socialdata/socialdata/schema"
	"github.com/socialdata/socialdata/watch"
)

// endpoint is a row of endpoints.
type endpoint struct {
	watch.Endpoint

	no int64 // 0 when there is no such row
}

const selectEndpoints = "SELECT no, account, name, body, position, problem, failing_since FROM endpoints"

// scanEndpoint reads a row of selectEndpoints, and its other columns into more.
func scanEndpoint(row interface{ Scan(...any) error }, more ...any) (e endpoint, err error) {
	var body []byte
	var account, name, problem string
	var position int64
	var failing *int64
	if err = row.Scan(append([]any{&e.no, &account, &name, &body, &position, &problem, &failing},
		more...)...); err == nil {
		err = e.decode(account, name, body, position, problem, failing)
	}
	return e, err
}

func (e *endpoint) decode(account, name string, body []byte, position int64, problem string, failing *int64) error {
	if err := json.Unmarshal(body, &e.Endpoint); err != nil {
		return fmt.Errorf("sqlite: endpoint %d cannot be read: %w", e.no, err)
	}
	e.Account, e.Name, e.Position, e.Problem, e.FailingSince = account, name, position, problem, time.Time{}
	if failing != nil {
		e.FailingSince = fromNanos(*failing)
	}
	return nil
}

// endpointColumns are the columns of selectEndpoints, as the writer's connection returns them.
type endpointColumns [7]driver.Value

func (v *endpointColumns) read() (e endpoint, err error) {
	e.no = value[int64](v[0])
	var failing *int64
	if at, ok := v[6].(int64); ok {
		failing = &at
	}
	err = e.decode(value[string](v[1]), value[string](v[2]), value[[]byte](v[3]), value[int64](v[4]), value[string](v[5]),
		failing)
	return e, err
}

// findEndpoint returns the row of an endpoint, in the transaction of w.
func findEndpoint(w *writer, account, name string) (endpoint, error) {
	var v endpointColumns
	found, err := w.c.row(selectEndpoints+" WHERE account = ? AND name = ?", v[:], account, name)
	if err != nil || !found {
		return endpoint{}, err
	}
	return v.read()
}

// keep updates a row.
func (e *endpoint) keep(w *writer) error {
	body, err := json.Marshal(&e.Endpoint)
	if err != nil {
		return err
	}
	_, err = w.c.exec("UPDATE endpoints SET body = ?, position = ?, problem = ?, failing_since = ? WHERE no = ?",
		body, e.Position, e.Problem, nanosOrNull(e.FailingSince), e.no)
	return err
}

// nanosOrNull returns a time as it is stored, the zero time as NULL.
func nanosOrNull(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return t.UnixNano()
}

// PutEndpoint implements [watch.Outbox].
func (s *Watches) PutEndpoint(
	ctx context.Context, e watch.Endpoint, most int,
) (stored watch.Endpoint, made bool, err error) {
	err = s.do(ctx, func(w *writer) error {
		made = false
		old, err := findEndpoint(w, e.Account, e.Name)
		if err != nil {
			return err
		}
		if old.no == 0 {
			stored, err = insertEndpoint(w, e, most)
			made = err == nil
			return err
		}
		old.Replace(e)
		stored = old.Endpoint
		return old.keep(w)
	})
	return stored, made, err
}

func insertEndpoint(w *writer, e watch.Endpoint, most int) (watch.Endpoint, error) {
	n, err := w.c.number("SELECT count(*) FROM endpoints WHERE account = ?", e.Account)
	if err != nil {
		return e, err
	}
	if most > 0 && n >= int64(most) {
		return e, refusal{watch.ErrEndpointsFull}
	}
	if e.Position, err = w.c.number("SELECT coalesce(max(seq), 0) FROM feeds WHERE account = ?", e.Account); err != nil {
		return e, err
	}
	if _, err := w.c.exec("INSERT INTO endpoints (account, name, body, position, problem) VALUES (?, ?, x'', 0, '')",
		e.Account, e.Name); err != nil {
		return e, err
	}
	row := endpoint{Endpoint: e}
	if row.no, err = w.c.number("SELECT no FROM endpoints WHERE account = ? AND name = ?", e.Account, e.Name); err != nil {
		return e, err
	}
	return e, row.keep(w)
}

// Endpoint implements [watch.Outbox].
func (s *Watches) Endpoint(ctx context.Context, account, name string) (watch.Endpoint, error) {
	found, err := s.endpoints(ctx, selectEndpoints+" WHERE account = ? AND name = ?", account, name)
	if err != nil {
		return watch.Endpoint{}, err
	}
	if len(found) == 0 {
		return watch.Endpoint{}, watch.ErrNoEndpoint
	}
	return found[0], nil
}

// Endpoints implements [watch.Outbox].
func (s *Watches) Endpoints(ctx context.Context, account, after string, limit int) ([]watch.Endpoint, error) {
	return s.endpoints(ctx, selectEndpoints+" WHERE account = ? AND name > ? ORDER BY name LIMIT ?", account, after,
		orAll(limit))
}

// Active implements [watch.Outbox].
func (s *Watches) Active(ctx context.Context) ([]watch.Endpoint, error) {
	return s.endpoints(ctx, selectEndpoints+" WHERE problem = ''")
}

func (s *Watches) endpoints(ctx context.Context, query string, args ...any) ([]watch.Endpoint, error) {
	return listRows(ctx, s.file.read, func(rows *sql.Rows) (watch.Endpoint, error) {
		e, err := scanEndpoint(rows)
		return e.Endpoint, err
	}, query, args...)
}

// EndEndpoint implements [watch.Outbox].
func (s *Watches) EndEndpoint(ctx context.Context, account, name string) error {
	return s.do(ctx, func(w *writer) error {
		e, err := findEndpoint(w, account, name)
		if err == nil && e.no == 0 {
			err = refusal{watch.ErrNoEndpoint}
		}
		if err != nil {
			return err
		}
		if _, err := w.c.exec("DELETE FROM deliveries WHERE endpoint = ?", e.no); err != nil {
			return err
		}
		_, err = w.c.exec("DELETE FROM endpoints WHERE no = ?", e.no)
		return err
	})
}

// Rekey implements [watch.Outbox].
func (s *Watches) Rekey(
	ctx context.Context, account, name string, secret []byte, until time.Time,
) (stored watch.Endpoint, err error) {
	err = s.do(ctx, func(w *writer) error {
		e, err := findEndpoint(w, account, name)
		if err == nil && e.no == 0 {
			err = refusal{watch.ErrNoEndpoint}
		}
		if err != nil {
			return err
		}
		e.Before, e.BeforeUntil, e.Secret = e.Secret, until, slices.Clone(secret)
		stored = e.Endpoint
		return e.keep(w)
	})
	return stored, err
}

// Tell implements [watch.Outbox].
func (s *Watches) Tell(ctx context.Context, account string, changes []schema.Change) error {
	return s.do(ctx, func(w *writer) error { return tell(w, account, changes) })
}

// queuedAtOnce is for how many endpoints one transaction makes deliveries.
const queuedAtOnce = 100

const behind = " WHERE problem = '' AND position < (SELECT f.seq FROM feeds f WHERE f.account = endpoints.account)"

// Queue implements [watch.Outbox].
func (s *Watches) Queue(ctx context.Context, now time.Time, n int) (more bool, err error) {
	some, err := s.endpoints(ctx, selectEndpoints+behind+" LIMIT 1")
	if err != nil || len(some) == 0 {
		return false, err // nothing to write, so no transaction
	}
	err = s.do(ctx, func(w *writer) error {
		more = false
		var all []endpoint
		var broken error
		var v endpointColumns
		if err := w.c.each(selectEndpoints+behind+" LIMIT ?", v[:], func() {
			e, err := v.read()
			if all = append(all, e); err != nil {
				broken = err
			}
		}, queuedAtOnce); err != nil || broken != nil {
			return errors.Join(err, broken)
		}
		for i := range all {
			left, err := queueChanges(w, &all[i], now, n)
			if err != nil {
				return err
			}
			more = more || left
		}
		more = more || len(all) == queuedAtOnce
		return nil
	})
	return more, err
}

// queueChanges makes the deliveries of at most n changes to one endpoint.
func queueChanges(w *writer, e *endpoint, now time.Time, n int) (more bool, err error) {
	var seqs []int64
	var v [3]driver.Value
	seen := 0
	if err := w.c.each("SELECT seq, type, monitor FROM changes WHERE account = ? AND seq > ? ORDER BY seq LIMIT ?", v[:],
		func() {
			seen++
			c := schema.Change{Seq: value[int64](v[0]), Type: value[string](v[1])}
			if monitor := value[string](v[2]); monitor != "" {
				c.Monitor = &monitor
			}
			if e.Position = c.Seq; e.Wants(&c) {
				seqs = append(seqs, c.Seq)
			}
		}, e.Account, e.Position, n); err != nil {
		return false, err
	}
	for _, seq := range seqs {
		if _, err := w.c.exec("INSERT OR IGNORE INTO deliveries (endpoint, seq, account, state, attempts, queued_at, "+
			"next_at, status, "+
			"detail, lease) VALUES (?, ?, ?, ?, 0, ?, ?, 0, '', '')",
			e.no, seq, e.Account, watch.Waiting, now.UnixNano(), now.UnixNano()); err != nil {
			return false, err
		}
	}
	if more = seen == n; !more { // the later ones have been removed
		if e.Position, err = w.c.number("SELECT seq FROM feeds WHERE account = ?", e.Account); err != nil {
			return false, err
		}
	}
	_, err = w.c.exec("UPDATE endpoints SET position = ? WHERE no = ?", e.Position, e.no)
	return more, err
}

const deliveryColumns = `d.seq, c.id, c.type, d.state, d.attempts, d.queued_at, d.next_at, d.last_at, d.status, d.detail`

// deliveryRow is a row of deliveryColumns.
type deliveryRow struct {
	d             watch.Delivery
	queued        int64
	next, last    *int64
	status, tries int64
}

func (r *deliveryRow) into() []any {
	return []any{
		&r.d.Seq, &r.d.Change, &r.d.Type, &r.d.State, &r.tries, &r.queued, &r.next, &r.last, &r.status, &r.d.Detail,
	}
}

func (r *deliveryRow) read(account, endpoint string) watch.Delivery {
	d := r.d
	d.Account, d.Endpoint, d.Attempts, d.Status, d.QueuedAt = account, endpoint, int(r.tries), int(r.status),
		fromNanos(r.queued)
	if r.next != nil {
		d.NextAt = fromNanos(*r.next)
	}
	if r.last != nil {
		d.LastAt = fromNanos(*r.last)
	}
	return d
}

// ClaimDeliveries implements [watch.Outbox]. It writes only the rows that it claims, and reads their changes
// afterwards.
func (s *Watches) ClaimDeliveries(
	ctx context.Context, now time.Time, n, each int, lease time.Duration, full []watch.Lane,
) ([]watch.Sending, error) {
	due, err := listRows(ctx, s.file.read, func(rows *sql.Rows) (endpoint, error) { return scanEndpoint(rows) },
		selectEndpoints+" WHERE problem = '' AND EXISTS (SELECT 1 FROM deliveries d WHERE d.endpoint = no AND d.next_at <= ?)",
		now.UnixNano())
	if err != nil {
		return nil, err
	}
	due = slices.DeleteFunc(due,
		func(e endpoint) bool { return slices.Contains(full, watch.Lane{Account: e.Account, Name: e.Name}) })
	if len(due) == 0 {
		return nil, nil // nothing to write, so no transaction
	}
	rand.Shuffle(len(due), func(i, j int) { due[i], due[j] = due[j], due[i] })
	var out []watch.Sending
	token := strconv.FormatUint(rand.Uint64(), 36)
	until := now.Add(lease)
	err = s.do(ctx, func(w *writer) error {
		out = nil
		for i := range due {
			e := &due[i]
			most := min(each, n-len(out))
			if !e.FailingSince.IsZero() {
				most = min(most, 1)
			}
			taken, err := take(w, e, now, until, most, token)
			if err != nil {
				return err
			}
			out = append(out, taken...)
		}
		return nil
	})
	return out, err
}

// take claims up to n deliveries to one endpoint.
func take(w *writer, e *endpoint, now, until time.Time, n int, token string) (out []watch.Sending, err error) {
	if n <= 0 {
		return nil, nil
	}
	var broken error
	var v [11]driver.Value
	err = w.c.each("SELECT "+deliveryColumns+`, c.body FROM deliveries d JOIN changes c ON c.account = d.account AND c.seq = d.seq
		WHERE d.endpoint = ? AND d.next_at <= ? ORDER BY d.seq LIMIT ?`, v[:], func() {
		r := deliveryRow{
			d: watch.Delivery{
				Seq: value[int64](v[0]), Change: value[string](v[1]), Type: value[string](v[2]), State: value[string](v[3]),
				Detail: value[string](v[9]),
			},
			tries: value[int64](v[4]), queued: value[int64](v[5]), status: value[int64](v[8]),
		}
		if last, ok := v[7].(int64); ok {
			r.last = &last
		}
		sending := watch.Sending{Delivery: r.read(e.Account, e.Name), Endpoint: e.Endpoint, Until: until}
		sending.Lease, sending.Delivery.NextAt = token+"-"+strconv.FormatInt(sending.Delivery.Seq, 36), until
		if err := json.Unmarshal(value[[]byte](v[10]), &sending.Change); err != nil {
			broken = err
		}
		out = append(out, sending)
	}, e.no, now.UnixNano(), n)
	if err != nil || broken != nil {
		return nil, errors.Join(err, broken)
	}
	for i := range out {
		if _, err := w.c.exec("UPDATE deliveries SET next_at = ?, lease = ? WHERE endpoint = ? AND seq = ?",
			until.UnixNano(), out[i].Lease, e.no, out[i].Delivery.Seq); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// Attempted implements [watch.Outbox].
func (s *Watches) Attempted(ctx context.Context, a watch.Attempt) error {
	d := &a.Sending.Delivery
	return s.do(ctx, func(w *writer) error {
		no, err := w.c.number("SELECT no FROM endpoints WHERE account = ? AND name = ?", d.Account, d.Endpoint)
		if err != nil {
			return err
		}
		var next any
		if a.State == watch.Waiting {
			next = a.Next.UnixNano()
		}
		n, err := w.c.exec(`UPDATE deliveries SET state = ?, attempts = attempts + 1, next_at = ?, last_at = ?, status = ?, detail = ?,
			lease = '' WHERE endpoint = ? AND seq = ? AND lease = ? AND lease <> ''`,
			a.State, next, a.At.UnixNano(), a.Status, a.Detail, no, d.Seq, a.Sending.Lease)
		if err != nil {
			return err
		}
		if n == 0 {
			return refusal{watch.ErrLease}
		}
		if a.State == watch.Delivered {
			_, err = w.c.exec("UPDATE endpoints SET failing_since = NULL WHERE no = ? AND failing_since IS NOT NULL", no)
		} else {
			_, err = w.c.exec("UPDATE endpoints SET failing_since = ? WHERE no = ? AND failing_since IS NULL", a.At.UnixNano(),
				no)
		}
		if err == nil && a.Disable != "" {
			_, err = w.c.exec("UPDATE endpoints SET problem = ? WHERE no = ?", a.Disable, no)
		}
		if err != nil {
			return err
		}
		return tell(w, d.Account, a.Tell)
	})
}

// Deliveries implements [watch.Outbox].
func (s *Watches) Deliveries(ctx context.Context, q watch.Outgoing) ([]watch.Delivery, error) {
	return s.deliveries(ctx, ` AND (?2 = '' OR e.name = ?2) AND (?3 = 0 OR d.seq < ?3 OR d.seq = ?3 AND e.name > ?4)
		ORDER BY d.seq DESC, e.name LIMIT ?5`, q.Account, q.Endpoint, q.Before, q.After, orAll(q.Limit))
}

// deliveries returns the deliveries of an account, the first of args, that match a condition.
func (s *Watches) deliveries(ctx context.Context, condition string, args ...any) ([]watch.Delivery, error) {
	return listRows(ctx, s.file.read, func(rows *sql.Rows) (watch.Delivery, error) {
		var r deliveryRow
		var account, name string
		err := rows.Scan(append([]any{&account, &name}, r.into()...)...)
		return r.read(account, name), err
	}, "SELECT d.account, e.name, "+deliveryColumns+` FROM deliveries d JOIN endpoints e ON e.no = d.endpoint
		JOIN changes c ON c.account = d.account AND c.seq = d.seq WHERE d.account = ?1`+condition, args...)
}

// Again implements [watch.Outbox].
func (s *Watches) Again(
	ctx context.Context, account, endpoint string, seq int64, now time.Time,
) (watch.Delivery, error) {
	err := s.do(ctx, func(w *writer) error {
		n, err := w.c.exec(`UPDATE deliveries SET state = ?, attempts = 0, next_at = ?, lease = '' WHERE account = ? AND seq = ?
			AND endpoint = (SELECT no FROM endpoints WHERE account = ? AND name = ?)`,
			watch.Waiting, now.UnixNano(), account, seq, account, endpoint)
		if err == nil && n == 0 {
			err = refusal{watch.ErrNoDelivery}
		}
		return err
	})
	if err != nil {
		return watch.Delivery{}, err
	}
	found, err := s.deliveries(ctx, " AND e.name = ?2 AND d.seq = ?3", account, endpoint, seq)
	if err != nil {
		return watch.Delivery{}, err
	}
	if len(found) == 0 {
		return watch.Delivery{}, watch.ErrNoDelivery
	}
	return found[0], nil
}
