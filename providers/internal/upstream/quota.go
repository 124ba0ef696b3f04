package upstream

import (
	"math"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

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
	n      int // 0 when the upstream announces no number
	window time.Duration

	mu     sync.Mutex
	sent   []time.Time // the last n reads, a ring
	oldest int         // of sent, once it is full
	closed time.Time   // no read before
}

// NewQuota returns a quota of n reads in any window; n of 0 leaves the limit to the upstream's headers.
func NewQuota(n int, window time.Duration) *Quota { return &Quota{n: n, window: window} }

// Close stops reads until the given time, an hour from now at most.
func (q *Quota) Close(until time.Time) {
	if q == nil {
		return
	}
	if latest := time.Now().Add(longestPause); until.After(latest) {
		until = latest
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if until.After(q.closed) {
		q.closed = until
	}
}

// take fails while q is closed and, when reads are counted, while it is used up.
func (q *Quota) take(now time.Time, counted bool) error {
	if q == nil {
		return nil
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	wait := q.closed.Sub(now)
	counted = counted && q.n > 0
	full := counted && len(q.sent) == q.n
	if full {
		wait = max(wait, q.sent[q.oldest].Add(q.window).Sub(now))
	}
	switch {
	case wait > 0:
		return &providers.Error{
			Kind: providers.ErrUnavailable, Detail: "the upstream limits our pace", RetryAfter: wait, Blame: providers.BlameUpstream,
			Err: errQuota,
		}
	case full:
		q.sent[q.oldest] = now
		q.oldest = (q.oldest + 1) % q.n
	case counted:
		q.sent = append(q.sent, now)
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

// wait returns how long to stay away from an upstream that limits our pace without a Retry-After: until its reset, or
// a minute.
func (h *LimitHeaders) wait(got http.Header, now time.Time) time.Duration {
	if h != nil {
		if t, ok := h.Form.time(got.Get(h.Reset), now); ok && t.After(now) {
			return min(t.Sub(now), longestPause)
		}
	}
	return time.Minute
}
