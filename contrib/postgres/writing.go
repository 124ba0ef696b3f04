package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"
)

// write writes the results and commits them. They depend on one statement, the UPDATE of the accounts: it changes
// balances and holds by the decided amounts, under the table's constraint that no more can be held or spent than there
// is.
func (b *batch) write(ctx context.Context) error {
	return b.tx.commit(ctx, func(q *pgx.Batch) {
		if len(b.entries) == 0 && len(b.charged) == 0 && len(b.keyed) == 0 && !b.told {
			// Nothing is charged for holds that are lost in a crash of the database, so callers need not wait for the
			// disk, unless they get entries that were read, which may not be durable yet: see commitThenFlush.
			q.Queue("SET LOCAL synchronous_commit = off")
		}
		b.queueAccounts(q)
		b.queueEntries(q)
		b.queueHolds(q)
		b.queueSpending(q)
	})
}

func (b *batch) queueAccounts(q *pgx.Batch) {
	var no, amount, held, seq, at, first []int64
	var hash [][]byte
	for _, a := range b.accounts {
		if !a.dirty {
			continue
		}
		if a.held == 0 {
			a.first = 0
		}
		no, seq, at = append(no, a.no), append(seq, a.last.Seq), append(at, a.last.At.UnixMicro())
		amount, held = append(amount, a.last.Balance-a.before.balance), append(held, a.held-a.before.held)
		first, hash = append(first, a.first), append(hash, a.last.Hash[:])
	}
	if len(no) == 0 {
		return
	}
	q.Queue(b.db.sql(`
		UPDATE @accounts a SET
			balance = a.balance + u.amount, held = a.held + u.held, seq = u.seq, at = u.at, first = u.first, hash = u.hash
		FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[], $7::bytea[])
			AS u (no, amount, held, seq, at, first, hash)
		WHERE a.no = u.no`), no, amount, held, seq, at, first, hash)
}

// insertEntries writes entries, passed as one array for each column.
const insertEntries = `
	INSERT INTO @entries (account, seq, kind, amount, balance, key, operation, platform, request_id, cache, reason, hold,
		idempotency_key, at, clock, hash)
	SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::text[], $4::bigint[], $5::bigint[], $6::text[], $7::text[],
		$8::text[], $9::text[], $10::text[], $11::text[], $12::text[], $13::text[], $14::bigint[], $15::bigint[],
		$16::bytea[])`

// columns returns the arguments of insertEntries.
func columns(entries []entry) []any {
	var numbers [4][]int64 // account, seq, amount, balance
	var texts [9][]string  // kind, key, operation, platform, request_id, cache, reason, hold, idempotency_key
	var at []int64
	var clock []*int64
	var hash [][]byte
	for i := range entries {
		e := &entries[i]
		for j, n := range [...]int64{e.account, e.Seq, e.Amount, e.Balance} {
			numbers[j] = append(numbers[j], n)
		}
		for j, s := range [...]string{
			string(e.Kind), e.Key, e.Operation, e.Platform, e.RequestID, e.Cache, e.Reason, e.Hold, e.IdempotencyKey,
		} {
			texts[j] = append(texts[j], s)
		}
		var set *int64
		if !e.Clock.IsZero() {
			set = new(e.Clock.UnixMicro())
		}
		at, clock, hash = append(at, e.At.UnixMicro()), append(clock, set), append(hash, e.Hash[:])
	}
	return []any{
		numbers[0], numbers[1], texts[0], numbers[2], numbers[3], texts[1], texts[2], texts[3], texts[4], texts[5], texts[6],
		texts[7], texts[8], at, clock, hash,
	}
}

func (b *batch) queueEntries(q *pgx.Batch) {
	if len(b.entries) > 0 {
		q.Queue(b.db.sql(insertEntries), columns(b.entries)...)
	}
}

func (b *batch) queueHolds(q *pgx.Batch) {
	var account, amount, expires []int64
	var id, key []string
	for _, h := range b.closed {
		account, id = append(account, h.account), append(id, h.id)
	}
	if len(id) > 0 {
		q.Queue(b.db.sql("DELETE FROM @holds h USING unnest($1::bigint[], $2::text[]) AS u (account, id) "+
			"WHERE h.account = u.account AND h.id = u.id"), account, id)
	}
	account, id = nil, nil
	for _, h := range b.opened {
		account, id, key = append(account, h.account), append(id, h.id), append(key, h.key)
		amount, expires = append(amount, h.amount), append(expires, h.expires)
	}
	if len(id) > 0 {
		q.Queue(b.db.sql("INSERT INTO @holds (account, id, key, amount, expires) "+
			"SELECT * FROM unnest($1::bigint[], $2::text[], $3::text[], $4::bigint[], $5::bigint[])"),
			account, id, key, amount, expires)
	}
}

func (b *batch) queueSpending(q *pgx.Batch) {
	for who, s := range b.spent {
		if s == nil || !s.dirty {
			continue
		}
		q.Queue(b.db.sql(`
			INSERT INTO @spending (account, key, total, day, today, held) VALUES ($1, $2, $3, $4, $5, $6)
			ON CONFLICT (account, key) DO UPDATE SET
				total = excluded.total, day = excluded.day, today = excluded.today, held = excluded.held`),
			s.account, who.key, s.Total, s.Day, s.Today, s.held)
	}
}
