package keys

import (
	"context"
	"math"
	"sync"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"
	"golang.org/x/time/rate"
)

// MemoryLimiter is a [Limiter] for one process. It remembers a limited number of keys; the one that has not called for
// longest is forgotten first, and starts with a full bucket if it calls again.
type MemoryLimiter struct {
	now func() time.Time

	mu      sync.Mutex
	latest  time.Time // the latest time seen, so that a clock that is set back changes nothing
	buckets *simplelru.LRU[string, *rate.Limiter]
}

var _ Limiter = (*MemoryLimiter)(nil)

// MemoryLimiterConfig configures a [MemoryLimiter]. The zero value is ready to use.
type MemoryLimiterConfig struct {
	Now  func() time.Time // the clock; nil means time.Now
	Keys int              // how many keys are remembered; 0 or less means 100,000
}

// NewMemoryLimiter returns a limiter in which every bucket is full.
func NewMemoryLimiter(cfg MemoryLimiterConfig) *MemoryLimiter {
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Keys <= 0 {
		cfg.Keys = 100_000
	}
	// NewLRU only fails for a size below 1.
	buckets, _ := simplelru.NewLRU[string, *rate.Limiter](cfg.Keys, nil)
	return &MemoryLimiter{now: cfg.Now, buckets: buckets}
}

// Take implements [Limiter].
func (l *MemoryLimiter) Take(ctx context.Context, key string, r Rate, n int) (Allowance, error) {
	return l.exchange(ctx, key, r, r.Most(n))
}

// Peek implements [Limiter].
func (l *MemoryLimiter) Peek(ctx context.Context, key string, r Rate) (Allowance, error) {
	return l.exchange(ctx, key, r, 0)
}

// Give implements [Limiter].
func (l *MemoryLimiter) Give(ctx context.Context, key string, r Rate, n int) (Allowance, error) {
	return l.exchange(ctx, key, r, -n)
}

// Len returns how many keys are remembered.
func (l *MemoryLimiter) Len() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buckets.Len()
}

// exchange takes that many tokens, or gives them when take is negative.
func (l *MemoryLimiter) exchange(ctx context.Context, key string, r Rate, take int) (Allowance, error) {
	if err := ctx.Err(); err != nil {
		return Allowance{}, err
	}
	if err := r.Check(); err != nil {
		return Allowance{}, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if now := l.now(); now.After(l.latest) {
		l.latest = now
	}
	b := l.bucket(key, r)
	if take < 0 {
		b.AllowN(l.latest, take) // what exceeds the capacity is dropped by the next exchange
	}
	tokens := b.TokensAt(l.latest)
	wait := r.Wait(tokens, max(take, 1))
	a := Allowance{OK: wait == 0, Rate: r, Remaining: tokens, RetryAfter: wait}
	if take > 0 {
		if a.OK = b.AllowN(l.latest, take); a.OK {
			a.Remaining = max(0, tokens-float64(take))
		}
	}
	if take != 0 {
		l.buckets.Add(key, b)
	}
	return a, nil
}

// bucket returns the key's bucket, with the same tokens if its rate has changed, or a full one that is not stored.
func (l *MemoryLimiter) bucket(key string, r Rate) *rate.Limiter {
	limit, capacity := rate.Limit(r.Refill), int(min(r.Capacity, math.MaxInt))
	b, ok := l.buckets.Peek(key)
	if !ok {
		return rate.NewLimiter(limit, capacity)
	}
	if b.Limit() != limit {
		b.SetLimitAt(l.latest, limit)
	}
	if b.Burst() != capacity {
		b.SetBurstAt(l.latest, capacity)
	}
	return b
}
