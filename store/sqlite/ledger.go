package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/socialdata/socialdata/credits"
)

// Ledger is the ledger in the file. Holds are in memory: only the process that serves the file has any.
type Ledger struct {
	file    *file
	ids     *credits.IDs // of charges without a hold
	reading readStatements

	mu       sync.Mutex
	holds    *credits.Holds
	settling map[string]*task // by hold
	cache    *cache
	synced   epoch // when the tail was last updated with what other processes had written

	reversing sync.Mutex // held before mu; reversals are rare, and come one after the other
}

var (
	_ credits.Charger = (*Ledger)(nil)
	_ credits.Checker = (*Ledger)(nil)
	_ credits.Granter = (*Ledger)(nil)
)

func newLedger(ctx context.Context, f *file) (*Ledger, error) {
	l := &Ledger{
		file:     f,
		ids:      credits.NewIDs(f.cfg.Now()),
		holds:    credits.NewHolds(f.cfg.Now()),
		settling: map[string]*task{},
		cache:    newCache(f.cfg.CachedAccounts, f.cfg.CachedKeys),
	}
	if _, err := l.tail(""); err != nil { // so that the first caller need not wait for the writer
		return nil, err
	}
	return l, l.reading.prepare(ctx, f.read)
}

// Reserve implements [credits.Ledger]. It fails with ErrAdmin when the file was opened for administration.
func (l *Ledger) Reserve(
	ctx context.Context, who credits.Spender, ttl time.Duration, amounts ...int64,
) ([]credits.Hold, error) {
	if l.file.cfg.Admin {
		return nil, ErrAdmin
	}
	sum, err := credits.Sum(amounts)
	if err != nil {
		return nil, err
	}
	epoch, err := l.file.epoch()
	if err != nil {
		return nil, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.room(ctx, epoch, who, sum); err != nil {
		return nil, err
	}
	return l.holds.Open(who, l.file.cfg.Now().Add(ttl), amounts), nil
}

// Check implements [credits.Checker]. It fails with ErrAdmin as Reserve does.
func (l *Ledger) Check(ctx context.Context, who credits.Spender, amount int64) error {
	if l.file.cfg.Admin {
		return ErrAdmin
	}
	if _, err := credits.Sum([]int64{amount}); err != nil {
		return err
	}
	epoch, err := l.file.epoch()
	if err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.room(ctx, epoch, who, amount)
}

// Charge implements [credits.Charger]. It fails with ErrAdmin as Reserve does. The credits are held from the check of
// the balance until the entry is written, so that callers wait only once.
func (l *Ledger) Charge(ctx context.Context, who credits.Spender, c credits.Charge) (credits.Receipt, error) {
	if l.file.cfg.Admin {
		return credits.Receipt{}, ErrAdmin
	}
	_, err := credits.Sum([]int64{c.Amount})
	if err := errors.Join(ctx.Err(), c.Check(), err); err != nil {
		return credits.Receipt{}, err
	}
	epoch, err := l.file.epoch()
	if err != nil {
		return credits.Receipt{}, err
	}
	l.mu.Lock()
	if err := l.room(ctx, epoch, who, c.Amount); err != nil {
		l.mu.Unlock()
		if errors.Is(err, credits.ErrInsufficient) && c.IdempotencyKey != "" && c.Amount > 0 {
			return l.chargedBefore(ctx, who.Account, c.IdempotencyKey, err)
		}
		return credits.Receipt{}, err
	}
	if c.Amount == 0 {
		l.mu.Unlock()
		balance, err := l.Balance(ctx, who.Account)
		return credits.Receipt{Balance: balance}, err
	}
	now := l.file.cfg.Now()
	if c.ID == "" {
		c.ID = l.ids.For(c.RequestID)
	}
	h := l.holds.OpenAs(c.ID, who, now.Add(credits.LateFor), c.Amount)
	if _, _, err := l.holds.Begin(h.ID, c.Amount, now); err != nil {
		l.mu.Unlock()
		return credits.Receipt{}, err
	}
	r, err := l.charge(h, c)
	if err != nil {
		l.forget(h.ID)
	}
	return r, err
}

// chargedBefore returns the receipt of the account's charge with that idempotency key in the last 24 hours, or refused
// if there is none.
func (l *Ledger) chargedBefore(ctx context.Context, account, key string, refused error) (credits.Receipt, error) {
	l.mu.Lock()
	b := l.cache.queue(account)
	l.mu.Unlock()
	var charged int64
	found := false
	err := l.file.writer.do(&task{
		apply: func(w *writer) (err error) {
			if err = w.load(b); err == nil {
				charged, found, err = w.chargedBefore(b, key, w.now())
			}
			return err
		},
		finish: func(error) {
			l.mu.Lock()
			defer l.mu.Unlock()
			l.cache.unqueue(b)
		},
	})
	if err == nil && !found {
		err = refused
	}
	if err != nil {
		return credits.Receipt{}, err
	}
	balance, err := l.Balance(ctx, account)
	return credits.Receipt{Balance: balance, Charged: charged, Earlier: true}, err
}

// forget removes the hold of a charge that was not made.
func (l *Ledger) forget(id string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if _, begun, _ := l.holds.Begin(id, 0, l.file.cfg.Now()); begun {
		l.holds.End(id, 0, true)
	}
}

// room returns credits.ErrInsufficient or credits.ErrCap unless the account and the key can hold n more credits, by the
// state of the file in epoch or later. Before it returns either, it checks whether another process has written without
// announcing it. The caller holds the lock, which room releases while it waits.
func (l *Ledger) room(ctx context.Context, epoch epoch, who credits.Spender, n int64) error {
	refused := l.roomIn(ctx, epoch, who, n)
	if !errors.Is(refused, credits.ErrInsufficient) { // ErrCap wraps it
		return refused
	}
	l.mu.Unlock()
	now, err := l.look()
	l.mu.Lock()
	if err != nil || now == epoch {
		return refused
	}
	return l.roomIn(ctx, now, who, n)
}

// look lets the writer check what other processes have written, as it does at the beginning of each transaction, and
// returns the epoch after that. It shares a transaction with charges; without any it needs no sync of the disk.
func (l *Ledger) look() (epoch, error) {
	if err := l.file.writer.do(&task{apply: func(*writer) error { return nil }}); err != nil {
		return epoch{}, err
	}
	return l.file.epoch()
}

// roomIn is room without this check, for what is known in epoch.
func (l *Ledger) roomIn(ctx context.Context, epoch epoch, who credits.Spender, n int64) error {
	b, err := l.open(ctx, epoch, who)
	if err != nil {
		return err
	}
	now := l.file.cfg.Now()
	l.holds.Expire(now)
	if n > b.balance-l.holds.Of(who.Account) {
		return credits.ErrInsufficient
	}
	if !capped(who) {
		return nil
	}
	spent, _ := l.cache.spent.Get(spender{who.Account, who.Key})
	return spent.Room(who, l.holds.OfKey(who.Account, who.Key), n, now)
}

// Settle implements [credits.Ledger]. Once the charge is queued it waits until it is durable, even if ctx ends.
func (l *Ledger) Settle(ctx context.Context, h credits.Hold, c credits.Charge) (credits.Receipt, error) {
	if err := errors.Join(ctx.Err(), c.Check()); err != nil {
		return credits.Receipt{}, err
	}
	l.mu.Lock()
	held, begun, err := l.holds.Begin(h.ID, c.Amount, l.file.cfg.Now())
	if errors.Is(err, credits.ErrExpired) {
		l.mu.Unlock()
		if r, err := l.settledBefore(ctx, h); !errors.Is(err, credits.ErrExpired) || !c.Late || c.Amount <= 0 {
			return r, err
		}
		l.mu.Lock()
		if err := l.revive(ctx, h, c); err != nil {
			l.mu.Unlock()
			return credits.Receipt{}, err
		}
		held, begun, err = l.holds.Begin(h.ID, c.Amount, l.file.cfg.Now())
	}
	switch {
	case err != nil:
		l.mu.Unlock()
		return credits.Receipt{}, err
	case begun && c.Amount > 0:
		return l.charge(held, c)
	case begun:
		l.holds.End(h.ID, 0, false)
	}
	other, charged := l.settling[h.ID], l.holds.Charged(h.ID)
	l.mu.Unlock()
	if other != nil {
		<-other.done
		if other.err != nil {
			return credits.Receipt{}, other.err
		}
		charged = other.charged
	}
	balance, err := l.Balance(ctx, held.Spender.Account)
	return credits.Receipt{Balance: balance, Charged: charged, Earlier: !begun}, err
}

// settledBefore answers for a hold that is not in memory: it has expired, or an entry has settled it.
func (l *Ledger) settledBefore(ctx context.Context, h credits.Hold) (credits.Receipt, error) {
	charged, err := l.chargedFor(ctx, h)
	if err != nil {
		return credits.Receipt{}, err
	}
	balance, err := l.Balance(ctx, h.Spender.Account)
	return credits.Receipt{Balance: balance, Charged: charged, Earlier: true}, err
}

// chargedFor returns what was charged for a hold, or credits.ErrExpired when nothing was.
func (l *Ledger) chargedFor(ctx context.Context, h credits.Hold) (charged int64, err error) {
	tail, err := l.tail(h.Spender.Account)
	if err != nil {
		return 0, err
	}
	for _, e := range tail {
		if e.Hold == h.ID && h.ID != "" {
			return -e.Amount, nil
		}
	}
	err = l.reading.charged.QueryRowContext(ctx, h.ID).Scan(&charged)
	if errors.Is(err, sql.ErrNoRows) {
		err = credits.ErrExpired
	}
	return charged, explain(err)
}

// revive makes a hold again for a late charge, if it can still be paid. The caller holds the lock, which revive
// releases while it waits.
func (l *Ledger) revive(ctx context.Context, h credits.Hold, c credits.Charge) error {
	epoch, err := l.file.epoch()
	switch {
	case err != nil:
		return err
	case l.file.cfg.Admin:
		return ErrAdmin
	case c.Amount > h.Amount:
		return fmt.Errorf("%w: a charge of %d on a hold of %d", credits.ErrAmount, c.Amount, h.Amount)
	}
	err = l.room(ctx, epoch, h.Spender, c.Amount)
	if errors.Is(err, credits.ErrInsufficient) { // also for the cap of a key
		return credits.ErrLate
	}
	if err == nil {
		l.holds.Revive(h, c.Amount, l.file.cfg.Now().Add(credits.LateFor))
	}
	return err
}

// charge queues the charge and waits until it is durable. The caller holds the lock, which charge releases.
func (l *Ledger) charge(h credits.Hold, c credits.Charge) (credits.Receipt, error) {
	b := l.cache.queue(h.Spender.Account)
	var e credits.Entry
	var r credits.Receipt
	t := &task{
		apply: func(w *writer) (err error) {
			e, err = w.charge(b, h, c)
			return err
		},
	}
	t.finish = func(err error) {
		l.mu.Lock()
		defer l.mu.Unlock()
		delete(l.settling, h.ID)
		if err != nil {
			l.holds.Reopen(h.ID)
		} else {
			t.charged = -e.Amount
			l.holds.End(h.ID, t.charged, e.Kind != "")
			l.cache.written(b, e)
		}
		l.cache.unqueue(b)
		r = credits.Receipt{
			Balance: l.free(b), Charged: t.charged, Earlier: e.Kind == "",
		}
	}
	l.settling[h.ID] = t
	err := l.file.writer.submit(t)
	if err != nil {
		delete(l.settling, h.ID)
		l.holds.Reopen(h.ID)
		l.cache.unqueue(b)
	}
	l.mu.Unlock()
	if err != nil {
		return credits.Receipt{}, err
	}
	<-t.done
	if t.err != nil {
		return credits.Receipt{}, t.err
	}
	return r, nil
}

// Grant implements [credits.Granter].
func (l *Ledger) Grant(ctx context.Context, account string, n int64, reason string) (balance int64, err error) {
	return l.Give(ctx, credits.Gift{Account: account, Kind: credits.Granted, Amount: n, Reason: reason})
}

// Refund implements [credits.Granter].
func (l *Ledger) Refund(
	ctx context.Context, account string, n int64, requestID, reason string,
) (balance int64, err error) {
	return l.Give(ctx, credits.Gift{
		Account: account, Kind: credits.Refunded, Amount: n, RequestID: requestID, Reason: reason,
	})
}

// Give implements [credits.Granter].
func (l *Ledger) Give(ctx context.Context, g credits.Gift) (balance int64, err error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	e, err := g.Entry()
	if err != nil {
		return 0, err
	}
	given := false // whether an earlier call has written it
	l.mu.Lock()
	b := l.cache.queue(e.Account)
	l.mu.Unlock()
	t := &task{
		apply: func(w *writer) (err error) {
			e.At = w.now()
			if given, err = w.given(b, e); !given && err == nil {
				e, err = w.append(b, e)
			}
			return err
		},
		finish: func(err error) {
			l.mu.Lock()
			defer l.mu.Unlock()
			if err == nil && !given {
				l.cache.written(b, e)
			}
			l.cache.unqueue(b)
			balance = l.free(b)
		},
	}
	if err := l.file.announce(func() error { return l.file.writer.do(t) }); err != nil {
		return 0, err
	}
	return balance, nil
}

// Balance implements [credits.Ledger]. With Config.Admin the holds of the process that serves are not included.
func (l *Ledger) Balance(ctx context.Context, account string) (int64, error) {
	if l.file.cfg.Admin { // the process that serves may charge at any time
		f, err := l.read(ctx, epoch{}, credits.Spender{Account: account})
		return f.last.Balance, err
	}
	epoch, err := l.file.epoch()
	if err != nil {
		return 0, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	b, err := l.open(ctx, epoch, credits.Spender{Account: account})
	if err != nil {
		return 0, err
	}
	l.holds.Expire(l.file.cfg.Now())
	return l.free(b), nil
}

// free returns what an account can spend. It is 0, and not less, where another process has reversed a grant whose
// credits are held. The caller holds the lock.
func (l *Ledger) free(b *cached) int64 { return max(0, b.balance-l.holds.Of(b.account)) }
