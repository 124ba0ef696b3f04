package upstream

import (
	"cmp"
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
// reads fail at once until it starts anew. Where several accounts read, none takes more than its share (share.go). A nil
// Quota has no limit. It is safe for concurrent use.
type Quota struct {
	n      int // 0 when the upstream announces no number
	window time.Duration

	mu     sync.Mutex
	sent   []read    // the last n reads, a ring; without a number, those since the upstream's limit began
	oldest int       // of sent, once it is full
	closed time.Time // no read before
	told   announced
}

// read is one that has been sent.
type read struct {
	at      time.Time
	account string // "" for none
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

// take fails while q is closed and, when reads are counted, while it is used up or the caller has had its share.
func (q *Quota) take(now time.Time, counted bool, by providers.Caller) error {
	if q == nil {
		return nil
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	wait := q.closed.Sub(now)
	full := counted && q.n > 0 && len(q.sent) == q.n
	if full {
		wait = max(wait, q.sent[q.oldest].at.Add(q.window).Sub(now))
	}
	if wait > 0 {
		return limited(wait, providers.BlameUpstream, errQuota)
	}
	if !counted {
		return nil
	}
	if wait := q.beyondShare(now, by); wait > 0 {
		return limited(wait, providers.BlameNobody, providers.ErrShare)
	}
	q.told.left--
	q.note(read{now, by.Account})
	return nil
}

// limited is the error of a read that is not sent.
func limited(wait time.Duration, blame providers.Blame, cause error) error {
	return &providers.Error{
		Kind: providers.ErrUnavailable, Detail: "the upstream limits our pace", RetryAfter: wait, Blame: blame, Err: cause,
	}
}

// note remembers a read.
func (q *Quota) note(r read) {
	if limit := cmp.Or(q.n, mostReads); len(q.sent) < limit {
		q.sent = append(q.sent, r)
	} else {
		q.sent[q.oldest] = r
		q.oldest = (q.oldest + 1) % limit
	}
}

// observe takes what the upstream tells of the limit, and closes q when nothing is left.
func (q *Quota) observe(h *LimitHeaders, got http.Header, now time.Time) {
	if q == nil || h == nil {
		return
	}
	left, err := strconv.ParseFloat(strings.TrimSpace(got.Get(h.Remaining)), 64)
	if err != nil {
		return
	}
	t, ok := h.Form.time(got.Get(h.Reset), now)
	if !ok || !t.After(now) {
		return
	}
	if left < 1 {
		q.Close(t)
	}
	q.tell(left, t, now)
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
