package credits

import (
	"fmt"
	"time"
)

// State is what the rule of a ledger reads of one account, and what it has decided. Its methods are that rule: whether an
// account and a key may spend, what a hold is settled for, what is given and taken back. A ledger reads what a call needs
// into a State, calls the method, and stores what was decided; several calls may share a State, one after the other. A
// method that returns an error has changed nothing.
type State struct {
	Account string // its id
	Last    Entry  // the account's last entry: only its Seq, Balance, At and Hash

	Held     map[string]int64      // the sum of the open holds, by key
	Holds    map[string]*HoldState // those that calls name, by id
	ByHold   map[string]Entry      // the entries with a Hold that calls name: at least their Seq and Amount
	Keyed    map[string]KeyedCharge
	Spent    map[string]*Spent // by key; a key without one has spent nothing, or has no cap
	Refunds  map[string]int64  // what can be refunded, by the id of the request
	Grants   map[int64]Entry   // the entries that are to be reversed, by Seq: at least their Kind and Amount
	Appended []Entry           // the new entries, in order
	Changed  map[string]*HoldState
	Paid     map[string]struct{} // the keys in Spent that have changed
}

// HoldState is a hold as a ledger stores it. One that has ended without an entry of its own is remembered until it
// expires; in State.Changed, one that has ended with an entry is nil.
type HoldState struct {
	Hold
	Ended   bool
	Charged int64 // credits, of an earlier charge with the same idempotency key
}

// KeyedCharge is the account's last charge with an idempotency key. One that was made while the clock was ahead is as
// old as the next entry that was not.
type KeyedCharge struct {
	Seq, Amount int64
	Made        time.Time
}

// NewState returns the state of an account without anything.
func NewState(account string) *State {
	return &State{
		Account: account, Held: map[string]int64{}, Holds: map[string]*HoldState{}, ByHold: map[string]Entry{},
		Keyed: map[string]KeyedCharge{}, Spent: map[string]*Spent{}, Refunds: map[string]int64{}, Grants: map[int64]Entry{},
		Changed: map[string]*HoldState{}, Paid: map[string]struct{}{},
	}
}

// Free returns what the account can still spend, in credits.
func (s *State) Free() int64 {
	n := s.Last.Balance
	for _, held := range s.Held {
		n -= held
	}
	return n
}

// Check returns ErrInsufficient or ErrCap unless the account and the key can spend n more credits.
func (s *State) Check(who Spender, n int64, now time.Time) error {
	if n > s.Free() {
		return ErrInsufficient
	}
	if who.Key == "" {
		return nil
	}
	var spent Spent
	if of := s.Spent[who.Key]; of != nil {
		spent = *of
	}
	return spent.Check(who, s.Held[who.Key], n, now)
}

// Reserve opens holds, which have ids and amounts, with the given sum until expires.
func (s *State) Reserve(who Spender, sum int64, holds []Hold, expires, now time.Time) error {
	if err := s.Check(who, sum, now); err != nil {
		return err
	}
	for i := range holds {
		holds[i].Spender, holds[i].Expires = who, expires
		open := &HoldState{Hold: holds[i]}
		s.Holds[open.ID], s.Changed[open.ID] = open, open
	}
	s.Held[who.Key] += sum
	return nil
}

// Charge decides [Charger.Charge]. h has the id and the spender.
func (s *State) Charge(h Hold, c Charge, now time.Time) (Receipt, error) {
	r, earlier := s.earlier(c, now)
	if err := s.Check(h.Spender, c.Amount, now); err != nil && !earlier {
		return Receipt{}, err
	}
	if !earlier {
		r = s.charge(h, c, now)
	}
	r.Balance = s.Free()
	return r, nil
}

// Settle decides [Ledger.Settle].
func (s *State) Settle(h Hold, c Charge, now time.Time) (Receipt, error) {
	r, err := s.settle(h, c, now)
	if err != nil {
		return Receipt{}, err
	}
	r.Balance = s.Free()
	return r, nil
}

func (s *State) settle(h Hold, c Charge, now time.Time) (Receipt, error) {
	if e, ok := s.ByHold[h.ID]; ok {
		return Receipt{Charged: -e.Amount, Earlier: true}, nil
	}
	stored := s.Holds[h.ID]
	switch {
	case stored != nil && stored.Ended:
		return Receipt{Charged: stored.Charged, Earlier: true}, nil
	case stored != nil && now.Before(stored.Expires):
		if c.Amount < 0 || c.Amount > stored.Amount {
			return Receipt{}, above(c.Amount, stored.Amount)
		}
		s.Held[stored.Spender.Key] -= stored.Amount
		h = stored.Hold
	case !c.Late || c.Amount <= 0:
		return Receipt{}, ErrExpired
	case c.Amount > h.Amount:
		return Receipt{}, above(c.Amount, h.Amount)
	case s.Check(h.Spender, c.Amount, now) != nil:
		return Receipt{}, ErrLate
	}
	r, earlier := s.earlier(c, now)
	if !earlier {
		r = s.charge(h, c, now)
	}
	if r.Charged > 0 && !r.Earlier {
		delete(s.Holds, h.ID)
		s.Changed[h.ID] = nil // its entry tells how it has ended
		return r, nil
	}
	ended := &HoldState{Hold: h, Ended: true, Charged: r.Charged}
	s.Holds[h.ID], s.Changed[h.ID] = ended, ended
	return r, nil
}

func above(amount, held int64) error {
	return fmt.Errorf("%w: a charge of %d on a hold of %d", ErrAmount, amount, held)
}

// earlier returns the receipt of the charge with c's idempotency key in the last day.
func (s *State) earlier(c Charge, now time.Time) (Receipt, bool) {
	k, ok := s.Keyed[c.IdempotencyKey]
	ok = ok && c.IdempotencyKey != "" && c.Amount > 0 && now.Sub(k.Made) < IdempotentFor
	return Receipt{Charged: k.Amount, Earlier: true}, ok
}

func (s *State) charge(h Hold, c Charge, now time.Time) Receipt {
	if c.Amount == 0 {
		return Receipt{}
	}
	e := s.add(c.Entry(h, now), now)
	if e.IdempotencyKey != "" {
		s.Keyed[e.IdempotencyKey] = KeyedCharge{Seq: e.Seq, Amount: c.Amount, Made: now}
	}
	if spent := s.Spent[e.Key]; spent != nil {
		*spent = spent.Add(c.Amount, e.Time())
		s.Paid[e.Key] = struct{}{}
	}
	return Receipt{Charged: c.Amount}
}

// add appends an entry.
func (s *State) add(e Entry, now time.Time) Entry {
	e.At = now
	e = e.Next(s.Last)
	s.Last = Entry{Seq: e.Seq, Balance: e.Balance, At: e.At, Hash: e.Hash}
	s.Appended = append(s.Appended, e)
	if e.Hold != "" {
		s.ByHold[e.Hold] = e
	}
	if n, ok := s.Refunds[e.RequestID]; ok {
		s.Refunds[e.RequestID] = n - e.Amount
	}
	if e.Kind == Granted {
		s.Grants[e.Seq] = e
	}
	return e
}

// Give decides [Granter.Give]. e is the entry of the gift; it returns the spendable balance.
func (s *State) Give(e Entry, now time.Time) (balance int64, err error) {
	if given, ok := s.ByHold[e.Hold]; ok && e.Hold != "" {
		return s.Free(), e.Repeats(given.Amount)
	}
	if err := e.Refunds(s.Refunds[e.RequestID]); err != nil {
		return 0, err
	}
	if e.Amount > MaxBalance-s.Last.Balance {
		return 0, fmt.Errorf("%w: %d credits to a balance of %d", ErrAmount, e.Amount, s.Last.Balance)
	}
	s.add(e, now)
	return s.Free(), nil
}

// Reverse decides [Granter.Reverse].
func (s *State) Reverse(seq int64, reason string, now time.Time) (Reversal, error) {
	grant, ok := s.Grants[seq]
	if !ok {
		return Reversal{}, NoEntry(s.Account, seq)
	}
	grant.Account, grant.Seq = s.Account, seq
	e, err := grant.Reversal(reason)
	if err != nil {
		return Reversal{}, err
	}
	if reversed, ok := s.ByHold[e.Hold]; ok {
		return Reversal{Entry: reversed, Balance: s.Free(), Earlier: true}, nil
	}
	if err := e.Covered(s.Free()); err != nil {
		return Reversal{}, err
	}
	e = s.add(e, now)
	return Reversal{Entry: e, Balance: s.Free()}, nil
}

// Sum returns the sum of amounts, or ErrAmount when one is negative or no balance could pay for them.
func Sum(amounts []int64) (int64, error) {
	var sum int64
	for _, n := range amounts {
		if n < 0 || n > MaxBalance-sum {
			return 0, fmt.Errorf("%w: a hold of %d", ErrAmount, n)
		}
		sum += n
	}
	return sum, nil
}

// Spent is what one key has spent, in credits: in total, and on the UTC day of its last charge according to the clock.
type Spent struct {
	Total int64
	Day   int64 // days since 1970-01-01 UTC
	Today int64
}

// counts reports whether Today counts on the given day: it does on its own day, and on the day before, so that a clock
// that is set back over midnight does not reset the cap. A clock that was further ahead was wrong, and what was spent
// under it says nothing about today.
func (s Spent) counts(day int64) bool { return day == s.Day || day == s.Day-1 }

// Day returns the UTC day of t as days since 1970-01-01.
func Day(t time.Time) int64 {
	s := t.Unix()
	if s < 0 {
		s -= 24*60*60 - 1
	}
	return s / (24 * 60 * 60)
}

// Add returns s after a charge of n credits at the given time of the clock.
func (s Spent) Add(n int64, at time.Time) Spent {
	if day := Day(at); !s.counts(day) {
		s.Day, s.Today = day, 0
	}
	s.Today += n
	s.Total += n
	return s
}

// Check returns ErrCap unless a key that has spent s and holds held may hold n more credits under the caps of who.
func (s Spent) Check(who Spender, held, n int64, now time.Time) error {
	today := int64(0)
	if s.counts(Day(now)) {
		today = s.Today
	}
	if n > 0 && over(who.DayCap, today+held+n) || n > 0 && over(who.TotalCap, s.Total+held+n) {
		return ErrCap
	}
	return nil
}

func over(limit *int64, n int64) bool { return limit != nil && n > *limit }

// IdempotentFor is how long a charge blocks another with the same idempotency key.
const IdempotentFor = 24 * time.Hour
