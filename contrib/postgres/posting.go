package postgres

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/socialdata/socialdata/credits"
)

// track returns what a key has spent and holds, and makes the database keep the sums from now on. For a key that was
// created without a cap it reads the account's entries, once.
func (b *batch) track(ctx context.Context, a *account, key string) (*spending, error) {
	who := spender{a.id, key}
	s, err := b.spentBy(ctx, who)
	if s != nil || err != nil {
		return s, err
	}
	s = &spending{account: a.no, dirty: true}
	add := func(amount, at int64) { s.Spent = s.Add(amount, fromMicros(at)) }
	err = b.tx.step(ctx, func(q *pgx.Batch) {
		q.Queue(b.db.sql("SELECT -amount, coalesce(clock, at) FROM @entries "+
			"WHERE account = $1 AND key = $2 AND kind = 'charge' ORDER BY seq"), a.no, key).Query(func(rows pgx.Rows) error {
			var amount, at int64
			_, err := pgx.ForEachRow(rows, []any{&amount, &at}, func() error {
				add(amount, at)
				return nil
			})
			return err
		})
		q.Queue(b.db.sql("SELECT coalesce(sum(amount), 0)::bigint FROM @holds WHERE account = $1 AND key = $2"), a.no, key).
			QueryRow(func(row pgx.Row) error { return row.Scan(&s.held) })
	})
	// What this batch has decided is not in a table yet.
	for _, e := range b.entries {
		if e.account == a.no && e.Key == key && e.Kind == credits.Charged {
			add(-e.Amount, e.Time().UnixMicro())
		}
	}
	for _, h := range b.opened {
		if h.account == a.no && h.key == key {
			s.held += h.amount
		}
	}
	for _, h := range b.closed {
		if h.account == a.no && h.key == key {
			s.held -= h.amount
		}
	}
	b.spent[who] = s
	return s, err
}

// room returns credits.ErrInsufficient or credits.ErrCap unless the account and the key can hold or pay n credits more.
// The second error is that of the database.
func (b *batch) room(ctx context.Context, a *account, who credits.Spender, n int64) (refused, err error) {
	if n > a.free() {
		return credits.ErrInsufficient, nil
	}
	if who.Key == "" || who.DayCap == nil && who.TotalCap == nil {
		return nil, nil
	}
	s, err := b.track(ctx, a, who.Key)
	if err != nil {
		return nil, err
	}
	return s.Room(who, s.held, n, b.now), nil
}

// open makes a hold.
func (b *batch) open(ctx context.Context, a *account, h credits.Hold) error {
	expires := h.Expires.UnixNano()
	b.opened = append(b.opened, &hold{h.ID, a.no, h.Spender.Key, h.Amount, expires})
	a.held, a.dirty = a.held+h.Amount, true
	if a.first == 0 || expires < a.first {
		a.first = expires
	}
	return b.holdMore(ctx, a, h.Spender.Key, h.Amount)
}

// forbiddenFor is how long a charge that was reported as not made is prevented.
const forbiddenFor = 24 * time.Hour

// forbid prevents that a charge without a hold is made later.
func (b *batch) forbid(a *account, h credits.Hold) {
	b.opened = append(b.opened, &hold{h.ID, a.no, h.Spender.Key, 0, b.now.Add(forbiddenFor).UnixNano()})
}

// release removes a hold that is a row.
func (b *batch) release(ctx context.Context, a *account, h *hold) error {
	b.closed = append(b.closed, h)
	a.held, a.dirty = a.held-h.amount, true
	return b.holdMore(ctx, a, h.key, -h.amount)
}

// holdMore adds n to what a key holds, if that is tracked.
func (b *batch) holdMore(ctx context.Context, a *account, key string, n int64) error {
	if key == "" {
		return nil
	}
	s, err := b.spentBy(ctx, spender{a.id, key})
	if s != nil {
		s.held, s.dirty = s.held+n, true
	}
	return err
}

// charge writes the entry of a charge, unless its idempotency key was charged before, and returns the result of the
// hold.
func (b *batch) charge(ctx context.Context, a *account, h credits.Hold, c credits.Charge) (credits.Receipt, error) {
	if c.Amount == 0 {
		return credits.Receipt{}, nil
	}
	once := keyed{a.id, c.IdempotencyKey}
	if earlier, ok := b.keyed[once]; ok {
		return earlier, nil
	}
	e := b.append(a, c.Entry(h, b.now))
	if once.key != "" {
		b.keyed[once] = credits.Receipt{Charged: c.Amount, Earlier: true}
	}
	if e.Key != "" {
		s, err := b.spentBy(ctx, spender{a.id, e.Key})
		if err != nil {
			return credits.Receipt{}, err
		}
		if s != nil {
			s.Spent, s.dirty = s.Add(c.Amount, e.Time()), true
		}
	}
	return credits.Receipt{Charged: c.Amount}, nil
}

// append writes e as the account's next entry and returns it.
func (b *batch) append(a *account, e credits.Entry) credits.Entry {
	e = e.Next(a.last)
	a.last, a.dirty = credits.Entry{Seq: e.Seq, Balance: e.Balance, At: e.At, Hash: e.Hash}, true
	b.entries = append(b.entries, entry{a.no, e})
	return e
}

// spentBy returns what a key has spent and holds, nil if that is not tracked.
func (b *batch) spentBy(ctx context.Context, who spender) (*spending, error) {
	if s, ok := b.spent[who]; ok {
		return s, nil
	}
	b.spent[who] = nil
	err := b.tx.step(ctx, func(q *pgx.Batch) { b.queueSpent(q, []spender{who}) })
	return b.spent[who], err
}

// grant returns the account's entry with that seq, and the one that reverses it; each is the zero Entry if it does not
// exist.
func (b *batch) grant(ctx context.Context, a *account, seq int64) (grant, reversal credits.Entry, err error) {
	hold := credits.ReversalHold(a.id, seq)
	pick := func(e credits.Entry) {
		switch {
		case e.Seq == seq:
			grant = e
		case e.Hold == hold:
			reversal = e
		}
	}
	err = b.tx.step(ctx, func(q *pgx.Batch) {
		for condition, arg := range map[string]any{"seq = $2": seq, "hold = $2 AND hold <> ''": hold} {
			q.Queue(b.db.sql("SELECT "+entryColumns+" FROM @entries WHERE account = $1 AND "+condition), a.no, arg).
				Query(func(rows pgx.Rows) error {
					found, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (credits.Entry, error) {
						return scanEntry(row, a.id)
					})
					for _, e := range found {
						pick(e)
					}
					return err
				})
		}
	})
	for _, e := range b.entries { // what this batch has decided is not in a table yet
		if e.account == a.no {
			pick(e.Entry)
		}
	}
	return grant, reversal, err
}
