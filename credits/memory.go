package credits

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"sync"
	"time"
)

// Memory is a [Charger] that keeps everything in memory only.
type Memory struct {
	now func() time.Time
	ids *IDs // for charges without a hold

	mu    sync.Mutex
	holds *Holds
	books map[string]*book
}

var (
	_ Charger = (*Memory)(nil)
	_ Checker = (*Memory)(nil)
	_ Granter = (*Memory)(nil)
)

// book holds the data of one account.
type book struct {
	entries list             // oldest first
	keyed   map[string]int   // indexes in entries, by idempotency key
	spent   map[string]Spent // by key
	scratch []byte           // for the hash of the next entry

	// How many of the first entries are in the two indexes below, which a charge without a hold does not need.
	indexed int
	places  places           // indexes of entries, by what queries select
	charged map[string]int64 // credits, by hold
}

func newBook() *book {
	return &book{places: newPlaces(), charged: map[string]int64{}, keyed: map[string]int{}, spent: map[string]Spent{}}
}

// add adds the next entry.
func (b *book) add(e Entry) {
	added := b.entries.next()
	*added = e
	b.note(added)
}

// note records what is known of an entry that was added.
func (b *book) note(e *Entry) {
	if e.Kind == Charged {
		if e.IdempotencyKey != "" {
			b.keyed[e.IdempotencyKey] = b.entries.len() - 1
		}
		if e.Key != "" {
			b.spent[e.Key] = b.spent[e.Key].Add(-e.Amount, e.Time())
		}
	}
}

// index adds the entries since the last call to the indexes. That is a third of the time of a charge
// (BenchmarkCachedProfile), and most charges are for answers from the cache, whose entries are seldom looked for.
func (b *book) index() {
	for ; b.indexed < b.entries.len(); b.indexed++ {
		e := b.entries.at(b.indexed)
		b.places.add(b.indexed, e)
		if e.Kind == Charged {
			b.charged[e.Hold] = -e.Amount
		}
	}
}

func (b *book) last() Entry {
	if b.entries.len() == 0 {
		return Entry{}
	}
	return *b.entries.at(b.entries.len() - 1)
}

// list is entries in blocks. A single slice would be copied whenever it grows, which took a third of the time of a
// charge.
type list [][]Entry

const blockLen = 256

// noEntry is before the first entry. Read only.
var noEntry Entry

func (l list) len() int {
	if len(l) == 0 {
		return 0
	}
	return (len(l)-1)*blockLen + len(l[len(l)-1])
}

func (l list) at(i int) *Entry { return &l[i/blockLen][i%blockLen] }

// next adds an empty entry and returns it.
func (l *list) next() *Entry {
	if l.len()%blockLen == 0 {
		*l = append(*l, make([]Entry, 0, blockLen))
	}
	last := &(*l)[len(*l)-1]
	*last = (*last)[:len(*last)+1]
	return &(*last)[len(*last)-1]
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
	now := cfg.Now()
	return &Memory{now: cfg.Now, ids: NewIDs(now), holds: NewHolds(now), books: map[string]*book{}}
}

// Open creates account without credits. It does nothing when the account exists.
func (m *Memory) Open(account string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.open(account)
}

func (m *Memory) open(account string) {
	if _, ok := m.books[account]; !ok {
		m.books[account] = newBook()
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
		b.index()
		for id := range b.charged {
			holds[id] = struct{}{}
		}
	}
	for _, id := range accounts {
		if b, ok := m.books[id]; ok && b.entries.len() > 0 {
			return fmt.Errorf("credits: account %s has entries already", id)
		}
		restored[id] = newBook()
	}
	for _, e := range entries {
		b, ok := restored[e.Account]
		if !ok {
			return fmt.Errorf("%w: account %s is not part of it", ErrBroken, e.Account)
		}
		if err := e.Follows(b.last()); err != nil {
			return err
		}
		if _, ok := holds[e.Hold]; ok && e.Hold != "" {
			return fmt.Errorf("credits: hold %s was charged already", e.Hold)
		}
		b.add(e)
		holds[e.Hold] = struct{}{}
	}
	maps.Copy(m.books, restored)
	return nil
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
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	e, err := g.Entry()
	if err != nil {
		return 0, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	b, ok := m.books[g.Account]
	switch {
	case ok:
	case g.Kind == Granted:
		m.open(g.Account)
		b = m.books[g.Account]
	default:
		return 0, ErrUnknownAccount
	}
	m.holds.Expire(m.now())
	earlier, refundable := b.gifts(e)
	if earlier != nil {
		return m.spendable(g.Account), e.Repeats(earlier.Amount)
	}
	if err := e.Refunds(refundable); err != nil {
		return 0, err
	}
	if e.Amount > MaxBalance-b.last().Balance {
		return 0, fmt.Errorf("%w: %d credits to a balance of %d", ErrAmount, e.Amount, b.last().Balance)
	}
	e.At = m.now()
	b.add(e.Next(b.last()))
	return m.spendable(g.Account), nil
}

// Reverse implements [Granter].
func (m *Memory) Reverse(ctx context.Context, account string, seq int64, reason string) (Reversal, error) {
	if err := ctx.Err(); err != nil {
		return Reversal{}, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	b, ok := m.books[account]
	if !ok {
		return Reversal{}, ErrUnknownAccount
	}
	m.holds.Expire(m.now())
	if seq < 1 || seq > int64(b.entries.len()) {
		return Reversal{}, NoEntry(account, seq)
	}
	e, err := b.entries.at(int(seq - 1)).Reversal(reason)
	if err != nil {
		return Reversal{}, err
	}
	if earlier, _ := b.gifts(e); earlier != nil {
		return Reversal{Entry: *earlier, Balance: m.spendable(account), Earlier: true}, nil
	}
	if err := e.Covered(m.spendable(account)); err != nil {
		return Reversal{}, err
	}
	e.At = m.now()
	b.add(e.Next(b.last()))
	return Reversal{Entry: b.last(), Balance: m.spendable(account)}, nil
}

// gifts returns the entry with the Hold of e, nil when there is none, and what can still be refunded for its request.
func (b *book) gifts(e Entry) (earlier *Entry, refundable int64) {
	if e.Hold == "" && e.Kind != Refunded {
		return nil, 0
	}
	for i := range b.entries.len() {
		there := b.entries.at(i)
		if e.Hold != "" && there.Hold == e.Hold {
			return there, 0
		}
		if e.RequestID != "" && there.RequestID == e.RequestID {
			refundable -= there.Amount
		}
	}
	return nil, refundable
}

// spendable returns the spendable balance of account.
func (m *Memory) spendable(account string) int64 {
	return m.books[account].last().Balance - m.holds.Of(account)
}

// Reserve implements [Ledger].
func (m *Memory) Reserve(ctx context.Context, who Spender, ttl time.Duration, amounts ...int64) ([]Hold, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	sum, err := Sum(amounts)
	if err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	now := m.now()
	if _, err := m.room(who, sum, now); err != nil {
		return nil, err
	}
	return m.holds.Open(who, now.Add(ttl), amounts), nil
}

// Check implements [Checker].
func (m *Memory) Check(ctx context.Context, who Spender, amount int64) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if _, err := Sum([]int64{amount}); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	_, err := m.room(who, amount, m.now())
	return err
}

// room returns the book of the paying account, or an error when it or the key cannot spend n more credits.
func (m *Memory) room(who Spender, n int64, now time.Time) (*book, error) {
	b, ok := m.books[who.Account]
	if !ok {
		return nil, ErrUnknownAccount
	}
	m.holds.Expire(now)
	if n > m.spendable(who.Account) {
		return nil, ErrInsufficient
	}
	if who.Key != "" {
		if err := b.spent[who.Key].Room(who, m.holds.OfKey(who.Account, who.Key), n, now); err != nil {
			return nil, err
		}
	}
	return b, nil
}

// Charge implements [Charger].
func (m *Memory) Charge(ctx context.Context, who Spender, c Charge) (Receipt, error) {
	if err := errors.Join(ctx.Err(), c.Check()); err != nil {
		return Receipt{}, err
	}
	if _, err := Sum([]int64{c.Amount}); err != nil {
		return Receipt{}, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	now := m.now()
	b, err := m.room(who, c.Amount, now)
	if errors.Is(err, ErrInsufficient) {
		if earlier, ok := m.books[who.Account].chargedBefore(c.IdempotencyKey, now); ok && c.Amount > 0 {
			return Receipt{Balance: m.spendable(who.Account), Charged: earlier, Earlier: true}, nil
		}
	}
	if err != nil {
		return Receipt{}, err
	}
	if c.ID == "" {
		c.ID = m.ids.Next()
	}
	r := b.charge(Hold{ID: c.ID, Spender: who}, c, now)
	r.Balance = m.spendable(who.Account)
	return r, nil
}

// Settle implements [Ledger].
func (m *Memory) Settle(ctx context.Context, h Hold, c Charge) (Receipt, error) {
	if err := errors.Join(ctx.Err(), c.Check()); err != nil {
		return Receipt{}, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	b, ok := m.books[h.Spender.Account]
	if !ok {
		return Receipt{}, ErrUnknownAccount
	}
	now := m.now()
	m.holds.Expire(now)
	if !m.holds.has(h.ID) { // otherwise it is undecided, or what was charged is still known
		b.index()
		if n, ok := b.charged[h.ID]; ok {
			return Receipt{Balance: m.spendable(h.Spender.Account), Charged: n, Earlier: true}, nil
		}
	}
	held, begun, err := m.holds.Begin(h.ID, c.Amount, now)
	if errors.Is(err, ErrExpired) && c.Late && c.Amount > 0 {
		if err := m.revive(b, h, c, now); err != nil {
			return Receipt{}, err
		}
		held, begun, err = m.holds.Begin(h.ID, c.Amount, now)
	}
	if err != nil {
		return Receipt{}, err
	}
	r := Receipt{Charged: m.holds.Charged(h.ID), Earlier: true}
	if begun {
		r = b.charge(held, c, now)
		m.holds.End(h.ID, r.Charged, r.Charged > 0 && !r.Earlier)
	}
	r.Balance = m.spendable(h.Spender.Account)
	return r, nil
}

// revive reopens a hold for a charge that comes late, if it can still be paid.
func (m *Memory) revive(b *book, h Hold, c Charge, now time.Time) error {
	if c.Amount > h.Amount {
		return fmt.Errorf("%w: a charge of %d on a hold of %d", ErrAmount, c.Amount, h.Amount)
	}
	if c.Amount > m.spendable(h.Spender.Account) {
		return ErrLate
	}
	held := m.holds.OfKey(h.Spender.Account, h.Spender.Key)
	if h.Spender.Key != "" && b.spent[h.Spender.Key].Room(h.Spender, held, c.Amount, now) != nil {
		return ErrLate
	}
	m.holds.Revive(h, c.Amount, now.Add(LateFor))
	return nil
}

// LateFor is how long a hold that was settled late is remembered, so that settling it again finds it.
const LateFor = time.Minute

// charge writes the entry of a charge, unless its idempotency key was used before.
func (b *book) charge(h Hold, c Charge, now time.Time) Receipt {
	if c.Amount == 0 {
		return Receipt{}
	}
	if earlier, ok := b.chargedBefore(c.IdempotencyKey, now); ok {
		return Receipt{Charged: earlier, Earlier: true}
	}
	last := &noEntry
	if n := b.entries.len(); n > 0 {
		last = b.entries.at(n - 1)
	}
	e := b.entries.next()
	c.fill(e, &h, now)
	b.scratch = e.follow(last, b.scratch)
	b.note(e)
	return Receipt{Charged: c.Amount}
}

// chargedBefore returns what was charged with that idempotency key in the last 24 hours, in credits. A charge from a
// time when the clock was ahead is as old as the next entry that was not.
func (b *book) chargedBefore(key string, now time.Time) (amount int64, ok bool) {
	if key == "" {
		return 0, false
	}
	place, ok := b.keyed[key]
	if !ok {
		return 0, false
	}
	made := b.entries.at(place).Time()
	for later := place + 1; later < b.entries.len() && made.After(now); later++ {
		made = b.entries.at(later).Time()
	}
	return -b.entries.at(place).Amount, now.Sub(made) < IdempotentFor
}

// Entry returns the entry that settling h with c writes; [Entry.Next] adds its position.
func (c Charge) Entry(h Hold, at time.Time) Entry {
	var e Entry
	c.fill(&e, &h, at)
	return e
}

// fill is [Charge.Entry] into an empty entry.
func (c *Charge) fill(e *Entry, h *Hold, at time.Time) {
	e.Account, e.Key, e.Hold = h.Spender.Account, h.Spender.Key, h.ID
	e.Kind, e.Amount, e.At = Charged, -c.Amount, at
	e.Operation, e.Platform, e.RequestID = c.Operation, c.Platform, c.RequestID
	e.Cache, e.IdempotencyKey = c.Cache, c.IdempotencyKey
}

// Balance implements [Ledger].
func (m *Memory) Balance(ctx context.Context, account string) (int64, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, ok := m.books[account]; !ok {
		return 0, ErrUnknownAccount
	}
	m.holds.Expire(m.now())
	return m.spendable(account), nil
}

// Entries implements [Ledger].
func (m *Memory) Entries(ctx context.Context, q Query) ([]Entry, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	b, ok := m.books[q.Account]
	if !ok {
		return nil, ErrUnknownAccount
	}
	if q.Limit <= 0 {
		q.Limit = DefaultLimit
	}
	found := []Entry{}
	for i := range b.candidates(q) {
		if e := b.entries.at(i); q.Selects(*e) {
			found = append(found, *e)
		}
		if len(found) == q.Limit {
			break
		}
	}
	return found, nil
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
