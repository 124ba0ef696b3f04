package socialdata

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"sync"
	"time"

	"github.com/socialdata/socialdata/credits"
	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/schema"
)

const (
	jobTTL  = 15 * time.Minute // after completion
	jobPoll = 200 * time.Millisecond
)

// jobs are the searches that this process is working on.
type jobs struct {
	mu      sync.Mutex
	live    map[string]*job
	wg      sync.WaitGroup
	telling sync.Mutex
}

func (js *jobs) get(id string) *job {
	js.mu.Lock()
	defer js.mu.Unlock()
	return js.live[id]
}

// wait returns when all work has ended, or with ctx.
func (js *jobs) wait(ctx context.Context) error {
	done := make(chan struct{})
	go func() {
		js.wg.Wait()
		close(done)
	}()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-done:
		return nil
	}
}

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
	changed  chan struct{} // closed at every transition
	public   bool          // the caller knows its id
	search   *search       // what is asked; nil in a job that came from the records
	books    *books        // the holds of the parts, and that of the enrichment behind them
	answered bool          // the first answer has been given: what ends from now on is paid at once
	left     bool          // the caller has gone without one: nothing is paid any more
	closed   bool          // the enrichment has been paid or dropped
}

// jobPart is one platform's share of a job.
type jobPart struct {
	Platform  platform.ID
	State     schema.PlatformState
	Data      json.RawMessage // the results, when OK
	Next      string          // the platform's own cursor
	Bound     string          // what Next is bound to
	FetchedAt time.Time
	Hit       bool
	Told      bool // its results have been in an answer
	TimedOut  bool // it failed by running out of time

	q       *query
	paid    bool
	partial bool // some of it could not be enriched
}

// startJob holds the whole price and starts every part.
func (c *Client) startJob(ctx context.Context, s *search, requestID, once string) (*job, error) {
	j := &job{
		ID: "job_" + rand.Text(), Bound: s.bound, Recent: s.recent, First: s.first, Seen: s.seen,
		Account: c.account(), Deadline: c.now().Add(c.timeout), changed: make(chan struct{}), search: s,
	}
	if err := c.takeOverflow(ctx, s, j); err != nil {
		return nil, err
	}
	amounts := make([]int64, 0, len(s.parts)+1)
	for _, p := range s.parts {
		amounts = append(amounts, p.q.quote.Base)
		j.Parts = append(j.Parts, &jobPart{Platform: p.platform, State: schema.Pending, Bound: p.q.bound, q: p.q})
	}
	for _, id := range s.failed {
		j.Parts = append(j.Parts, &jobPart{Platform: id, State: schema.Failed})
	}
	var err error
	if j.books, err = c.reserve(ctx, requestID, once, append(amounts, s.enrichPrice())...); err != nil {
		return nil, err
	}
	if len(s.parts) == 0 {
		return j, nil
	}
	c.jobs.mu.Lock()
	c.jobs.live[j.ID] = j
	c.jobs.mu.Unlock()
	detached, cancel := context.WithTimeout(context.WithoutCancel(ctx), c.timeout)
	var all sync.WaitGroup
	for i := range s.parts {
		all.Add(1)
		c.jobs.wg.Go(func() {
			defer all.Done()
			c.runPart(detached, j, i)
		})
	}
	c.jobs.wg.Go(func() {
		all.Wait()
		cancel()
		c.jobs.mu.Lock()
		delete(c.jobs.live, j.ID) // from now on it is answered from the records
		c.jobs.mu.Unlock()
	})
	return j, nil
}

// runPart makes one platform's search and notes how it ended. Nothing is charged before there is an answer: a caller
// who gets none pays nothing. From the first answer on each part is paid as it ends.
func (c *Client) runPart(ctx context.Context, j *job, i int) {
	p := j.Parts[i]
	r, err := c.readPart(ctx, j.search, p.q)
	j.mu.Lock()
	defer j.mu.Unlock()
	switch {
	case err != nil:
		c.log.WarnContext(ctx, "a platform of a search failed", "job", j.ID, "platform", p.Platform, "error", err)
	case j.left:
		err = context.Canceled
	default:
		p.State, p.Data, p.Next, p.FetchedAt, p.Hit = schema.OK, r.data, r.entry.Next, r.entry.FetchedAt, r.state == schema.Hit
		p.partial = !r.enriched
		if j.answered {
			c.collect(ctx, j)
		}
	}
	if err != nil {
		p.State, p.TimedOut = schema.Failed, onlyTimeouts(err) || errors.Is(err, context.DeadlineExceeded)
		c.settlePart(ctx, j, i, 0)
	}
	if j.pending() == 0 {
		j.Ended = c.now()
		if j.answered || j.left {
			c.closeBooks(ctx, j)
		}
	}
	close(j.changed)
	j.changed = make(chan struct{})
	c.keep(ctx, j)
}

// collect charges for every part that has ended well, before an answer shows it, and for the enrichment when nothing is
// pending any more. A part that cannot be paid for has failed. The caller holds mu.
func (c *Client) collect(ctx context.Context, j *job) {
	ok := make([]bool, len(j.Parts))
	var wg sync.WaitGroup // side by side: a durable ledger then writes them in one transaction
	for i, p := range j.Parts {
		if p.State == schema.OK && !p.paid && p.q != nil {
			wg.Go(func() { ok[i] = c.settlePart(ctx, j, i, p.q.quote.Base) })
		}
	}
	wg.Wait()
	for i, p := range j.Parts {
		switch {
		case p.State != schema.OK || p.paid || p.q == nil:
		case ok[i]:
			p.paid = true
			j.Settled += p.q.quote.Base
		default:
			p.State, p.Data, p.Next = schema.Failed, nil, ""
		}
	}
	if j.pending() == 0 {
		c.closeBooks(ctx, j)
	}
}

// closeBooks charges for the enrichment, once for all parts, if all of it succeeded and anything was paid, and drops it
// otherwise. The caller holds mu.
func (c *Client) closeBooks(ctx context.Context, j *job) {
	if j.closed {
		return
	}
	j.closed = true
	fee, paid := j.search.enrichPrice(), false
	for _, p := range j.Parts {
		paid = paid || p.paid
		if p.paid && p.partial {
			fee = 0
		}
	}
	if !paid {
		fee = 0
	}
	if c.settlePart(ctx, j, len(j.search.parts), fee) {
		j.Settled += fee
	}
}

// leave drops everything that is not paid: the caller has gone before there was an answer. The caller holds mu.
func (c *Client) leave(ctx context.Context, j *job) {
	j.left = true
	for i, p := range j.Parts {
		if p.State == schema.OK && !p.paid {
			p.State = schema.Failed
			c.settlePart(ctx, j, i, 0)
		}
	}
	if j.pending() == 0 {
		c.closeBooks(ctx, j)
	}
}

// settlePart settles the i-th hold of a search, that of the enrichment behind those of the parts, and tells whether the
// ledger did. The caller holds mu.
func (c *Client) settlePart(ctx context.Context, j *job, i int, amount int64) bool {
	charge := credits.Charge{Amount: amount, Operation: opSearchAll.Name}
	if i < len(j.search.parts) {
		p := j.Parts[i]
		charge.Operation, charge.Platform, charge.Cache = p.q.op.Name, string(p.Platform), string(schema.Miss)
		if p.Hit {
			charge.Cache = string(schema.Hit)
		}
	}
	if _, err := j.books.settle(ctx, i, charge); err != nil {
		c.log.ErrorContext(ctx, "a part of a search was not settled", "request_id", j.books.requestID, "platform", charge.Platform, "error", err)
		return false
	}
	return true
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

// keep stores a job whose id the caller knows. The caller holds mu.
func (c *Client) keep(ctx context.Context, j *job) {
	if !j.public {
		return
	}
	b, err := json.Marshal(j)
	if err == nil {
		end := j.Ended
		if end.IsZero() {
			end = j.Deadline
		}
		err = c.records.Put(context.WithoutCancel(ctx), "job/"+j.ID, b, end.Add(jobTTL).Sub(c.now()))
	}
	if err != nil {
		c.log.ErrorContext(ctx, "job not kept", "job", j.ID, "error", err)
	}
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
