package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/socialdata/socialdata/credits"
	"github.com/socialdata/socialdata/internal/groupcommit"
)

// Ledger is the ledger in a database. The calls of all callers share transactions: each locks the accounts concerned,
// loads what the rule needs to know of them, lets it decide one call after the other ([credits.State]), and stores what
// was decided.
type Ledger struct {
	db    *DB
	queue *groupcommit.Queue[*call]
}

var (
	_ credits.Charger = (*Ledger)(nil)
	_ credits.Checker = (*Ledger)(nil)
	_ credits.Granter = (*Ledger)(nil)
)

// maxCalls is how many calls share a transaction at most.
const maxCalls = 256

// call is what a caller waits for.
type call struct {
	account string
	needs   func(n *needs, a *loaded, now time.Time)
	decide  func(s *credits.State, now time.Time) error // sets the result of the call
	err     error
	state   atomic.Int32
	done    chan struct{}
}

// The states of a call.
const (
	queued = iota
	taken
	withdrawn
)

func newLedger(db *DB) *Ledger {
	l := &Ledger{db: db}
	l.queue = groupcommit.New(groupcommit.Config[*call]{Most: maxCalls, Gather: true, Commit: l.commit, Done: finish})
	return l
}

func finish(calls []*call, err error) {
	for _, c := range calls {
		if err != nil {
			c.err = err
		}
		close(c.done)
	}
}

func (l *Ledger) close() { l.queue.Close() }

// commit decides calls in one transaction.
func (l *Ledger) commit(calls []*call, _ func(int) []*call) (all []*call, failed int, err error) {
	var live []*call
	for _, c := range calls {
		if c.state.CompareAndSwap(queued, taken) || c.state.Load() == taken { // taken before: the transaction is repeated
			live = append(live, c)
		}
	}
	if len(live) == 0 {
		return calls, groupcommit.All, nil
	}
	err = l.db.write(context.Background(), func(t tx) error {
		g, err := load(t, live)
		if err != nil {
			return err
		}
		for _, c := range live {
			if a := g.accounts[c.account]; a == nil {
				c.err = credits.ErrUnknownAccount
			} else {
				c.err = c.decide(a.State, g.now)
			}
		}
		return g.save(t)
	})
	if err == nil || !l.db.dialect.Exists(err) {
		return calls, groupcommit.All, err
	}
	return calls, groupcommit.One, err
}

// do decides a call. If ctx ends before that has begun, the call is withdrawn; later, its result is unknown.
func (l *Ledger) do(ctx context.Context, c *call) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	c.done = make(chan struct{})
	if l.queue.Submit(c) != nil {
		return ErrClosed
	}
	select {
	case <-c.done:
		return c.err
	case <-ctx.Done():
	}
	if c.state.CompareAndSwap(queued, withdrawn) {
		return ctx.Err()
	}
	select { // it is under way, and few transactions take long
	case <-c.done:
		return c.err
	case <-time.After(l.db.cfg.CommitWait):
		return fmt.Errorf("%w: %w", ErrUnsure, ctx.Err())
	}
}

// Reserve implements [credits.Ledger].
func (l *Ledger) Reserve(
	ctx context.Context, who credits.Spender, ttl time.Duration, amounts ...int64,
) ([]credits.Hold, error) {
	sum, err := credits.Sum(amounts)
	if err != nil {
		return nil, err
	}
	holds := make([]credits.Hold, len(amounts))
	for i, n := range amounts {
		holds[i] = credits.Hold{ID: credits.NewID(""), Amount: n}
	}
	err = l.do(ctx, &call{
		account: who.Account,
		needs:   func(n *needs, a *loaded, _ time.Time) { n.spender(a, who) },
		decide: func(s *credits.State, now time.Time) error {
			return s.Reserve(who, sum, holds, now.Add(ttl), now)
		},
	})
	if err != nil {
		return nil, err
	}
	return holds, nil
}

// Check implements [credits.Checker].
func (l *Ledger) Check(ctx context.Context, who credits.Spender, amount int64) error {
	if _, err := credits.Sum([]int64{amount}); err != nil {
		return err
	}
	return l.do(ctx, &call{
		account: who.Account,
		needs:   func(n *needs, a *loaded, _ time.Time) { n.spender(a, who) },
		decide:  func(s *credits.State, now time.Time) error { return s.Check(who, amount, now) },
	})
}

// Settle implements [credits.Ledger].
func (l *Ledger) Settle(ctx context.Context, h credits.Hold, c credits.Charge) (r credits.Receipt, err error) {
	if err := c.Check(); err != nil {
		return r, err
	}
	if !storable(h.ID) {
		return r, credits.ErrExpired
	}
	var decided credits.Receipt
	err = l.do(ctx, &call{
		account: h.Spender.Account,
		needs: func(n *needs, a *loaded, _ time.Time) {
			n.spender(a, h.Spender)
			n.charge(a, c)
			n.entryOf(h.ID)
			n.holds.add(h.ID)
		},
		decide: func(s *credits.State, now time.Time) (err error) {
			decided, err = s.Settle(h, c, now)
			return err
		},
	})
	if err != nil {
		return r, err
	}
	return decided, nil
}

// Charge implements [credits.Charger].
func (l *Ledger) Charge(ctx context.Context, who credits.Spender, c credits.Charge) (r credits.Receipt, err error) {
	if _, err := credits.Sum([]int64{c.Amount}); err != nil {
		return r, err
	}
	if err := c.Check(); err != nil {
		return r, err
	}
	if c.ID == "" {
		c.ID = credits.NewID(c.RequestID)
	}
	var decided credits.Receipt
	err = l.do(ctx, &call{
		account: who.Account,
		needs: func(n *needs, a *loaded, _ time.Time) {
			n.spender(a, who)
			n.charge(a, c)
		},
		decide: func(s *credits.State, now time.Time) (err error) {
			decided, err = s.Charge(credits.Hold{ID: c.ID, Spender: who}, c, now)
			return err
		},
	})
	if err != nil {
		return r, err
	}
	return decided, nil
}

// Grant implements [credits.Granter].
func (l *Ledger) Grant(ctx context.Context, account string, n int64, reason string) (int64, error) {
	return l.Give(ctx, credits.Gift{Account: account, Kind: credits.Granted, Amount: n, Reason: reason})
}

// Refund implements [credits.Granter].
func (l *Ledger) Refund(ctx context.Context, account string, n int64, requestID, reason string) (int64, error) {
	return l.Give(ctx, credits.Gift{
		Account: account, Kind: credits.Refunded, Amount: n, RequestID: requestID, Reason: reason,
	})
}

// Give implements [credits.Granter].
func (l *Ledger) Give(ctx context.Context, g credits.Gift) (balance int64, err error) {
	e, err := g.Entry()
	if err != nil {
		return 0, err
	}
	if err := l.db.fits(ctx, e.Amount); err != nil {
		return 0, err
	}
	var decided int64
	err = l.do(ctx, &call{
		account: e.Account,
		needs: func(n *needs, a *loaded, _ time.Time) {
			if e.Hold != "" {
				n.entryOf(e.Hold)
			}
			if e.RequestID != "" && e.Kind == credits.Refunded {
				n.refund(a, e.RequestID)
			}
		},
		decide: func(s *credits.State, now time.Time) (err error) {
			decided, err = s.Give(e, now)
			return err
		},
	})
	if err != nil {
		return 0, err
	}
	return decided, nil
}

// maxTotal is the highest sum of all balances, in credits: it can be added up in 64 bits, with a wide margin.
const maxTotal = 1 << 62

// fits returns ErrAmount when the sum of all balances cannot grow by n.
func (db *DB) fits(ctx context.Context, n int64) error {
	total, err := one(ctx, db, scanOne[int64], "SELECT CAST(coalesce(sum(balance), 0) AS {int}) FROM @accounts")
	if err == nil && total > maxTotal-n {
		err = fmt.Errorf("%w: all accounts would have more than %d credits", credits.ErrAmount, int64(maxTotal))
	}
	return err
}

// Reverse implements [credits.Granter].
func (l *Ledger) Reverse(ctx context.Context, account string, seq int64, reason string) (credits.Reversal, error) {
	var decided credits.Reversal
	err := l.do(ctx, &call{
		account: account,
		needs: func(n *needs, a *loaded, _ time.Time) {
			n.grants.add(a.no, seq)
			n.entryOf(credits.ReversalHold(account, seq))
		},
		decide: func(s *credits.State, now time.Time) (err error) {
			decided, err = s.Reverse(seq, reason, now)
			return err
		},
	})
	if err != nil {
		return credits.Reversal{}, err
	}
	if decided.Earlier { // of which only the number is loaded
		found, err := l.Entries(ctx, credits.Query{Account: account, Before: decided.Entry.Seq + 1, Limit: 1})
		if err != nil || len(found) == 0 {
			return credits.Reversal{}, errors.Join(err, sql.ErrNoRows)
		}
		decided.Entry = found[0]
	}
	return decided, nil
}

// Balance implements [credits.Ledger].
func (l *Ledger) Balance(ctx context.Context, account string) (int64, error) {
	balance, err := one(ctx, l.db, scanOne[int64], `
		SELECT balance - (
			SELECT CAST(coalesce(sum(amount), 0) AS {int}) FROM @holds
			WHERE account = no AND charged IS NULL AND expires > `+sqlNow+`
		) FROM @accounts WHERE id = ?`, l.db.clock(), account)
	if errors.Is(err, sql.ErrNoRows) {
		err = credits.ErrUnknownAccount
	}
	return balance, err
}

// sweep removes holds that have expired.
func (l *Ledger) sweep(ctx context.Context) error {
	return l.db.removeAll(ctx, func(t tx) (int64, error) {
		return t.count(`
			DELETE FROM @holds WHERE id IN (
				SELECT id FROM @holds WHERE expires <= `+sqlNow+` ORDER BY id LIMIT ? {skip}
			) RETURNING 1`, l.db.clock(), removedAtOnce)
	})
}

// ReleaseHolds removes all holds. It is for a database that no other process serves, when it is opened: what the
// process before has held is never settled.
func (db *DB) ReleaseHolds(ctx context.Context) error {
	return db.write(ctx, func(t tx) error { return t.exec("DELETE FROM @holds") })
}
