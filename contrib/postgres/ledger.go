package postgres

import (
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"sync"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"
	"github.com/jackc/pgx/v5"

	"github.com/socialdata/socialdata/credits"
)

// Ledger is the ledger in the database. Holds are rows, which all replicas see and any can settle.
type Ledger struct {
	db    *DB
	lanes []*lane
	ids   *credits.IDs

	mu    sync.Mutex
	ended *simplelru.LRU[string, settled] // results by hold, until it expires

	swept time.Time // when expired holds were last removed, for the housekeeping only
}

var (
	_ credits.Charger = (*Ledger)(nil)
	_ credits.Checker = (*Ledger)(nil)
	_ credits.Granter = (*Ledger)(nil)
)

// rememberedHolds is the maximum number of settled holds whose result is cached. The result of a charged hold is in the
// entries too; a released hold that is not cached is only known not to exist.
const rememberedHolds = 100_000

func newLedger(db *DB) *Ledger {
	// NewLRU fails only for a size below 1.
	ended, _ := simplelru.NewLRU[string, settled](rememberedHolds, nil)
	l := &Ledger{db: db, ids: credits.NewIDs(time.Now()), ended: ended}
	for range db.cfg.Lanes {
		l.lanes = append(l.lanes, newLane(db))
	}
	return l
}

func (l *Ledger) close() {
	for _, lane := range l.lanes {
		lane.close()
	}
}

// remember caches the results of holds.
func (l *Ledger) remember(ended map[string]settled) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for id, s := range ended {
		l.ended.Add(id, s)
	}
}

// remembered returns the cached result of a hold that has not expired.
func (l *Ledger) remembered(id string, now time.Time) (settled, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	s, ok := l.ended.Get(id)
	return s, ok && now.Before(s.until)
}

// lane returns the account's lane. It has the same number on every replica, so that a call that waits for an account's
// row waits for one lane of each other replica, and not for all of them in turn.
func (l *Ledger) lane(account string) *lane {
	return l.lanes[crc32.ChecksumIEEE([]byte(account))%uint32(len(l.lanes))]
}

// do submits o to the lane of the account and waits until it is decided, or until ctx ends. If it has not been taken by
// then, it is withdrawn. If it has, the result is unknown, and the error is ErrUnsure.
func (l *Ledger) do(ctx context.Context, account string, o op, c *call) error {
	c.done = make(chan struct{})
	if err := l.lane(account).submit(o); err != nil {
		return err
	}
	select {
	case <-c.done:
		return c.err
	case <-ctx.Done():
	}
	if c.state.CompareAndSwap(queued, withdrawn) {
		return ctx.Err()
	}
	select { // it may have been decided meanwhile
	case <-c.done:
		return c.err
	default:
		return fmt.Errorf("%w: %w", ErrUnsure, ctx.Err())
	}
}

// Reserve implements [credits.Ledger]. It returns when ctx ends; a hold that is being made then may still be made, and
// expires.
func (l *Ledger) Reserve(
	ctx context.Context, who credits.Spender, ttl time.Duration, amounts ...int64,
) ([]credits.Hold, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	sum, err := credits.Sum(amounts)
	if err != nil {
		return nil, err
	}
	r := &reservation{who: who, ttl: ttl, sum: sum, holds: make([]credits.Hold, len(amounts))}
	for i, n := range amounts {
		r.holds[i] = credits.Hold{ID: l.ids.Next(), Spender: who, Amount: n}
	}
	if err := l.do(ctx, who.Account, r, &r.call); err != nil {
		return nil, err
	}
	return r.holds, nil
}

// reservation is the op of Reserve.
type reservation struct {
	call
	who   credits.Spender
	ttl   time.Duration
	sum   int64
	holds []credits.Hold
}

func (r *reservation) wants(w *wanted) {
	w.spender(r.who)
	if !w.unsure {
		return // the ids are new: there is nothing to read
	}
	for _, h := range r.holds {
		w.hold(h)
	}
}

func (w *wanted) hold(h credits.Hold) {
	w.holds, w.holders = append(w.holds, h.ID), append(w.holders, h.Spender.Account)
}

func (w *wanted) spender(who credits.Spender) {
	w.accounts[who.Account] = true
	if who.Key != "" {
		w.spenders[spender{who.Account, who.Key}] = true
	}
}

func (r *reservation) decide(ctx context.Context, b *batch) (err error) {
	r.err = nil
	a, ok := b.accounts[r.who.Account]
	if !ok {
		r.err = credits.ErrUnknownAccount
		return nil
	}
	if b.tx.unsure && r.made(b) {
		return nil
	}
	if r.err, err = b.room(ctx, a, r.who, r.sum); r.err != nil || err != nil {
		return err
	}
	for i := range r.holds {
		r.holds[i].Expires = b.now.Add(r.ttl)
		if err := b.open(ctx, a, r.holds[i]); err != nil {
			return err
		}
	}
	return nil
}

// made reports whether an earlier attempt has made the holds.
func (r *reservation) made(b *batch) bool {
	for i := range r.holds {
		h, ok := b.holds[r.holds[i].ID]
		if !ok {
			return false
		}
		r.holds[i].Expires = fromNanos(h.expires)
	}
	return true
}

// Check implements [credits.Checker].
func (l *Ledger) Check(ctx context.Context, who credits.Spender, amount int64) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if _, err := credits.Sum([]int64{amount}); err != nil {
		return err
	}
	c := &check{who: who, amount: amount}
	return l.do(ctx, who.Account, c, &c.call)
}

// check is the op of Check.
type check struct {
	call
	who    credits.Spender
	amount int64
}

func (c *check) wants(w *wanted) { w.spender(c.who) }

func (c *check) decide(ctx context.Context, b *batch) (err error) {
	a, ok := b.accounts[c.who.Account]
	if !ok {
		c.err = credits.ErrUnknownAccount
		return nil
	}
	c.err, err = b.room(ctx, a, c.who, c.amount)
	return err
}

// Settle implements [credits.Ledger]. It fails with ErrUnsure when ctx ends while the charge is being made. For a hold
// that another replica has released it returns credits.ErrExpired.
func (l *Ledger) Settle(ctx context.Context, h credits.Hold, c credits.Charge) (credits.Receipt, error) {
	if err := errors.Join(ctx.Err(), c.Check()); err != nil {
		return credits.Receipt{}, err
	}
	s := &settlement{hold: h, charge: c}
	if err := l.do(ctx, h.Spender.Account, s, &s.call); err != nil {
		return credits.Receipt{}, err
	}
	return s.receipt, nil
}

// settlement is the op of Settle.
type settlement struct {
	call
	hold    credits.Hold // as passed by the caller
	charge  credits.Charge
	receipt credits.Receipt
}

func (s *settlement) wants(w *wanted) {
	w.spender(s.hold.Spender)
	w.hold(s.hold)
	if s.charge.IdempotencyKey != "" && s.charge.Amount > 0 {
		w.keyed[keyed{s.hold.Spender.Account, s.charge.IdempotencyKey}] = true
	}
}

func (s *settlement) decide(ctx context.Context, b *batch) error {
	last := credits.Receipt{} // the result of an earlier attempt, which may have been committed
	if b.tx.unsure {
		last = s.receipt
	}
	s.err, s.receipt = nil, credits.Receipt{}
	a, ok := b.accounts[s.hold.Spender.Account]
	if !ok {
		s.err = credits.ErrExpired
		return nil
	}
	err := s.settle(ctx, b, a, last)
	s.receipt.Balance = a.free()
	return err
}

// asks reports whether the settlement asks for the result of a charge that was to be made without a hold. If that was
// not made, a hold of no credits with its id prevents it for a day: a message that was sent may reach the database
// later, after its sender has stopped waiting.
func (s *settlement) asks() bool { return s.hold.Expires.IsZero() && s.charge.Amount == 0 }

func (s *settlement) settle(ctx context.Context, b *batch, a *account, last credits.Receipt) (err error) {
	c := s.charge
	if ended, ok := s.before(b, a); ok {
		s.receipt = credits.Receipt{Charged: ended.charged, Earlier: last.Charged == 0 || last.Earlier}
		return nil
	}
	h, ok := b.holds[s.hold.ID]
	if ok && s.asks() {
		s.err = credits.ErrExpired
		return nil
	}
	if !ok || h.account != a.no || h.expires <= b.now.UnixNano() {
		return s.settleLate(ctx, b, a, last)
	}
	if c.Amount < 0 || c.Amount > h.amount {
		s.err = fmt.Errorf("%w: a charge of %d on a hold of %d", credits.ErrAmount, c.Amount, h.amount)
		return nil
	}
	if err := b.release(ctx, a, h); err != nil {
		return err
	}
	held := credits.Hold{ID: h.id, Spender: credits.Spender{Account: a.id, Key: h.key}}
	s.receipt, err = b.charge(ctx, a, held, c)
	b.ended[h.id] = settled{a.id, s.receipt.Charged, fromNanos(h.expires)}
	return err
}

// before returns the result of the hold if it was settled before.
func (s *settlement) before(b *batch, a *account) (settled, bool) {
	ended, ok := b.ended[s.hold.ID]
	if !ok {
		ended, ok = b.charged[s.hold.ID]
	}
	return ended, ok && ended.account == a.id
}

// settleLate decides on a hold that has expired, or never existed.
func (s *settlement) settleLate(ctx context.Context, b *batch, a *account, last credits.Receipt) error {
	c := s.charge
	switch {
	case c.Amount == 0 && b.tx.unsure, last.Earlier:
		s.receipt = last // an earlier attempt has released it, or it has expired meanwhile
		return nil
	case !c.Late || c.Amount <= 0:
		if s.err = credits.ErrExpired; s.asks() {
			b.forbid(a, s.hold)
		}
		return nil
	case c.Amount > s.hold.Amount:
		s.err = fmt.Errorf("%w: a charge of %d on a hold of %d", credits.ErrAmount, c.Amount, s.hold.Amount)
		return nil
	}
	refused, err := b.room(ctx, a, s.hold.Spender, c.Amount)
	if err != nil {
		return err
	}
	if refused != nil {
		s.err = credits.ErrLate
		return nil
	}
	s.receipt, err = b.charge(ctx, a, s.hold, c)
	b.ended[s.hold.ID] = settled{a.id, s.receipt.Charged, b.now.Add(credits.LateFor)}
	return err
}

// Charge implements [credits.Charger]. It fails with ErrUnsure when ctx ends while the charge is being made. It writes
// the account's row and the entry once each, and no hold.
func (l *Ledger) Charge(ctx context.Context, who credits.Spender, c credits.Charge) (credits.Receipt, error) {
	_, err := credits.Sum([]int64{c.Amount})
	if err := errors.Join(ctx.Err(), c.Check(), err); err != nil {
		return credits.Receipt{}, err
	}
	if c.ID == "" {
		c.ID = l.ids.For(c.RequestID)
	}
	o := &charging{hold: credits.Hold{ID: c.ID, Spender: who}, charge: c}
	if err := l.do(ctx, who.Account, o, &o.call); err != nil {
		return credits.Receipt{}, err
	}
	return o.receipt, nil
}

// charging is the op of Charge.
type charging struct {
	call
	hold    credits.Hold // has the charge's id, but is not a row
	charge  credits.Charge
	receipt credits.Receipt
}

func (o *charging) wants(w *wanted) {
	w.spender(o.hold.Spender)
	if w.unsure { // the id is new, but an earlier attempt may have been committed
		w.hold(o.hold)
	}
	if o.charge.IdempotencyKey != "" && o.charge.Amount > 0 {
		w.keyed[keyed{o.hold.Spender.Account, o.charge.IdempotencyKey}] = true
	}
}

func (o *charging) decide(ctx context.Context, b *batch) (err error) {
	last := o.receipt
	o.err, o.receipt = nil, credits.Receipt{}
	a, ok := b.accounts[o.hold.Spender.Account]
	if !ok {
		o.err = credits.ErrUnknownAccount
		return nil
	}
	if b.tx.unsure {
		if made, ok := b.charged[o.hold.ID]; ok && made.account == a.id {
			o.receipt = credits.Receipt{Balance: a.free(), Charged: made.charged, Earlier: last.Earlier}
			return nil
		}
		if _, forbidden := b.holds[o.hold.ID]; forbidden {
			o.err = credits.ErrExpired
			return nil
		}
	}
	earlier, ok := b.keyed[keyed{a.id, o.charge.IdempotencyKey}]
	if ok && o.charge.Amount > 0 { // it is returned even if nothing more can be spent
		o.receipt = credits.Receipt{Balance: a.free(), Charged: earlier.Charged, Earlier: true}
		return nil
	}
	if o.err, err = b.room(ctx, a, o.hold.Spender, o.charge.Amount); o.err != nil || err != nil {
		return err
	}
	if o.receipt, err = b.charge(ctx, a, o.hold, o.charge); err != nil {
		return err
	}
	if o.receipt.Charged > 0 && !o.receipt.Earlier {
		b.ended[o.hold.ID] = settled{a.id, o.receipt.Charged, b.now.Add(credits.LateFor)}
	}
	o.receipt.Balance = a.free()
	return nil
}

// Grant implements [credits.Granter]. It can also fail with ErrUnsure.
func (l *Ledger) Grant(ctx context.Context, account string, n int64, reason string) (balance int64, err error) {
	return l.Give(ctx, credits.Gift{Account: account, Kind: credits.Granted, Amount: n, Reason: reason})
}

// Refund implements [credits.Granter]. It can also fail with ErrUnsure.
func (l *Ledger) Refund(
	ctx context.Context, account string, n int64, requestID, reason string,
) (balance int64, err error) {
	return l.Give(ctx, credits.Gift{
		Account: account, Kind: credits.Refunded, Amount: n, RequestID: requestID, Reason: reason,
	})
}

// Give implements [credits.Granter]. It can also fail with ErrUnsure; a gift with a key can then be repeated.
func (l *Ledger) Give(ctx context.Context, g credits.Gift) (balance int64, err error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	e, err := g.Entry()
	if err != nil {
		return 0, err
	}
	o := &gift{entry: e}
	if err := l.do(ctx, e.Account, o, &o.call); err != nil {
		return 0, err
	}
	return o.balance, nil
}

// gift is the op of Give.
type gift struct {
	call
	entry   credits.Entry
	balance int64
}

func (g *gift) wants(w *wanted) {
	w.accounts[g.entry.Account] = true
	if g.entry.Hold != "" {
		w.hold(credits.Hold{ID: g.entry.Hold, Spender: credits.Spender{Account: g.entry.Account}})
	}
	if g.entry.Kind == credits.Refunded && g.entry.RequestID != "" {
		w.requests[asked{g.entry.Account, g.entry.RequestID}] = true
	}
}

func (g *gift) decide(_ context.Context, b *batch) error {
	a, ok := b.accounts[g.entry.Account]
	if !ok {
		g.err = credits.ErrUnknownAccount
		return nil
	}
	if made, ok := b.charged[g.entry.Hold]; ok && g.entry.Hold != "" {
		g.balance, g.err = a.free(), g.entry.Repeats(-made.charged)
		return nil
	}
	if b.tx.unsure && g.entry.Hold == "" {
		g.err = ErrUnsure
		return nil
	}
	if g.err = g.entry.Refunds(b.refundable(a, g.entry.RequestID)); g.err != nil {
		return nil
	}
	if g.entry.Amount > credits.MaxBalance-a.last.Balance {
		g.err = fmt.Errorf("%w: a balance of %d", credits.ErrAmount, a.last.Balance+g.entry.Amount)
		return nil
	}
	g.entry.At = b.now
	e := b.append(a, g.entry)
	if e.Hold != "" { // for another gift with its key in this batch
		b.charged[e.Hold] = settled{account: a.id, charged: -e.Amount}
	}
	g.balance = a.free()
	return nil
}

// Reverse implements [credits.Granter]. It can also fail with ErrUnsure, and can then be repeated.
func (l *Ledger) Reverse(ctx context.Context, account string, seq int64, reason string) (credits.Reversal, error) {
	if err := ctx.Err(); err != nil {
		return credits.Reversal{}, err
	}
	o := &reversal{account: account, seq: seq, reason: reason}
	if err := l.do(ctx, account, o, &o.call); err != nil {
		return credits.Reversal{}, err
	}
	return o.result, nil
}

// reversal is the op of Reverse.
type reversal struct {
	call
	account string
	seq     int64
	reason  string
	result  credits.Reversal
}

func (r *reversal) wants(w *wanted) { w.accounts[r.account] = true }

func (r *reversal) decide(ctx context.Context, b *batch) (err error) {
	r.result, r.err = credits.Reversal{}, nil
	a, ok := b.accounts[r.account]
	if !ok {
		r.err = credits.ErrUnknownAccount
		return nil
	}
	grant, earlier, err := b.grant(ctx, a, r.seq)
	if err != nil {
		return err
	}
	if grant.Seq == 0 {
		r.err = credits.NoEntry(a.id, r.seq)
		return nil
	}
	e, err := grant.Reversal(r.reason)
	if err != nil {
		r.err = err
		return nil
	}
	if earlier.Seq != 0 {
		b.told = true
		r.result = credits.Reversal{Entry: earlier, Balance: a.free(), Earlier: true}
		return nil
	}
	if r.err = e.Covered(a.free()); r.err != nil {
		return nil
	}
	e.At = b.now
	r.result.Entry = b.append(a, e)
	r.result.Balance = a.free()
	return nil
}

// Balance implements [credits.Ledger].
func (l *Ledger) Balance(ctx context.Context, account string) (balance int64, err error) {
	err = l.db.read(ctx, func() error {
		return l.db.pool.QueryRow(ctx, l.db.sql(`
			SELECT balance - CASE WHEN first = 0 OR first > now THEN held ELSE (
				SELECT coalesce(sum(amount), 0) FROM @holds WHERE account = a.no AND expires > now
			)::bigint END
			FROM @accounts a CROSS JOIN (SELECT `+sqlNow+` AS now) AS clock
			WHERE id = $2`), l.db.clock(), account).Scan(&balance)
	})
	if errors.Is(err, pgx.ErrNoRows) {
		err = credits.ErrUnknownAccount
	}
	return balance, err
}
