package bulk

import (
	"context"
	"time"

	"github.com/riverqueue/river"

	"github.com/socialdata/socialdata/bulkjob"
)

// claimed is a chunk of which this process has a lease.
type claimed struct {
	*chunkRow
	job   *jobRow
	lines []bulkjob.Line
}

// claim takes a lease of a chunk. It returns nil if it need not be worked now, or how long to wait before another try.
func (s *Service) claim(ctx context.Context, job *river.Job[chunkArgs]) (c *claimed, again time.Duration, err error) {
	var row *chunkRow
	var j *jobRow
	err = s.db.retry(ctx, func() error { // each statement is a transaction
		t := tx{ctx, s.db.writer, nil, s.db}
		row, j, again = &chunkRow{}, nil, 0
		ok, err := t.row(row.fields(), `UPDATE @bulk_chunks SET epoch = epoch + 1, begun = begun + 1, lease = {now} + $4,
			holder = $5 WHERE job = $1 AND number = $2 AND river = $3 AND (lease <= {now} OR holder = $5)
			RETURNING `+chunkColumns, job.Args.Job, job.Args.Chunk, job.ID, s.cfg.lease.Milliseconds(), s.process)
		if err != nil {
			return err
		}
		if !ok { // it has ended, is in the queue with another job, or another process has a lease of it
			row = nil
			var left int64
			ok, err := t.row([]any{&left}, `SELECT lease - {now} FROM @bulk_chunks WHERE job = $1 AND number = $2
				AND river = $3`, job.Args.Job, job.Args.Chunk, job.ID)
			if ok {
				again = max(time.Duration(left)*time.Millisecond, soonAgain)
			}
			return err
		}
		j, err = t.job("id = $1", row.job)
		return err
	})
	if err != nil || row == nil {
		return nil, again, err
	}
	first := row.begun == 1
	if j == nil || !j.begins() && (first || j.Shown != visible) {
		return nil, 0, s.write(ctx, func(t tx) error { return t.putBack(row, "river = 0, later = 0") })
	}
	lines, err := unpack[bulkjob.Line](s.codec, row.packed)
	if err != nil {
		return nil, 0, err
	}
	c = &claimed{row, j, lines}
	if first && (j.State == bulkjob.Queued || j.Options.MaxCredits > 0) {
		if again, err = s.begin(ctx, c); err != nil || again != 0 {
			return nil, max(again, 0), err
		}
	}
	return c, 0, nil
}

// putBack ends the lease of a chunk that was not begun, and sets other columns; args are $4 and so on.
func (t tx) putBack(c *chunkRow, set string, args ...any) error {
	_, err := t.exec("UPDATE @bulk_chunks SET begun = 0, lease = 0, "+set+" WHERE job = $1 AND number = $2 AND epoch = $3",
		append([]any{c.job, c.number, c.epoch}, args...)...)
	return err
}

// notNow means that a chunk does not begin until its job goes on.
const notNow time.Duration = -1

// begin notes that a job runs, and sees that it keeps its limit of credits. It returns 0 if the chunk begins, how long to
// wait before another try, or notNow.
func (s *Service) begin(ctx context.Context, c *claimed) (again time.Duration, err error) {
	lines := c.lines
	err = s.write(ctx, func(t tx) error {
		again, c.lines = 0, lines
		j, err := t.job("id = $1 {lock}", c.chunkRow.job)
		if err != nil {
			return err
		}
		if j == nil || !j.begins() {
			again = notNow
			return t.putBack(c.chunkRow, "river = 0, later = 0")
		}
		c.job = j
		if j.State == bulkjob.Queued {
			j.State = bulkjob.Running
		}
		if limit := j.Options.MaxCredits; limit > 0 {
			if again, err = s.limit(t, c, limit); err != nil {
				return err
			}
		}
		return t.update(j)
	})
	return again, err
}

// limit lets only so many lines of a chunk begin as are within the limit of its job, whatever those under way cost.
func (s *Service) limit(t tx, c *claimed, limit int64) (again time.Duration, err error) {
	var held int64
	if _, err := t.row([]any{&held}, `SELECT CAST(coalesce(sum(most), 0) AS BIGINT) FROM @bulk_chunks WHERE job = $1
		AND begun > 0 AND number <> $2`, c.chunkRow.job, c.number); err != nil {
		return 0, err
	}
	free := limit - c.job.Used - held
	fit := 0
	for fit < len(c.lines) && c.lines[fit].Most <= free {
		free -= c.lines[fit].Most
		fit++
	}
	switch {
	case fit == len(c.lines):
		return 0, nil
	case fit > 0:
		return 0, s.split(t, c, fit)
	case held > 0: // by chunks that may cost less
		return soonAgain, t.putBack(c.chunkRow, "later = 0")
	}
	c.job.await(bulkjob.ForMaxCredits, c.most)
	return notNow, t.putBack(c.chunkRow, "river = 0, later = 0")
}

// split leaves the first n lines in a chunk that was not begun, and makes another one of the rest.
func (s *Service) split(t tx, c *claimed, n int) error {
	rest := *c.chunkRow
	rest.number, rest.river, rest.lease, rest.begun, rest.epoch = c.job.Chunks, 0, 0, 0, 0
	c.job.Chunks++
	if err := s.insert(t, &rest, c.lines[n:]); err != nil {
		return err
	}
	c.lines = c.lines[:n]
	packed, err := pack(s.codec, c.lines)
	if err != nil {
		return err
	}
	c.packed, c.most = packed, mostOf(c.lines)
	_, err = t.exec("UPDATE @bulk_chunks SET lines = $3, most = $4 WHERE job = $1 AND number = $2",
		c.chunkRow.job, c.number, c.packed, c.most)
	return err
}

// insert adds a chunk of lines.
func (s *Service) insert(t tx, c *chunkRow, lines []bulkjob.Line) (err error) {
	if c.packed, err = pack(s.codec, lines); err != nil {
		return err
	}
	c.most, c.first = mostOf(lines), lines[0].Number
	return t.insertChunks(1, c.values())
}

// release ends the lease of a chunk of whose call it is not known what became, so that it is worked again.
func (s *Service) release(ctx context.Context, c *claimed) error {
	return s.write(ctx, func(t tx) error {
		_, err := t.exec("UPDATE @bulk_chunks SET lease = 0 WHERE job = $1 AND number = $2 AND epoch = $3",
			c.chunkRow.job, c.number, c.epoch)
		return err
	})
}

func (s *Service) work(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.working += n
}
