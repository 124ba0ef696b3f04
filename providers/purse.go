package providers

import (
	"context"
	"sync"
)

// Purse limits what one call, which may make many reads, spends with upstreams that charge for them. It is safe for
// concurrent use.
type Purse struct {
	limits map[string]int64 // credits, by provider; a missing provider has no limit

	mu    sync.Mutex
	spent map[string]int64  // credits, by provider
	pages map[string][]byte // answers that have been paid for
}

type purseKey struct{}

// WithPurse returns a context whose reads share a purse: that of ctx if it has one, otherwise a new one with limits, in
// the credits of each named provider. A provider without a limit here only has its own.
func WithPurse(ctx context.Context, limits map[string]int64) context.Context {
	if ctx.Value(purseKey{}) != nil {
		return ctx
	}
	return context.WithValue(ctx, purseKey{}, &Purse{limits: limits})
}

// PurseOf returns the purse of ctx, or a new one if it has none.
func PurseOf(ctx context.Context) *Purse {
	if p, ok := ctx.Value(purseKey{}).(*Purse); ok {
		return p
	}
	return &Purse{}
}

// ErrSpent is wrapped by the error of a read that is not made because the limit of its call is reached.
var ErrSpent = Cause("it costs more than one call may spend (setting max_credits)")

// Spend takes n credits for a provider, and reports whether it did: it never takes more than most in total, or more
// than the limit of the call.
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

// Refund returns n credits that were not charged.
func (p *Purse) Refund(provider string, n int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.spent[provider] -= n
}

// Page returns the result that read has returned for key before, or else calls it. Failures are not stored.
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
