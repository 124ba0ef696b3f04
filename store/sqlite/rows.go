package sqlite

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"time"

	"github.com/socialdata/socialdata/credits"
	"github.com/socialdata/socialdata/keys"
	"github.com/socialdata/socialdata/store/bookkeeping"
)

const selectAccounts = "SELECT id, name, created_at FROM accounts"

func scanAccount(row interface{ Scan(...any) error }) (a keys.Account, err error) {
	var created int64
	err = row.Scan(&a.ID, &a.Name, &created)
	a.CreatedAt = fromMicros(created)
	return a, err
}

func insertAccount(c *conn, a keys.Account) error {
	_, err := c.exec("INSERT INTO accounts (id, name, created_at) VALUES (?, ?, ?)", a.ID, a.Name, a.CreatedAt.UnixMicro())
	return err
}

// notTaken returns keys.ErrTaken when an account has that name or id.
func notTaken(c *conn, name string) error {
	taken, err := c.number("SELECT count(*) FROM accounts WHERE name = ?1 OR id = ?1", name)
	if err == nil && taken > 0 {
		err = fmt.Errorf("%w: account %q", keys.ErrTaken, name)
	}
	return err
}

const selectKeys = `
	SELECT id, account, name, prefix, hash, environment, created_at, last_used_at, revoked_at, capacity, refill, day_cap,
		total_cap, manage, bounds, former_hash, former_until
	FROM keys`

func scanKey(row interface{ Scan(...any) error }) (keys.Key, error) {
	var (
		k             keys.Key
		hash, former  []byte
		created       int64
		used, revoked *int64
		until         *int64
		capacity      *int64
		refill        *float64
		bounds        *string
	)
	err := row.Scan(&k.ID, &k.Account, &k.Name, &k.Prefix, &hash, &k.Environment, &created, &used, &revoked, &capacity,
		&refill, &k.DayCap, &k.TotalCap, &k.Manage, &bounds, &former, &until)
	if err == nil {
		k.Bounds, err = bookkeeping.DecodeBounds(bounds)
	}
	if err != nil {
		return keys.Key{}, err
	}
	copy(k.Hash[:], hash)
	k.CreatedAt, k.LastUsedAt, k.RevokedAt = fromMicros(created), maybeTime(used), maybeTime(revoked)
	if capacity != nil && refill != nil {
		k.Rate = &keys.Rate{Capacity: *capacity, Refill: *refill}
	}
	if former != nil && until != nil {
		k.Former = &keys.Former{Until: fromMicros(*until)}
		copy(k.Former.Hash[:], former)
	}
	return k, nil
}

func insertKey(c *conn, k keys.Key) error {
	_, err := c.exec(`
		INSERT INTO keys (prefix, hash, former_hash, former_until, capacity, refill, day_cap, total_cap, manage, bounds, id, account,
			name, environment, created_at, last_used_at, revoked_at)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		append(changeable(k), k.ID, k.Account, k.Name, string(k.Environment), k.CreatedAt.UnixMicro(),
			maybeMicros(k.LastUsedAt), maybeMicros(k.RevokedAt))...)
	return err
}

// changeable returns the columns of a key that can change, in order.
func changeable(k keys.Key) []any {
	var capacity, refill, former, until, bounds any
	if k.Rate != nil {
		capacity, refill = k.Rate.Capacity, k.Rate.Refill
	}
	if k.Former != nil {
		former, until = k.Former.Hash[:], k.Former.Until.UnixMicro()
	}
	if text := bookkeeping.EncodeBounds(k.Bounds); text != nil {
		bounds = *text
	}
	return []any{
		k.Prefix, k.Hash[:], former, until, capacity, refill, maybe(k.DayCap), maybe(k.TotalCap), k.Manage, bounds,
	}
}

const entryColumns = `seq, kind, amount, balance, key, operation, platform, request_id, cache, reason, hold,
	idempotency_key, at, clock, hash`

// scanEntry reads entryColumns, and the columns in front of them into before.
func scanEntry(row interface{ Scan(...any) error }, e *credits.Entry, before ...any) error {
	var at int64
	var clock *int64
	var hash []byte
	err := row.Scan(append(before, &e.Seq, &e.Kind, &e.Amount, &e.Balance, &e.Key, &e.Operation, &e.Platform,
		&e.RequestID, &e.Cache, &e.Reason, &e.Hold, &e.IdempotencyKey, &at, &clock, &hash)...)
	e.At = fromMicros(at)
	if clock != nil {
		e.Clock = fromMicros(*clock)
	}
	copy(e.Hash[:], hash)
	return err
}

// list reads all rows of a query.
func list[T any](
	ctx context.Context, pool *sql.DB, scan func(interface{ Scan(...any) error }) (T, error), query string, args ...any,
) (found []T, err error) {
	rows, err := pool.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, explain(err)
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	found = []T{}
	for rows.Next() {
		t, err := scan(rows)
		if err != nil {
			return nil, explain(err)
		}
		found = append(found, t)
	}
	return found, explain(rows.Err())
}

// maybe returns what n points to, or nil for NULL.
func maybe(n *int64) driver.Value {
	if n == nil {
		return nil
	}
	return *n
}

func maybeMicros(t *time.Time) driver.Value {
	if t == nil {
		return nil
	}
	return t.UnixMicro()
}

func maybeTime(micros *int64) *time.Time {
	if micros == nil {
		return nil
	}
	return new(fromMicros(*micros))
}
