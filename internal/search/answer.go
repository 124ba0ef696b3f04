package search

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/socialdata/socialdata/internal/account"
	"github.com/socialdata/socialdata/operation"
	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/problem"
	"github.com/socialdata/socialdata/schema"
	"github.com/socialdata/socialdata/store/records"
)

// firstAnswer answers what is there, or says why nothing is.
func (s *Service) firstAnswer(ctx context.Context, who account.Caller, j *job, requestID string) (*operation.Answer, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if err := ctx.Err(); err != nil {
		s.leave(ctx, j)
		return nil, err
	}
	s.collect(ctx, j)
	j.answered = true
	if !j.any(schema.OK) && len(j.Held) == 0 {
		return nil, j.allFailed()
	}
	// What is paid for is answered: from here on a fault of ours costs the caller a cursor at worst.
	shown, held := j.fuse(nil, j.tell(), j.First)
	overflow, err := s.holdBack(ctx, j, held)
	if err != nil {
		s.cfg.Log.ErrorContext(ctx, "results cannot be held back", "job", j.ID, "error", err)
		shown, j.HeldBack = append(shown, held...), nil
	}
	next, err := s.next(ctx, j, overflow)
	if err != nil {
		s.cfg.Log.ErrorContext(ctx, "a search goes without its cursor", "job", j.ID, "error", err)
	}
	a, err := s.jobAnswer(ctx, who, j, append(j.Held, shown...), requestID)
	if err != nil {
		return nil, err
	}
	a.Meta.NextCursor, a.Fresh = next, j.plan.fresh
	if j.public = a.Pending; !a.Pending && !j.any(schema.Failed) && !j.partial() { // what failed may succeed the next time
		a.Seal(s.cfg.Row.TTL)
	}
	s.keep(ctx, j)
	return a, nil
}

// jobAnswer puts results and the job's state into an answer. The caller holds mu.
func (s *Service) jobAnswer(ctx context.Context, who account.Caller, j *job, results []json.RawMessage, requestID string) (*operation.Answer, error) {
	if results == nil {
		results = []json.RawMessage{}
	}
	data, err := schema.Marshal(results)
	if err != nil {
		return nil, err
	}
	balance, err := who.Balance(ctx)
	if err != nil {
		if j.Settled == j.Told { // nothing is lost when the caller asks again
			return nil, err
		}
		s.cfg.Log.ErrorContext(ctx, "the balance cannot be read", "job", j.ID, "error", err)
	}
	a := &operation.Answer{Data: data, Meta: schema.Meta{
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
		a.Meta.DataAgeS = max(a.Meta.DataAgeS, int64(s.cfg.Now().Sub(p.FetchedAt).Seconds()))
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

// Job answers what has come since the last answer to the job, or, once all of it has been told, the whole again.
func (s *Service) Job(ctx context.Context, who account.Caller, requestID string, in operation.Args) (*operation.Answer, error) {
	if err := s.awaitJob(ctx, who, in.Get("id"), in.Seconds("wait_s", 0)); err != nil {
		return nil, err
	}
	s.telling.Lock() // of two who ask at once, only one is told what is new
	defer s.telling.Unlock()
	j, err := s.findJob(ctx, who, in.Get("id"))
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
	a, err := s.jobAnswer(ctx, who, j, shown, requestID)
	if err != nil {
		return nil, err
	}
	s.keep(ctx, j)
	return a, nil
}

// errNoJob is the same whether a job is unknown, expired or another account's.
var errNoJob = problem.New(problem.NotFound, "there is no such job, or it has expired")

// awaitJob waits until a job of this account has ended, or for d.
func (s *Service) awaitJob(ctx context.Context, who account.Caller, id string, d time.Duration) error {
	end := time.Now().Add(d)
	for {
		j, err := s.findJob(ctx, who, id)
		if err != nil {
			return err
		}
		if s.running(id) == j {
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
func (s *Service) findJob(ctx context.Context, who account.Caller, id string) (*job, error) {
	if j := s.running(id); j != nil {
		if j.Account != who.Account() {
			return nil, errNoJob
		}
		return j, nil
	}
	r, err := s.cfg.Records.Get(ctx, "job/"+id)
	if errors.Is(err, records.ErrAbsent) {
		return nil, errNoJob
	}
	j := &job{public: true, changed: make(chan struct{})}
	if err == nil {
		err = json.Unmarshal(r.Value, j)
	}
	if err != nil {
		return nil, fmt.Errorf("socialdata: job %s: %w", id, err)
	}
	if j.Account != who.Account() {
		return nil, errNoJob
	}
	if s.cfg.Now().After(j.Deadline) {
		for _, p := range j.Parts {
			if p.State == schema.Pending {
				p.State = schema.Failed
			}
		}
	}
	return j, nil
}
