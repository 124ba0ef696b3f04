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

// Ledger is the books in the file. Holds are in memory: only the process that serves the file makes them.
type Ledger struct {
	db      *DB
	reading readStatements

	mu       sync.Mutex
	holds    *credits.Holds
	settling map[string]*task // by hold
	books    *books
}

var _ credits.Ledger = (*Ledger)(nil)

func newLedger(ctx context.Context, db *DB) (*Ledger, error) {
	l := &Ledger{
		db:       db,
		holds:    credits.NewHolds(db.cfg.Now()),
		settling: map[string]*task{},
		books:    newBooks(db.cfg.CachedAccounts, db.cfg.CachedKeys),
	}
	return l, l.reading.prepare(ctx, db.read)
}

// readStatements are the reads of the ledger, prepared once.
type readStatements struct{ balance, spent, charged *sql.Stmt }

func (s *readStatements) prepare(ctx context.Context, pool *sql.DB) error {
	var errs [3]error
	s.balance, errs[0] = pool.PrepareContext(ctx, `
		SELECT a.no, coalesce((SELECT balance FROM entries WHERE account = a.no ORDER BY seq DESC LIMIT 1), 0)
		FROM accounts a WHERE a.id = ?`)
	s.spent, errs[1] = pool.PrepareContext(ctx,
		`SELECT total, day, today FROM spending WHERE account = ? AND key = ?`)
	s.charged, errs[2] = pool.PrepareContext(ctx, `SELECT 1 FROM entries WHERE hold = ? AND hold <> ''`)
	return errors.Join(errs[:]...)
}

// Reserve implements [credits.Ledger]. It fails with ErrAdmin when the file was opened for administration.
func (l *Ledger) Reserve(
	ctx context.Context, who credits.Spender, ttl time.Duration, amounts ...int64,
) ([]credits.Hold, error) {
	if l.db.cfg.Admin {
		return nil, ErrAdmin
	}
	sum, err := credits.Sum(amounts)
	if err != nil {
		return nil, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	b, err := l.open(ctx, who)
	if err != nil {
		return nil, err
	}
	now := l.db.cfg.Now()
	l.holds.Expire(now)
	if sum > b.balance-l.holds.Of(who.Account) {
		return nil, credits.ErrInsufficient
	}
	if capped(who) {
		spent, _ := l.books.spent.Get(spender{who.Account, who.Key})
		if err := spent.Room(who, l.holds.OfKey(who.Account, who.Key), sum, now); err != nil {
			return nil, err
		}
	}
	return l.holds.Open(who, now.Add(ttl), amounts), nil
}

func capped(who credits.Spender) bool {
	return who.Key != "" && (who.DayCap != nil || who.TotalCap != nil)
}

// Settle implements [credits.Ledger]. Once the charge is on its way it waits for the disk whatever becomes of ctx.
func (l *Ledger) Settle(ctx context.Context, h credits.Hold, c credits.Charge) (balance int64, err error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	l.mu.Lock()
	held, begun, err := l.holds.Begin(h.ID, c.Amount, l.db.cfg.Now())
	switch {
	case err != nil:
		l.mu.Unlock()
		if errors.Is(err, credits.ErrExpired) {
			return l.settledBefore(ctx, h)
		}
		return 0, err
	case begun && c.Amount > 0:
		return l.charge(held, c)
	case begun:
		l.holds.End(h.ID)
	}
	other := l.settling[h.ID]
	l.mu.Unlock()
	if other != nil {
		<-other.done
		if other.err != nil {
			return 0, other.err
		}
	}
	return l.Balance(ctx, held.Spender.Account)
}

// settledBefore answers for a hold that memory does not know: it has run out, or it was settled long ago or by the
// process before this one.
func (l *Ledger) settledBefore(ctx context.Context, h credits.Hold) (int64, error) {
	var one int
	err := l.reading.charged.QueryRowContext(ctx, h.ID).Scan(&one)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, credits.ErrExpired
	}
	if err != nil {
		return 0, explain(err)
	}
	return l.Balance(ctx, h.Spender.Account)
}

// charge queues the charge and waits until it is durable. It is called with the lock held, and lets go of it.
func (l *Ledger) charge(h credits.Hold, c credits.Charge) (balance int64, err error) {
	b := l.books.queue(h.Spender.Account)
	var e credits.Entry
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
			l.holds.End(h.ID)
			l.books.written(b, e)
		}
		l.books.unqueue(b)
		balance = b.balance - l.holds.Of(b.account)
	}
	l.settling[h.ID] = t
	err = l.db.writer.submit(t)
	if err != nil {
		delete(l.settling, h.ID)
		l.holds.Reopen(h.ID)
		l.books.unqueue(b)
	}
	l.mu.Unlock()
	if err != nil {
		return 0, err
	}
	<-t.done
	return balance, t.err
}

// Grant gives account n credits, for a reason, and returns what it can spend. It fails with ErrAmount unless n is
// positive, and with ErrUnknownAccount.
func (l *Ledger) Grant(ctx context.Context, account string, n int64, reason string) (balance int64, err error) {
	return l.give(ctx, credits.Entry{Account: account, Kind: credits.Granted, Amount: n, Reason: reason})
}

// Refund gives account back n credits of an earlier request and returns what it can spend. It fails with ErrAmount
// unless n is positive, and with ErrUnknownAccount.
func (l *Ledger) Refund(
	ctx context.Context, account string, n int64, requestID, reason string,
) (balance int64, err error) {
	return l.give(ctx, credits.Entry{
		Account: account, Kind: credits.Refunded, Amount: n, RequestID: requestID, Reason: reason,
	})
}

func (l *Ledger) give(ctx context.Context, e credits.Entry) (balance int64, err error) {
	if e.Amount <= 0 || e.Amount > credits.MaxBalance {
		return 0, fmt.Errorf("%w: a %s of %d", credits.ErrAmount, e.Kind, e.Amount)
	}
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	l.mu.Lock()
	b := l.books.queue(e.Account)
	l.mu.Unlock()
	err = l.db.writer.do(&task{
		apply: func(w *writer) (err error) {
			e.At = w.now()
			e, err = w.append(b, e)
			return err
		},
		finish: func(err error) {
			l.mu.Lock()
			defer l.mu.Unlock()
			if err == nil {
				l.books.written(b, e)
			}
			l.books.unqueue(b)
			balance = b.balance - l.holds.Of(b.account)
		},
	})
	if err != nil {
		return 0, err
	}
	if l.db.cfg.Admin {
		return balance, l.db.lock.advance() // the server remembers the balance from before
	}
	return balance, nil
}

// Balance implements [credits.Ledger]. With Config.Admin it knows nothing of the holds of the process that serves.
func (l *Ledger) Balance(ctx context.Context, account string) (int64, error) {
	if l.db.cfg.Admin {
		return l.balance(ctx, account)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	b, err := l.open(ctx, credits.Spender{Account: account})
	if err != nil {
		return 0, err
	}
	l.holds.Expire(l.db.cfg.Now())
	return b.balance - l.holds.Of(account), nil
}

// balance reads the balance from the file, which another process may charge at any time.
func (l *Ledger) balance(ctx context.Context, account string) (balance int64, err error) {
	var no int64
	err = l.reading.balance.QueryRowContext(ctx, account).Scan(&no, &balance)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, credits.ErrUnknownAccount
	}
	return balance, explain(err)
}
