package sqlite

import (
	"context"
	"errors"

	"github.com/socialdata/socialdata/credits"
)

// Reverse implements [credits.Granter]. With Config.Admin the holds of the process that serves are not included in what
// the account can spend: a call whose price is no longer covered then fails, and is not charged.
func (l *Ledger) Reverse(ctx context.Context, account string, seq int64, reason string) (credits.Reversal, error) {
	if err := ctx.Err(); err != nil {
		return credits.Reversal{}, err
	}
	l.reversing.Lock()
	defer l.reversing.Unlock()
	e, err := l.reverse(account, seq, reason, nil)
	earlier := e.Seq != 0
	if err == nil && !earlier {
		var release func()
		if release, err = l.take(ctx, e); err == nil {
			e, err = l.reverse(account, seq, reason, release)
		}
	}
	if err != nil {
		return credits.Reversal{}, err
	}
	entries, err := l.Entries(ctx, credits.Query{Account: account, Before: e.Seq + 1, Limit: 1})
	if err != nil {
		return credits.Reversal{}, err
	}
	balance, err := l.Balance(ctx, account)
	return credits.Reversal{Entry: entries[0], Balance: balance, Earlier: earlier}, err
}

// take holds the credits that the reversal e takes, until release is called.
func (l *Ledger) take(ctx context.Context, e credits.Entry) (release func(), err error) {
	if l.file.cfg.Admin { // there are no holds
		return func() {}, nil
	}
	epoch, err := l.file.epoch()
	if err != nil {
		return nil, err
	}
	who := credits.Spender{Account: e.Account}
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.room(ctx, epoch, who, -e.Amount); errors.Is(err, credits.ErrInsufficient) {
		free := int64(0)
		if b, ok := l.cache.get(e.Account); ok {
			free = l.free(b)
		}
		return nil, e.Covered(min(free, -e.Amount-1)) // another process may have granted more meanwhile
	} else if err != nil {
		return nil, err
	}
	now := l.file.cfg.Now()
	l.holds.OpenAs(e.Hold, who, now.Add(credits.LateFor), -e.Amount)
	_, _, err = l.holds.Begin(e.Hold, -e.Amount, now) // so that it does not expire
	return func() { l.holds.End(e.Hold, 0, true) }, err
}

// reverse finds the reversal of the account's grant with that seq. With release it writes the reversal, if there is
// none, and calls release, with the lock held, when that is decided. A reversal that was not written has no Seq.
func (l *Ledger) reverse(account string, seq int64, reason string, release func()) (e credits.Entry, err error) {
	l.mu.Lock()
	b := l.cache.queue(account)
	l.mu.Unlock()
	written := false
	t := &task{
		apply: func(w *writer) (err error) {
			written = false
			if e, err = w.reversal(b, seq, reason); err != nil || e.Seq != 0 || release == nil {
				return err
			}
			if err := e.Covered(b.last.Balance); err != nil {
				return refusal{err}
			}
			e.At, written = w.now(), true
			e, err = w.append(b, e)
			return err
		},
		finish: func(err error) {
			l.mu.Lock()
			defer l.mu.Unlock()
			if err == nil && written {
				l.cache.written(b, e)
			}
			if release != nil {
				release()
			}
			l.cache.unqueue(b)
		},
	}
	do := func() error { return l.file.writer.do(t) }
	if release == nil {
		err = do()
	} else {
		err = l.file.announce(do)
	}
	return e, err
}
