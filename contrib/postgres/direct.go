package postgres

import (
	"context"
	"encoding/hex"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/socialdata/socialdata/credits"
)

// direct is a transaction of the ledger in one round trip: the database itself decides ordinary calls and writes their
// results. It leaves others for a [batch], undecided and unchanged: those with a hold that does not exist, an expired
// hold in the account, an idempotency key that was used before, a cap that may be reached, or an earlier entry whose
// time is in the future.
type direct struct {
	db       *DB
	requests []request
	byOp     []directOp
	pays     bool
}

// directOp is an op that the database may decide by itself.
type directOp interface {
	op
	request() request
	// settled sets the op's result, and adds that of its hold to ended if it is to be cached.
	settled(v verdict, ended map[string]settled)
	// expects notes that the op may be carried out even if no answer arrives.
	expects()
}

// request is what an op needs of an account: to pay, to hold credits, to release a hold, or several of these.
type request struct {
	who     credits.Spender
	pay     int64
	take    int64
	release string // id of a hold
	entry   credits.Entry
	holds   []credits.Hold // to make with the credits in take
	ttl     time.Duration  // their time to live
	asks    bool           // only checks for a charge: that is for a batch
}

// verdict is the database's answer to a request.
type verdict struct {
	done    bool // otherwise the account cannot pay
	free    int64
	now     time.Time
	expires time.Time // of the hold that was released
}

// newDirect returns the transaction for those ops that the database may decide, or nil when there are none. If two ops
// have the same hold, or the same idempotency key, the second waits for the first.
func newDirect(db *DB, ops []op) *direct {
	d := &direct{db: db}
	type name struct{ account, kind, id string }
	used := map[name]bool{}
	for _, o := range ops {
		own, ok := o.(directOp)
		if !ok || o.common().decided {
			continue
		}
		r := own.request()
		if r.asks {
			continue
		}
		hold, once := name{r.who.Account, "hold", r.release}, name{r.who.Account, "key", r.entry.IdempotencyKey}
		if r.release != "" && used[hold] || r.entry.IdempotencyKey != "" && used[once] {
			continue
		}
		used[hold], used[once] = true, true
		d.byOp = append(d.byOp, own)
		d.requests = append(d.requests, r)
		d.pays = d.pays || r.pay > 0
	}
	if len(d.byOp) == 0 {
		return nil
	}
	return d
}

// run runs the transaction and sets the results of the ops that were decided.
func (d *direct) run(ctx context.Context, t *tx) error {
	verdicts := make([]*verdict, len(d.requests))
	accounts, args := d.arguments()
	err := t.commit(ctx, func(q *pgx.Batch) {
		if !d.pays { // as in batch.write
			q.Queue("SET LOCAL synchronous_commit = off")
		}
		q.Queue(d.db.sql("SELECT no FROM @accounts WHERE id = ANY ($1) ORDER BY no FOR NO KEY UPDATE"), accounts)
		q.Queue(d.db.sql(sqlDirect), args...).Query(func(rows pgx.Rows) error {
			var i, free, now int64
			var expires *int64
			var done bool
			_, err := pgx.ForEachRow(rows, []any{&i, &done, &free, &now, &expires}, func() error {
				v := &verdict{done: done, free: free, now: fromNanos(now)}
				if expires != nil {
					v.expires = fromNanos(*expires)
				}
				verdicts[i-1] = v
				return nil
			})
			return err
		})
	})
	if err != nil {
		return err
	}
	ended := map[string]settled{}
	for i, v := range verdicts {
		if v == nil {
			continue
		}
		d.byOp[i].common().decided = true
		d.byOp[i].settled(*v, ended)
	}
	d.db.ledger.remember(ended)
	return nil
}

// expect notes that all ops may be carried out even if no answer arrives.
func (d *direct) expect() {
	for _, o := range d.byOp {
		o.expects()
	}
}

// arguments returns the ids of the accounts, and the arguments of sqlDirect.
func (d *direct) arguments() (accounts []string, args []any) {
	var numbers [3][]int64 // ord, pay, take
	var texts [9][]string
	var caps [2][]*int64
	var encoded [][]byte
	var index, amount, ttl []int64 // of holds
	var ids []string
	ords := map[string]int64{}
	for i := range d.requests {
		r := &d.requests[i]
		if ords[r.who.Account]++; ords[r.who.Account] == 1 {
			accounts = append(accounts, r.who.Account)
		}
		for j, n := range [...]int64{ords[r.who.Account], r.pay, r.take} {
			numbers[j] = append(numbers[j], n)
		}
		e := &r.entry
		for j, s := range [...]string{
			r.who.Account, r.release, r.who.Key, e.IdempotencyKey, e.Operation, e.Platform, e.RequestID, e.Cache, e.Hold,
		} {
			texts[j] = append(texts[j], s)
		}
		caps[0], caps[1] = append(caps[0], r.who.DayCap), append(caps[1], r.who.TotalCap)
		encoded = append(encoded, e.AppendTexts(nil))
		for _, h := range r.holds {
			index, amount, ttl = append(index, int64(i+1)), append(amount, h.Amount), append(ttl, int64(r.ttl))
			ids = append(ids, h.ID)
		}
	}
	args = []any{d.db.clock(), accounts, numbers[0], numbers[1], numbers[2]}
	for _, t := range texts {
		args = append(args, t)
	}
	return accounts, append(args, caps[0], caps[1], encoded, index, ids, amount, ttl)
}

// sqlDirect decides requests and writes their results. The statement before it locks the accounts, so that what this
// one reads cannot change. A charge without a hold is not made when there is a hold with its id: see settlement.asks.
// The requests of an account form a chain: each sees the state after the previous one. For the caps of a key, all
// earlier requests count as carried out; a request that might exceed a cap is left undecided.
var sqlDirect = fmt.Sprintf(`
	WITH RECURSIVE clock AS MATERIALIZED (SELECT %s AS now),
	heads AS MATERIALIZED (
		SELECT no, id, seq, balance, held, first, now,
			CASE WHEN seq = 0 THEN decode(repeat('00', 32), 'hex') ELSE hash END AS hash
		FROM @accounts CROSS JOIN clock
		WHERE id = ANY ($2) AND (first = 0 OR first > now) AND at <= now / 1000
	),
	given AS MATERIALIZED (
		SELECT *, sum(CASE WHEN release = '' THEN pay + take ELSE 0 END) OVER (PARTITION BY account, key ORDER BY ord) AS wants
		FROM unnest($3::bigint[], $4::bigint[], $5::bigint[], $6::text[], $7::text[], $8::text[], $9::text[], $10::text[],
			$11::text[], $12::text[], $13::text[], $14::text[], $15::bigint[], $16::bigint[], $17::bytea[]) WITH ORDINALITY
			AS o (ord, pay, take, account, release, key, once, operation, platform, request_id, cache, hold, day_cap, total_cap,
				texts, i)
	),
	ops AS MATERIALIZED (
		SELECT o.*, a.no, coalesce(h.amount, 0) AS released, h.expires, s.key IS NOT NULL AS tracked,
			CASE WHEN o.release = '' THEN h.key IS NULL ELSE h.key = o.key AND o.pay BETWEEN 0 AND h.amount END
			AND (o.once = '' OR o.pay = 0 OR NOT EXISTS (
				SELECT 1 FROM @entries e WHERE e.account = a.no AND e.idempotency_key = o.once AND e.idempotency_key <> ''
			))
			AND (o.release <> '' OR o.day_cap IS NULL OR s.held + o.wants + CASE
				WHEN a.now / 86400000000000 IN (s.day, s.day - 1) THEN s.today ELSE 0 END <= o.day_cap)
			AND (o.release <> '' OR o.total_cap IS NULL OR s.total + s.held + o.wants <= o.total_cap) AS able
		FROM given o JOIN heads a ON a.id = o.account
			LEFT JOIN LATERAL (
				SELECT key, amount, expires FROM @holds WHERE account = a.no AND id = o.hold AND expires > a.now LIMIT 1
			) AS h ON o.hold <> ''
			LEFT JOIN LATERAL (
				SELECT key, total, day, today, held FROM @spending WHERE account = a.no AND key = o.key LIMIT 1
			) AS s ON o.key <> ''
	),
	chain AS (
		SELECT 0::bigint AS i, no, 0::bigint AS ord, seq, balance, held, hash, now, false AS done, false AS pays FROM heads
		UNION ALL
		SELECT o.i, c.no, o.ord, CASE WHEN v.pays THEN c.seq + 1 ELSE c.seq END,
			CASE WHEN v.done THEN c.balance - o.pay ELSE c.balance END,
			CASE WHEN v.done THEN c.held + o.take - o.released ELSE c.held END,
			CASE WHEN v.pays THEN sha256('\x%s'::bytea || c.hash || int8send(c.seq + 1) || int8send(-o.pay)
				|| int8send(c.balance - o.pay) || int8send(c.now / 1000) || o.texts) ELSE c.hash END,
			c.now, v.done, v.pays
		FROM chain c JOIN ops o ON o.no = c.no AND o.ord = c.ord + 1 CROSS JOIN LATERAL (
			SELECT u.done, u.done AND o.pay > 0 AS pays
			FROM (SELECT coalesce(o.able AND (o.release <> '' OR o.pay + o.take <= c.balance - c.held), false) AS done) AS u
		) AS v
	),
	written AS (
		INSERT INTO @entries (account, seq, kind, amount, balance, key, operation, platform, request_id, cache, reason, hold,
			idempotency_key, at, clock, hash)
		SELECT c.no, c.seq, 'charge', -o.pay, c.balance, o.key, o.operation, o.platform, o.request_id, o.cache, '', o.hold,
			o.once, c.now / 1000, NULL, c.hash
		FROM chain c JOIN ops o ON o.i = c.i WHERE c.pays
	),
	closed AS (
		DELETE FROM @holds h USING chain c JOIN ops o ON o.i = c.i
		WHERE c.done AND o.release <> '' AND h.account = c.no AND h.id = o.release
	),
	made AS MATERIALIZED (
		SELECT c.no, h.id, o.key, h.amount, c.now + h.ttl AS expires
		FROM unnest($18::bigint[], $19::text[], $20::bigint[], $21::bigint[]) AS h (i, id, amount, ttl)
			JOIN chain c ON c.i = h.i JOIN ops o ON o.i = h.i WHERE c.done
	),
	opened AS (
		INSERT INTO @holds (account, id, key, amount, expires) SELECT no, id, key, amount, expires FROM made
	),
	moved AS (
		UPDATE @accounts a SET seq = c.seq, balance = c.balance, hash = c.hash, held = c.held,
			at = CASE WHEN c.seq > a.seq THEN c.now / 1000 ELSE a.at END,
			first = CASE WHEN c.held = 0 THEN 0 ELSE coalesce(least(nullif(a.first, 0), m.first), 0) END
		FROM (SELECT DISTINCT ON (no) * FROM chain ORDER BY no, ord DESC) AS c
			LEFT JOIN (SELECT no, min(expires) AS first FROM made GROUP BY no) AS m ON m.no = c.no
		WHERE a.no = c.no AND c.no IN (SELECT no FROM chain WHERE done)
	),
	spent AS (
		UPDATE @spending s SET total = s.total + u.paid, held = s.held + u.held,
			today = CASE WHEN u.paid = 0 OR u.day IN (s.day, s.day - 1) THEN s.today ELSE 0 END + u.paid,
			day = CASE WHEN u.paid = 0 OR u.day IN (s.day, s.day - 1) THEN s.day ELSE u.day END
		FROM (
			SELECT c.no, o.key, sum(o.pay)::bigint AS paid, sum(o.take - o.released)::bigint AS held,
				min(c.now) / 86400000000000 AS day
			FROM chain c JOIN ops o ON o.i = c.i WHERE c.done AND o.tracked GROUP BY c.no, o.key
		) AS u
		WHERE s.account = u.no AND s.key = u.key
	)
	SELECT c.i, c.done, c.balance - c.held, c.now, o.expires FROM chain c JOIN ops o ON o.i = c.i
	WHERE c.done OR o.able AND o.release = ''`, sqlNow, hex.EncodeToString([]byte(credits.EntryForm)))

// directly lets the database decide what it can, in one attempt. The rest is for a batch; unsure reports that some of
// it may have been carried out without an answer.
func (l *lane) directly(ctx context.Context, ops []op) (unsure bool) {
	d := newDirect(l.db, ops)
	if d == nil {
		return false
	}
	if unsure = committed(l.db.attempt(ctx, false, d.run)); unsure {
		d.expect()
	}
	return unsure
}

// request implements [directOp].
func (r *reservation) request() request {
	return request{who: r.who, take: r.sum, holds: r.holds, ttl: r.ttl}
}

func (r *reservation) settled(v verdict, _ map[string]settled) {
	if !v.done {
		r.err = credits.ErrInsufficient
		return
	}
	for i := range r.holds {
		r.holds[i].Expires = v.now.Add(r.ttl)
	}
}

func (*reservation) expects() {}

// request implements [directOp].
func (s *settlement) request() request {
	return request{
		who: credits.Spender{Account: s.hold.Spender.Account, Key: s.hold.Spender.Key}, pay: s.charge.Amount,
		release: s.hold.ID, entry: s.charge.Entry(s.hold, time.Time{}), asks: s.asks(),
	}
}

func (s *settlement) settled(v verdict, ended map[string]settled) {
	s.receipt = credits.Receipt{Charged: s.charge.Amount, Balance: v.free}
	ended[s.hold.ID] = settled{s.hold.Spender.Account, s.charge.Amount, v.expires}
}

// expects implements [directOp]: if the hold is settled, it is with this call's charge.
func (s *settlement) expects() { s.receipt = credits.Receipt{Charged: s.charge.Amount} }

// request implements [directOp].
func (o *charging) request() request {
	return request{who: o.hold.Spender, pay: o.charge.Amount, entry: o.charge.Entry(o.hold, time.Time{})}
}

func (o *charging) settled(v verdict, ended map[string]settled) {
	if !v.done {
		o.err = credits.ErrInsufficient
		return
	}
	o.receipt = credits.Receipt{Charged: o.charge.Amount, Balance: v.free}
	if o.charge.Amount > 0 {
		ended[o.hold.ID] = settled{o.hold.Spender.Account, o.charge.Amount, v.now.Add(credits.LateFor)}
	}
}

func (*charging) expects() {}
