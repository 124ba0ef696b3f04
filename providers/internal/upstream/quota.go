package upstream

import (
	"math"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"github.com/socialdata/socialdata/providers"
)

// LimitHeaders names the headers in which an upstream tells what is left of a limit.
type LimitHeaders struct {
	Remaining string    // such as "X-RateLimit-Remaining"
	Reset     string    // such as "X-RateLimit-Reset"
	Form      ResetForm // how Reset is written
}

// ResetForm is how an upstream writes when a limit starts anew.
type ResetForm int

// The forms of a reset.
const (
	EpochSeconds ResetForm = iota // seconds since 1970
	DeltaSeconds                  // seconds from now
	RFC3339                       // a date
)

func (f ResetForm) time(v string, now time.Time) (time.Time, bool) {
	if f == RFC3339 {
		t, err := time.Parse(time.RFC3339, v)
		return t, err == nil
	}
	s, err := strconv.ParseFloat(strings.TrimSpace(v), 64)
	if err != nil || math.IsNaN(s) || s < 0 || s > 1e11 {
		return time.Time{}, false
	}
	if f == DeltaSeconds {
		return now.Add(time.Duration(s * float64(time.Second))), true
	}
	return time.Unix(int64(s), 0), true
}

// Quota is one of an upstream's limits: so many reads in so much time. When it is used up, or the upstream says so,
// reads fail at once until it starts anew. A nil Quota has no limit. It is safe for concurrent use.
type Quota struct {
	mu      sync.Mutex
	limiter *rate.Limiter // nil when the upstream announces no number
	closed  time.Time     // no read before
}

// NewQuota returns a quota of n reads per window; n of 0 leaves the limit to the upstream's headers.
func NewQuota(n int, window time.Duration) *Quota {
	q := &Quota{}
	if n > 0 {
		q.limiter = rate.NewLimiter(rate.Limit(float64(n)/window.Seconds()), n)
	}
	return q
}

// Close stops reads until the given time.
func (q *Quota) Close(until time.Time) {
	if q == nil {
		return
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if until.After(q.closed) {
		q.closed = until
	}
}

func (q *Quota) take(now time.Time) error {
	if q == nil {
		return nil
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	wait := q.closed.Sub(now)
	if wait <= 0 && q.limiter != nil && !q.limiter.AllowN(now, 1) {
		wait = time.Duration(float64(time.Second) / float64(q.limiter.Limit()))
	}
	if wait > 0 {
		return &providers.Error{Kind: providers.ErrUnavailable, Detail: "the upstream limits our pace", RetryAfter: wait, Err: errQuota}
	}
	return nil
}

// observe closes q when the upstream says that nothing is left.
func (q *Quota) observe(h *LimitHeaders, got http.Header, now time.Time) {
	if q == nil || h == nil {
		return
	}
	left, err := strconv.ParseFloat(strings.TrimSpace(got.Get(h.Remaining)), 64)
	if err != nil || left >= 1 {
		return
	}
	if t, ok := h.Form.time(got.Get(h.Reset), now); ok && t.After(now) {
		q.Close(t)
	}
}
