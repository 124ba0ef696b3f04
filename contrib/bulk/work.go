package bulk

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver"

	"github.com/socialdata/socialdata/bulkjob"
)

const (
	workTime  = 5 * time.Minute // in which a worker must read a chunk
	endTime   = time.Minute     // in which its results must be stored
	retryMost = 30 * time.Second
	soonAgain = 500 * time.Millisecond
)

// worker works the jobs of River.
type worker struct {
	river.WorkerDefaults[chunkArgs]
	s *Service
	w bulkjob.Worker
}

// Timeout implements [river.Worker].
func (w *worker) Timeout(*river.Job[chunkArgs]) time.Duration { return workTime + endTime }

// NextRetry implements [river.Worker]: for a store that could not be used.
func (w *worker) NextRetry(job *river.Job[chunkArgs]) time.Time {
	return time.Now().Add(min(retryMost, time.Second<<min(job.Attempt, 10)/2))
}

// Work implements [river.Worker].
func (w *worker) Work(ctx context.Context, job *river.Job[chunkArgs]) error {
	c, again, err := w.s.claim(ctx, job)
	switch {
	case err != nil:
		return err
	case again > 0:
		return river.JobSnooze(again)
	case c == nil:
		return nil
	}
	w.s.work(1)
	defer w.s.work(-1)
	chunk := bulkjob.Chunk{Job: c.job.Job, Number: c.number, Lines: c.lines, Attempt: int(c.attempt)}
	working, cancel := context.WithTimeout(ctx, workTime)
	worked, err := w.w.Work(working, chunk)
	cancel()
	// What was charged is stored, also when the process is about to end.
	ctx, cancel = context.WithTimeout(context.WithoutCancel(ctx), endTime)
	defer cancel()
	if err != nil {
		return errors.Join(err, w.s.release(ctx, c))
	}
	if !worked.Later.IsZero() && len(worked.Results) == 0 {
		return w.later(ctx, c, worked.Later)
	}
	j, err := w.s.finish(ctx, c, worked, func(t tx) error {
		_, err := river.JobCompleteTx[riverdriver.Driver[*sql.Tx]](ctx, t.sql, job)
		return err
	})
	if errors.Is(err, errLost) {
		w.s.cfg.Logger.Warn("bulk: the results of a chunk came after its lease had ended", "job", c.job.ID, "chunk", c.number)
		return nil
	}
	if err != nil {
		return err
	}
	if err := w.w.Stored(ctx, chunk); err != nil {
		w.s.cfg.Logger.Warn("bulk: forget the answer of a chunk that is stored", "error", err)
	}
	w.s.announce(ctx, w.w, j)
	return nil
}

// later keeps a chunk that was not tried in the queue until then. It stays in the window, so that no others of its
// platform are begun in vain meanwhile.
func (w *worker) later(ctx context.Context, c *claimed, until time.Time) error {
	wait := max(time.Until(until), soonAgain)
	if err := w.s.write(ctx, func(t tx) error {
		return t.putBack(c.chunkRow, "later = {now} + $4", wait.Milliseconds())
	}); err != nil {
		return err
	}
	return river.JobSnooze(wait)
}
