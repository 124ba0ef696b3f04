package upstreams

import (
	"sync"
	"time"

	"github.com/socialdata/socialdata/platform"
)

// lately is for how long an account counts as calling a platform after a call.
const lately = 5 * time.Minute

// recentAccounts records which platforms several accounts call. Its zero value is ready to use.
type recentAccounts struct {
	mu sync.Mutex
	by map[platform.ID]*recentPair
}

// recentPair holds the two accounts that called a platform last, which is enough to know whether there are several.
type recentPair struct {
	last, before called
}

type called struct {
	account string
	at      time.Time
}

// several records a call of account, "" for none, at the time now, and reports whether another account has called the
// platform lately.
func (c *recentAccounts) several(id platform.ID, account string, now time.Time) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.by == nil {
		c.by = map[platform.ID]*recentPair{}
	}
	on := c.by[id]
	if on == nil {
		on = &recentPair{}
		c.by[id] = on
	}
	switch account {
	case "":
	case on.last.account:
		on.last.at = now
	default:
		on.last, on.before = called{account, now}, on.last
	}
	return on.before.account != "" && now.Sub(on.before.at) < lately
}
