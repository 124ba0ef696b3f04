package bulk

import (
	"context"
	"errors"
	"math"
	"slices"
	"time"

	"github.com/socialdata/socialdata/bulkjob"
)

const (
	attempts   = 8      // at a line
	rateWindow = 10_000 // milliseconds over which the rate of a job is measured
)

// sorted are the lines of a chunk by what became of them.
type sorted struct {
	final       []bulkjob.Result
	again, rest []bulkjob.Line
}

// sort divides the lines of a chunk.
func (c *claimed) sort(worked bulkjob.Worked) sorted {
	results := map[int64]bulkjob.Result{}
	for _, r := range worked.Results {
		results[r.Line] = r
	}
	var s sorted
	for _, line := range c.lines {
		r, ok := results[line.Number]
		switch {
		case !ok:
			s.rest = append(s.rest, line)
		case r.Again && c.attempt+1 < attempts:
			s.again = append(s.again, line)
		default:
			if r.Again {
				r.Again, r.Outcome = false, bulkjob.LineFailed
			}
			s.final = append(s.final, r)
		}
	}
	return s
}

// distance returns how long after an attempt, counted from 0, a line is tried again: each time three times as long, and
// altogether RetryFor.
func (s *Service) distance(attempt int64) time.Duration {
	sum := (math.Pow(3, attempts-1) - 1) / 2
	return time.Duration(float64(s.cfg.RetryFor) * math.Pow(3, float64(attempt)) / sum)
}

// errLost means that the chunk is not this process's any more.
var errLost = errors.New("bulk: the lease of a chunk has ended")

// finish stores what came of a chunk, and ends it, in one transaction with complete. Lines that stay open are a new
// chunk, with another number and so another Idempotency-Key. It returns errLost if the chunk is not this process's any
// more, and else the job.
func (s *Service) finish(
	ctx context.Context, c *claimed, worked bulkjob.Worked, complete func(tx) error,
) (j *jobRow, err error) {
	if s.cfg.Sink != nil {
		if err := s.sink(ctx, c, worked); err != nil {
			return nil, errors.Join(err, s.release(ctx, c))
		}
	}
	err = s.write(ctx, func(t tx) error {
		if err := s.current(t, c); err != nil {
			return err
		}
		if j, err = t.job("id = $1 {lock}", c.chunkRow.job); err != nil {
			return err
		}
		if j == nil || j.Shown == removed {
			j = nil
			return complete(t)
		}
		of := c.sort(worked)
		bytes := int64(0)
		if len(of.final) > 0 && s.cfg.Sink == nil {
			if bytes, err = s.store(t, j.ID, c.number, c.platform, of.final); err != nil {
				return err
			}
		}
		j.add(of.final, bytes)
		switch {
		case !j.isOpen():
		case worked.Stop || j.Left() == 0:
			j.end()
		case worked.WaitingFor != "" && len(of.rest) > 0:
			j.await(worked.WaitingFor, mostOf(of.rest))
		case bytes > 0 && (c.number%seldom == 0 || j.Bytes >= s.cfg.ResultBytes): // to save reading the other jobs
			full, err := s.isFull(t, j)
			if err != nil {
				return err
			}
			if full {
				j.await(bulkjob.ForSpace, 0)
			}
		}
		if j.isOpen() {
			if err := s.reopen(t, c, j, of, worked.Later); err != nil {
				return err
			}
		}
		if j.begins() {
			if err := s.fill(t, j, c.platform, 1, c.attempt > 0 || c.number%seldom == 0); err != nil {
				return err
			}
		}
		return errors.Join(complete(t), t.update(j))
	})
	return j, err
}

// current removes a chunk, and reads its lines again, some of which may have been erased. It returns errLost if the
// chunk is not this process's any more.
func (s *Service) current(t tx, c *claimed) error {
	var packed []byte
	ok, err := t.row([]any{&packed}, "DELETE FROM @bulk_chunks WHERE job = $1 AND number = $2 AND epoch = $3 RETURNING lines",
		c.chunkRow.job, c.number, c.epoch)
	switch {
	case err != nil:
		return err
	case !ok:
		return errLost
	case slices.Equal(packed, c.packed):
		return nil
	}
	c.packed = packed
	c.lines, err = unpack[bulkjob.Line](s.codec, packed)
	return err
}

// sink writes the results of a chunk to the sink, if the chunk is still this process's.
func (s *Service) sink(ctx context.Context, c *claimed, worked bulkjob.Worked) error {
	if err := s.read(ctx, func(t tx) error {
		var n int64
		_, err := t.row([]any{&n}, "SELECT count(*) FROM @bulk_chunks WHERE job = $1 AND number = $2 AND epoch = $3",
			c.chunkRow.job, c.number, c.epoch)
		if err == nil && n == 0 {
			err = errLost
		}
		return err
	}); err != nil {
		return err
	}
	of := c.sort(worked)
	if len(of.final) == 0 {
		return nil
	}
	return s.cfg.Sink.Write(ctx, c.job.Job, c.number, of.final)
}

// store writes the results of a chunk to the table, and returns their bytes.
func (s *Service) store(t tx, job string, number int64, on string, results []bulkjob.Result) (int64, error) {
	packed, err := pack(s.codec, results)
	if err != nil {
		return 0, err
	}
	_, err = t.exec("INSERT INTO @bulk_results (job, number, platform, first_line, last_line, n, bytes, results, stored) "+
		"VALUES ($1, $2, $3, $4, $5, $6, $7, $8, {now})", job, number, on, results[0].Line, results[len(results)-1].Line,
		len(results), len(packed), packed)
	return int64(len(packed)), err
}

// add counts results.
func (j *jobRow) add(results []bulkjob.Result, bytes int64) {
	for _, r := range results {
		switch r.Outcome {
		case bulkjob.LineFound:
			j.Found++
		case bulkjob.LineMissing:
			j.Missing++
		default:
			j.Failed++
		}
		j.Used += r.Credits
	}
	j.Bytes += bytes
	if j.RateSince == 0 {
		j.RateSince = j.Now
	}
	j.RateLines += int64(len(results))
	if passed := j.Now - j.RateSince; passed > rateWindow || j.Rate == 0 && passed > rateWindow/10 {
		j.Rate = j.RateLines * 1_000_000 / passed
		j.RateSince, j.RateLines = j.Now, 0
	}
}

// reopen makes chunks of the lines that stay open.
func (s *Service) reopen(t tx, c *claimed, j *jobRow, of sorted, later time.Time) error {
	until := int64(0)
	if !later.IsZero() {
		until = j.Now + max(time.Until(later), soonAgain).Milliseconds()
	}
	next := func(lines []bulkjob.Line, attempt, later int64) error {
		if len(lines) == 0 {
			return nil
		}
		row := &chunkRow{
			job: j.ID, number: j.Chunks, platform: c.platform, position: c.position, cost: c.cost, attempt: attempt, later: later,
		}
		j.Chunks++
		return s.insert(t, row, lines)
	}
	return errors.Join(
		next(of.again, c.attempt+1, j.Now+max(s.distance(c.attempt).Milliseconds(), 1)),
		next(of.rest, c.attempt, until),
	)
}

// isFull reports whether the account's results have the maximum number of bytes, with those of a job as j has them.
func (s *Service) isFull(t tx, j *jobRow) (bool, error) {
	var others int64
	_, err := t.row([]any{&others}, `SELECT CAST(coalesce(sum(bytes), 0) AS BIGINT) FROM @bulk_jobs WHERE shown = 1
		AND account = $1 AND id <> $2`, j.Account, j.ID)
	return s.cfg.Sink == nil && others+j.Bytes >= s.cfg.ResultBytes, err
}
