package search

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/socialdata/socialdata/internal/calls"
	"github.com/socialdata/socialdata/observe"
	"github.com/socialdata/socialdata/records"
)

// listedMost is the maximum number of records that a list of jobs reads.
const listedMost = 2000

// Jobs returns the stored jobs of an account, or of all for "", newest first and up to limit, and how many there are.
// Of more than [listedMost] records, some are not read.
func (s *Service) Jobs(ctx context.Context, account string, limit int) (jobs []observe.Job, of int, err error) {
	var stored []string
	for _, prefix := range calls.Prefixes(account) {
		keys, err := s.cfg.Records.Keys(ctx, prefix)
		if err != nil {
			return nil, 0, err
		}
		stored = append(stored, keys...)
	}
	of = len(stored)
	for _, key := range stored[:min(of, listedMost)] {
		if err := ctx.Err(); err != nil {
			return nil, 0, err
		}
		c, err := s.cfg.Calls.Read(ctx, key)
		if errors.Is(err, records.ErrAbsent) || err == nil && account != "" && c.Account() != account {
			of-- // it has expired meanwhile, or its account has the same mark
			continue
		}
		if err != nil {
			return nil, 0, err
		}
		switch r, err := searchOf(c); {
		case errors.Is(err, ErrNoJob):
			of-- // it is another call with an idempotency key
		case err != nil:
			return nil, 0, err
		default:
			jobs = append(jobs, s.listed(c, r))
		}
	}
	slices.SortStableFunc(jobs, func(a, b observe.Job) int { return b.Begun.Compare(a.Begun) })
	return jobs[:min(len(jobs), limit)], of, nil
}

// listed returns a job as operators see it.
func (s *Service) listed(c *calls.Call, r *record) observe.Job {
	job := observe.Job{
		ID: r.ID, Account: c.Account(), Key: r.Key, Begun: r.Begun, Deadline: r.Deadline, Ended: r.Ended,
		State: stateOf(c, r), Charged: r.charged(),
	}
	charges := c.Charges()
	for i := range r.Parts {
		p := &r.Parts[i]
		of := observe.JobPart{Platform: p.Platform, State: p.Stage.public(), Charged: p.credits}
		for _, ch := range charges {
			if ch.Name == string(p.Platform) {
				of.Held = heldBy(ch, s.cfg.Now())
			}
		}
		job.Parts = append(job.Parts, of)
	}
	for _, ch := range charges {
		job.Held += heldBy(ch, s.cfg.Now())
	}
	return job
}

// heldBy returns the credits that are still held for a charge.
func heldBy(ch calls.Charge, now time.Time) int64 {
	if !ch.Open() || !now.Before(ch.Hold.Expires) {
		return 0
	}
	return ch.Hold.Amount
}

func stateOf(c *calls.Call, r *record) observe.JobState {
	switch {
	case r.open() && c.Over():
		return observe.JobLate
	case r.open():
		return observe.JobRunning
	}
	return observe.JobReady
}
