package postgres

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/socialdata/socialdata/credits"
)

// batch is a transaction of the books. It locks the rows of all accounts that it is about, always in the same order, and
// reads what the calls must know; then each call is decided in turn, in memory and exactly as if it were alone; then all
// is written at once. Two round trips, whatever the number of calls.
type batch struct {
	db  *DB
	tx  *tx
	now time.Time

	accounts map[string]*account
	holds    map[string]*hold          // rows, by id
	charged  map[string]settled        // by hold, of holds that are no rows
	spent    map[spender]*spending     // nil values stand for what is known not to be there
	keyed    map[keyed]credits.Receipt // what charges with an idempotency key came to, of the last 24 hours

	opened  []*hold
	closed  []*hold
	entries []entry
	ended   map[string]settled // what holds came to that were settled here
}

// account is the head of an account's books.
type account struct {
	id    string
	no    int64
	last  credits.Entry // only its Seq, Balance, At and Hash
	held  int64
	first int64 // as in the table

	before struct{ balance, held int64 } // as they are in the table
	dirty  bool
}

// free returns what the account can still spend.
func (a *account) free() int64 { return a.last.Balance - a.held }

type hold struct {
	id      string
	account int64
	key     string
	amount  int64
	expires int64
}

type spender struct{ account, key string }

type keyed struct{ account, key string }

// spending is what a key with a cap has spent and holds.
type spending struct {
	account int64
	credits.Spent
	held  int64
	dirty bool
}

// settled is what a hold came to.
type settled struct {
	account string
	charged int64 // credits
	until   time.Time
}

type entry struct {
	account int64
	credits.Entry
}

func newBatch(db *DB, t *tx) *batch {
	return &batch{
		db: db, tx: t,
		accounts: map[string]*account{}, holds: map[string]*hold{}, charged: map[string]settled{},
		spent: map[spender]*spending{}, keyed: map[keyed]credits.Receipt{}, ended: map[string]settled{},
	}
}

func (b *batch) run(ctx context.Context, ops []op) error {
	w := &wanted{unsure: b.tx.unsure, accounts: map[string]bool{}, spenders: map[spender]bool{}, keyed: map[keyed]bool{}}
	for _, o := range ops {
		o.wants(w)
	}
	for _, read := range []func(context.Context, *wanted) error{b.read, b.sweep, b.readCharged} {
		if err := read(ctx, w); err != nil {
			return err
		}
	}
	for _, o := range ops {
		if err := o.decide(ctx, b); err != nil {
			return err
		}
	}
	return b.write(ctx)
}

// spentBy returns what a key has spent and holds, nil when no count of it is kept.
func (b *batch) spentBy(ctx context.Context, who spender) (*spending, error) {
	if s, ok := b.spent[who]; ok {
		return s, nil
	}
	b.spent[who] = nil
	err := b.tx.step(ctx, func(q *pgx.Batch) { b.queueSpent(q, []spender{who}) })
	return b.spent[who], err
}

// track returns what a key has spent and holds, and sees to it that the count is kept from now on. For a key that was
// not made with a cap it reads the account's entries, once.
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
	// What this batch has done already is in no table yet.
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

// release ends a hold that is a row.
func (b *batch) release(ctx context.Context, a *account, h *hold) error {
	b.closed = append(b.closed, h)
	a.held, a.dirty = a.held-h.amount, true
	return b.holdMore(ctx, a, h.key, -h.amount)
}

// holdMore counts what a key holds, if that is counted.
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

// charge writes the entry of a charge, unless its idempotency key forbids it, and returns what the hold came to.
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

// write writes what was decided and commits it. One statement, the UPDATE of the accounts, makes it stand: it changes
// balances and holds by what was decided, under the table's check that nothing is held or spent that is not there.
func (b *batch) write(ctx context.Context) error {
	return b.tx.commit(ctx, func(q *pgx.Batch) {
		if len(b.entries) == 0 {
			// Holds that a crash of the database takes away charge nothing: nobody need wait for the disk.
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

// insertEntries writes entries that are given as one array for each column.
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

// wanted is what the calls of a batch must know.
type wanted struct {
	unsure   bool // whether an attempt before this one may have been committed
	accounts map[string]bool
	holds    []string // ids
	holders  []string // the account of each
	spenders map[spender]bool
	keyed    map[keyed]bool
}

// read locks the accounts and reads what is known to be needed. Each hold, and what each key has spent, is looked up by
// itself (LATERAL and LIMIT): plans are made once, often while the tables are still empty, and PostgreSQL would else read
// all holds of an account for each of them.
func (b *batch) read(ctx context.Context, w *wanted) error {
	err := b.tx.step(ctx, func(q *pgx.Batch) {
		ids := slices.Collect(maps.Keys(w.accounts))
		// In order of the numbers: whoever locks several accounts locks them in the same order. Without the strength
		// that would keep new keys of the account waiting.
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

// queueKeyed reads what charges with an idempotency key came to. One that was made under a clock that was ahead is as
// old as the next entry that was not.
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

// sweep removes the holds that have run out, of those accounts that may have some.
func (b *batch) sweep(ctx context.Context, _ *wanted) error {
	byNo := map[int64]*account{}
	var nos []int64
	for _, a := range b.accounts {
		if a.first != 0 && a.first <= b.now.UnixNano() {
			byNo[a.no] = a
			nos = append(nos, a.no)
			a.first, a.dirty = 0, true
		}
	}
	if len(nos) == 0 {
		return nil
	}
	type sum struct {
		account int64
		key     string
		amount  int64
	}
	var gone []sum
	err := b.tx.step(ctx, func(q *pgx.Batch) {
		q.Queue(b.db.sql("DELETE FROM @holds WHERE account = ANY ($1) AND expires <= $2 RETURNING account, key, amount"),
			nos, b.now.UnixNano()).Query(func(rows pgx.Rows) error {
			var err error
			gone, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (s sum, err error) {
				return s, row.Scan(&s.account, &s.key, &s.amount)
			})
			return err
		})
		q.Queue(b.db.sql("SELECT account, min(expires) FROM @holds WHERE account = ANY ($1) GROUP BY account"), nos).
			Query(func(rows pgx.Rows) error {
				var no, first int64
				_, err := pgx.ForEachRow(rows, []any{&no, &first}, func() error {
					byNo[no].first = first
					return nil
				})
				return err
			})
	})
	for _, s := range gone {
		if err == nil {
			a := byNo[s.account]
			a.held -= s.amount
			err = b.holdMore(ctx, a, s.key, -s.amount)
		}
	}
	return err
}

// readCharged reads what holds came to that are no rows any more.
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

func fromMicros(n int64) time.Time { return time.UnixMicro(n).UTC() }

func fromNanos(n int64) time.Time { return time.Unix(0, n).UTC() }
