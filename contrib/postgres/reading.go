package postgres

import (
	"context"
	"maps"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/socialdata/socialdata/credits"
)

// read locks the accounts and reads what is known to be needed. Each hold, and the spending of each key, has its own
// lookup (LATERAL and LIMIT): plans are made once, often while the tables are still empty, and PostgreSQL would
// otherwise read all holds of an account for each of them.
func (b *batch) read(ctx context.Context, w *wanted) error {
	err := b.tx.step(ctx, func(q *pgx.Batch) {
		ids := slices.Collect(maps.Keys(w.accounts))
		// In order of their numbers, so that transactions which lock several accounts lock them in the same order. NO
		// KEY UPDATE does not block the creation of keys of the account.
		q.Queue(b.db.sql("SELECT id, no, seq, balance, at, hash, held, first FROM @accounts WHERE id = ANY ($1) "+
			"ORDER BY no FOR NO KEY UPDATE"), ids).Query(b.scanAccounts)
		if b.db.cfg.Now == nil {
			q.Queue("SELECT "+sqlNow, nil).QueryRow(b.scanNow)
		}
		if len(w.holds) > 0 {
			q.Queue(b.db.sql(`
				SELECT h.*
				FROM unnest($1::text[], $2::text[]) AS u (account, id)
					JOIN @accounts a ON a.id = u.account
					CROSS JOIN LATERAL (
						SELECT id, account, key, amount, expires FROM @holds WHERE account = a.no AND id = u.id LIMIT 1
					) AS h`),
				w.holders, w.holds).Query(b.scanHolds)
		}
		if len(w.spenders) > 0 {
			b.queueSpent(q, slices.Collect(maps.Keys(w.spenders)))
		}
		if len(w.keyed) > 0 {
			b.queueKeyed(q, slices.Collect(maps.Keys(w.keyed)))
		}
		if len(w.requests) > 0 {
			b.queueRequests(q, slices.Collect(maps.Keys(w.requests)))
		}
	})
	if b.db.cfg.Now != nil {
		b.now = b.db.cfg.Now()
	}
	for who := range w.spenders {
		if _, ok := b.spent[who]; !ok {
			b.spent[who] = nil
		}
	}
	return err
}

func (b *batch) scanAccounts(rows pgx.Rows) error {
	var a account
	var at int64
	var hash []byte
	_, err := pgx.ForEachRow(rows, []any{
		&a.id, &a.no, &a.last.Seq, &a.last.Balance, &at, &hash, &a.held, &a.first,
	}, func() error {
		found := a
		if found.last.Seq > 0 {
			found.last.At = fromMicros(at)
			copy(found.last.Hash[:], hash)
		}
		found.before.balance, found.before.held = a.last.Balance, a.held
		b.accounts[a.id] = &found
		return nil
	})
	return err
}

func (b *batch) scanNow(row pgx.Row) error {
	var nanos int64
	err := row.Scan(&nanos)
	b.now = fromNanos(nanos)
	return err
}

func (b *batch) scanHolds(rows pgx.Rows) error {
	var h hold
	_, err := pgx.ForEachRow(rows, []any{&h.id, &h.account, &h.key, &h.amount, &h.expires}, func() error {
		found := h
		b.holds[h.id] = &found
		return nil
	})
	return err
}

// queueSpent reads what keys have spent.
func (b *batch) queueSpent(q *pgx.Batch, who []spender) {
	var accounts, keys []string
	for _, s := range who {
		accounts, keys = append(accounts, s.account), append(keys, s.key)
	}
	q.Queue(b.db.sql(`
		SELECT a.id, s.*
		FROM unnest($1::text[], $2::text[]) AS u (account, key)
			JOIN @accounts a ON a.id = u.account
			CROSS JOIN LATERAL (
				SELECT key, account, total, day, today, held FROM @spending WHERE account = a.no AND key = u.key LIMIT 1
			) AS s`),
		accounts, keys).Query(b.scanSpent)
}

func (b *batch) scanSpent(rows pgx.Rows) error {
	var who spender
	var s spending
	_, err := pgx.ForEachRow(rows, []any{
		&who.account, &who.key, &s.account, &s.Total, &s.Day, &s.Today, &s.held,
	}, func() error {
		if b.spent[who] == nil {
			found := s
			b.spent[who] = &found
		}
		return nil
	})
	return err
}

// queueRequests reads what requests were charged, less refunds.
func (b *batch) queueRequests(q *pgx.Batch, requests []asked) {
	var accounts, ids []string
	for _, r := range requests {
		accounts, ids = append(accounts, r.account), append(ids, r.request)
	}
	q.Queue(b.db.sql(`
		SELECT a.id, u.request, (
			SELECT coalesce(-sum(amount), 0)::bigint FROM `+ofRequest("amount", "a.no", "u.request")+`
		)
		FROM unnest($1::text[], $2::text[]) AS u (account, request) JOIN @accounts a ON a.id = u.account`), accounts, ids).
		Query(func(rows pgx.Rows) error {
			var r asked
			var n int64
			_, err := pgx.ForEachRow(rows, []any{&r.account, &r.request, &n}, func() error {
				b.requests[r] = n
				return nil
			})
			return err
		})
}

// refundable returns what a request was charged, less refunds, including the changes of this batch.
func (b *batch) refundable(a *account, request string) int64 {
	n := b.requests[asked{a.id, request}]
	for i := range b.entries {
		if e := &b.entries[i]; request != "" && e.account == a.no && e.RequestID == request {
			n -= e.Amount
		}
	}
	return n
}

// queueKeyed reads the amounts of charges with an idempotency key. A charge whose time is in the future counts as old
// as the next entry whose time is not.
func (b *batch) queueKeyed(q *pgx.Batch, once []keyed) {
	var accounts, keys []string
	for _, k := range once {
		accounts, keys = append(accounts, k.account), append(keys, k.key)
	}
	q.Queue(b.db.sql(`
		SELECT u.account, u.key, -e.amount
		FROM (SELECT `+sqlNow+` / 1000 AS now) AS clock
			CROSS JOIN unnest($2::text[], $3::text[]) AS u (account, key)
			JOIN @accounts a ON a.id = u.account
			CROSS JOIN LATERAL (
				SELECT seq, amount, coalesce(clock, at) AS made FROM @entries
				WHERE account = a.no AND idempotency_key = u.key AND idempotency_key <> '' ORDER BY seq DESC LIMIT 1
			) AS e
		WHERE CASE WHEN e.made <= clock.now THEN e.made ELSE coalesce((
			SELECT coalesce(clock, at) FROM @entries
			WHERE account = a.no AND seq > e.seq AND coalesce(clock, at) <= clock.now ORDER BY seq LIMIT 1
		), e.made) END > clock.now - $4::bigint`), b.db.clock(), accounts, keys, credits.IdempotentFor.Microseconds()).
		Query(func(rows pgx.Rows) error {
			var k keyed
			var amount int64
			_, err := pgx.ForEachRow(rows, []any{&k.account, &k.key, &amount}, func() error {
				b.keyed[k] = credits.Receipt{Charged: amount, Earlier: true}
				return nil
			})
			return err
		})
}

// readCharged reads the results of holds whose rows were removed.
func (b *batch) readCharged(ctx context.Context, w *wanted) error {
	var missing []string
	for _, id := range w.holds {
		if _, ok := b.holds[id]; ok {
			continue
		}
		if s, ok := b.db.ledger.remembered(id, b.now); ok {
			b.charged[id] = s
		} else {
			missing = append(missing, id)
		}
	}
	if len(missing) == 0 {
		return nil
	}
	return b.tx.step(ctx, func(q *pgx.Batch) {
		q.Queue(b.db.sql("SELECT e.hold, a.id, -e.amount FROM @entries e JOIN @accounts a ON a.no = e.account "+
			"WHERE e.hold = ANY ($1) AND e.hold <> ''"), missing).Query(func(rows pgx.Rows) error {
			var id string
			var s settled
			_, err := pgx.ForEachRow(rows, []any{&id, &s.account, &s.charged}, func() error {
				b.charged[id] = s
				return nil
			})
			return err
		})
	})
}
