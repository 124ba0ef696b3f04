package postgres

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/socialdata/socialdata/schema"
	"github.com/socialdata/socialdata/watch"
)

const endpointColumns = "account, name, body, position, problem, failing_since"

// scanEndpoint reads a row of endpointColumns.
func scanEndpoint(row pgx.CollectableRow) (watch.Endpoint, error) { return readEndpoint(row) }

// readEndpoint reads a row that begins with endpointColumns, and its other columns into more.
func readEndpoint(row pgx.CollectableRow, more ...any) (e watch.Endpoint, err error) {
	var body []byte
	var account, name, problem string
	var position int64
	var failing *int64
	err = row.Scan(append([]any{&account, &name, &body, &position, &problem, &failing}, more...)...)
	if err == nil {
		err = json.Unmarshal(body, &e)
	}
	if err != nil {
		return e, fmt.Errorf("postgres: an endpoint cannot be read: %w", err)
	}
	e.Account, e.Name, e.Position, e.Problem, e.FailingSince = account, name, position, problem, time.Time{}
	if failing != nil {
		e.FailingSince = fromNanos(*failing)
	}
	return e, nil
}

// lockEndpoint returns the row of an endpoint, locked until the transaction ends, and whether there is one.
func (s *Watches) lockEndpoint(
	ctx context.Context, t *tx, account, name string,
) (e watch.Endpoint, found bool, err error) {
	err = t.step(ctx, func(q *pgx.Batch) {
		q.Queue(s.db.sql("SELECT "+endpointColumns+" FROM @endpoints WHERE account = $1 AND name = $2 FOR NO KEY UPDATE"),
			account, name).
			Query(func(rows pgx.Rows) error {
				all, err := pgx.CollectRows(rows, scanEndpoint)
				if err == nil && len(all) > 0 {
					e, found = all[0], true
				}
				return err
			})
	})
	return e, found, err
}

// keepEndpoint writes an endpoint and commits.
func (s *Watches) keepEndpoint(ctx context.Context, t *tx, e *watch.Endpoint) error {
	body, err := json.Marshal(e)
	if err != nil {
		return err
	}
	var failing *int64
	if !e.FailingSince.IsZero() {
		failing = new(e.FailingSince.UnixNano())
	}
	return t.commit(ctx, func(q *pgx.Batch) {
		q.Queue(s.db.sql("UPDATE @endpoints SET body = $3, problem = $4, failing_since = $5 WHERE account = $1 AND name = $2"),
			e.Account, e.Name, body, e.Problem, failing)
	})
}

// PutEndpoint implements [watch.Outbox].
func (s *Watches) PutEndpoint(
	ctx context.Context, e watch.Endpoint, most int,
) (stored watch.Endpoint, made bool, err error) {
	if err := ctx.Err(); err != nil {
		return watch.Endpoint{}, false, err
	}
	call := rand.Text()
	err = s.db.transact(ctx, func(ctx context.Context, t *tx) error {
		// The account's feed is locked first, so that endpoints which are made at the same time are counted one after
		// the other, and the position does not change meanwhile.
		n := 0
		var seq int64
		maker := ""
		if err := t.step(ctx, func(q *pgx.Batch) {
			q.Queue(s.db.sql("INSERT INTO @feeds VALUES ($1, 0) ON CONFLICT DO NOTHING"), e.Account)
			q.Queue(s.db.sql("SELECT seq FROM @feeds WHERE account = $1 FOR UPDATE"), e.Account).
				QueryRow(func(row pgx.Row) error { return row.Scan(&seq) })
			q.Queue(s.db.sql("SELECT count(*), coalesce(max(made) FILTER (WHERE name = $2), '') FROM @endpoints WHERE account "+
				"= $1"),
				e.Account, e.Name).QueryRow(func(row pgx.Row) error { return row.Scan(&n, &maker) })
		}); err != nil {
			return err
		}
		old, found, err := s.lockEndpoint(ctx, t, e.Account, e.Name)
		if err != nil {
			return err
		}
		if !found {
			if most > 0 && n >= most {
				return watch.ErrEndpointsFull
			}
			stored, made = e, true
			stored.Position, stored.Problem, stored.FailingSince = seq, "", time.Time{}
			return s.insertEndpoint(ctx, t, &stored, call)
		}
		made = maker == call // an earlier attempt that may have been committed made it
		old.Replace(e)
		stored = old
		return s.keepEndpoint(ctx, t, &old)
	})
	return stored, made, err
}

func (s *Watches) insertEndpoint(ctx context.Context, t *tx, e *watch.Endpoint, call string) error {
	body, err := json.Marshal(e)
	if err != nil {
		return err
	}
	return t.commit(ctx, func(q *pgx.Batch) {
		q.Queue(s.db.sql("INSERT INTO @endpoints (account, name, made, body, position, problem) VALUES ($1, $2, $3, $4, "+
			"$5, '')"),
			e.Account, e.Name, call, body, e.Position)
	})
}

// Endpoint implements [watch.Outbox].
func (s *Watches) Endpoint(ctx context.Context, account, name string) (watch.Endpoint, error) {
	found, err := list(ctx, s.db, scanEndpoint, "SELECT "+endpointColumns+
		" FROM @endpoints WHERE account = $1 AND name = $2", account, name)
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
	return list(ctx, s.db, scanEndpoint, "SELECT "+endpointColumns+
		` FROM @endpoints WHERE account = $1 AND name COLLATE "C" > $2 ORDER BY name COLLATE "C" LIMIT $3`, account, after,
		orAll(limit))
}

// Active implements [watch.Outbox].
func (s *Watches) Active(ctx context.Context) ([]watch.Endpoint, error) {
	return list(ctx, s.db, scanEndpoint, "SELECT "+endpointColumns+" FROM @endpoints WHERE problem = ''")
}

// EndEndpoint implements [watch.Outbox].
func (s *Watches) EndEndpoint(ctx context.Context, account, name string) error {
	return s.db.retry(ctx, func(unsure bool) error {
		gone, err := s.db.pool.Exec(ctx, s.db.sql("DELETE FROM @endpoints WHERE account = $1 AND name = $2"), account, name)
		if err == nil && gone.RowsAffected() == 0 && !unsure {
			err = watch.ErrNoEndpoint
		}
		return err
	})
}

// Rekey implements [watch.Outbox].
func (s *Watches) Rekey(
	ctx context.Context, account, name string, secret []byte, until time.Time,
) (stored watch.Endpoint, err error) {
	if err := ctx.Err(); err != nil {
		return watch.Endpoint{}, err
	}
	err = s.db.transact(ctx, func(ctx context.Context, t *tx) error {
		e, found, err := s.lockEndpoint(ctx, t, account, name)
		if err != nil {
			return err
		}
		if !found {
			return watch.ErrNoEndpoint
		}
		if !bytes.Equal(e.Secret, secret) { // otherwise an earlier attempt that may have been committed wrote it
			e.Before, e.BeforeUntil, e.Secret = e.Secret, until, slices.Clone(secret)
		}
		stored = e
		return s.keepEndpoint(ctx, t, &e)
	})
	return stored, err
}

// Tell implements [watch.Outbox].
func (s *Watches) Tell(ctx context.Context, account string, changes []schema.Change) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	return s.db.transact(ctx, func(ctx context.Context, t *tx) error {
		told, err := s.tell(ctx, t, account, changes)
		if err != nil {
			return err
		}
		return t.commit(ctx, told)
	})
}

// queuedAtOnce is for how many endpoints one transaction makes deliveries.
const queuedAtOnce = 100

// Queue implements [watch.Outbox]. Several replicas share the work.
func (s *Watches) Queue(ctx context.Context, now time.Time, n int) (more bool, err error) {
	const behind = ` FROM @endpoints e JOIN @feeds f ON f.account = e.account WHERE e.problem = '' AND e.position < f.seq`
	due := false
	if err := s.db.retry(ctx, func(bool) error {
		return s.db.pool.QueryRow(ctx, s.db.sql("SELECT EXISTS (SELECT 1"+behind+")")).Scan(&due)
	}); err != nil || !due {
		return false, err
	}
	err = s.db.transact(ctx, func(ctx context.Context, t *tx) error {
		more = false
		var all []queueing
		if err := t.step(ctx, func(q *pgx.Batch) {
			q.Queue(s.db.sql("SELECT "+qualified+", f.seq"+behind+" LIMIT $1 FOR NO KEY UPDATE OF e SKIP LOCKED"), queuedAtOnce).
				Query(func(rows pgx.Rows) (err error) {
					all, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (e queueing, err error) {
						e.Endpoint, err = readEndpoint(row, &e.end)
						return e, err
					})
					return err
				})
		}); err != nil {
			return err
		}
		if err := t.step(ctx, func(q *pgx.Batch) {
			for i := range all {
				s.queueBehind(q, &all[i], n)
			}
		}); err != nil {
			return err
		}
		for i := range all {
			more = more || all[i].more
		}
		more = more || len(all) == queuedAtOnce
		return t.commit(ctx, func(q *pgx.Batch) {
			for i := range all {
				e := &all[i]
				q.Queue(s.db.sql(`INSERT INTO @deliveries
					SELECT $1, $2, c.seq, $3, 0, $4, $4, NULL, 0, '', '' FROM @changes c WHERE c.account = $1 AND c.seq = ANY ($5)
					ON CONFLICT DO NOTHING`), e.Account, e.Name, watch.Waiting, now.UnixNano(), e.wanted)
				q.Queue(s.db.sql("UPDATE @endpoints SET position = $3 WHERE account = $1 AND name = $2"), e.Account, e.Name,
					e.Position)
			}
		})
	})
	return more, err
}

// qualified are endpointColumns of the table e.
const qualified = "e.account, e.name, e.body, e.position, e.problem, e.failing_since"

// queueing is an endpoint with changes that are not queued yet.
type queueing struct {
	watch.Endpoint

	end    int64   // of the feed
	wanted []int64 // the positions of the changes to queue
	more   bool
}

// queueBehind queues a query for the changes that an endpoint wants among the next n, and sets its position after them.
func (s *Watches) queueBehind(q *pgx.Batch, e *queueing, n int) {
	q.Queue(s.db.sql("SELECT seq, type, monitor FROM @changes WHERE account = $1 AND seq > $2 AND seq <= $3 ORDER BY "+
		"seq LIMIT $4"),
		e.Account, e.Position, e.end, n).Query(func(rows pgx.Rows) error {
		seen := 0
		var c schema.Change
		var monitor string
		_, err := pgx.ForEachRow(rows, []any{&c.Seq, &c.Type, &monitor}, func() error {
			seen++
			if c.Monitor = nil; monitor != "" {
				c.Monitor = &monitor
			}
			if e.Position = c.Seq; e.Wants(&c) {
				e.wanted = append(e.wanted, c.Seq)
			}
			return nil
		})
		if e.more = seen == n; !e.more {
			e.Position = e.end // the later ones have been removed
		}
		return err
	})
}

const deliveryColumns = "d.account, d.endpoint, d.seq, c.id, c.type, d.state, d.attempts, d.queued_at, d.next_at, " +
	"d.last_at, d.status, d.detail"

// deliveryRow is a row of deliveryColumns.
type deliveryRow struct {
	d          watch.Delivery
	queued     int64
	next, last *int64
}

func (r *deliveryRow) into() []any {
	d := &r.d
	return []any{
		&d.Account, &d.Endpoint, &d.Seq, &d.Change, &d.Type, &d.State, &d.Attempts, &r.queued, &r.next, &r.last, &d.Status,
		&d.Detail,
	}
}

func (r *deliveryRow) read() watch.Delivery {
	d := r.d
	d.QueuedAt = fromNanos(r.queued)
	if r.next != nil {
		d.NextAt = fromNanos(*r.next)
	}
	if r.last != nil {
		d.LastAt = fromNanos(*r.last)
	}
	return d
}

// ClaimDeliveries implements [watch.Outbox].
func (s *Watches) ClaimDeliveries(
	ctx context.Context, now time.Time, n, each int, lease time.Duration, full []watch.Lane,
) ([]watch.Sending, error) {
	accounts, names := make([]string, len(full)), make([]string, len(full))
	for i, at := range full {
		accounts[i], names[i] = at.Account, at.Name
	}
	var out []watch.Sending
	err := s.db.retry(ctx, func(bool) error {
		rows, err := s.db.pool.Query(ctx, s.db.sql(`
			WITH due AS (
				SELECT l.* FROM (
					SELECT account, name, failing_since FROM @endpoints e WHERE problem = ''
						AND (account, name) NOT IN (SELECT * FROM unnest($4::text[], $5::text[]))
						AND EXISTS (SELECT 1 FROM @deliveries d WHERE d.account = e.account AND d.endpoint = e.name AND d.next_at <= $1)
					ORDER BY random()
				) e CROSS JOIN LATERAL (
					SELECT account, endpoint, seq FROM @deliveries d
					WHERE d.account = e.account AND d.endpoint = e.name AND d.next_at <= $1
					ORDER BY seq LIMIT CASE WHEN e.failing_since IS NULL THEN $3 ELSE least($3, 1) END FOR UPDATE SKIP LOCKED
				) l LIMIT $2
			), d AS (
				UPDATE @deliveries d SET next_at = $6, lease = $7 || '-' || d.seq FROM due
				WHERE d.account = due.account AND d.endpoint = due.endpoint AND d.seq = due.seq RETURNING d.*
			)
			SELECT `+qualified+", "+deliveryColumns+`, d.lease, c.body FROM d
				JOIN @endpoints e ON e.account = d.account AND e.name = d.endpoint
				JOIN @changes c ON c.account = d.account AND c.seq = d.seq`),
			now.UnixNano(), n, int64(each), accounts, names, now.Add(lease).UnixNano(), rand.Text())
		if err != nil {
			return err
		}
		out, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (watch.Sending, error) {
			var r deliveryRow
			var body []byte
			out := watch.Sending{Until: now.Add(lease)}
			var err error
			if out.Endpoint, err = readEndpoint(row, append(r.into(), &out.Lease, &body)...); err == nil {
				err = json.Unmarshal(body, &out.Change)
			}
			out.Delivery = r.read()
			return out, err
		})
		return err
	})
	slices.SortFunc(out, func(a, b watch.Sending) int { return cmp.Compare(a.Delivery.Seq, b.Delivery.Seq) })
	return out, err
}

// Attempted implements [watch.Outbox].
func (s *Watches) Attempted(ctx context.Context, a watch.Attempt) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	d := &a.Sending.Delivery
	return s.db.transact(ctx, func(ctx context.Context, t *tx) error {
		var next *int64
		if a.State == watch.Waiting {
			next = new(a.Next.UnixNano())
		}
		taken, last := int64(0), int64(0)
		if err := t.step(ctx, func(q *pgx.Batch) {
			q.Queue(s.db.sql(`UPDATE @deliveries SET state = $4, attempts = attempts + 1, next_at = $5, last_at = $6, status = $7,
				detail = $8, lease = '' WHERE account = $1 AND endpoint = $2 AND seq = $3 AND lease = $9 AND lease <> ''`),
				d.Account, d.Endpoint, d.Seq, a.State, next, a.At.UnixNano(), a.Status, a.Detail, a.Sending.Lease).
				Exec(func(tag pgconn.CommandTag) error {
					taken = tag.RowsAffected()
					return nil
				})
			q.Queue(s.db.sql("SELECT coalesce(max(last_at), 0) FROM @deliveries WHERE account = $1 AND endpoint = $2 AND seq "+
				"= $3"),
				d.Account, d.Endpoint, d.Seq).QueryRow(func(row pgx.Row) error { return row.Scan(&last) })
		}); err != nil {
			return err
		}
		if taken == 0 {
			if t.unsure && last == a.At.UnixNano() {
				return nil // an earlier attempt was committed
			}
			return watch.ErrLease
		}
		told, err := s.tell(ctx, t, d.Account, a.Tell)
		if err != nil {
			return err
		}
		return t.commit(ctx, func(q *pgx.Batch) {
			if a.State == watch.Delivered {
				q.Queue(s.db.sql("UPDATE @endpoints SET failing_since = NULL WHERE account = $1 AND name = $2 AND failing_since "+
					"IS NOT NULL"),
					d.Account, d.Endpoint)
			} else {
				q.Queue(s.db.sql("UPDATE @endpoints SET failing_since = $3 WHERE account = $1 AND name = $2 AND failing_since IS "+
					"NULL"),
					d.Account, d.Endpoint, a.At.UnixNano())
			}
			if a.Disable != "" {
				q.Queue(s.db.sql("UPDATE @endpoints SET problem = $3 WHERE account = $1 AND name = $2"), d.Account, d.Endpoint,
					a.Disable)
			}
			told(q)
		})
	})
}

// Deliveries implements [watch.Outbox].
func (s *Watches) Deliveries(ctx context.Context, q watch.Outgoing) ([]watch.Delivery, error) {
	return s.deliveries(ctx, ` AND ($2 = '' OR d.endpoint = $2) AND ($3::bigint = 0 OR d.seq < $3 OR
		d.seq = $3 AND d.endpoint COLLATE "C" > $4) ORDER BY d.seq DESC, d.endpoint COLLATE "C" LIMIT $5`,
		q.Account, q.Endpoint, q.Before, q.After, orAll(q.Limit))
}

// deliveries returns the deliveries of an account, the first of args, that match a condition.
func (s *Watches) deliveries(ctx context.Context, condition string, args ...any) ([]watch.Delivery, error) {
	return list(ctx, s.db, func(row pgx.CollectableRow) (watch.Delivery, error) {
		var r deliveryRow
		err := row.Scan(r.into()...)
		return r.read(), err
	}, "SELECT "+deliveryColumns+` FROM @deliveries d JOIN @changes c ON c.account = d.account AND c.seq = d.seq
		WHERE d.account = $1`+condition, args...)
}

// Again implements [watch.Outbox].
func (s *Watches) Again(
	ctx context.Context, account, endpoint string, seq int64, now time.Time,
) (watch.Delivery, error) {
	if err := s.db.retry(ctx, func(bool) error {
		_, err := s.db.pool.Exec(ctx, s.db.sql(`UPDATE @deliveries SET state = $4, attempts = 0, next_at = $5, lease = ''
			WHERE account = $1 AND endpoint = $2 AND seq = $3`), account, endpoint, seq, watch.Waiting, now.UnixNano())
		return err
	}); err != nil {
		return watch.Delivery{}, err
	}
	found, err := s.deliveries(ctx, " AND d.endpoint = $2 AND d.seq = $3", account, endpoint, seq)
	if err != nil {
		return watch.Delivery{}, err
	}
	if len(found) == 0 {
		return watch.Delivery{}, watch.ErrNoDelivery
	}
	return found[0], nil
}
