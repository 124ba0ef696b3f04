package bulk

import (
	"context"
	"errors"
	"slices"

	"github.com/socialdata/socialdata/bulkjob"
)

// resume continues jobs of which what they have waited for is available, and ends those that have waited too long.
func (s *Service) resume(ctx context.Context, w bulkjob.Worker) error {
	waiting, err := s.find(ctx, "shown = 1 AND state = 'waiting'")
	if err != nil {
		return err
	}
	var errs []error
	for _, found := range waiting {
		available, err := s.available(ctx, w, found)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		errs = append(errs, s.write(ctx, func(t tx) error {
			j, err := t.job("id = $1 AND shown = 1 AND state = 'waiting' {lock}", found.ID)
			if err != nil || j == nil {
				return err
			}
			switch {
			case j.Now-j.Since > s.cfg.wait.Milliseconds(),
				!j.Options.Deadline.IsZero() && !at(j.Now).Before(j.Options.Deadline):
				j.end()
			case available && j.WaitingFor == found.WaitingFor:
				j.State, j.WaitingFor, j.Announced = bulkjob.Running, "", string(bulkjob.Running)
			default:
				return nil
			}
			return t.update(j)
		}))
	}
	return errors.Join(errs...)
}

// available reports whether what a job waits for is available.
func (s *Service) available(ctx context.Context, w bulkjob.Worker, j *jobRow) (bool, error) {
	switch j.WaitingFor {
	case bulkjob.ForCredits:
		affords, err := w.Affords(ctx, j.Job)
		return affords >= max(j.Need, 1), err
	case bulkjob.ForSpace:
		full := false
		err := s.read(ctx, func(t tx) (err error) {
			full, err = s.isFull(t, j)
			return err
		})
		return !full, err
	}
	return false, nil
}

// announceAll announces changes of jobs that no process has announced.
func (r *running) announceAll(ctx context.Context) error {
	jobs, err := r.s.find(ctx, `shown = 1 AND state IN ('waiting', 'done', 'ended') AND told <> state
		AND (state = 'waiting' AND since < {now} - $1 OR state <> 'waiting' AND ended < {now} - $1)`,
		min(announceAfter, seldom*r.s.cfg.tick).Milliseconds())
	for _, j := range jobs {
		r.s.announce(ctx, r.w, j)
	}
	return err
}

// announce sends the account's webhooks that a job waits or is over, if that is so and they were not sent.
func (s *Service) announce(ctx context.Context, w bulkjob.Worker, j *jobRow) {
	states := []bulkjob.State{bulkjob.Waiting, bulkjob.Done, bulkjob.Ended}
	if j == nil || j.Shown != visible || !slices.Contains(states, j.State) || j.Announced == string(j.State) {
		return
	}
	j.EndedAt = at(j.Ended)
	err := w.Announce(ctx, j.Job)
	if err == nil {
		err = s.write(ctx, func(t tx) error {
			_, err := t.exec("UPDATE @bulk_jobs SET told = $2 WHERE id = $1 AND state = $2", j.ID, string(j.State))
			return err
		})
	}
	if err != nil {
		s.cfg.Logger.Warn("bulk: announce what became of a job; it is tried again", "error", err)
	}
}
