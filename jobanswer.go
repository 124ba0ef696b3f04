package socialdata

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/problem"
	"github.com/socialdata/socialdata/records"
	"github.com/socialdata/socialdata/schema"
)

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
