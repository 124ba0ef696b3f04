package search

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/socialdata/socialdata/internal/account"
	"github.com/socialdata/socialdata/observe"
	"github.com/socialdata/socialdata/store/records"
)

// listedMost is the maximum number of records that a list of jobs reads.
const listedMost = 2000

// Jobs returns the stored jobs of an account, or of all for "", newest first and up to limit, and how many there are.
// Of more than [listedMost], some are not read.
func (s *Service) Jobs(ctx context.Context, account string, limit int) (jobs []observe.Job, of int, err error) {
	return s.store.list(ctx, account, limit)
}

// list implements [Service.Jobs].
func (s *store) list(ctx context.Context, account string, limit int) (jobs []observe.Job, of int, err error) {
	stored, err := s.records.Keys(ctx, jobsKey(account))
	if err != nil {
		return nil, 0, err
	}
	of = len(stored)
	for _, key := range stored[:min(of, listedMost)] {
		if err := ctx.Err(); err != nil {
			return nil, 0, err
		}
		_, id, _ := strings.Cut(key, ":")
		switch r, _, err := s.load(ctx, id); {
		case err != nil && !errors.Is(err, ErrNoJob):
			return nil, 0, err
		case err != nil || account != "" && r.Account != account:
			of-- // it has expired meanwhile, or its account has the same mark
		default:
			jobs = append(jobs, s.listed(r))
		}
	}
	slices.SortStableFunc(jobs, func(a, b observe.Job) int { return b.Begun.Compare(a.Begun) })
	return jobs[:min(len(jobs), limit)], of, nil
}

// jobsKey returns what the keys of an account's records, or of all for "", begin with.
func jobsKey(account string) string {
	if account == "" {
		return "job/"
	}
	first := jobPrefix(account)
	return strings.TrimRight(records.Key("job", first+strings.Repeat(".", idLength-markLength)), ".")
}

// listed returns a job as operators see it.
func (s *store) listed(r *record) observe.Job {
	job := observe.Job{
		ID: r.ID, Account: r.Account, Key: r.Key, Begun: r.Begun, Deadline: r.Deadline, Ended: r.Ended,
		State: s.stateOf(r), Charged: r.charged(),
	}
	for i := range r.Parts {
		p := &r.Parts[i]
		of := observe.JobPart{Platform: p.Platform, State: p.Stage.public(), Charged: p.Credits}
		of.Held = s.heldFor(p.Stage, p.Due)
		job.Held += of.Held
		job.Parts = append(job.Parts, of)
	}
	job.Held += s.heldFor(r.Fee.Stage, r.Fee.Due)
	return job
}

// heldFor returns the credits that are still held for what is in that stage.
func (s *store) heldFor(at stage, due account.Due) int64 {
	if at.decided() || !s.now().Before(due.Hold.Expires) {
		return 0
	}
	return due.Hold.Amount
}

func (s *store) stateOf(r *record) observe.JobState {
	switch {
	case r.open() && s.past(r.Deadline):
		return observe.JobLate
	case r.open():
		return observe.JobRunning
	case r.Complete:
		return observe.JobCollected
	}
	return observe.JobReady
}
