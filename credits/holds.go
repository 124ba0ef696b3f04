package credits

import (
	"container/heap"
	"errors"
	"fmt"
	"time"
)

// ErrAmount means that an amount is impossible: a negative hold, a grant of nothing, a charge above its hold.
var ErrAmount = errors.New("credits: impossible amount")

// Holds are the open holds of a ledger that keeps them in memory. If the process crashes they are forgotten, and
// nothing is charged for them. Holds has no lock: the ledger's own protects it.
type Holds struct {
	ids      *IDs
	byID     map[string]*open
	expiring expiring
	accounts map[string]int64
	keys     map[spender]int64
}

// spender is a key within its account.
type spender struct{ account, key string }

// open is a hold from its creation until an entry records its charge, or else until it expires.
type open struct {
	Hold
	state   state
	charged int64 // credits that were charged, when settled
	place   int   // index in expiring; -1 when it expired while it was being settled
	revived bool
}

type state int8

const (
	held     state = iota // undecided
	settling              // a charge is being written; it can no longer expire
	settled
)

// NewHolds returns an empty set.
func NewHolds(now time.Time) *Holds {
	return &Holds{
		ids:      NewIDs(now),
		byID:     map[string]*open{},
		accounts: map[string]int64{},
		keys:     map[spender]int64{},
	}
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

// Open makes one hold for each of amounts.
func (h *Holds) Open(who Spender, expires time.Time, amounts []int64) []Hold {
	holds := make([]Hold, len(amounts))
	for i, n := range amounts {
		holds[i] = h.OpenAs(h.ids.Next(), who, expires, n)
	}
	return holds
}

// OpenAs makes one hold with an id chosen by the caller, which must be new.
func (h *Holds) OpenAs(id string, who Spender, expires time.Time, amount int64) Hold {
	hold := Hold{ID: id, Spender: who, Amount: amount, Expires: expires}
	h.push(&open{Hold: hold})
	return hold
}

func (h *Holds) push(o *open) {
	h.byID[o.ID] = o
	heap.Push(&h.expiring, o)
	h.add(o, o.Amount)
}

// Of returns the sum of the holds of account, in credits.
func (h *Holds) Of(account string) int64 { return h.accounts[account] }

// OfKey returns the sum of the holds of one key of account, in credits.
func (h *Holds) OfKey(account, key string) int64 { return h.keys[spender{account, key}] }

// Len returns how many holds are remembered: the open ones, and those that were settled before they expired without an
// entry or were revived.
func (h *Holds) Len() int { return len(h.byID) }

// has reports whether a hold is remembered.
func (h *Holds) has(id string) bool {
	_, ok := h.byID[id]
	return ok
}

// Expire releases every expired hold. Settled ones are forgotten.
func (h *Holds) Expire(now time.Time) {
	for len(h.expiring) > 0 && !now.Before(h.expiring[0].Expires) {
		o := heap.Pop(&h.expiring).(*open)
		switch o.state {
		case held:
			h.add(o, -o.Amount)
			delete(h.byID, o.ID)
		case settled:
			delete(h.byID, o.ID)
		case settling: // End or Reopen removes it
		}
	}
}

// Revive reopens an expired hold, for amount and until expires. It does nothing when the hold still exists.
func (h *Holds) Revive(old Hold, amount int64, expires time.Time) {
	if _, ok := h.byID[old.ID]; ok {
		return
	}
	old.Amount, old.Expires = amount, expires
	h.push(&open{Hold: old, revived: true})
}

// Charged returns what was charged for a settled hold, in credits: 0 when it was not settled, or does not exist.
func (h *Holds) Charged(id string) int64 {
	if o, ok := h.byID[id]; ok {
		return o.charged
	}
	return 0
}

// Begin starts to settle the hold with the given id for amount. It returns true when the hold is undecided: the caller
// then writes the charge and calls End, or Reopen when it could not be written. It returns false without an error for a
// hold that is being settled or was settled without an entry. For one that does not exist it returns ErrExpired, and
// the ledger must check whether an entry has settled it; for a charge above the hold, ErrAmount.
func (h *Holds) Begin(id string, amount int64, now time.Time) (Hold, bool, error) {
	h.Expire(now)
	o, ok := h.byID[id]
	if !ok {
		return Hold{}, false, ErrExpired
	}
	if o.state != held {
		return o.Hold, false, nil
	}
	if amount < 0 || amount > o.Amount {
		return Hold{}, false, fmt.Errorf("%w: a charge of %d on a hold of %d", ErrAmount, amount, o.Amount)
	}
	o.state = settling
	return o.Hold, true, nil
}

// End marks the hold returned by Begin as settled for charged credits and releases it. If written is true, an entry
// with the hold's id records it, and the hold is forgotten at once: with thousands of charges a second, settled holds
// would use most of the memory. Otherwise, and also if it was revived, it is remembered until it expires, because
// another caller that checked before the entry was written may be about to revive it too.
func (h *Holds) End(id string, charged int64, written bool) {
	o := h.byID[id]
	o.state, o.charged = settled, charged
	h.add(o, -o.Amount)
	written = written && !o.revived
	if written && o.place >= 0 {
		heap.Remove(&h.expiring, o.place)
	}
	if written || o.place < 0 {
		delete(h.byID, id)
	}
}

// Reopen makes the hold returned by Begin undecided again.
func (h *Holds) Reopen(id string) {
	o := h.byID[id]
	o.state = held
	if o.place < 0 {
		h.add(o, -o.Amount)
		delete(h.byID, id)
	}
}

func (h *Holds) add(o *open, n int64) {
	addTo(h.accounts, o.Spender.Account, n)
	if o.Spender.Key != "" {
		addTo(h.keys, spender{o.Spender.Account, o.Spender.Key}, n)
	}
}

// addTo removes keys whose sum is 0, so that the size of the map is bounded by the open holds.
func addTo[K comparable](m map[K]int64, k K, n int64) {
	if m[k] += n; m[k] == 0 {
		delete(m, k)
	}
}

// expiring is a heap of holds, the next to expire on top.
type expiring []*open

func (e expiring) Len() int           { return len(e) }
func (e expiring) Less(i, j int) bool { return e[i].Expires.Before(e[j].Expires) }
func (e expiring) Swap(i, j int) {
	e[i], e[j] = e[j], e[i]
	e[i].place, e[j].place = i, j
}

func (e *expiring) Push(x any) {
	o := x.(*open)
	o.place = len(*e)
	*e = append(*e, o)
}

func (e *expiring) Pop() any {
	last := len(*e) - 1
	o := (*e)[last]
	(*e)[last] = nil
	*e = (*e)[:last]
	o.place = -1
	return o
}
