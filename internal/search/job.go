package search

import (
	"context"
	"encoding/json"
	"sync"
	"time"

	"github.com/socialdata/socialdata/internal/account"
	"github.com/socialdata/socialdata/internal/read"
	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/problem"
	"github.com/socialdata/socialdata/schema"
)

// job is a fan-out search: its parts, and how much of them the caller has been told. The exported fields are what is
// stored; mu guards them.
type job struct {
	ID       string
	Account  string
	Bound    string // what the cursor of its first answer is bound to
	Recent   bool
	First    bool // of the first page
	Parts    []*jobPart
	Held     []json.RawMessage // results of the page before that go in front
	HeldBack []uint64          // results that wait for the next page
	Seen     []uint64          // URLs of the pages before, hashed
	Settled  int64             // credits charged so far
	Told     int64             // of these, in answers so far
	Complete bool              // an answer has said that nothing is pending
	Deadline time.Time         // when every part is at its end, however it ends
	Ended    time.Time         // when every part was; zero before

	mu       sync.Mutex
	changed  chan struct{}  // closed at every transition
	public   bool           // the caller knows its id
	plan     *Plan          // what is asked; nil in a job that came from the records
	books    *account.Books // the holds of the parts, and that of the enrichment behind them
	answered bool           // the first answer has been given: what ends from now on is paid at once
	left     bool           // the caller has gone without one: nothing is paid any more
	closed   bool           // the enrichment has been paid or dropped
}

// jobPart is one platform's share of a job.
type jobPart struct {
	Platform  platform.ID
	State     schema.PlatformState
	Data      json.RawMessage // the results, when OK
	Next      string          // the place of the platform's next page, as text
	FetchedAt time.Time
	Hit       bool
	Told      bool // its results have been in an answer
	TimedOut  bool // it failed by running out of time

	q       *read.Query
	paid    bool
	partial bool // some of it could not be enriched
}

// pending counts the parts that have not ended. The caller holds mu.
func (j *job) pending() int {
	n := 0
	for _, p := range j.Parts {
		if p.State == schema.Pending {
			n++
		}
	}
	return n
}

// await waits until enough holds, or until the time has come; it tells which. A time of 0 has come.
func (j *job) await(ctx context.Context, d time.Duration, enough func() bool) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	for {
		j.mu.Lock()
		ok, changed := enough(), j.changed
		j.mu.Unlock()
		if ok || d <= 0 {
			return ok
		}
		select {
		case <-changed:
		case <-timer.C:
			return false
		case <-ctx.Done():
			return false
		}
	}
}

// waitFirst waits for the first answer: until nothing is pending, or for d when something is there by then, and else
// until something is.
func (j *job) waitFirst(ctx context.Context, d time.Duration) {
	if j.await(ctx, d, func() bool { return j.pending() == 0 }) {
		return
	}
	j.await(ctx, time.Hour, func() bool { return j.pending() == 0 || j.any(schema.OK) })
}

// any tells whether a part is in that state. The caller holds mu.
func (j *job) any(state schema.PlatformState) bool {
	for _, p := range j.Parts {
		if p.State == state {
			return true
		}
	}
	return false
}

// partial tells whether anything could not be enriched. The caller holds mu.
func (j *job) partial() bool {
	for _, p := range j.Parts {
		if p.partial {
			return true
		}
	}
	return false
}

// allFailed is the problem of a search in which no platform answered. The caller holds mu.
func (j *job) allFailed() error {
	code, ids := problem.UpstreamTimeout, make([]platform.ID, 0, len(j.Parts))
	for _, p := range j.Parts {
		ids = append(ids, p.Platform)
		if !p.TimedOut {
			code = problem.PlatformUnavailable
		}
	}
	return problem.New(code, "no platform answered the search: %s", joinIDs(ids))
}

// told returns the parts whose results have been in an answer. The caller holds mu.
func (j *job) told() []*jobPart {
	var out []*jobPart
	for _, p := range j.Parts {
		if p.Told {
			out = append(out, p)
		}
	}
	return out
}

// tell returns the results that no answer has held yet, and marks them. The caller holds mu.
func (j *job) tell() []*jobPart {
	var fresh []*jobPart
	for _, p := range j.Parts {
		if p.State == schema.OK && !p.Told {
			p.Told = true
			fresh = append(fresh, p)
		}
	}
	return fresh
}
