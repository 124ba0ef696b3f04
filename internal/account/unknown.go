package account

import (
	"sync"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"

	"github.com/socialdata/socialdata/keys"
)

const (
	unknownFor  = time.Second // a key may be created in the meantime
	mostUnknown = 10_000
)

// unknown remembers briefly which keys do not exist, unknown and revoked ones alike. Its zero value is ready to use.
type unknown struct {
	mu sync.Mutex
	by *simplelru.LRU[keys.Hash, time.Time] // when it was looked up
}

func (u *unknown) add(h keys.Hash) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.by == nil {
		u.by, _ = simplelru.NewLRU[keys.Hash, time.Time](mostUnknown, nil) // only fails for a size below 1
	}
	u.by.Add(h, time.Now())
}

func (u *unknown) has(h keys.Hash) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.by == nil {
		return false
	}
	since, ok := u.by.Peek(h)
	return ok && time.Since(since) < unknownFor
}
