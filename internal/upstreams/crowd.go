package upstreams

import (
	"sync"
	"time"

	"github.com/socialdata/socialdata/platform"
)

// lately is how long an account counts as calling a platform after a call.
const lately = 5 * time.Minute

// crowds records which platforms several accounts call. Its zero value is ready to use.
type crowds struct {
	mu sync.Mutex
	by map[platform.ID]*crowd
}

// crowd holds the two accounts that called a platform last, which is enough to know whether there are several.
type crowd struct {
	last, before called
}

type called struct {
	account string
	at      time.Time
}

// several records a call of account, "" for none, and reports whether another one has called the platform lately.
func (p *Pool) several(id platform.ID, account string) bool {
	now := p.cfg.Now()
	p.crowds.mu.Lock()
	defer p.crowds.mu.Unlock()
	if p.crowds.by == nil {
		p.crowds.by = map[platform.ID]*crowd{}
	}
	c := p.crowds.by[id]
	if c == nil {
		c = &crowd{}
		p.crowds.by[id] = c
	}
	switch account {
	case "":
	case c.last.account:
		c.last.at = now
	default:
		c.last, c.before = called{account, now}, c.last
	}
	return c.before.account != "" && now.Sub(c.before.at) < lately
}
