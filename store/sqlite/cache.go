package sqlite

import (
	"github.com/hashicorp/golang-lru/v2/simplelru"

	"github.com/socialdata/socialdata/credits"
)

// cache keeps the state of the accounts that were used last in memory. It is protected by the ledger's lock.
type cache struct {
	pinned map[string]*cached // in use, and so never evicted
	idle   *simplelru.LRU[string, *cached]
	spent  *simplelru.LRU[spender, credits.Spent] // of keys with a cap
}

// cached is the state of one account in memory.
type cached struct {
	account string
	no      int64

	// Under the ledger's lock:
	pins    int   // how many calls are using it
	queued  int   // tasks of it in the writer's queue
	writes  int64 // entries written since it was loaded
	balance int64 // sum of the entries
	epoch   epoch // when balance was read
	loaded  bool

	// For the writer's goroutine only, while something is queued:
	last    credits.Entry // only its Seq, Balance, At and Hash
	version int64         // the writer's version when last was read
}

type spender struct{ account, key string }

func newCache(accounts, keys int) *cache {
	// NewLRU fails only for a size below 1.
	idle, _ := simplelru.NewLRU[string, *cached](accounts, nil)
	spent, _ := simplelru.NewLRU[spender, credits.Spent](keys, nil)
	return &cache{pinned: map[string]*cached{}, idle: idle, spent: spent}
}

// get returns the cached state of the account.
func (s *cache) get(account string) (*cached, bool) {
	if b, ok := s.pinned[account]; ok {
		return b, true
	}
	return s.idle.Get(account)
}

// pin returns the cached state of the account, which may not be loaded yet, and keeps it in memory until unpin.
func (s *cache) pin(account string) *cached {
	b, ok := s.get(account)
	if !ok {
		b = &cached{account: account}
	}
	if b.pins++; b.pins == 1 {
		s.idle.Remove(account)
		s.pinned[account] = b
	}
	return b
}

func (s *cache) unpin(b *cached) {
	if b.pins--; b.pins > 0 {
		return
	}
	delete(s.pinned, b.account)
	if b.loaded {
		s.idle.Add(b.account, b)
	}
}

// queue pins the account for a task of the writer.
func (s *cache) queue(account string) *cached {
	b := s.pin(account)
	b.queued++
	return b
}

func (s *cache) unqueue(b *cached) {
	b.queued--
	s.unpin(b)
}

// written updates b with an entry that is durable now. One without a Kind was not written, but has the current balance.
func (s *cache) written(b *cached, e credits.Entry) {
	b.writes++
	b.balance = e.Balance
	who := spender{b.account, e.Key}
	if spent, ok := s.spent.Peek(who); ok && e.Kind == credits.Charged {
		s.spent.Add(who, spent.Add(-e.Amount, e.Time()))
	}
}

func capped(who credits.Spender) bool {
	return who.Key != "" && (who.DayCap != nil || who.TotalCap != nil)
}
