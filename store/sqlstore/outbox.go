package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/socialdata/socialdata/schema"
	"github.com/socialdata/socialdata/watch"
)

// endpointRow is a row of endpoints.
type endpointRow struct {
	watch.Endpoint

	no int64 // 0 when there is no such row
}

// columns are all that is read and written of an endpoint. The body has everything, and what queries need is in columns
// of its own, which are read after it.
func (e *endpointRow) columns() columns {
	return columns{
		{"no", &e.no},
		{"body", inJSON[watch.Endpoint]{&e.Endpoint}},
		{"account", &e.Account},
		{"name", &e.Name},
		{"position", &e.Position},
		{"problem", &e.Problem},
		{"failing_since", nanos{&e.FailingSince}},
	}
}

func (e *endpointRow) fields() []any { return e.columns().fields() }

var (
	endpointColumns = new(endpointRow).columns().names("e.")
	selectEndpoints = "SELECT " + endpointColumns + " FROM @endpoints e WHERE "
)

func scanEndpoint(r row) (e endpointRow, err error) {
	err = r.Scan(e.fields()...)
	return e, err
}

// endpoint returns the row of an endpoint, locked until the transaction ends.
func (t tx) endpoint(account, name string) (e endpointRow, err error) {
	_, err = t.maybe(e.fields(), selectEndpoints+"account = ? AND name = ? {lock}", account, name)
	return e, err
}

// keep writes the row.
func (e *endpointRow) keep(t tx) error {
	e.Problem = plain(e.Problem)
	if e.no == 0 {
		return t.insertRow("endpoints", e.columns())
	}
	return t.updateRow("endpoints", e.columns())
}

// changeEndpoint runs do for an endpoint in a transaction and writes it, or returns [watch.ErrNoEndpoint].
func (s *Watches) changeEndpoint(ctx context.Context, account, name string, do func(t tx, e *endpointRow) error) error {
	return s.db.write(ctx, func(t tx) error {
		e, err := t.endpoint(account, name)
		if err == nil && e.no == 0 {
			err = watch.ErrNoEndpoint
		}
		if err != nil {
			return err
		}
		return do(t, &e)
	})
}

// PutEndpoint implements [watch.Outbox].
func (s *Watches) PutEndpoint(
	ctx context.Context, e watch.Endpoint, most int,
) (stored watch.Endpoint, made bool, err error) {
	err = s.db.write(ctx, func(t tx) error {
		row, err := t.endpoint(e.Account, e.Name)
		if err != nil {
			return err
		}
		if made = row.no == 0; made {
			row.Endpoint = e
			row.Problem, row.FailingSince = "", time.Time{}
			// Locked, so that what is made at the same time is counted.
			if row.Position, err = t.lockFeed(e.Account); err != nil {
				return err
			}
			if err := t.allowOneMore("endpoints", "", e.Account, most, watch.ErrEndpointsFull); err != nil {
				return err
			}
		} else {
			row.Replace(e)
		}
		stored = row.Endpoint
		return row.keep(t)
	})
	return stored, made && err == nil, err
}

// Endpoint implements [watch.Outbox].
func (s *Watches) Endpoint(ctx context.Context, account, name string) (watch.Endpoint, error) {
	e, err := one(ctx, s.db, scanEndpoint, selectEndpoints+"account = ? AND name = ?", account, name)
	if errors.Is(err, sql.ErrNoRows) {
		err = watch.ErrNoEndpoint
	}
	return e.Endpoint, err
}

// Endpoints implements [watch.Outbox].
func (s *Watches) Endpoints(ctx context.Context, account, after string, limit int) ([]watch.Endpoint, error) {
	return s.endpoints(ctx, "account = ? AND name > ? ORDER BY name LIMIT ?", account, after, orAll(limit))
}

// Active implements [watch.Outbox].
func (s *Watches) Active(ctx context.Context) ([]watch.Endpoint, error) {
	return s.endpoints(ctx, "problem = ''")
}

func (s *Watches) endpoints(ctx context.Context, where string, args ...any) ([]watch.Endpoint, error) {
	return list(ctx, s.db, func(r row) (watch.Endpoint, error) {
		e, err := scanEndpoint(r)
		return e.Endpoint, err
	}, selectEndpoints+where, args...)
}

// EndEndpoint implements [watch.Outbox].
func (s *Watches) EndEndpoint(ctx context.Context, account, name string) error {
	return s.changeEndpoint(ctx, account, name, func(t tx, e *endpointRow) error {
		return t.exec("DELETE FROM @endpoints WHERE no = ?", e.no)
	})
}

// Rekey implements [watch.Outbox].
func (s *Watches) Rekey(
	ctx context.Context, account, name string, secret []byte, until time.Time,
) (stored watch.Endpoint, err error) {
	err = s.changeEndpoint(ctx, account, name, func(t tx, e *endpointRow) error {
		e.Before, e.BeforeUntil, e.Secret = e.Secret, until, slices.Clone(secret)
		stored = e.Endpoint
		return e.keep(t)
	})
	return stored, err
}

// Tell implements [watch.Outbox].
func (s *Watches) Tell(ctx context.Context, account string, changes []schema.Change) error {
	return s.db.write(ctx, func(t tx) error { return t.tell(account, changes) })
}

// queuedAtOnce is for how many endpoints one transaction makes deliveries.
const queuedAtOnce = 100

// queueing is an endpoint that is behind the end of its account's feed.
type queueing struct {
	endpointRow

	end int64
}

func (q *queueing) fields() []any { return append(q.endpointRow.fields(), &q.end) }

// Queue implements [watch.Outbox].
func (s *Watches) Queue(ctx context.Context, now time.Time, n int) (more bool, err error) {
	const end = "(SELECT seq FROM @feeds f WHERE f.account = e.account)"
	err = s.db.write(ctx, func(t tx) error {
		behind, err := collect(t, (*queueing).fields, "SELECT "+endpointColumns+", "+end+
			" FROM @endpoints e WHERE problem = '' AND position < "+end+" LIMIT ? {skip}", queuedAtOnce)
		if err != nil {
			return err
		}
		more = len(behind) == queuedAtOnce
		for i := range behind {
			left, err := behind[i].queue(t, now, n)
			if err != nil {
				return err
			}
			more = more || left
		}
		return nil
	})
	return more, err
}

// queue makes deliveries of the next n changes, and reports whether there are more.
func (q *queueing) queue(t tx, now time.Time, n int) (more bool, err error) {
	var wanted [][]any
	var c schema.Change
	var monitor string
	seen := 0
	if err := t.each([]any{&c.Seq, &c.Type, &monitor}, func() error {
		seen++
		if c.Monitor = nil; monitor != "" {
			c.Monitor = &monitor
		}
		if q.Position = c.Seq; q.Wants(&c) {
			wanted = append(wanted, []any{q.no, c.Seq, q.Account, watch.Waiting, now.UnixNano(), now.UnixNano()})
		}
		return nil
	}, "SELECT seq, type, monitor FROM @changes WHERE account = ? AND seq > ? AND seq <= ? ORDER BY seq LIMIT ?",
		q.Account, q.Position, q.end, n); err != nil {
		return false, err
	}
	if more = seen == n; !more {
		q.Position = q.end // the changes up to there were removed
	}
	err = t.insert("INSERT INTO @deliveries (endpoint, seq, account, state, queued_at, next_at)", "nnttnn", "", wanted)
	if err != nil {
		return false, err
	}
	return more, q.keep(t)
}

const (
	deliveryColumns = "d.account, e.name, d.seq, c.id, c.type, d.state, d.attempts, d.queued_at, d.next_at, d.last_at, " +
		"d.status, d.detail"
	fromDeliveries = " FROM @deliveries d JOIN @endpoints e ON e.no = d.endpoint " +
		"JOIN @changes c ON c.account = d.account AND c.seq = d.seq WHERE "
)

// deliveryFields are what deliveryColumns are scanned into.
func deliveryFields(d *watch.Delivery) []any {
	return []any{
		&d.Account, &d.Endpoint, &d.Seq, &d.Change, &d.Type, &d.State, &d.Attempts,
		nanos{&d.QueuedAt},
		nanos{&d.NextAt},
		nanos{&d.LastAt},
		&d.Status, &d.Detail,
	}
}

// ClaimDeliveries implements [watch.Outbox].
func (s *Watches) ClaimDeliveries(
	ctx context.Context, now time.Time, n, each int, lease time.Duration, full []watch.EndpointRef,
) (claimed []watch.Sending, err error) {
	due, err := list(ctx, s.db, scanEndpoint, selectEndpoints+
		"problem = '' AND EXISTS (SELECT 1 FROM @deliveries WHERE endpoint = no AND next_at <= ?)", now.UnixNano())
	if err != nil {
		return nil, err
	}
	due = slices.DeleteFunc(due, func(e endpointRow) bool {
		return slices.Contains(full, watch.EndpointRef{Account: e.Account, Name: e.Name})
	})
	if len(due) == 0 {
		return nil, nil // nothing to write, so no transaction
	}
	rand.Shuffle(len(due), func(i, j int) { due[i], due[j] = due[j], due[i] })
	until := now.Add(lease)
	err = s.db.write(ctx, func(t tx) error {
		var taken [][]any
		for i := range due {
			most := min(each, n-len(taken))
			if !due[i].FailingSince.IsZero() {
				most = min(most, 1)
			}
			seqs, err := due[i].take(t, now, until, most)
			if err != nil {
				return err
			}
			taken = append(taken, seqs...)
		}
		claimed, err = t.sendings(taken, until)
		return err
	})
	return claimed, err
}

// take claims up to n deliveries to an endpoint, and returns their keys.
func (e *endpointRow) take(t tx, now, until time.Time, n int) (taken [][]any, err error) {
	if n <= 0 {
		return nil, nil
	}
	var seq int64
	err = t.each([]any{&seq}, func() error {
		taken = append(taken, []any{e.no, seq})
		return nil
	}, `
		UPDATE @deliveries SET lease = CAST(? AS TEXT) || '-' || seq, next_at = ? WHERE endpoint = ? AND seq IN (
			SELECT seq FROM @deliveries WHERE endpoint = ? AND next_at <= ? ORDER BY seq LIMIT ? {skip}
		) RETURNING seq`, newLease(), until.UnixNano(), e.no, e.no, now.UnixNano(), n)
	return taken, err
}

// sendings returns the deliveries with these keys, oldest changes first.
func (t tx) sendings(keys [][]any, until time.Time) (found []watch.Sending, err error) {
	if len(keys) == 0 {
		return nil, nil
	}
	type sendingRow struct {
		endpoint endpointRow
		watch.Sending
	}
	table, args := t.rows("nn", keys)
	rows, err := collect(t, func(r *sendingRow) []any {
		fields := append(r.endpoint.fields(), deliveryFields(&r.Delivery)...)
		return append(fields, &r.Lease, inJSON[schema.Change]{&r.Change})
	}, "SELECT "+endpointColumns+", "+deliveryColumns+", d.lease, c.body"+fromDeliveries+
		"(d.endpoint, d.seq) IN (SELECT c1, c2 FROM "+table+") ORDER BY d.seq", args...)
	for _, r := range rows {
		r.Endpoint, r.Until = r.endpoint.Endpoint, until
		found = append(found, r.Sending)
	}
	return found, err
}

// Attempted implements [watch.Outbox].
func (s *Watches) Attempted(ctx context.Context, a watch.Attempt) error {
	d := &a.Sending.Delivery
	return s.db.write(ctx, func(t tx) error {
		var no int64
		claimed, err := t.maybe([]any{&no}, "SELECT endpoint FROM @deliveries WHERE lease = ? AND lease <> '' AND seq = ? "+
			"AND endpoint = (SELECT no FROM @endpoints WHERE account = ? AND name = ?) {lock}",
			a.Sending.Lease, d.Seq, d.Account, d.Endpoint)
		if err == nil && !claimed {
			err = watch.ErrLease
		}
		if err != nil {
			return err
		}
		var next any
		if a.State == watch.Waiting {
			next = a.Next.UnixNano()
		}
		err = t.exec(`UPDATE @deliveries SET state = ?, attempts = attempts + 1, next_at = ?, last_at = ?, status = ?,
			detail = ?, lease = '' WHERE endpoint = ? AND seq = ?`,
			a.State, next, a.At.UnixNano(), a.Status, plain(a.Detail), no, d.Seq)
		if err != nil {
			return err
		}
		return errors.Join(t.noteAttempt(no, &a), t.tell(d.Account, a.Tell))
	})
}

// noteAttempt writes what an attempt says about its endpoint: for most of those that succeed, nothing.
func (t tx) noteAttempt(endpoint int64, a *watch.Attempt) error {
	if a.Disable != "" {
		if err := t.exec("UPDATE @endpoints SET problem = ? WHERE no = ?", plain(a.Disable), endpoint); err != nil {
			return err
		}
	}
	if a.State == watch.Delivered {
		return t.exec("UPDATE @endpoints SET failing_since = NULL WHERE no = ? AND failing_since IS NOT NULL", endpoint)
	}
	return t.exec("UPDATE @endpoints SET failing_since = ? WHERE no = ? AND failing_since IS NULL",
		a.At.UnixNano(), endpoint)
}

// Deliveries implements [watch.Outbox].
func (s *Watches) Deliveries(ctx context.Context, q watch.Outgoing) ([]watch.Delivery, error) {
	return s.deliveries(ctx, `d.account = ? AND (? = '' OR e.name = ?)
		AND (CAST(? AS {int}) = 0 OR d.seq < ? OR d.seq = ? AND e.name > ?) ORDER BY d.seq DESC, e.name LIMIT ?`,
		q.Account, q.Endpoint, q.Endpoint, q.Before, q.Before, q.Before, q.After, orAll(q.Limit))
}

func (s *Watches) deliveries(ctx context.Context, where string, args ...any) ([]watch.Delivery, error) {
	return list(ctx, s.db, func(r row) (d watch.Delivery, err error) {
		err = r.Scan(deliveryFields(&d)...)
		return d, err
	}, "SELECT "+deliveryColumns+fromDeliveries+where, args...)
}

// Again implements [watch.Outbox].
func (s *Watches) Again(
	ctx context.Context, account, endpoint string, seq int64, now time.Time,
) (watch.Delivery, error) {
	err := s.changeEndpoint(ctx, account, endpoint, func(t tx, e *endpointRow) error {
		return t.exec("UPDATE @deliveries SET state = ?, attempts = 0, next_at = ?, lease = '' "+
			"WHERE endpoint = ? AND seq = ?", watch.Waiting, now.UnixNano(), e.no, seq)
	})
	if err != nil && !errors.Is(err, watch.ErrNoEndpoint) {
		return watch.Delivery{}, err
	}
	found, err := s.deliveries(ctx, "d.account = ? AND e.name = ? AND d.seq = ?", account, endpoint, seq)
	if err == nil && len(found) == 0 {
		err = watch.ErrNoDelivery
	}
	if err != nil {
		return watch.Delivery{}, err
	}
	return found[0], nil
}
