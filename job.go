package socialdata

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

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

	mu      sync.Mutex
	changed chan struct{} // closed at every transition
	public  bool          // the caller knows its id

	enriched, failed bool // whether anything was enriched, and whether anything could not be
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
}

// startJob holds the whole price and starts every part.
func (c *Client) startJob(ctx context.Context, s *search, requestID, once string) (*job, error) {
	j := &job{
		ID: "job_" + rand.Text(), Bound: s.bound, Recent: s.recent, First: s.first, Seen: s.seen,
		Deadline: c.now().Add(c.timeout), changed: make(chan struct{}),
	}
	if c.key != nil {
		j.Account = c.key.Account
	}
	if err := c.takeOverflow(ctx, s, j); err != nil {
		return nil, err
	}
	amounts := make([]int64, 0, len(s.parts)+1)
	for _, p := range s.parts {
		amounts = append(amounts, p.q.quote.Base)
		j.Parts = append(j.Parts, &jobPart{Platform: p.platform, State: schema.Pending, Bound: p.q.bound})
	}
	for _, id := range s.failed {
		j.Parts = append(j.Parts, &jobPart{Platform: id, State: schema.Failed})
	}
	enrichment := len(amounts)
	amounts = append(amounts, s.enrichPrice())
	books, err := c.reserve(ctx, requestID, once, amounts...)
	if err != nil {
		return nil, err
	}
	if len(s.parts) == 0 {
		_, err := books.settle(ctx, enrichment, 0, &query{op: &opSearchAll.Operation}, "")
		return j, err
	}
	c.jobs.mu.Lock()
	c.jobs.live[j.ID] = j
	c.jobs.mu.Unlock()
	detached, cancel := context.WithTimeout(context.WithoutCancel(ctx), c.timeout)
	var all sync.WaitGroup
	for i, p := range s.parts {
		all.Add(1)
		c.jobs.wg.Go(func() {
			defer all.Done()
			c.runPart(detached, j, books, i, s, p.q)
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

// runPart makes one platform's search, settles it and notes how it ended. The last one settles the enrichment too, so
// that nothing is pending only when all is paid.
func (c *Client) runPart(ctx context.Context, j *job, b *books, i int, s *search, q *query) {
	r, err := c.readPart(ctx, s, q)
	if err != nil {
		c.log.WarnContext(ctx, "a platform of a search failed", "job", j.ID, "platform", q.platform, "error", err)
	}
	charge, err := b.settlePart(ctx, i, q, q.quote.Base, r.state, err)
	j.mu.Lock()
	defer j.mu.Unlock()
	p := j.Parts[i]
	p.State, p.TimedOut = schema.Failed, onlyTimeouts(err) || errors.Is(err, context.DeadlineExceeded)
	if err == nil {
		p.State, p.Data, p.Next, p.FetchedAt, p.Hit = schema.OK, r.data, r.entry.Next, r.entry.FetchedAt, r.state == schema.Hit
		j.Settled += charge
		j.enriched = j.enriched || s.enrich
		j.failed = j.failed || !r.enriched
	}
	if j.pending() == 0 {
		j.Ended = c.now()
		fee := int64(0)
		if j.enriched && !j.failed {
			fee = s.enrichPrice()
		}
		charge, _ := b.settlePart(ctx, len(s.parts), &query{op: &opSearchAll.Operation}, fee, "", nil)
		j.Settled += charge
	}
	close(j.changed)
	j.changed = make(chan struct{})
	c.keep(ctx, j)
}

// settlePart settles the i-th hold of a search with charge, or releases it when there is an error already. It returns
// what was charged.
func (b *books) settlePart(ctx context.Context, i int, q *query, charge int64, state schema.CacheState, err error) (int64, error) {
	if err != nil {
		charge = 0
	}
	part := *b
	if b.once != "" { // each part is a charge of its own
		part.once = b.once + "/" + string(q.platform)
	}
	if _, serr := part.settle(ctx, i, charge, q, state); serr != nil {
		b.c.log.ErrorContext(ctx, "a part of a search was not settled", "request_id", b.requestID, "platform", q.platform, "error", serr)
		return 0, errors.Join(err, serr)
	}
	return charge, err
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
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if !j.any(schema.OK) && len(j.Held) == 0 {
		return nil, j.allFailed()
	}
	shown, held := j.fuse(nil, j.tell(), j.First)
	overflow, err := c.holdBack(ctx, j, held)
	if err != nil {
		return nil, err
	}
	next, err := c.nextSearch(ctx, j, overflow)
	if err != nil {
		return nil, err
	}
	a, err := c.jobAnswer(ctx, j, append(j.Held, shown...), requestID)
	if err != nil {
		return nil, err
	}
	a.Meta.NextCursor = next
	if j.public = a.Pending; !a.Pending && !j.any(schema.Failed) && !j.failed { // what failed may succeed the next time
		a.tag(searchTTL)
	}
	c.keep(ctx, j)
	return a, nil
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
		return nil, err
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
	wait, err := time.ParseDuration("0" + in.get("wait_s") + "s")
	if err != nil {
		return nil, err
	}
	if err := c.awaitJob(ctx, in.get("id"), wait); err != nil {
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

// account returns the id of the bound account, or "".
func (c *Client) account() string {
	if c.key == nil {
		return ""
	}
	return c.key.Account
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
