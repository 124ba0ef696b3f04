package valkey

import (
	"cmp"
	"context"
	_ "embed"
	"errors"
	"strconv"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
	valkey "github.com/valkey-io/valkey-go"

	"github.com/socialdata/socialdata/keys"
	"github.com/socialdata/socialdata/problem"
	"github.com/socialdata/socialdata/schema"
)

var (
	//go:embed bucket.lua
	bucketText   string
	bucketScript = valkey.NewLuaScript(bucketText)
)

// Fail is the behaviour of a [Limiter] while the server is unavailable.
type Fail string

// The behaviours of a [Limiter] while the server is unavailable.
const (
	FailOpen   Fail = "open"   // each replica counts separately, starting with full buckets
	FailClosed Fail = "closed" // calls are refused with 503
)

// Limiter is a [keys.Limiter] whose buckets all replicas share.
type Limiter struct {
	server  *Server
	fail    Fail
	now     func() time.Time // nil for the server's clock
	alone   *keys.MemoryLimiter
	refused *lru.Cache[string, refusal] // by key
}

var _ keys.Limiter = (*Limiter)(nil)

// LimiterConfig configures a [Limiter]. The zero value is ready to use.
type LimiterConfig struct {
	// Fail is the behaviour while the server is unavailable: [FailOpen] when "".
	Fail Fail
	// Now is the clock. Nil means that of the server, so that the clocks of replicas need not agree.
	Now func() time.Time
}

// refusedKeys is the number of keys whose refusal is cached. Calls of others go to the server.
const refusedKeys = 1 << 14

// refusal is the server's answer for a bucket with too few tokens.
type refusal struct {
	sent   time.Time // before the call to the server
	tokens float64
	rate   keys.Rate
}

// Limiter returns a limiter whose buckets are in the server. It fails when cfg.Fail is invalid.
func (s *Server) Limiter(cfg LimiterConfig) (*Limiter, error) {
	cfg.Fail = cmp.Or(cfg.Fail, FailOpen)
	if cfg.Fail != FailOpen && cfg.Fail != FailClosed {
		return nil, errors.New("valkey: LimiterConfig.Fail must be open or closed")
	}
	refused, _ := lru.New[string, refusal](refusedKeys) // fails only for a size below 1
	return &Limiter{
		server: s, fail: cfg.Fail, now: cfg.Now, refused: refused,
		alone: keys.NewMemoryLimiter(keys.MemoryLimiterConfig{Now: cfg.Now}),
	}, nil
}

// State returns the health of the limiter: while the server is unavailable, degraded if it fails open, down if it fails
// closed.
func (l *Limiter) State() schema.HealthState {
	switch {
	case !l.server.lost.Load():
		return schema.Healthy
	case l.fail == FailOpen:
		return schema.Degraded
	}
	return schema.Down
}

// Take implements [keys.Limiter].
func (l *Limiter) Take(ctx context.Context, key string, r keys.Rate, n int) (keys.Allowance, error) {
	n = r.Most(n)
	if a, known := l.stillRefused(key, r, n); known && ctx.Err() == nil {
		return a, nil
	}
	a, err := l.look(ctx, key, r, "take", n)
	if errors.Is(err, errLost) && l.fail == FailOpen {
		return l.alone.Take(ctx, key, r, n)
	}
	return a, refuse(err)
}

// Peek implements [keys.Limiter].
func (l *Limiter) Peek(ctx context.Context, key string, r keys.Rate) (keys.Allowance, error) {
	a, err := l.look(ctx, key, r, "peek", 0)
	if errors.Is(err, errLost) && l.fail == FailOpen {
		return l.alone.Peek(ctx, key, r)
	}
	return a, refuse(err)
}

// Give implements [keys.Limiter]. Another replica that has cached a refusal only uses the token after that expires.
func (l *Limiter) Give(ctx context.Context, key string, r keys.Rate, n int) (keys.Allowance, error) {
	l.refused.Remove(key)
	a, err := l.look(ctx, key, r, "give", n)
	if errors.Is(err, errLost) && l.fail == FailOpen {
		return l.alone.Give(ctx, key, r, n)
	}
	return a, refuse(err)
}

// refuse translates the error of an unavailable server for callers.
func refuse(err error) error {
	if errors.Is(err, errLost) {
		return problem.Wrap(err, problem.PlatformUnavailable, "the rate limit of the key cannot be checked").After(every)
	}
	return err
}

// stillRefused returns the server's last refusal while it is valid, unless this replica has put tokens back into the
// bucket.
func (l *Limiter) stillRefused(key string, r keys.Rate, n int) (keys.Allowance, bool) {
	last, known := l.refused.Get(key)
	if !known || last.rate != r {
		return keys.Allowance{}, false
	}
	passed := max(0, l.time().Sub(last.sent))
	tokens := last.tokens + passed.Seconds()*r.Refill
	wait := r.Wait(last.tokens, n) - passed
	return keys.Allowance{Rate: r, Remaining: tokens, RetryAfter: wait}, wait > 0
}

func (l *Limiter) time() time.Time {
	if l.now != nil {
		return l.now()
	}
	return time.Now()
}

func (l *Limiter) look(ctx context.Context, key string, r keys.Rate, what string, n int) (keys.Allowance, error) {
	if err := errors.Join(ctx.Err(), r.Check()); err != nil {
		return keys.Allowance{}, err
	}
	sent, clock := l.time(), ""
	if l.now != nil {
		clock = strconv.FormatInt(sent.UnixMicro(), 10)
	}
	args := []string{
		strconv.FormatInt(r.Capacity, 10), strconv.FormatFloat(r.Refill, 'g', -1, 64), what, clock, strconv.Itoa(n),
	}
	taken, tokens := false, 0.0
	err := l.server.do(ctx, func(ctx context.Context, client valkey.Client) error {
		got, err := bucketScript.Exec(ctx, client, []string{l.server.prefix + ":bucket:{" + key + "}"}, args).ToArray()
		if err != nil {
			return err
		}
		if taken, err = got[0].AsBool(); err == nil {
			tokens, err = got[1].AsFloat64()
		}
		return err
	})
	switch {
	case err != nil && ctx.Err() != nil:
		return keys.Allowance{}, ctx.Err()
	case err != nil:
		return keys.Allowance{}, err
	}
	if taken {
		return keys.Allowance{OK: true, Rate: r, Remaining: max(0, tokens-float64(n))}, nil
	}
	wait := r.Wait(tokens, 1)
	if what == "take" {
		wait = r.Wait(tokens, n)
	}
	if wait > 0 {
		l.refused.Add(key, refusal{sent, tokens, r})
	}
	return keys.Allowance{OK: wait == 0, Rate: r, Remaining: tokens, RetryAfter: wait}, nil
}
