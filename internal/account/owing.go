package account

import (
	"sync"

	"github.com/hashicorp/golang-lru/v2/simplelru"

	"github.com/socialdata/socialdata/keys"
)

// mostOwing is how many accounts are remembered. One that is not gets its unpaid calls back with time alone.
const mostOwing = 10_000

// owing remembers whose bucket of unpaid calls is not full, as far as this process knows: an answer from the cache need
// not give back what nobody has taken. Its zero value is ready for use.
type owing struct {
	mu sync.Mutex
	by *simplelru.LRU[string, struct{}]
}

// note remembers an account unless its bucket is full.
func (o *owing) note(account string, a keys.Allowance) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.by == nil {
		o.by, _ = simplelru.NewLRU[string, struct{}](mostOwing, nil) // fails on a size below 1 only
	}
	if a.Remaining >= float64(a.Rate.Capacity) {
		o.by.Remove(account)
	} else {
		o.by.Add(account, struct{}{})
	}
}

func (o *owing) has(account string) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.by != nil && o.by.Contains(account)
}
