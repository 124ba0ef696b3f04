package sqlite

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"

	"github.com/socialdata/socialdata/credits"
	"github.com/socialdata/socialdata/store/bookkeeping"
)

// books is what is remembered of the accounts that were used last. The ledger's lock guards it.
type books struct {
	pinned map[string]*book // those that somebody needs now; they are not forgotten
	idle   *simplelru.LRU[string, *book]
	spent  *simplelru.LRU[spender, credits.Spent] // of keys with a cap
}

type spender struct{ account, key string }

// book is what is remembered of one account.
type book struct {
	account string
	no      int64

	// Under the ledger's lock:
	pins    int   // those who need it now
	queued  int   // tasks of it in the writer's queue
	writes  int64 // entries written since it is remembered
	balance int64 // sum of the entries
	epoch   epoch // when balance was read
	loaded  bool

	// Of the writer's goroutine, while something is queued:
	last    credits.Entry // only its Seq, Balance, At and Hash
	version int64         // the writer's when last was read
}

func newBooks(accounts, keys int) *books {
	// NewLRU fails on a size below 1 only.
	idle, _ := simplelru.NewLRU[string, *book](accounts, nil)
	spent, _ := simplelru.NewLRU[spender, credits.Spent](keys, nil)
	return &books{pinned: map[string]*book{}, idle: idle, spent: spent}
}

// get returns the account's book when it is remembered.
func (s *books) get(account string) (*book, bool) {
	if b, ok := s.pinned[account]; ok {
		return b, true
	}
	return s.idle.Get(account)
}

// pin returns the account's book, which may not be loaded yet, and keeps it until unpin.
func (s *books) pin(account string) *book {
	b, ok := s.get(account)
	if !ok {
		b = &book{account: account}
	}
	if b.pins++; b.pins == 1 {
		s.idle.Remove(account)
		s.pinned[account] = b
	}
	return b
}

func (s *books) unpin(b *book) {
	if b.pins--; b.pins > 0 {
		return
	}
	delete(s.pinned, b.account)
	if b.loaded {
		s.idle.Add(b.account, b)
	}
}

// queue pins the account's book for a task of the writer.
func (s *books) queue(account string) *book {
	b := s.pin(account)
	b.queued++
	return b
}

func (s *books) unqueue(b *book) {
	b.queued--
	s.unpin(b)
}

// written takes note of an entry that is durable now. One without a Kind was not written, and says what the balance is.
func (s *books) written(b *book, e credits.Entry) {
	b.writes++
	b.balance = e.Balance
	who := spender{b.account, e.Key}
	if spent, ok := s.spent.Peek(who); ok && e.Kind == credits.Charged {
		s.spent.Add(who, spent.Add(-e.Amount, e.Time()))
	}
}

// open returns the book of the account that pays, as true as the file was in epoch, with what its key has spent when the
// key has a cap. The lock is held when it is called and when it returns, but not all the time.
func (l *Ledger) open(ctx context.Context, epoch epoch, who credits.Spender) (*book, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if b, ok := l.books.get(who.Account); ok && l.current(b, epoch, who) {
		return b, nil
	}
	b := l.books.pin(who.Account)
	defer l.books.unpin(b)
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

// current tells whether b is as true as the file was in epoch.
func (l *Ledger) current(b *book, epoch epoch, who credits.Spender) bool {
	return b.loaded && b.epoch == epoch && (!capped(who) || l.books.spent.Contains(spender{who.Account, who.Key}))
}

// loadNow reads beside the writer. What it read counts if no entry was written meanwhile.
func (l *Ledger) loadNow(ctx context.Context, b *book, epoch epoch, who credits.Spender) error {
	writes := b.writes
	l.mu.Unlock()
	f, err := l.read(ctx, epoch, who)
	l.mu.Lock()
	switch {
	case err != nil:
		return err
	case b.queued > 0 || b.writes != writes:
		return nil // try again
	}
	b.no, b.balance, b.epoch, b.loaded = f.no, f.last.Balance, epoch, true
	b.last, b.version = f.last, f.version // nobody uses them while nothing is queued
	if !capped(who) {
		return nil
	}
	if !f.tracked {
		return l.loadQueued(epoch, who)
	}
	l.books.spent.Add(spender{who.Account, who.Key}, f.spent)
	return nil
}

// found is what file and tail have of an account and one of its keys.
type found struct {
	no      int64
	last    credits.Entry // only its Seq, Balance, At and Hash
	spent   credits.Spent
	tracked bool  // whether the file keeps count of what the key spends
	version int64 // the writer's, before all this was read
}

const selectFound = `
	SELECT a.no, e.seq, e.balance, e.at, e.hash, s.total, s.day, s.today
	FROM accounts a
		LEFT JOIN entries e ON e.account = a.no AND e.seq = (SELECT max(seq) FROM entries WHERE account = a.no)
		LEFT JOIN spending s ON s.account = a.no AND s.key = ?
	WHERE a.id = ?`

// read reads beside the writer, with what other processes had written in epoch.
func (l *Ledger) read(ctx context.Context, epoch epoch, who credits.Spender) (f found, err error) {
	if err := l.sync(epoch); err != nil {
		return f, err
	}
	f.version = l.db.writer.version.Load()
	tail := l.db.writer.tail.of(who.Account)
	var seq, balance, at, total, day, today *int64
	var hash []byte
	err = l.reading.found.QueryRowContext(ctx, who.Key, who.Account).Scan(
		&f.no, &seq, &balance, &at, &hash, &total, &day, &today)
	if errors.Is(err, sql.ErrNoRows) {
		return f, credits.ErrUnknownAccount
	}
	if err != nil {
		return f, explain(err)
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

// spentBy returns what key has spent after e, if it has spent so much before.
func (e *insert) spentBy(key string, spent credits.Spent) credits.Spent {
	if e.Kind != credits.Charged || e.Key != key {
		return spent
	}
	return spent.Add(-e.Amount, e.Time())
}

// sync brings the tail up to what other processes had written in epoch.
func (l *Ledger) sync(epoch epoch) error {
	l.mu.Lock()
	known := l.synced == epoch && !l.db.cfg.Admin // whoever serves tells nobody of its charges
	l.mu.Unlock()
	if known {
		return nil
	}
	if err := l.db.writer.do(&task{outside: true, apply: (*writer).notice}); err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.synced = epoch
	return nil
}

// tail returns the account's entries that are not folded, oldest first.
func (l *Ledger) tail(account string) ([]*insert, error) {
	epoch, err := l.db.lock.epoch()
	if err == nil {
		err = l.sync(epoch)
	}
	if err != nil {
		return nil, err
	}
	return l.db.writer.tail.of(account), nil
}

// loadQueued reads on the writer's goroutine, where nothing is written meanwhile, and starts to keep count of what the
// key spends.
func (l *Ledger) loadQueued(epoch epoch, who credits.Spender) error {
	b := l.books.queue(who.Account)
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
					l.books.spent.Add(spender{who.Account, who.Key}, spent)
				}
			}
			l.books.unqueue(b)
		},
	}
	l.mu.Unlock()
	err := l.db.writer.do(t)
	l.mu.Lock()
	return err
}

// load reads what the writer must know of an account, unless it knows it already.
func (w *writer) load(b *book) error {
	version := w.version.Load()
	if b.version == version {
		return nil
	}
	if b.no == 0 {
		no, err := w.c.number("SELECT no FROM accounts WHERE id = ?", b.account)
		if err != nil {
			return err
		}
		if no == 0 {
			return refusal{credits.ErrUnknownAccount}
		}
		b.no = no
	}
	if tail := w.tail.of(b.account); len(tail) > 0 {
		b.last = bookkeeping.Head(tail[len(tail)-1].Entry)
	} else {
		last, err := lastEntry(w.c, b.no)
		if err != nil {
			return err
		}
		b.last = last
	}
	b.version = version
	return nil
}

// lastEntry returns what the account's next entry follows: the zero Entry when it has none.
func lastEntry(c *conn, account int64) (credits.Entry, error) {
	var v [4]driver.Value
	found, err := c.row(
		"SELECT seq, balance, at, hash FROM entries WHERE account = ? ORDER BY seq DESC LIMIT 1", v[:], account)
	if err != nil || !found {
		return credits.Entry{}, err
	}
	e := credits.Entry{Seq: value[int64](v[0]), Balance: value[int64](v[1]), At: fromMicros(value[int64](v[2]))}
	copy(e.Hash[:], value[[]byte](v[3]))
	return e, nil
}

// charge writes the entry of a charge. When its idempotency key forbids it, the entry has no Kind and the amount of
// the earlier charge.
func (w *writer) charge(b *book, h credits.Hold, c credits.Charge) (credits.Entry, error) {
	if err := w.load(b); err != nil {
		return credits.Entry{}, err
	}
	now := w.now()
	if c.IdempotencyKey != "" {
		earlier, found, err := w.chargedBefore(b, c.IdempotencyKey, now)
		if err != nil || found {
			return credits.Entry{Balance: b.last.Balance, Amount: -earlier}, err
		}
	}
	return w.append(b, c.Entry(h, now))
}

// append writes e as the account's next entry and returns it.
func (w *writer) append(b *book, e credits.Entry) (credits.Entry, error) {
	if err := w.load(b); err != nil {
		return e, err
	}
	e = e.Next(b.last)
	switch {
	case e.Balance < 0:
		return e, refusal{credits.ErrInsufficient} // only if another process has charged
	case e.Balance > credits.MaxBalance:
		return e, refusal{fmt.Errorf("%w: a balance of %d", credits.ErrAmount, e.Balance)}
	case e.Amount > 0:
		if err := w.fits(e.Amount); err != nil {
			return e, err
		}
	}
	if err := w.full(); err != nil {
		return e, refusal{err}
	}
	w.pending = append(w.pending, insert{b.no, e})
	if e.IdempotencyKey != "" {
		w.keyed[keyed{b.no, e.IdempotencyKey}] = -e.Amount
	}
	b.last = bookkeeping.Head(e)
	return e, nil
}

// maxTotal is the highest sum of all balances, in credits: what SQLite can count, with room to spare.
const maxTotal = 1 << 62

// fits refuses n credits more when the file could not count them.
func (w *writer) fits(n int64) error {
	total, err := w.c.number("SELECT credits FROM totals")
	total += w.inserts.credits + w.tail.credits
	for i := range w.pending {
		total += w.pending[i].Amount
	}
	if err == nil && n > maxTotal-total {
		err = refusal{fmt.Errorf("%w: %d credits more than all accounts have, %d", credits.ErrAmount, n, total)}
	}
	return err
}

// track returns what a key has spent and sees to it that the count is kept from now on. For a key that was not made
// with a cap it reads the account's entries, once.
func (w *writer) track(b *book, key string) (spent credits.Spent, err error) {
	kept, err := w.spent(b.no, key)
	switch {
	case err != nil:
		return spent, err
	case kept != nil:
		spent = *kept
	default:
		if spent, err = spentBefore(w.c, b.no, key); err != nil {
			return spent, err
		}
		_, err = w.c.exec("INSERT INTO spending VALUES (?, ?, ?, ?, ?)", b.no, key, spent.Total, spent.Day, spent.Today)
	}
	for _, e := range w.tail.of(b.account) {
		spent = e.spentBy(key, spent)
	}
	return spent, err
}

// spentBefore adds up what a key has spent from the table of entries.
func spentBefore(c *conn, account int64, key string) (spent credits.Spent, err error) {
	var v [2]driver.Value
	err = c.each(`
		SELECT -amount, coalesce(clock, at) FROM entries WHERE account = ? AND key = ? AND kind = 'charge' ORDER BY seq`,
		v[:], func() { spent = spent.Add(value[int64](v[0]), fromMicros(value[int64](v[1]))) }, account, key)
	return spent, err
}

func fromMicros(n int64) time.Time { return time.UnixMicro(n).UTC() }
