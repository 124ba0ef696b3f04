package upstream

import (
	"maps"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/socialdata/socialdata/callctx"
	"github.com/socialdata/socialdata/providers"
)

// LimitHeaders names the headers in which an upstream announces what is left of a limit.
type LimitHeaders struct {
	Limit     string    // such as "X-RateLimit-Limit"; "" when there is none: then the largest Remaining is the limit
	Remaining string    // such as "X-RateLimit-Remaining"
	Reset     string    // such as "X-RateLimit-Reset"
	Form      ResetForm // how Reset is written
}

// canonical returns a copy of h with canonical names; nil for nil.
func (h *LimitHeaders) canonical() *LimitHeaders {
	if h == nil {
		return nil
	}
	return &LimitHeaders{
		http.CanonicalHeaderKey(h.Limit), http.CanonicalHeaderKey(h.Remaining), http.CanonicalHeaderKey(h.Reset), h.Form,
	}
}

// ResetForm is the form in which an upstream writes when a limit resets.
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

// Quota is one of an upstream's limits: a number of reads, or of units if reads have different costs, per window. When
// it is used up, or the upstream says so, reads fail at once until it resets. Expensive reads, and background reads,
// stop when only the share of the others is left. If several accounts read, none may use more than its share
// (share.go). A nil Quota has no limit. It is safe for concurrent use.
type Quota struct {
	n      int64 // 0 when the upstream announces no number
	window time.Duration
	dear   bool // its reads are expensive, whatever they cost

	waiting atomic.Pointer[waiting] // the last read that waits for mu

	mu            sync.Mutex
	sent          []moment // the counting ones, oldest first, after some that no longer count
	from          int      // index of the first of sent that counts
	dropped       int      // how many have been removed from the front of sent
	used          int64    // by all that count
	by            map[string]*usage
	found         *usage // the last one that usageOf returned
	last          seen   // the account that read last, and another one before it
	before        seen
	closed        time.Time // no reads before
	told          announced
	shares        providers.Shares
	others        []slice // usage of other processes, oldest first
	usedElsewhere int64   // by those that count
	saving        int64   // the part of unsaved that is being saved
	unsaved       int64
	identity      string // of this process among those that save
	save          func() error
}

// moment is what was sent within a short time, which counts as if all of it had been sent at its end.
type moment struct {
	began, at time.Time // of its first and of its last read
	cost      int64
	by        []part
}

// part is the usage of one account in a moment.
type part struct {
	*usage

	cost int64 // in millionths
}

// usage is what one account uses of a limit. An account uses parts of a unit if it shares a read with others.
type usage struct {
	account string
	cost    int64 // in millionths
	latest  int   // the number of the last moment with a part of the account, and the index of that part
	at      int
	first   int // no moment with a lower number has a part that counts
}

// unit is one unit of a limit, in the millionths in which the usage of accounts is counted.
const unit = 1_000_000

// seen is when an account last read.
type seen struct {
	account string
	at      time.Time
}

// NewQuota returns a quota of n reads in any window; with n = 0 the limit comes from the upstream's headers.
func NewQuota(n int, window time.Duration) *Quota {
	return &Quota{n: int64(n), window: window, by: map[string]*usage{}, shares: providers.DefaultShares()}
}

// Close stops reads until the given time, at most for an hour.
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

// asking is a read that is to be counted: its caller, its class and its cost.
type asking struct {
	caller     callctx.Caller
	background bool
	cost       int64
	unsaved    bool // it is sent although much is unsaved, which could not be saved
}

// ticket identifies a read that was counted, so that it can be given back.
type ticket struct {
	asking

	moment int // its number; negative for a read that is not counted
}

// count is take for a goroutine that has the lock.
func (q *Quota) count(now time.Time, counted bool, a *asking) (ticket, error) {
	none := ticket{moment: -1}
	q.expire(now)
	wait := time.Duration(0)
	if q.closed.After(now) {
		wait = q.closed.Sub(now)
	}
	if counted && q.n > 0 && q.used+q.usedElsewhere+a.cost > q.n {
		wait = max(wait, q.until(q.n-a.cost, now))
	}
	limit, left := q.state(now)
	if counted && q.n == 0 && limit > 0 && left < a.cost {
		wait = max(wait, q.told.reset.Sub(now))
	}
	if wait > 0 {
		return none, limited(wait, providers.BlameUpstream, errQuota)
	}
	if !counted {
		return none, nil
	}
	if q.saves() && q.save != nil && a.background && !a.unsaved &&
		(providers.LimitState{Limit: q.n, Unsaved: q.unsaved}).MuchUnsaved() {
		return none, errUnsaved
	}
	if limit > 0 {
		if err := q.beyondShare(now, a, limit, left); err != nil {
			return none, err
		}
	}
	return ticket{*a, q.note(now, a)}, nil
}

// limited returns the error of a read that is not sent.
func limited(wait time.Duration, blame providers.Blame, cause error) error {
	return &providers.Error{
		Kind: providers.ErrUnavailable, Detail: "the upstream is rate limiting us", RetryAfter: wait, Blame: blame, Err: cause,
	}
}

// note counts a read, and returns the number of its moment.
func (q *Quota) note(now time.Time, a *asking) int {
	last := len(q.sent) - 1
	if last < q.from || now.Sub(q.sent[last].began) > q.short() {
		if q.n == 0 && len(q.sent)-q.from == mostMoments {
			q.drop()
		}
		last = len(q.sent)
		q.sent = append(q.sent, moment{began: now})
	}
	m := &q.sent[last]
	m.at = now
	m.cost += a.cost
	q.used += a.cost
	q.unsaved += a.cost
	q.told.left -= a.cost
	number := q.dropped + last
	a.each(func(account string, cost int64) {
		q.noteUsage(m, number, account, cost)
		if q.last.account != account {
			q.before = q.last
		}
		q.last = seen{account, now}
	})
	return number
}

// short is how long a moment lasts at most: what is sent in it counts that much longer.
func (q *Quota) short() time.Duration {
	if q.window == 0 {
		return time.Second
	}
	return q.window / 4096
}

// each calls f for each account with its part of the cost, in millionths. A read without an account has none.
func (a *asking) each(f func(account string, cost int64)) {
	if a.caller.Keys == nil {
		if a.caller.Account != "" {
			f(a.caller.Account, a.cost*unit)
		}
		return
	}
	keys := 0
	for _, n := range a.caller.Keys {
		keys += n
	}
	for _, account := range slices.Sorted(maps.Keys(a.caller.Keys)) {
		if account != "" {
			f(account, a.cost*unit*int64(a.caller.Keys[account])/int64(keys))
		}
	}
}

// noteUsage counts a part of a read for an account.
func (q *Quota) noteUsage(m *moment, number int, account string, cost int64) {
	u := q.usageOf(account)
	if u == nil {
		u = &usage{account: account, latest: -1, first: number}
		q.by[account], q.found = u, u
	}
	if u.latest != number {
		u.latest, u.at = number, len(m.by)
		m.by = append(m.by, part{u, 0})
	}
	m.by[u.at].cost += cost
	u.cost += cost
}

// usageOf returns the usage of an account, nil if nothing counts. Each read calls it twice.
func (q *Quota) usageOf(account string) *usage {
	if q.found == nil || q.found.account != account {
		q.found = q.by[account]
	}
	return q.found
}

// giveBack removes a read that was free of charge.
func (q *Quota) giveBack(t ticket) {
	if q == nil || t.moment < 0 {
		return
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	i := t.moment - q.dropped
	if i < q.from { // it no longer counts
		return
	}
	m := &q.sent[i]
	m.cost -= t.cost
	q.used -= t.cost
	q.unsaved -= t.cost
	q.told.left += t.cost
	t.each(func(account string, cost int64) {
		for i := range m.by {
			if m.by[i].account == account {
				m.by[i].cost -= cost
				q.forget(m.by[i].usage, cost)
			}
		}
	})
}

// forget reduces the usage of an account.
func (q *Quota) forget(u *usage, cost int64) {
	if u.cost -= cost; u.cost <= 0 && q.by[u.account] == u {
		delete(q.by, u.account)
		q.found = nil
	}
}

// drop removes the oldest moment.
func (q *Quota) drop() {
	m := &q.sent[q.from]
	q.used -= m.cost
	for _, p := range m.by {
		q.forget(p.usage, p.cost)
	}
	*m = moment{}
	if q.from++; q.from*2 > len(q.sent) {
		q.dropped += q.from
		q.sent, q.from = append(q.sent[:0], q.sent[q.from:]...), 0
	}
}

// expire removes what no longer counts: what is older than the window, or than the announced limit.
func (q *Quota) expire(now time.Time) {
	for q.from < len(q.sent) && !q.counts(q.sent[q.from].at, now) {
		q.drop()
	}
	for len(q.others) > 0 && !q.others[0].end.Add(q.window).After(now) {
		q.usedElsewhere -= q.others[0].cost
		q.others = q.others[1:]
	}
}

// until returns how long it takes until at most the given amount is used.
func (q *Quota) until(most int64, now time.Time) time.Duration {
	used, own, others := q.used+q.usedElsewhere, q.sent[q.from:], q.others
	end := now.Add(q.window) // for a cost that exceeds the limit
	for used > most && len(own)+len(others) > 0 {
		if len(others) == 0 || len(own) > 0 && own[0].at.Before(others[0].end) {
			used, end, own = used-own[0].cost, own[0].at.Add(q.window), own[1:]
		} else {
			used, end, others = used-others[0].cost, others[0].end.Add(q.window), others[1:]
		}
	}
	return end.Sub(now)
}

// observe notes the limit that the upstream announces, and closes q when nothing is left.
func (q *Quota) observe(h *LimitHeaders, got http.Header, now time.Time) {
	if q == nil || h == nil {
		return
	}
	left, ok := countOf(got.Get(h.Remaining))
	if !ok {
		return
	}
	t, ok := h.Form.time(got.Get(h.Reset), now)
	if !ok || !t.After(now) {
		return
	}
	if left < 1 {
		q.Close(t)
	}
	limit, _ := countOf(got.Get(h.Limit))
	q.tell(limit, left, t, now)
}

// countOf parses a number in a header.
func countOf(v string) (float64, bool) {
	n, err := strconv.ParseFloat(strings.TrimSpace(v), 64)
	return n, err == nil && !math.IsNaN(n)
}

// wait returns how long not to call an upstream that is rate limiting us without a Retry-After: until its reset, or a
// minute.
func (h *LimitHeaders) wait(got http.Header, now time.Time) time.Duration {
	if h != nil {
		if t, ok := h.Form.time(got.Get(h.Reset), now); ok && t.After(now) {
			return min(t.Sub(now), longestPause)
		}
	}
	return time.Minute
}
