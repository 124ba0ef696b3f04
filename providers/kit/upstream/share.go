package upstream

import (
	"time"

	"github.com/socialdata/socialdata/providers"
)

const (
	mostReads  = 10_000 // reads remembered for a limit without a number
	sharedFrom = 10     // a smaller limit has no shares
	dearFrom   = 10     // a read with this multiple of the cheapest cost is expensive
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

// beyondShare returns how long the caller must wait because the class of the read has used its share of the limit
// (D82), or because its account has (D98). While another account has read in the limit's current window, at most an
// hour, an account's share is a quarter of what the others have left of the class's part; otherwise, if there are other
// accounts, all but the last tenth. An unknown limit has no shares, and neither do callers without an account. An
// account that has made no read may always make one.
func (q *Quota) beyondShare(now time.Time, a asking) time.Duration {
	limit, left := q.state(now)
	if limit == 0 {
		return 0
	}
	kept := int64(0) // for the other classes
	if limit >= sharedFrom {
		kept = limit * int64(100-q.shareOf(a)) / 100
	}
	if kept > 0 && left-kept < a.cost {
		return q.returns(limit-kept-a.cost, now)
	}
	limit, left = limit-kept, left-kept
	account := a.caller.Account
	own := q.by[account]
	if account == "" || own == 0 {
		return 0
	}
	other := q.last
	if other.account == account {
		other = q.before
	}
	if other.account != "" && now.Sub(other.at) < time.Hour && q.counts(other.at, now) {
		if own+a.cost-1 < (left+own)/4 {
			return 0
		}
	} else if a.caller.Alone || left-a.cost+1 > (limit+9)/10 {
		return 0
	}
	end := q.told.reset
	if q.n > 0 {
		end = q.first(account).Add(q.window)
	}
	return bounded(end.Sub(now))
}

// shareOf returns the percentage of the limit that reads of that kind may use.
func (q *Quota) shareOf(a asking) int {
	share := 100
	if q.dear || a.cost >= dearFrom {
		share = q.shares.Dear
	}
	if a.class == providers.ClassBackground {
		share = min(share, q.shares.Background)
	}
	return share
}

// counts reports whether a read at that time counts in the current window.
func (q *Quota) counts(at, now time.Time) bool {
	if q.n == 0 {
		return at.After(q.told.began.Add(-time.Second))
	}
	return at.After(now.Add(-q.window))
}

// returns returns how long it takes until at most the given amount is used.
func (q *Quota) returns(most int64, now time.Time) time.Duration {
	if q.n == 0 || now.Before(q.told.reset) && q.told.left < q.n-q.used-q.usedElsewhere {
		return bounded(q.told.reset.Sub(now))
	}
	return bounded(q.until(most, now))
}

// first returns the time of the account's first read that still counts.
func (q *Quota) first(account string) time.Time {
	for _, r := range q.sent[q.from:] {
		if r.account == account && r.cost > 0 {
			return r.at
		}
	}
	return time.Time{}
}

// bounded returns the wait that a caller is told.
func bounded(d time.Duration) time.Duration { return min(max(d, time.Second), longestPause) }
