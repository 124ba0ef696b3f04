package bulk

import (
	"context"
	"encoding/json"
	"strings"
	"time"

	"github.com/socialdata/socialdata/bulkjob"
)

// Values of shown: see schema.
const (
	staged  = 0
	visible = 1
	removed = 2
)

// jobRow is a row of bulk_jobs.
type jobRow struct {
	bulkjob.Job
	Shown, Need, Since, Created, Ended, Bytes, LastLine, Chunks, Alive int64
	RateSince, RateLines, Rate                                         int64 // Rate is in thousandths of lines a second
	Platforms, Announced, options                                      string

	Now int64 // when it was read
}

const jobColumns = "id, shown, account, name, api_key, sum, options, state, waiting_for, need, since, created, ended, " +
	"lines, found, missing, failed, refused, least, most, used, bytes, last_line, chunks, platforms, alive, told, " +
	"rate_since, rate_lines, rate"

func (j *jobRow) fields() []any {
	return []any{
		&j.ID, &j.Shown, &j.Account, &j.Name, &j.Key, &j.Sum, &j.options, &j.State, &j.WaitingFor, &j.Need, &j.Since,
		&j.Created, &j.Ended, &j.Lines, &j.Found, &j.Missing, &j.Failed, &j.Refused, &j.Least, &j.Most, &j.Used, &j.Bytes,
		&j.LastLine, &j.Chunks, &j.Platforms, &j.Alive, &j.Announced, &j.RateSince, &j.RateLines, &j.Rate,
	}
}

// values are what fields point to, for a statement.
func (j *jobRow) values() []any {
	return []any{
		j.ID, j.Shown, j.Account, j.Name, j.Key, j.Sum, j.options, string(j.State), j.WaitingFor, j.Need, j.Since,
		j.Created, j.Ended, j.Lines, j.Found, j.Missing, j.Failed, j.Refused, j.Least, j.Most, j.Used, j.Bytes,
		j.LastLine, j.Chunks, j.Platforms, j.Alive, j.Announced, j.RateSince, j.RateLines, j.Rate,
	}
}

// complete sets what follows from the columns.
func (j *jobRow) complete() error {
	j.CreatedAt, j.EndedAt = at(j.Created), at(j.Ended)
	j.LinesPerSecond = float64(j.Rate) / 1000
	return json.Unmarshal([]byte(j.options), &j.Options)
}

func at(ms int64) time.Time {
	if ms == 0 {
		return time.Time{}
	}
	return time.UnixMilli(ms).UTC()
}

// isOpen reports whether chunks of the job may begin, now or when it has waited.
func (j *jobRow) isOpen() bool {
	return j.Shown == visible && (j.State == bulkjob.Queued || j.State == bulkjob.Running || j.State == bulkjob.Waiting)
}

// begins reports whether chunks of the job may begin now.
func (j *jobRow) begins() bool {
	return j.isOpen() && j.State != bulkjob.Waiting && (j.Options.Deadline.IsZero() ||
		at(j.Now).Before(j.Options.Deadline))
}

// end makes a job one that is done, or ended if it has open lines.
func (j *jobRow) end() {
	j.State, j.WaitingFor, j.Ended = bulkjob.Done, "", j.Now
	if j.Left() > 0 {
		j.State = bulkjob.Ended
	}
}

// await makes a job wait.
func (j *jobRow) await(what string, need int64) {
	if j.State != bulkjob.Waiting {
		j.Since = j.Now
	}
	j.State, j.WaitingFor, j.Need = bulkjob.Waiting, what, need
}

// platforms returns those that the job has lines of.
func (j *jobRow) platforms() []string {
	if j.Platforms == "" {
		return nil
	}
	return strings.Split(j.Platforms, ",")
}

// jobs returns the jobs for which a condition holds.
func (t tx) jobs(where string, args ...any) ([]*jobRow, error) {
	var all []*jobRow
	var j jobRow
	err := t.rows(append(j.fields(), &j.Now), func() error {
		copied := j
		all = append(all, &copied)
		return copied.complete()
	}, "SELECT "+jobColumns+", {now} FROM @bulk_jobs WHERE "+where, args...)
	return all, err
}

// job returns the only job for which a condition holds, or nil.
func (t tx) job(where string, args ...any) (*jobRow, error) {
	all, err := t.jobs(where, args...)
	if err != nil || len(all) == 0 {
		return nil, err
	}
	return all[0], nil
}

// named returns a job by its name, or ErrAbsent. lock is {lock} or "".
func (t tx) named(account, name, lock string) (*jobRow, error) {
	j, err := t.job("shown = 1 AND account = $1 AND name = $2 "+lock, account, name)
	if err == nil && j == nil {
		err = bulkjob.ErrAbsent
	}
	return j, err
}

// update writes what changes in a job after it was made.
func (t tx) update(j *jobRow) error {
	_, err := t.exec(`UPDATE @bulk_jobs SET shown = $2, state = $3, waiting_for = $4, need = $5, since = $6, ended = $7,
		lines = $8, found = $9, missing = $10, failed = $11, used = $12, bytes = $13, chunks = $14, told = $15,
		rate_since = $16, rate_lines = $17, rate = $18 WHERE id = $1`,
		j.ID, j.Shown, string(j.State), j.WaitingFor, j.Need, j.Since, j.Ended, j.Lines, j.Found, j.Missing, j.Failed,
		j.Used, j.Bytes, j.Chunks, j.Announced, j.RateSince, j.RateLines, j.Rate)
	return err
}

// progress sets what follows from a job's chunks.
func (t tx) progress(j *jobRow) error {
	var first, queued, due, ready int64
	if _, err := t.row([]any{&first, &queued, &due, &ready}, `SELECT
		coalesce(min(CASE WHEN $2 = 0 OR lease > {now} THEN first_line END), 0),
		coalesce(sum(CASE WHEN river <> 0 THEN 1 ELSE 0 END), 0),
		coalesce(sum(CASE WHEN river <> 0 AND (lease > {now} OR later <= {now}) THEN 1 ELSE 0 END), 0),
		coalesce(sum(CASE WHEN river = 0 AND later <= {now} THEN 1 ELSE 0 END), 0)
		FROM @bulk_chunks WHERE job = $1`, j.ID, flag(!j.isOpen())); err != nil {
		return err
	}
	j.Through = j.LastLine
	if first > 0 {
		j.Through = first - 1
	}
	// Chunks that are ready wait behind those of their platform that are in the queue.
	if j.State != bulkjob.Running || due > 0 || queued == 0 && ready > 0 {
		return nil
	}
	return t.next(j)
}

// next says what a running job waits for of which nothing can be worked now, and how long.
func (t tx) next(j *jobRow) error {
	var on string
	var wait, attempt, river int64
	ok, err := t.row([]any{&on, &wait, &attempt, &river}, `SELECT platform, later - {now}, attempt, river FROM @bulk_chunks
		WHERE job = $1 AND later > {now} ORDER BY later LIMIT 1`, j.ID)
	if err != nil || !ok {
		return err
	}
	j.State, j.WaitingFor, j.TriedIn = bulkjob.Waiting, on, time.Duration(wait)*time.Millisecond
	if river == 0 && attempt > 0 {
		j.WaitingFor = bulkjob.ForRetry
	}
	return nil
}

func flag(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

// Job implements [bulkjob.Service].
func (s *Service) Job(ctx context.Context, account, name string) (job bulkjob.Job, err error) {
	err = s.read(ctx, func(t tx) error {
		j, err := t.named(account, name, "")
		if err != nil {
			return err
		}
		err = t.progress(j)
		job = j.Job
		return err
	})
	return job, err
}

// Jobs implements [bulkjob.Service].
func (s *Service) Jobs(ctx context.Context, account, after string, limit int) ([]bulkjob.Job, error) {
	return s.shown(ctx, "account = $1 AND name > $2 ORDER BY name LIMIT $3", account, after, limit)
}

// Latest implements [bulkjob.Service].
func (s *Service) Latest(ctx context.Context, account string, limit int) ([]bulkjob.Job, error) {
	return s.shown(ctx, "($1 = '' OR account = $1) ORDER BY created DESC, id DESC LIMIT $2", account, limit)
}

// shown returns the visible jobs for which a condition holds, with their progress.
func (s *Service) shown(ctx context.Context, where string, args ...any) (jobs []bulkjob.Job, err error) {
	err = s.read(ctx, func(t tx) error {
		jobs = nil
		all, err := t.jobs("shown = 1 AND "+where, args...)
		if err != nil {
			return err
		}
		for _, j := range all {
			if err := t.progress(j); err != nil {
				return err
			}
			jobs = append(jobs, j.Job)
		}
		return nil
	})
	return jobs, err
}

// Stop implements [bulkjob.Service].
func (s *Service) Stop(ctx context.Context, account, name string) (job bulkjob.Job, err error) {
	err = s.write(ctx, func(t tx) error {
		j, err := t.named(account, name, "{lock}")
		if err != nil {
			return err
		}
		if err := t.stop(j); err != nil {
			return err
		}
		err = t.progress(j)
		job = j.Job
		return err
	})
	s.wakeRun()
	return job, err
}

// stop ends a job, unless it has ended. Run removes its chunks.
func (t tx) stop(j *jobRow) error {
	if !j.isOpen() {
		return nil
	}
	j.end()
	j.EndedAt = at(j.Ended)
	return t.update(j)
}

// StopAccount implements [bulkjob.Service].
func (s *Service) StopAccount(ctx context.Context, account string) error {
	defer s.wakeRun()
	return s.write(ctx, func(t tx) error {
		jobs, err := t.jobs("shown = 1 AND account = $1 ORDER BY id {lock}", account)
		if err != nil {
			return err
		}
		for _, j := range jobs {
			if err := t.stop(j); err != nil {
				return err
			}
		}
		return nil
	})
}

// Granted implements [bulkjob.Service].
func (s *Service) Granted(ctx context.Context, account string) error {
	defer s.wakeRun()
	return s.write(ctx, func(t tx) error {
		_, err := t.exec(`UPDATE @bulk_jobs SET state = 'running', waiting_for = '', told = 'running' WHERE shown = 1
			AND account = $1 AND state = 'waiting' AND waiting_for = $2`, account, bulkjob.ForCredits)
		return err
	})
}

// find returns jobs, without a lock.
func (s *Service) find(ctx context.Context, where string, args ...any) (jobs []*jobRow, err error) {
	err = s.read(ctx, func(t tx) error {
		jobs, err = t.jobs(where, args...)
		return err
	})
	return jobs, err
}
