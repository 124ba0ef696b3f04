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

	// Of the writer's goroutine:
	last    credits.Entry // only its Seq, Balance, At and Hash
	tracks  bool          // whether a key of the account has a row in spending
	version int64         // the writer's when last and tracks were read
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

// open returns the book of the account that pays, as true as the file at the time of the call, with what its key has
// spent when the key has a cap. The lock is held when it returns, but not all the time.
func (l *Ledger) open(ctx context.Context, who credits.Spender) (*book, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	epoch, err := l.db.lock.epoch()
	if err != nil {
		return nil, err
	}
	if b, ok := l.books.get(who.Account); ok && l.current(b, epoch, who) {
		return b, nil
	}
	b := l.books.pin(who.Account)
	defer l.books.unpin(b)
	for !l.current(b, epoch, who) {
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
	var (
		no, balance int64
		spent       credits.Spent
	)
	err := l.reading.balance.QueryRowContext(ctx, who.Account).Scan(&no, &balance)
	if errors.Is(err, sql.ErrNoRows) {
		err = credits.ErrUnknownAccount
	}
	tracked := false
	if err == nil && capped(who) {
		err = l.reading.spent.QueryRowContext(ctx, no, who.Key).Scan(&spent.Total, &spent.Day, &spent.Today)
		tracked = err == nil
		if errors.Is(err, sql.ErrNoRows) {
			err = nil
		}
	}
	l.mu.Lock()
	switch {
	case err != nil:
		return explain(err)
	case b.queued > 0 || b.writes != writes:
		return nil // try again
	}
	b.no, b.balance, b.epoch, b.loaded = no, balance, epoch, true
	b.version = 0
	if tracked {
		l.books.spent.Add(spender{who.Account, who.Key}, spent)
		return nil
	}
	if capped(who) {
		return l.loadQueued(epoch, who)
	}
	return nil
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
	if b.version == w.version {
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
	last, err := lastEntry(w.c, b.no)
	if err != nil {
		return err
	}
	tracks, err := w.c.number("SELECT EXISTS (SELECT 1 FROM spending WHERE account = ?)", b.no)
	if err != nil {
		return err
	}
	b.last, b.tracks, b.version = last, tracks != 0, w.version
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
		earlier, found, err := w.chargedBefore(b.no, c.IdempotencyKey, now)
		if err != nil || found {
			return credits.Entry{Balance: b.last.Balance, Amount: -earlier}, err
		}
	}
	e, err := w.append(b, c.Entry(h, now))
	if err == nil && e.Key != "" && b.tracks {
		_, err = w.c.exec(`
			UPDATE spending SET
				total = total + ?3,
				today = CASE WHEN day IN (?4, ?4 + 1) THEN today + ?3 ELSE ?3 END,
				day = CASE day WHEN ?4 + 1 THEN day ELSE ?4 END
			WHERE account = ?1 AND key = ?2`, b.no, e.Key, c.Amount, credits.Day(e.Time()))
	}
	return e, err
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
	if err := w.insert(b.no, e); err != nil {
		return e, err
	}
	b.last = credits.Entry{Seq: e.Seq, Balance: e.Balance, At: e.At, Hash: e.Hash}
	return e, nil
}

// maxTotal is the highest sum of all balances, in credits: what SQLite can count, with room to spare.
const maxTotal = 1 << 62

// fits refuses n credits more when the file could not count them.
func (w *writer) fits(n int64) error {
	total, err := w.c.number("SELECT credits FROM totals")
	if err == nil && n > maxTotal-total-w.inserts.credits {
		err = refusal{fmt.Errorf("%w: %d credits more than all accounts have, %d", credits.ErrAmount, n, total)}
	}
	return err
}

// track returns what a key has spent and sees to it that the count is kept from now on. For a key that was not made
// with a cap it reads the account's entries, once.
func (w *writer) track(b *book, key string) (credits.Spent, error) {
	var v [3]driver.Value
	found, err := w.c.row("SELECT total, day, today FROM spending WHERE account = ? AND key = ?", v[:], b.no, key)
	if err != nil {
		return credits.Spent{}, err
	}
	if found {
		return credits.Spent{Total: value[int64](v[0]), Day: value[int64](v[1]), Today: value[int64](v[2])}, nil
	}
	spent, err := spentBefore(w.c, b.no, key)
	if err != nil {
		return spent, err
	}
	_, err = w.c.exec("INSERT INTO spending VALUES (?, ?, ?, ?, ?)", b.no, key, spent.Total, spent.Day, spent.Today)
	b.tracks = true
	return spent, err
}

// spentBefore adds up what a key has spent from the entries.
func spentBefore(c *conn, account int64, key string) (spent credits.Spent, err error) {
	var v [2]driver.Value
	err = c.each(`
		SELECT -amount, coalesce(clock, at) FROM entries WHERE account = ? AND key = ? AND kind = 'charge' ORDER BY seq`,
		v[:], func() { spent = spent.Add(value[int64](v[0]), fromMicros(value[int64](v[1]))) }, account, key)
	return spent, err
}

func fromMicros(n int64) time.Time { return time.UnixMicro(n).UTC() }
