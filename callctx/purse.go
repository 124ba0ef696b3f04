package callctx

import "sync"

// Purse limits what one call, which may make many reads, spends with upstreams that charge for them. It is safe for
// concurrent use. A nil Purse has no limit of its own, and remembers nothing.
type Purse struct {
	limits map[string]int64 // credits, by provider; a missing provider has no limit

	mu    sync.Mutex
	spent map[string]int64  // credits, by provider
	pages map[string][]byte // answers that have been paid for
}

// Spend takes n credits for a provider, and reports whether it did: it never takes more than most in total, or more
// than the limit of the call.
func (p *Purse) Spend(provider string, n, most int64) bool {
	if p == nil {
		return n <= most
	}
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
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.spent[provider] -= n
}

// Page returns the result that read has returned for key before, or else calls it. Failures are not stored.
func (p *Purse) Page(key string, read func() ([]byte, error)) ([]byte, error) {
	if p == nil {
		return read()
	}
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
