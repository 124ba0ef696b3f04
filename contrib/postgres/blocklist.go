package postgres

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/socialdata/socialdata/privacy"
	"github.com/socialdata/socialdata/schema"
)

// Blocklist is the blocklist in the database, for all replicas.
type Blocklist struct{ db *DB }

var _ privacy.Blocklist = (*Blocklist)(nil)

// begin makes the secret unless there is one, and locks its row until the transaction ends, so that announcements and
// receipts are written one after the other. It returns the epoch.
func (b *Blocklist) begin(ctx context.Context, t *tx) (secret []byte, epoch int64, err error) {
	fresh := make([]byte, privacy.SecretLen)
	rand.Read(fresh) // never returns an error
	err = t.step(ctx, func(q *pgx.Batch) {
		q.Queue(b.db.sql("INSERT INTO @privacy VALUES (1, $1, 0) ON CONFLICT DO NOTHING"), fresh)
		q.Queue(b.db.sql("SELECT secret, epoch FROM @privacy FOR UPDATE")).
			QueryRow(func(row pgx.Row) error { return row.Scan(&secret, &epoch) })
	})
	return secret, epoch, err
}

// Secret implements [privacy.Blocklist].
func (b *Blocklist) Secret(ctx context.Context) (secret []byte, err error) {
	err = b.db.transact(ctx, func(ctx context.Context, t *tx) (err error) {
		if secret, _, err = b.begin(ctx, t); err != nil {
			return err
		}
		return t.commit(ctx, func(*pgx.Batch) {})
	})
	return secret, err
}

// Announce implements [privacy.Blocklist]. If it is repeated because it was not known whether it had been committed, it
// may raise the epoch twice.
func (b *Blocklist) Announce(ctx context.Context, a privacy.Announcement) (epoch int64, err error) {
	err = b.db.transact(ctx, func(ctx context.Context, t *tx) error {
		_, before, err := b.begin(ctx, t)
		if err != nil {
			return err
		}
		epoch = before + 1
		return t.commit(ctx, func(q *pgx.Batch) {
			q.Queue(b.db.sql("UPDATE @privacy SET epoch = $1"), epoch)
			q.Queue(b.db.sql("DELETE FROM @erased WHERE at < "+sqlNow+" - $2::bigint"), b.db.clock(), int64(privacy.Lately))
			q.Queue(b.db.sql("INSERT INTO @erased SELECT $2::bigint, n, "+sqlNow+
				" FROM unnest($3::bigint[]) n ON CONFLICT DO NOTHING"),
				b.db.clock(), epoch, signed(a.Erased))
			if a.Unblock {
				q.Queue(b.db.sql("DELETE FROM @blocked WHERE subject = $1"), a.Digest[:])
			}
			q.Queue(b.db.sql("INSERT INTO @blocked SELECT $1::bytea, n FROM unnest($2::bigint[]) n ON CONFLICT DO NOTHING"),
				a.Digest[:], signed(a.Block))
		})
	})
	return epoch, err
}

// signed returns names as they are stored.
func signed(names []privacy.Name) []int64 {
	out := make([]int64, len(names))
	for i, n := range names {
		out[i] = int64(n)
	}
	return out
}

const selectEpoch = "SELECT coalesce(max(epoch), 0) FROM @privacy"

// Epoch implements [privacy.Blocklist].
func (b *Blocklist) Epoch(ctx context.Context) (epoch int64, err error) {
	err = b.db.read(ctx, func() error { return b.db.pool.QueryRow(ctx, b.db.sql(selectEpoch)).Scan(&epoch) })
	return epoch, err
}

// Load implements [privacy.Blocklist].
func (b *Blocklist) Load(ctx context.Context) (s privacy.State, err error) {
	// The epoch is read first: what is added after that is read again with the next epoch.
	if s.Epoch, err = b.Epoch(ctx); err != nil {
		return s, err
	}
	s.Blocked, err = list(ctx, b.db, func(row pgx.CollectableRow) (privacy.Name, error) {
		var n int64
		err := row.Scan(&n)
		return privacy.Name(n), err
	}, "SELECT name FROM @blocked")
	if err != nil {
		return s, err
	}
	s.Erased, err = list(ctx, b.db, func(row pgx.CollectableRow) (e privacy.Erased, err error) {
		var n int64
		err = row.Scan(&e.Epoch, &n)
		e.Name = privacy.Name(n)
		return e, err
	}, "SELECT epoch, name FROM @erased ORDER BY epoch, name")
	return s, err
}

// Renew implements [privacy.Blocklist].
func (b *Blocklist) Renew(ctx context.Context, process string, at int64) (epoch int64, err error) {
	err = b.db.retry(ctx, func(bool) error {
		return b.db.pool.QueryRow(ctx, b.db.sql(`
			WITH renewed AS (
				INSERT INTO @processes VALUES ($2, $3, `+sqlNow+`)
				ON CONFLICT (id) DO UPDATE SET epoch = excluded.epoch, seen = excluded.seen
			) `+selectEpoch), b.db.clock(), process, at).Scan(&epoch)
	})
	return epoch, err
}

// Leave implements [privacy.Blocklist].
func (b *Blocklist) Leave(ctx context.Context, process string) error {
	return b.db.retry(ctx, func(bool) error {
		_, err := b.db.pool.Exec(ctx, b.db.sql("DELETE FROM @processes WHERE id = $1"), process)
		return err
	})
}

// Living implements [privacy.Blocklist].
func (b *Blocklist) Living(ctx context.Context) ([]privacy.Process, error) {
	if err := b.db.retry(ctx, func(bool) error {
		_, err := b.db.pool.Exec(ctx, b.db.sql("DELETE FROM @processes WHERE seen <= "+sqlNow+" - $2::bigint"),
			b.db.clock(), int64(privacy.Dead))
		return err
	}); err != nil {
		return nil, err
	}
	return list(ctx, b.db, func(row pgx.CollectableRow) (p privacy.Process, err error) {
		var seen int64
		err = row.Scan(&p.ID, &p.Epoch, &seen)
		p.Seen = fromNanos(seen)
		return p, err
	}, "SELECT id, epoch, seen FROM @processes ORDER BY id")
}

// Append implements [privacy.Blocklist].
func (b *Blocklist) Append(ctx context.Context, r privacy.Receipt) (sealed privacy.Receipt, err error) {
	err = b.db.transact(ctx, func(ctx context.Context, t *tx) error {
		if _, _, err := b.begin(ctx, t); err != nil {
			return err
		}
		var last privacy.Receipt
		if err := t.step(ctx, func(q *pgx.Batch) {
			q.Queue(b.db.sql("SELECT body FROM @receipts ORDER BY no DESC LIMIT 1")).Query(func(rows pgx.Rows) error {
				found, err := pgx.CollectRows(rows, scanReceipt)
				if len(found) > 0 {
					last = found[0]
				}
				return err
			})
		}); err != nil {
			return err
		}
		if t.unsure && last.Subject == r.Subject && last.Kind == r.Kind && last.At.Equal(r.Seal(last).At) {
			sealed = last // an earlier attempt was committed
			return nil
		}
		sealed = r.Seal(last)
		body, err := schema.Marshal(sealed)
		if err != nil {
			return err
		}
		return t.commit(ctx, func(q *pgx.Batch) {
			q.Queue(b.db.sql("INSERT INTO @receipts VALUES ($1, $2)"), sealed.No, body)
		})
	})
	return sealed, err
}

func scanReceipt(row pgx.CollectableRow) (r privacy.Receipt, err error) {
	var body []byte
	if err = row.Scan(&body); err == nil {
		err = json.Unmarshal(body, &r)
	}
	if err != nil {
		return r, fmt.Errorf("postgres: a receipt cannot be read: %w", err)
	}
	return r, nil
}

// Receipts implements [privacy.Blocklist].
func (b *Blocklist) Receipts(ctx context.Context, after int64, limit int) ([]privacy.Receipt, error) {
	return list(ctx, b.db, scanReceipt, "SELECT body FROM @receipts WHERE no > $1 ORDER BY no LIMIT $2", after,
		orAll(limit))
}
