package socialdata

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/socialdata/socialdata/credits"
	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/problem"
	"github.com/socialdata/socialdata/records"
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

// firstAnswer answers what is there, or says why nothing is.
func (c *Client) firstAnswer(ctx context.Context, j *job, requestID string) (*Answer, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if err := ctx.Err(); err != nil {
		c.leave(ctx, j)
		return nil, err
	}
	c.collect(ctx, j)
	j.answered = true
	if !j.any(schema.OK) && len(j.Held) == 0 {
		return nil, j.allFailed()
	}
	// What is paid for is answered: from here on a fault of ours costs the caller a cursor at worst.
	shown, held := j.fuse(nil, j.tell(), j.First)
	overflow, err := c.holdBack(ctx, j, held)
	if err != nil {
		c.log.ErrorContext(ctx, "results cannot be held back", "job", j.ID, "error", err)
		shown, j.HeldBack = append(shown, held...), nil
	}
	next, err := c.nextSearch(ctx, j, overflow)
	if err != nil {
		c.log.ErrorContext(ctx, "a search goes without its cursor", "job", j.ID, "error", err)
	}
	a, err := c.jobAnswer(ctx, j, append(j.Held, shown...), requestID)
	if err != nil {
		return nil, err
	}
	a.Meta.NextCursor = next
	if j.public = a.Pending; !a.Pending && !j.any(schema.Failed) && !j.partial() { // what failed may succeed the next time
		a.tag(searchTTL)
	}
	c.keep(ctx, j)
	return a, nil
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

// jobAnswer puts results and the job's state into an answer. The caller holds mu.
func (c *Client) jobAnswer(ctx context.Context, j *job, results []json.RawMessage, requestID string) (*Answer, error) {
	if results == nil {
		results = []json.RawMessage{}
	}
	data, err := schema.Marshal(results)
	if err != nil {
		return nil, err
	}
	balance, err := c.balance(ctx)
	if err != nil {
		if j.Settled == j.Told { // nothing is lost when the caller asks again
			return nil, err
		}
		c.log.ErrorContext(ctx, "the balance cannot be read", "job", j.ID, "error", err)
	}
	a := &Answer{Data: data, Meta: schema.Meta{
		RequestID: requestID, CreditsUsed: j.Settled - j.Told, CreditsRemaining: balance, Cache: schema.Hit,
		Platforms: map[platform.ID]schema.PlatformState{},
	}}
	j.Told = j.Settled
	ok := 0
	for _, p := range j.Parts {
		a.Meta.Platforms[p.Platform] = p.State
		if p.State != schema.OK {
			continue
		}
		ok++
		if !p.Hit {
			a.Meta.Cache = schema.Miss
		}
		a.Meta.DataAgeS = max(a.Meta.DataAgeS, int64(c.now().Sub(p.FetchedAt).Seconds()))
	}
	if ok == 0 {
		a.Meta.Cache = schema.Miss
	}
	if a.Pending = j.pending() > 0; a.Pending {
		a.Meta.JobID = j.ID
	}
	j.Complete = j.Complete || !a.Pending
	return a, nil
}

// job answers what has come since the last answer to the job, or, once all of it has been told, the whole again.
func (c *Client) job(ctx context.Context, _ *Operation, call Call, in args) (*Answer, error) {
	if err := c.awaitJob(ctx, in.get("id"), in.seconds("wait_s", 0)); err != nil {
		return nil, err
	}
	c.jobs.telling.Lock() // of two who ask at once, only one is told what is new
	defer c.jobs.telling.Unlock()
	j, err := c.findJob(ctx, in.get("id"))
	if err != nil {
		return nil, err
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	before, parts := j.told(), j.tell()
	if j.Complete {
		before, parts = nil, j.Parts
	}
	shown, _ := j.fuse(before, parts, false)
	shown = j.without(shown)
	if j.Complete {
		shown = append(j.Held, shown...)
	}
	a, err := c.jobAnswer(ctx, j, shown, call.RequestID)
	if err != nil {
		return nil, err
	}
	c.keep(ctx, j)
	return a, nil
}

// errNoJob is the same whether a job is unknown, expired or another account's.
var errNoJob = problem.New(problem.NotFound, "there is no such job, or it has expired")

// awaitJob waits until a job of this account has ended, or for d.
func (c *Client) awaitJob(ctx context.Context, id string, d time.Duration) error {
	end := time.Now().Add(d)
	for {
		j, err := c.findJob(ctx, id)
		if err != nil {
			return err
		}
		if c.jobs.get(id) == j {
			j.await(ctx, time.Until(end), func() bool { return j.pending() == 0 })
			return ctx.Err()
		}
		if j.pending() == 0 || !time.Now().Before(end) {
			return nil
		}
		select { // another process is working on it
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(jobPoll):
		}
	}
}

// findJob returns a job of this account. One whose process has gone ends at its deadline: what was pending then has
// failed, and its holds went with the process.
func (c *Client) findJob(ctx context.Context, id string) (*job, error) {
	if j := c.jobs.get(id); j != nil {
		if j.Account != c.account() {
			return nil, errNoJob
		}
		return j, nil
	}
	b, err := c.records.Get(ctx, "job/"+id)
	if errors.Is(err, records.ErrAbsent) {
		return nil, errNoJob
	}
	j := &job{public: true, changed: make(chan struct{})}
	if err == nil {
		err = json.Unmarshal(b, j)
	}
	if err != nil {
		return nil, fmt.Errorf("socialdata: job %s: %w", id, err)
	}
	if j.Account != c.account() {
		return nil, errNoJob
	}
	if c.now().After(j.Deadline) {
		for _, p := range j.Parts {
			if p.State == schema.Pending {
				p.State = schema.Failed
			}
		}
	}
	return j, nil
}

// holdBack keeps results for the next page and returns the id to find them by, "" when there are none. The caller
// holds mu.
func (c *Client) holdBack(ctx context.Context, j *job, held []json.RawMessage) (string, error) {
	if len(held) == 0 {
		return "", nil
	}
	for _, h := range held {
		j.HeldBack = append(j.HeldBack, hashOf(string(h)))
	}
	return c.note(ctx, held)
}

// takeOverflow puts what the page before held back in front.
func (c *Client) takeOverflow(ctx context.Context, s *search, j *job) error {
	if s.overflow == "" {
		return nil
	}
	return c.recall(ctx, s.overflow, &j.Held)
}

// without leaves out what is held back for the next page.
func (j *job) without(results []json.RawMessage) []json.RawMessage {
	held := make(map[uint64]bool, len(j.HeldBack))
	for _, h := range j.HeldBack {
		held[h] = true
	}
	out := results[:0:0]
	for _, r := range results {
		if !held[hashOf(string(r))] {
			out = append(out, r)
		}
	}
	return out
}
