package postgres

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/socialdata/socialdata/credits"
)

// direct is a transaction of the ledger in one round trip: a function in the database decides ordinary calls and writes
// their results. It leaves others for a [batch], undecided and unchanged: those with a hold that does not exist, an
// expired hold in the account, an idempotency key that was used before, a cap that may be reached, or an earlier entry
// whose time is in the future.
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
	var now int64
	var states []int16
	var free []int64
	var expires []*int64
	err := t.commitThenFlush(ctx, d.pays, func(q *pgx.Batch) { // holds need not be durable: see batch.write
		q.Queue(d.db.sql(sqlDecide), d.arguments()...).QueryRow(func(row pgx.Row) error {
			return row.Scan(&now, &states, &free, &expires)
		})
	})
	if err != nil {
		return err
	}
	ended := map[string]settled{}
	for i, state := range states {
		if state == leftUndecided {
			continue
		}
		v := verdict{done: state == carriedOut, free: free[i], now: fromNanos(now)}
		if expires[i] != nil {
			v.expires = fromNanos(*expires[i])
		}
		d.byOp[i].common().decided = true
		d.byOp[i].settled(v, ended)
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

// arguments returns the arguments of sqlDecide.
func (d *direct) arguments() []any {
	n := len(d.requests)
	accounts := make([]string, 0, n) // the requests have their positions, from 1; likewise of the spenders
	owner, ownerKey := make([]int32, 0, n), make([]string, 0, n)
	account, spender, holds := make([]int32, n), make([]int32, n), make([]int32, n)
	pay, take, ttl := make([]int64, n), make([]int64, n), make([]int64, n)
	var holdOf []int32
	var holdAmount []int64
	var holdIDs []string
	var texts [8][]string
	for j := range texts {
		texts[j] = make([]string, n)
	}
	dayCap, totalCap := make([]*int64, n), make([]*int64, n)
	encoded, buffer := make([][]byte, n), make([]byte, 0, 256*n) // the texts of a hit take some 220 bytes
	positions, spenders := make(map[string]int32, n), make(map[keyOf]int32, n)
	for i := range d.requests {
		r := &d.requests[i]
		if positions[r.who.Account] == 0 {
			accounts = append(accounts, r.who.Account)
			positions[r.who.Account] = int32(len(accounts))
		}
		who := keyOf{positions[r.who.Account], r.who.Key}
		if who.key != "" && spenders[who] == 0 {
			owner, ownerKey = append(owner, who.account), append(ownerKey, who.key)
			spenders[who] = int32(len(owner))
		}
		account[i], spender[i], holds[i] = who.account, spenders[who], int32(len(r.holds))
		pay[i], take[i], ttl[i] = r.pay, r.take, int64(r.ttl)
		e := &r.entry
		for j, s := range [...]string{
			r.release, r.who.Key, e.IdempotencyKey, e.Operation, e.Platform, e.RequestID, e.Cache, e.Hold,
		} {
			texts[j][i] = s
		}
		dayCap[i], totalCap[i] = r.who.DayCap, r.who.TotalCap
		begin := len(buffer)
		buffer = e.AppendTexts(buffer)
		encoded[i] = buffer[begin:len(buffer):len(buffer)]
		for _, h := range r.holds {
			holdOf, holdIDs, holdAmount = append(holdOf, int32(i+1)), append(holdIDs, h.ID), append(holdAmount, h.Amount)
		}
	}
	args := []any{d.db.clock(), accounts, owner, ownerKey, account, spender, pay, take, ttl, holds}
	for _, t := range texts {
		args = append(args, t)
	}
	return append(args, dayCap, totalCap, encoded, holdOf, holdIDs, holdAmount)
}

// keyOf is a key of the account at a position.
type keyOf struct {
	account int32
	key     string
}

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
