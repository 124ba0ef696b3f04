package sqlite

import (
	"context"
	"database/sql"
	"errors"

	"github.com/socialdata/socialdata/credits"
	"github.com/socialdata/socialdata/store/bookkeeping"
)

// open returns the cached state of the account that pays, no older than epoch. If its key has a cap, it also loads what
// the key has spent. The caller holds the lock, which open releases while it waits.
func (l *Ledger) open(ctx context.Context, epoch epoch, who credits.Spender) (*cached, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if b, ok := l.cache.get(who.Account); ok && l.current(b, epoch, who) {
		return b, nil
	}
	b := l.cache.pin(who.Account)
	defer l.cache.unpin(b)
	for !l.current(b, epoch, who) {
		var err error
		if b.queued > 0 {
			err = l.loadQueued(epoch, who)
		} else {
			err = l.loadNow(ctx, b, epoch, who)
		}
		if err != nil {
			return nil, err
		}
	}
	return b, nil
}

// current reports whether b is no older than epoch.
func (l *Ledger) current(b *cached, epoch epoch, who credits.Spender) bool {
	return b.loaded && b.epoch == epoch && (!capped(who) || l.cache.spent.Contains(spender{who.Account, who.Key}))
}

// loadNow reads in the caller's goroutine. The result is used if no entry was written meanwhile.
func (l *Ledger) loadNow(ctx context.Context, b *cached, epoch epoch, who credits.Spender) error {
	writes := b.writes
	l.mu.Unlock()
	f, err := l.read(ctx, epoch, who)
	l.mu.Lock()
	switch {
	case err != nil:
		return err
	case b.queued > 0 || b.writes != writes:
		return nil // the caller tries again
	}
	b.no, b.balance, b.epoch, b.loaded = f.no, f.last.Balance, epoch, true
	b.last, b.version = f.last, f.version // not used by the writer while nothing is queued
	if !capped(who) {
		return nil
	}
	if !f.tracked {
		return l.loadQueued(epoch, who)
	}
	l.cache.spent.Add(spender{who.Account, who.Key}, f.spent)
	return nil
}

// accountState is what the file and the tail have of an account and of one of its keys.
type accountState struct {
	no      int64
	last    credits.Entry // only its Seq, Balance, At and Hash
	spent   credits.Spent
	tracked bool  // whether the file has a sum of what the key has spent
	version int64 // the writer's version before the reads
}

const selectFound = `
	SELECT a.no, e.seq, e.balance, e.at, e.hash, s.total, s.day, s.today
	FROM accounts a
		LEFT JOIN entries e ON e.account = a.no AND e.seq = (SELECT max(seq) FROM entries WHERE account = a.no)
		LEFT JOIN spending s ON s.account = a.no AND s.key = ?
	WHERE a.id = ?`

// read reads in the caller's goroutine, including what other processes had written in epoch.
func (l *Ledger) read(ctx context.Context, epoch epoch, who credits.Spender) (f accountState, err error) {
	if err := l.sync(epoch); err != nil {
		return f, err
	}
	f.version = l.file.writer.version.Load()
	tail := l.file.writer.tail.of(who.Account)
	var seq, balance, at, total, day, today *int64
	var hash []byte
	err = l.reading.found.QueryRowContext(ctx, who.Key, who.Account).Scan(
		&f.no, &seq, &balance, &at, &hash, &total, &day, &today)
	if errors.Is(err, sql.ErrNoRows) {
		return f, credits.ErrUnknownAccount
	}
	if err != nil {
		return f, l.file.explain(ctx, err)
	}
	if seq != nil {
		f.last = credits.Entry{Seq: *seq, Balance: *balance, At: fromMicros(*at)}
		copy(f.last.Hash[:], hash)
	}
	if f.tracked = total != nil; f.tracked {
		f.spent = credits.Spent{Total: *total, Day: *day, Today: *today}
	}
	for _, e := range tail {
		if e.Seq > f.last.Seq {
			f.last = bookkeeping.Head(e.Entry)
			f.spent = e.spentBy(who.Key, f.spent)
		}
	}
	return f, nil
}

// sync updates the tail to include what other processes had written in epoch.
func (l *Ledger) sync(epoch epoch) error {
	l.mu.Lock()
	known := l.synced == epoch && !l.file.cfg.Admin // a process that serves does not change the epoch when it charges
	l.mu.Unlock()
	if known {
		return nil
	}
	if err := l.file.writer.do(&task{outside: true, apply: (*writer).notice}); err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.synced = epoch
	return nil
}

// tail returns the account's entries that are not folded, oldest first.
func (l *Ledger) tail(account string) ([]*numbered, error) {
	epoch, err := l.file.epoch()
	if err == nil {
		err = l.sync(epoch)
	}
	if err != nil {
		return nil, err
	}
	return l.file.writer.tail.of(account), nil
}

// loadQueued reads in the writer's goroutine, so that nothing is written meanwhile. It also starts to sum what the key
// spends.
func (l *Ledger) loadQueued(epoch epoch, who credits.Spender) error {
	b := l.cache.queue(who.Account)
	var spent credits.Spent
	t := &task{
		alone: true,
		apply: func(w *writer) (err error) {
			if err := w.load(b); err != nil || !capped(who) {
				return err
			}
			spent, err = w.track(b, who.Key)
			return err
		},
		finish: func(err error) {
			l.mu.Lock()
			defer l.mu.Unlock()
			if err == nil {
				b.balance, b.epoch, b.loaded = b.last.Balance, epoch, true
				if capped(who) {
					l.cache.spent.Add(spender{who.Account, who.Key}, spent)
				}
			}
			l.cache.unqueue(b)
		},
	}
	l.mu.Unlock()
	err := l.file.writer.do(t)
	l.mu.Lock()
	return err
}

// readStatements are the prepared statements with which the ledger reads.
type readStatements struct{ found, charged *sql.Stmt }

func (s *readStatements) prepare(ctx context.Context, pool *sql.DB) error {
	var errs [2]error
	s.found, errs[0] = pool.PrepareContext(ctx, selectFound)
	s.charged, errs[1] = pool.PrepareContext(ctx, `SELECT -amount FROM entries WHERE hold = ? AND hold <> ''`)
	return errors.Join(errs[:]...)
}
