package providers

import (
	"context"
	"sync"
)

// Purse bounds what one call spends with upstreams that charge their customers, however many reads it is made of. It may
// be used by several goroutines at once.
type Purse struct {
	limits map[string]int64 // credits, by provider; what is missing has none

	mu    sync.Mutex
	spent map[string]int64  // credits, by provider
	pages map[string][]byte // answers that were paid for
}

type purseKey struct{}

// WithPurse returns a context whose reads share a purse: that of ctx, when it has one, and else a new one that holds limits,
// in credits of the providers that they are named for. A provider without a limit has its own alone.
func WithPurse(ctx context.Context, limits map[string]int64) context.Context {
	if ctx.Value(purseKey{}) != nil {
		return ctx
	}
	return context.WithValue(ctx, purseKey{}, &Purse{limits: limits})
}

// PurseOf returns the purse of ctx, a new one when it has none.
func PurseOf(ctx context.Context) *Purse {
	if p, ok := ctx.Value(purseKey{}).(*Purse); ok {
		return p
	}
	return &Purse{}
}

// ErrSpent is in the error of a read that is not made because its call may not spend so much.
var ErrSpent = Cause("it costs more than one call may spend (setting max_credits)")

// Spend takes n credits for a provider, and reports whether it did: it takes none beyond most in all, nor beyond the limit
// of the call.
func (p *Purse) Spend(provider string, n, most int64) bool {
	if limit, ok := p.limits[provider]; ok {
		most = min(most, limit)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.spent[provider]+n > most {
		return false
	}
	if p.spent == nil {
		p.spent = map[string]int64{}
	}
	p.spent[provider] += n
	return true
}

// Refund gives n credits back, which were not charged.
func (p *Purse) Refund(provider string, n int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.spent[provider] -= n
}

// Page returns what read has returned for key before, and else asks it. Failures are not kept.
func (p *Purse) Page(key string, read func() ([]byte, error)) ([]byte, error) {
	p.mu.Lock()
	page, ok := p.pages[key]
	p.mu.Unlock()
	if ok {
		return page, nil
	}
	page, err := read()
	if err != nil {
		return nil, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.pages == nil {
		p.pages = map[string][]byte{}
	}
	p.pages[key] = page
	return page, nil
}
