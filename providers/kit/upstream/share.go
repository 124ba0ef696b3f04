package upstream

import (
	"slices"
	"time"

	"github.com/socialdata/socialdata/providers"
)

const (
	mostMoments = 10_000 // remembered for a limit without a number
	sharedFrom  = 10     // a smaller limit has no shares
	dearFrom    = 10     // a read with this multiple of the cheapest cost is expensive
)

// announced is the upstream's last announcement, less what has been sent since.
type announced struct {
	left  int64
	limit int64     // as announced, or the largest remainder since the limit began
	began time.Time // when the first answer announced it
	reset time.Time // it is valid until then
}

// tell notes what the upstream announces; a limit of 0 was not announced.
func (q *Quota) tell(limit, left float64, reset, now time.Time) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if !now.Before(q.told.reset) {
		q.told = announced{began: now}
	}
	q.told.left = int64(max(0, min(left, 1e9)))
	if limit = min(limit, 1e9); limit >= 1 {
		q.told.limit = int64(limit)
	}
	q.told.limit = max(q.told.limit, q.told.left)
	q.told.reset = reset
}

// state returns the size of the limit and what is left of it: 0 and 0 for a limit without a number that the upstream
// has not announced. If it has a number, what is left is the lower of our own count and the announced one.
func (q *Quota) state(now time.Time) (limit, left int64) {
	told := now.Before(q.told.reset)
	if q.n == 0 {
		if !told {
			return 0, 0
		}
		return q.told.limit, max(0, q.told.left)
	}
	left = q.n - q.used - q.usedElsewhere
	if told {
		left = min(left, q.told.left)
	}
	return q.n, max(0, left)
}

// beyondShare returns an error with the time that the caller must wait because the class of the read has used its share
// of the limit (D82), or because one of its accounts has (D98). While another account has read in the limit's current
// window, at most an hour, an account's share is a quarter of what the others have left of the class's part; otherwise,
// if there are other accounts, all but the last tenth. An unknown limit has no shares, and neither do callers without
// an account. An account that has made no read may always make one.
func (q *Quota) beyondShare(now time.Time, a *asking, limit, left int64) (err error) {
	stored := int64(0) // for the other classes
	if limit >= sharedFrom {
		stored = limit * int64(100-q.shareOf(a)) / 100
	}
	if stored > 0 && left-stored < a.cost {
		return limited(q.returns(limit-stored-a.cost, now), providers.BlameNone, providers.ErrShare)
	}
	limit, left = limit-stored, left-stored
	a.each(func(account string, cost int64) {
		u := q.usageOf(account)
		if err != nil || u == nil || !q.beyond(u, cost, limit, left, now, a) {
			return
		}
		end := q.told.reset
		if q.n > 0 {
			end = q.first(u).Add(q.window)
		}
		err = limited(bounded(end.Sub(now)), providers.BlameNone, &providers.ShareError{Account: account})
	})
	return err
}

// beyond reports whether a part of a read, in millionths, exceeds its account's share of what its class may use.
func (q *Quota) beyond(u *usage, cost, limit, left int64, now time.Time, a *asking) bool {
	other := q.last
	if other.account == u.account {
		other = q.before
	}
	if other.account != "" && now.Sub(other.at) < time.Hour && q.counts(other.at, now) {
		return u.cost+max(0, cost-unit) >= (left+u.cost/unit)/4*unit
	}
	return !a.caller.Alone && left-a.cost+1 <= (limit+9)/10
}

// shareOf returns the percentage of the limit that reads of that kind may use.
func (q *Quota) shareOf(a *asking) int {
	share := 100
	if q.expensive(a.cost) {
		share = q.shares.Dear
	}
	if a.background {
		share = min(share, q.shares.Background)
	}
	return share
}

// expensive reports whether a read of that cost is expensive.
func (q *Quota) expensive(cost int64) bool { return q != nil && (q.dear || cost >= dearFrom) }

// counts reports whether a read at that time counts in the current window.
func (q *Quota) counts(at, now time.Time) bool {
	if q.n == 0 {
		return at.After(q.told.began.Add(-time.Second)) // the first read was sent before its answer
	}
	return now.Sub(at) < q.window
}

// returns returns how long it takes until at most the given amount is used.
func (q *Quota) returns(most int64, now time.Time) time.Duration {
	if q.n == 0 || now.Before(q.told.reset) && q.told.left < q.n-q.used-q.usedElsewhere {
		return bounded(q.told.reset.Sub(now))
	}
	return bounded(q.until(most, now))
}

// first returns the time of the account's first read that still counts.
func (q *Quota) first(u *usage) time.Time {
	for u.first = max(u.first, q.dropped+q.from); u.first-q.dropped < len(q.sent); u.first++ {
		m := &q.sent[u.first-q.dropped]
		if slices.ContainsFunc(m.by, func(p part) bool { return p.usage == u && p.cost > 0 }) {
			return m.at
		}
	}
	return time.Time{}
}

// bounded returns d as callers get it: at least a second, and at most an hour.
func bounded(d time.Duration) time.Duration { return min(max(d, time.Second), longestPause) }
