package bulk

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/riverqueue/river"

	"github.com/socialdata/socialdata/bulkjob"
	"github.com/socialdata/socialdata/platform"
)

const (
	fetchCooldown = 5 * time.Millisecond
	pollSeldom    = 5 // ticks between two polls of the queue, if the database says when there is something in it
	stopTime      = 20 * time.Second
	keepCompleted = 10 * time.Minute
	seldom        = 10 // ticks between two checks of what waits, and of what is to be removed
	sweepAtOnce   = 100
	announceAfter = 30 * time.Second // a change is announced that the process which made it has not announced
)

// Run implements [bulkjob.Service]. River runs as soon as there is something to work, with the queues of the platforms
// that have something.
func (s *Service) Run(ctx context.Context, w bulkjob.Worker) error {
	r := &running{s: s, w: w, queues: map[string]bool{}}
	var tasks sync.WaitGroup
	leases, stop := context.WithCancel(context.WithoutCancel(ctx))
	tasks.Go(func() { s.keepLeases(leases) })
	tick := time.NewTicker(s.cfg.tick)
	defer tick.Stop()
	for n := 0; ctx.Err() == nil; n++ {
		if err := r.check(ctx, n%seldom == 0); err != nil && ctx.Err() == nil {
			s.cfg.Logger.Error("bulk: check what is open", "error", err)
		}
		select {
		case <-ctx.Done():
		case <-tick.C:
		case <-s.wake:
		}
	}
	err := r.stop(context.WithoutCancel(ctx))
	stop()
	tasks.Wait()
	return err
}

// running is what one call of Run has.
type running struct {
	s      *Service
	w      bulkjob.Worker
	client *river.Client[*sql.Tx] // nil until there is something to work
	queues map[string]bool
}

// keepLeases extends the leases of this process until ctx ends.
func (s *Service) keepLeases(ctx context.Context) {
	tick := time.NewTicker(s.cfg.lease / 4)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		s.mu.Lock()
		working := s.working
		s.mu.Unlock()
		if working <= 0 {
			continue
		}
		if err := s.write(ctx, func(t tx) error {
			_, err := t.exec("UPDATE @bulk_chunks SET lease = {now} + $1 WHERE river <> 0 AND holder = $2 AND lease > {now}",
				s.cfg.lease.Milliseconds(), s.process)
			return err
		}); err != nil && ctx.Err() == nil {
			s.cfg.Logger.Warn("bulk: extend leases", "error", err)
		}
	}
}

// check does what is due: all of it, or only what is urgent.
func (r *running) check(ctx context.Context, all bool) error {
	errs := []error{r.s.requeue(ctx), r.s.refill(ctx), r.startQueues(ctx)}
	if all {
		errs = append(errs, r.s.resume(ctx, r.w), r.announceAll(ctx), r.s.sweep(ctx))
	}
	return errors.Join(errs...)
}

// startQueues begins to work the queues of platforms that have something in them.
func (r *running) startQueues(ctx context.Context) error {
	var found []string
	var on string
	if err := r.s.read(ctx, func(t tx) error {
		found = nil
		return t.rows([]any{&on}, func() error {
			found = append(found, on)
			return nil
		}, "SELECT DISTINCT platform FROM @bulk_chunks WHERE river <> 0")
	}); err != nil {
		return err
	}
	queues := map[string]river.QueueConfig{}
	for _, on := range found {
		if most := r.w.AtOnce(platform.ID(on)); most > 0 && !r.queues[on] {
			queues[queueOf(on)] = river.QueueConfig{MaxWorkers: most}
		}
	}
	if len(queues) == 0 {
		return nil
	}
	if err := r.add(ctx, queues); err != nil {
		return fmt.Errorf("bulk: work the queues of River: %w", err)
	}
	for _, on := range found {
		r.queues[on] = true
	}
	return nil
}

// add adds queues to River's client, and starts it with the first ones.
func (r *running) add(ctx context.Context, queues map[string]river.QueueConfig) error {
	if r.client != nil {
		for name, queue := range queues {
			if err := r.client.Queues().Add(name, queue); err != nil {
				return err
			}
		}
		return nil
	}
	workers := river.NewWorkers()
	if err := river.AddWorkerSafely(workers, &worker{s: r.s, w: r.w}); err != nil {
		return err
	}
	poll := pollSeldom * r.s.cfg.tick
	if r.s.db.pollOnly {
		poll = r.s.cfg.tick
	}
	client, err := river.NewClient(r.s.db.driver, &river.Config{
		ID: r.s.process, Logger: r.s.riverLog(), Schema: r.s.db.schema, PollOnly: r.s.db.pollOnly,
		FetchCooldown: fetchCooldown, FetchPollInterval: poll, Queues: queues, Workers: workers,
		JobTimeout: workTime + endTime, RescueStuckJobsAfter: 2 * workTime, CompletedJobRetentionPeriod: keepCompleted,
		CancelledJobRetentionPeriod: keepCompleted, DiscardedJobRetentionPeriod: keepCompleted, ReindexerIndexNames: r.s.db.reindexed,
	})
	if err != nil {
		return err
	}
	if err := client.Start(context.WithoutCancel(ctx)); err != nil { // it is stopped by stop
		return err
	}
	r.client = client
	return nil
}

// stop waits for chunks that are being worked.
func (r *running) stop(ctx context.Context) error {
	if r.client == nil {
		return nil
	}
	soft, cancel := context.WithTimeout(ctx, stopTime)
	defer cancel()
	err := r.client.Stop(soft)
	if errors.Is(err, context.DeadlineExceeded) {
		hard, cancel := context.WithTimeout(ctx, stopTime)
		defer cancel()
		err = r.client.StopAndCancel(hard)
	}
	return err
}

// requeue puts chunks back into the queue whose process has ended, maybe before it had a lease, or whose job of River is
// gone.
func (s *Service) requeue(ctx context.Context) error {
	var queued int64
	if err := s.read(ctx, func(t tx) error {
		_, err := t.row([]any{&queued}, "SELECT count(*) FROM @bulk_chunks WHERE river <> 0")
		return err
	}); err != nil || queued == 0 {
		return err
	}
	return s.write(ctx, func(t tx) error {
		var lost []chunkRow
		var c chunkRow
		if err := t.rows([]any{&c.job, &c.number, &c.platform, &c.river}, func() error {
			lost = append(lost, c)
			return nil
		}, `SELECT job, number, platform, river FROM @bulk_chunks AS c WHERE river <> 0 AND lease <= {now} AND
			(lease > 0 OR NOT EXISTS (SELECT 1 FROM @river_job WHERE id = c.river AND finalized_at IS NULL AND
			(state <> 'running' OR {attempted} > {now} - $2))) ORDER BY job, number LIMIT $1 {skip}`,
			sweepAtOnce, s.cfg.lease.Milliseconds()); err != nil {
			return err
		}
		for _, c := range lost {
			// The job of River would be run once more by its rescuer, and do nothing.
			if _, err := t.exec("DELETE FROM @river_job WHERE id = $1", c.river); err != nil {
				return err
			}
			if _, err := t.exec("UPDATE @bulk_chunks SET epoch = epoch + 1 WHERE job = $1 AND number = $2",
				c.job, c.number); err != nil {
				return err
			}
			if err := s.enqueue(t, c.job, c.platform, []int64{c.number}); err != nil {
				return err
			}
		}
		return nil
	})
}

// refill keeps the windows of open jobs full, and ends jobs whose deadline has passed or which have no lines left.
func (s *Service) refill(ctx context.Context) error {
	open, err := s.find(ctx, "shown = 1 AND state IN ('queued', 'running')")
	if err != nil {
		return err
	}
	for _, found := range open {
		if err := s.write(ctx, func(t tx) error {
			j, err := t.job("id = $1 AND shown = 1 AND state IN ('queued', 'running') {skip}", found.ID)
			if err != nil || j == nil {
				return err
			}
			return s.refillJob(t, j)
		}); err != nil {
			return err
		}
	}
	return nil
}

func (s *Service) refillJob(t tx, j *jobRow) error {
	var chunks int64
	if _, err := t.row([]any{&chunks}, "SELECT count(*) FROM (SELECT 1 FROM @bulk_chunks WHERE job = $1 LIMIT 1) AS found",
		j.ID); err != nil {
		return err
	}
	if !j.begins() || chunks == 0 {
		j.end()
		return t.update(j)
	}
	queued := map[string]int{}
	var on string
	var n int
	if err := t.rows([]any{&on, &n}, func() error {
		queued[on] = n
		return nil
	}, "SELECT platform, count(*) FROM @bulk_chunks WHERE job = $1 AND river <> 0 GROUP BY platform", j.ID); err != nil {
		return err
	}
	for _, on := range j.platforms() {
		if free := window - queued[on]; free > 0 {
			if err := s.fill(t, j, on, free, true); err != nil {
				return err
			}
		}
	}
	return nil
}
