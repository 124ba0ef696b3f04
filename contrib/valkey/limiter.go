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

// Fail says what a [Limiter] does while the server is lost.
type Fail string

// What a [Limiter] can do while the server is lost.
const (
	FailOpen   Fail = "open"   // each replica counts for itself, from full buckets on
	FailClosed Fail = "closed" // calls are refused with 503
)

// Limiter is a [keys.Limiter] whose buckets all replicas share.
type Limiter struct {
	server  *Server
	fail    Fail
	now     func() time.Time // nil for the clock of the server
	alone   *keys.MemoryLimiter
	refused *lru.Cache[string, refusal] // by key
}

var _ keys.Limiter = (*Limiter)(nil)

// LimiterConfig says how a [Limiter] works. The zero value is ready for use.
type LimiterConfig struct {
	// Fail is what happens while the server is lost: [FailOpen] when "".
	Fail Fail
	// Now is the clock. Nil means that of the server, so that the clocks of replicas need not agree.
	Now func() time.Time
}

// refusedKeys is how many keys are remembered that were refused. One more is asked for again.
const refusedKeys = 1 << 14

// refusal is what the server has said of a bucket that had too little.
type refusal struct {
	asked  time.Time // before the server was
	tokens float64
	rate   keys.Rate
}

// Limiter returns a limiter whose buckets are in the server. It fails when cfg.Fail is none of the two.
func (s *Server) Limiter(cfg LimiterConfig) (*Limiter, error) {
	cfg.Fail = cmp.Or(cfg.Fail, FailOpen)
	if cfg.Fail != FailOpen && cfg.Fail != FailClosed {
		return nil, errors.New("valkey: a limiter fails open or closed")
	}
	refused, _ := lru.New[string, refusal](refusedKeys) // fails on a size below 1 only
	return &Limiter{
		server: s, fail: cfg.Fail, now: cfg.Now, refused: refused,
		alone: keys.NewMemoryLimiter(keys.MemoryLimiterConfig{Now: cfg.Now}),
	}, nil
}

// State says how the limiter does while the server is lost: degraded when it fails open, down when it fails closed.
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

// Give implements [keys.Limiter]. Another replica that has been refused a token asks for one when it was told to.
func (l *Limiter) Give(ctx context.Context, key string, r keys.Rate, n int) (keys.Allowance, error) {
	l.refused.Remove(key)
	a, err := l.look(ctx, key, r, "give", n)
	if errors.Is(err, errLost) && l.fail == FailOpen {
		return l.alone.Give(ctx, key, r, n)
	}
	return a, refuse(err)
}

// refuse makes the loss of the server what callers may see.
func refuse(err error) error {
	if errors.Is(err, errLost) {
		return problem.Wrap(err, problem.PlatformUnavailable, "the rate limit of the key cannot be checked").After(every)
	}
	return err
}

// stillRefused answers for the server as long as its last refusal holds: this replica has put no token into the bucket.
func (l *Limiter) stillRefused(key string, r keys.Rate, n int) (keys.Allowance, bool) {
	last, known := l.refused.Get(key)
	if !known || last.rate != r {
		return keys.Allowance{}, false
	}
	passed := max(0, l.time().Sub(last.asked))
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
	asked, clock := l.time(), ""
	if l.now != nil {
		clock = strconv.FormatInt(asked.UnixMicro(), 10)
	}
	args := []string{strconv.FormatInt(r.Capacity, 10), strconv.FormatFloat(r.Refill, 'g', -1, 64), what, clock, strconv.Itoa(n)}
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
		l.refused.Add(key, refusal{asked, tokens, r})
	}
	return keys.Allowance{OK: wait == 0, Rate: r, Remaining: tokens, RetryAfter: wait}, nil
}
