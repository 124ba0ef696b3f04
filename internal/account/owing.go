package account

import (
	"sync"

	"github.com/hashicorp/golang-lru/v2/simplelru"

	"github.com/socialdata/socialdata/keys"
)

// mostOwing is how many accounts are remembered. An account that is not remembered gets its unpaid calls back only over
// time.
const mostOwing = 10_000

// owing remembers the accounts whose bucket of unpaid calls is not full, as far as this process knows, so that an
// answer from the cache does not give back a call that was not taken. Its zero value is ready to use.
type owing struct {
	mu sync.Mutex
	by *simplelru.LRU[string, struct{}]
}

// note remembers an account unless its bucket is full.
func (o *owing) note(account string, a keys.Allowance) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.by == nil {
		o.by, _ = simplelru.NewLRU[string, struct{}](mostOwing, nil) // only fails for a size below 1
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
