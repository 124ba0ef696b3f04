package upstream

import (
	"time"

	"github.com/socialdata/socialdata/providers"
)

// mostReads is how many reads are remembered of a limit without a number.
const mostReads = 10_000

// announced is what an upstream has told of a limit, less what has been sent since.
type announced struct {
	left  int
	most  int       // that was ever left since the limit began: its size, as far as is known
	began time.Time // when the first answer told of it
	reset time.Time // it holds until then
}

// tell notes what the upstream has told of the limit.
func (q *Quota) tell(left float64, reset, now time.Time) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if !now.Before(q.told.reset) {
		q.told = announced{began: now}
	}
	q.told.left = int(max(0, min(left, 1e9)))
	q.told.most = max(q.told.most, q.told.left)
	q.told.reset = reset
}

// beyondShare returns how long the caller must wait because its account has had its share of the limit (D98): while
// another account has read in the limit's current window, an hour at most, that is a quarter of what the others have left;
// else, where there are others, all but the last tenth. What is not known to be limited has no shares, nor have callers
// without an account. An account that has had nothing may always have one.
func (q *Quota) beyondShare(now time.Time, by providers.Caller) time.Duration {
	since, left, size, known := q.state(now)
	if !known || by.Account == "" {
		return 0
	}
	own, others, first := 0, false, now
	for i := range q.sent {
		r := q.sent[(q.oldest+len(q.sent)-1-i)%len(q.sent)] // the latest first
		if !r.at.After(since) {
			break
		}
		switch r.account {
		case by.Account:
			own, first = own+1, r.at
		case "":
		default:
			others = others || now.Sub(r.at) < time.Hour
		}
	}
	switch {
	case own == 0,
		others && own < (left+own)/4,
		!others && (by.Alone || left > (size+9)/10):
		return 0
	}
	end := q.told.reset
	if q.n > 0 {
		end = first.Add(q.window)
	}
	return min(max(end.Sub(now), time.Second), longestPause)
}

// state returns since when the limit counts, how many reads are left of it, and how many it has. It is not known for a
// limit without a number of which the upstream has told nothing.
func (q *Quota) state(now time.Time) (since time.Time, left, size int, known bool) {
	told := now.Before(q.told.reset)
	if q.n == 0 {
		return q.told.began.Add(-time.Second), q.told.left, q.told.most, told // the first read came before its answer
	}
	since, left = now.Add(-q.window), q.n
	for i := range q.sent {
		if !q.sent[(q.oldest+len(q.sent)-1-i)%len(q.sent)].at.After(since) {
			break
		}
		left--
	}
	if told {
		left = min(left, q.told.left)
	}
	return since, left, q.n, true
}
