package keys

import (
	"context"
	"math"
	"sync"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"
)

// MemoryLimiter is a [Limiter] for one process. It remembers a bounded number of keys; the one that has not called
// for longest is forgotten first, and starts with a full bucket if it comes back.
type MemoryLimiter struct {
	now   func() time.Time
	start time.Time

	mu      sync.Mutex
	last    int64 // the latest time seen, in nanoseconds since start: a clock set back gives and takes nothing
	buckets *simplelru.LRU[string, bucket]
}

var _ Limiter = (*MemoryLimiter)(nil)

// LimiterConfig says how a [MemoryLimiter] works. The zero value is ready for use.
type LimiterConfig struct {
	Now  func() time.Time // the clock; nil means time.Now
	Keys int              // how many keys are remembered; 0 means 100,000
}

// NewLimiter returns a limiter in which every bucket is full.
func NewLimiter(cfg LimiterConfig) *MemoryLimiter {
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Keys <= 0 {
		cfg.Keys = 100_000
	}
	// NewLRU fails on a size below 1 only.
	buckets, _ := simplelru.NewLRU[string, bucket](cfg.Keys, nil)
	return &MemoryLimiter{now: cfg.Now, start: cfg.Now(), buckets: buckets}
}

// Take implements [Limiter].
func (l *MemoryLimiter) Take(ctx context.Context, key string, r Rate) (Allowance, error) {
	return l.look(ctx, key, r, true)
}

// Peek implements [Limiter].
func (l *MemoryLimiter) Peek(ctx context.Context, key string, r Rate) (Allowance, error) {
	return l.look(ctx, key, r, false)
}

// Len returns how many keys are remembered.
func (l *MemoryLimiter) Len() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buckets.Len()
}

func (l *MemoryLimiter) look(ctx context.Context, key string, r Rate, take bool) (Allowance, error) {
	if err := ctx.Err(); err != nil {
		return Allowance{}, err
	}
	if err := r.Check(); err != nil {
		return Allowance{}, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.last = max(l.last, int64(l.now().Sub(l.start)))
	b, ok := l.buckets.Peek(key)
	if !ok {
		b = fullBucket(r, l.last)
	}
	b = b.at(r, l.last)
	ok = l.last-b.empty >= b.interval
	if take {
		if ok {
			b.empty += b.interval
		}
		l.buckets.Add(key, b)
	}
	a := Allowance{OK: ok, Rate: r, Remaining: float64(l.last-b.empty) / float64(b.interval)}
	if !ok {
		a.RetryAfter = time.Duration(b.empty + b.interval - l.last)
	}
	return a, nil
}

// bucket counts in whole nanoseconds, so that nothing is lost or won by rounding: at the time t it holds
// (t-empty)/interval tokens.
type bucket struct {
	rate     Rate
	interval int64 // in which one token comes back
	empty    int64 // when it held nothing, if nothing had been taken since
}

func fullBucket(r Rate, now int64) bucket {
	interval := int64(min(math.Ceil(1e9/r.Refill), longest))
	interval = max(interval, 1)
	return bucket{rate: r, interval: interval, empty: now - window(r, interval)}
}

// longest bounds the time to fill a bucket, to stay far from overflow: 146 years.
const longest = 1 << 62

// window is how long an empty bucket takes to fill.
func window(r Rate, interval int64) int64 {
	if r.Capacity > longest/interval {
		return longest / interval * interval
	}
	return r.Capacity * interval
}

// at returns b as it is now: never more than full, and with the same tokens when the rate has changed.
func (b bucket) at(r Rate, now int64) bucket {
	full := fullBucket(r, now)
	if b.rate != r {
		tokens := float64(now-b.empty) / float64(b.interval)
		b = bucket{rate: r, interval: full.interval, empty: now - int64(min(tokens*float64(full.interval), longest))}
	}
	b.empty = max(b.empty, full.empty)
	return b
}
