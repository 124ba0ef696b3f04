package credits

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sort"
	"sync"
	"time"
)

// Memory is a [Charger] that keeps everything in memory only. If the process ends, so do the holds and the entries.
type Memory struct {
	now func() time.Time

	mu    sync.Mutex
	books map[string]*book
}

var (
	_ Charger = (*Memory)(nil)
	_ Checker = (*Memory)(nil)
	_ Granter = (*Memory)(nil)
)

// book is an account: its whole state, and its entries, oldest first.
type book struct {
	*State
	entries []Entry
	expires time.Time // no hold expires before
}

func newBook(account string) *book { return &book{State: NewState(account)} }

// keep moves what was decided to the entries.
func (b *book) keep() {
	b.entries = append(b.entries, b.Appended...)
	b.Appended = nil
	clear(b.Changed)
	clear(b.Paid)
}

// expire removes holds that have expired.
func (b *book) expire(now time.Time) {
	if now.Before(b.expires) {
		return
	}
	b.expires = now.Add(maxExpiry)
	for id, h := range b.Holds {
		if now.Before(h.Expires) {
			b.expires = earliest(b.expires, now.Add(h.Expires.Sub(now))) // monotonic, like now
			continue
		}
		if delete(b.Holds, id); !h.Ended {
			b.Held[h.Spender.Key] -= h.Amount
		}
	}
	maps.DeleteFunc(b.Held, func(_ string, n int64) bool { return n == 0 })
}

// maxExpiry is the interval at which holds are looked through at least.
const maxExpiry = time.Hour

func earliest(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

// track begins to sum what a key spends.
func (b *book) track(key string) {
	if key != "" && b.Spent[key] == nil {
		b.Spent[key] = &Spent{}
	}
}

// age finds how old the charge with an idempotency key is that was made while the clock was ahead.
func (b *book) age(key string, now time.Time) {
	k, ok := b.Keyed[key]
	if !ok || !k.Made.After(now) {
		return
	}
	for _, e := range b.entries[k.Seq:] { // the first entry is number 1
		if !e.Time().After(now) {
			k.Made = e.Time()
			b.Keyed[key] = k
			return
		}
	}
}

// restore adds an entry that another ledger has written.
func (b *book) restore(e Entry) error {
	if err := e.Follows(b.Last); err != nil {
		return err
	}
	b.Last = e
	b.entries = append(b.entries, e)
	if e.Hold != "" {
		b.ByHold[e.Hold] = e
	}
	if e.Kind == Granted {
		b.Grants[e.Seq] = e
	}
	if e.Kind == Charged {
		if e.IdempotencyKey != "" {
			b.Keyed[e.IdempotencyKey] = KeyedCharge{Seq: e.Seq, Amount: -e.Amount, Made: e.Time()}
		}
		if b.track(e.Key); e.Key != "" {
			*b.Spent[e.Key] = b.Spent[e.Key].Add(-e.Amount, e.Time())
		}
	}
	return nil
}

// MemoryConfig configures a [Memory]. The zero value is ready to use.
type MemoryConfig struct {
	Now func() time.Time // the clock; nil means time.Now
}

// NewMemory returns a ledger without accounts: Open or the first Grant creates one.
func NewMemory(cfg MemoryConfig) *Memory {
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	return &Memory{now: cfg.Now, books: map[string]*book{}}
}

// Open creates account without credits. It does nothing when the account exists.
func (m *Memory) Open(account string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.open(account)
}

func (m *Memory) open(account string) {
	if _, ok := m.books[account]; !ok {
		m.books[account] = newBook(account)
	}
}

// Restore adds accounts with all their entries, each account's in order, as they were in another ledger: all or
// nothing. It returns ErrBroken when an entry does not follow from the previous one, and when an account already has
// entries or a hold was already charged.
func (m *Memory) Restore(accounts []string, entries []Entry) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	restored, holds := map[string]*book{}, map[string]struct{}{}
	for _, b := range m.books {
		for id := range b.ByHold {
			holds[id] = struct{}{}
		}
	}
	for _, id := range accounts {
		if b, ok := m.books[id]; ok && len(b.entries) > 0 {
			return fmt.Errorf("credits: account %s has entries already", id)
		}
		restored[id] = newBook(id)
	}
	for _, e := range entries {
		b, ok := restored[e.Account]
		if !ok {
			return fmt.Errorf("%w: account %s is not part of it", ErrBroken, e.Account)
		}
		if err := b.restore(e); err != nil {
			return err
		}
		if _, ok := holds[e.Hold]; ok && e.Hold != "" {
			return fmt.Errorf("credits: hold %s was charged already", e.Hold)
		}
		holds[e.Hold] = struct{}{}
	}
	maps.Copy(m.books, restored)
	return nil
}

// decide lets the rule decide a call to an account.
func (m *Memory) decide(ctx context.Context, account string, do func(b *book, now time.Time) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	b, ok := m.books[account]
	if !ok {
		return ErrUnknownAccount
	}
	now := m.now()
	b.expire(now)
	err := do(b, now)
	b.keep()
	return err
}

// Grant gives account n credits, for a reason, and returns its spendable balance. The account is created if it is new.
// It returns ErrAmount unless n is positive.
func (m *Memory) Grant(ctx context.Context, account string, n int64, reason string) (balance int64, err error) {
	return m.Give(ctx, Gift{Account: account, Kind: Granted, Amount: n, Reason: reason})
}

// Refund implements [Granter].
func (m *Memory) Refund(ctx context.Context, account string, n int64, requestID, reason string) (int64, error) {
	return m.Give(ctx, Gift{Account: account, Kind: Refunded, Amount: n, RequestID: requestID, Reason: reason})
}

// Give implements [Granter].
func (m *Memory) Give(ctx context.Context, g Gift) (balance int64, err error) {
	e, err := g.Entry()
	if err != nil {
		return 0, err
	}
	if g.Kind == Granted && ctx.Err() == nil {
		m.Open(g.Account)
	}
	err = m.decide(ctx, g.Account, func(b *book, now time.Time) (err error) {
		clear(b.Refunds)
		if e.Kind == Refunded {
			b.Refunds[e.RequestID] = b.refundable(e.RequestID)
		}
		balance, err = b.Give(e, now)
		return err
	})
	return balance, err
}

// refundable returns what can still be refunded for a request.
func (b *book) refundable(requestID string) (n int64) {
	for i := range b.entries {
		if e := &b.entries[i]; requestID != "" && e.RequestID == requestID {
			n -= e.Amount
		}
	}
	return n
}

// Reverse implements [Granter].
func (m *Memory) Reverse(ctx context.Context, account string, seq int64, reason string) (r Reversal, err error) {
	err = m.decide(ctx, account, func(b *book, now time.Time) (err error) {
		if seq > 0 && seq <= int64(len(b.entries)) {
			b.Grants[seq] = b.entries[seq-1] // or what is not one
		}
		r, err = b.Reverse(seq, reason, now)
		return err
	})
	return r, err
}

// Reserve implements [Ledger].
func (m *Memory) Reserve(ctx context.Context, who Spender, ttl time.Duration, amounts ...int64) ([]Hold, error) {
	sum, err := Sum(amounts)
	if err != nil {
		return nil, err
	}
	holds := make([]Hold, len(amounts))
	for i, n := range amounts {
		holds[i] = Hold{ID: NewID(""), Amount: n}
	}
	err = m.decide(ctx, who.Account, func(b *book, now time.Time) error {
		b.track(who.Key)
		b.expires = earliest(b.expires, now.Add(ttl))
		return b.Reserve(who, sum, holds, now.Add(ttl), now)
	})
	if err != nil {
		return nil, err
	}
	return holds, nil
}

// Check implements [Checker].
func (m *Memory) Check(ctx context.Context, who Spender, amount int64) error {
	if _, err := Sum([]int64{amount}); err != nil {
		return err
	}
	return m.decide(ctx, who.Account, func(b *book, now time.Time) error { return b.Check(who, amount, now) })
}

// Charge implements [Charger].
func (m *Memory) Charge(ctx context.Context, who Spender, c Charge) (r Receipt, err error) {
	if err := c.Check(); err != nil {
		return r, err
	}
	if _, err := Sum([]int64{c.Amount}); err != nil {
		return r, err
	}
	if c.ID == "" {
		c.ID = NewID("")
	}
	err = m.decide(ctx, who.Account, func(b *book, now time.Time) (err error) {
		b.track(who.Key)
		b.age(c.IdempotencyKey, now)
		r, err = b.Charge(Hold{ID: c.ID, Spender: who}, c, now)
		return err
	})
	return r, err
}

// Settle implements [Ledger].
func (m *Memory) Settle(ctx context.Context, h Hold, c Charge) (r Receipt, err error) {
	if err := c.Check(); err != nil {
		return r, err
	}
	err = m.decide(ctx, h.Spender.Account, func(b *book, now time.Time) (err error) {
		b.track(h.Spender.Key)
		b.age(c.IdempotencyKey, now)
		b.expires = earliest(b.expires, now.Add(h.Expires.Sub(now))) // h may come from a record, with the time of day only
		r, err = b.Settle(h, c, now)
		return err
	})
	return r, err
}

// Entry returns the entry that settling h with c writes; [Entry.Next] adds its position.
func (c Charge) Entry(h Hold, at time.Time) Entry {
	return Entry{
		Account: h.Spender.Account, Key: h.Spender.Key, Hold: h.ID, Kind: Charged, Amount: -c.Amount, At: at,
		Operation: c.Operation, Platform: c.Platform, RequestID: c.RequestID, Cache: c.Cache, IdempotencyKey: c.IdempotencyKey,
	}
}

// Balance implements [Ledger].
func (m *Memory) Balance(ctx context.Context, account string) (n int64, err error) {
	err = m.decide(ctx, account, func(b *book, _ time.Time) error {
		n = b.Free()
		return nil
	})
	return n, err
}

// Entries implements [Ledger].
func (m *Memory) Entries(ctx context.Context, q Query) (found []Entry, err error) {
	if q.Limit <= 0 {
		q.Limit = DefaultLimit
	}
	err = m.decide(ctx, q.Account, func(b *book, _ time.Time) error {
		found = []Entry{}
		// The entries are in the order of their numbers and times.
		last := len(b.entries)
		if q.Before > 0 && q.Before <= int64(last) {
			last = int(q.Before - 1)
		}
		if !q.Until.IsZero() {
			last = min(last, sort.Search(len(b.entries), func(i int) bool { return !b.entries[i].At.Before(q.Until) }))
		}
		for _, e := range slices.Backward(b.entries[:last]) {
			if len(found) == q.Limit || e.At.Before(q.Since) {
				break
			}
			if q.Selects(e) {
				found = append(found, e)
			}
		}
		return nil
	})
	return found, err
}

// DefaultLimit is how many entries a [Query] without a limit returns at most.
const DefaultLimit = 100

// Selects reports whether e matches q, regardless of the limit.
func (q Query) Selects(e Entry) bool {
	return e.Account == q.Account &&
		(q.RequestID == "" || e.RequestID == q.RequestID) &&
		(q.Platform == "" || e.Platform == q.Platform) &&
		(q.Since.IsZero() || !e.At.Before(q.Since)) &&
		(q.Until.IsZero() || e.At.Before(q.Until)) &&
		(q.Before <= 0 || e.Seq < q.Before)
}
