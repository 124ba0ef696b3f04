package bulk

import (
	"strconv"
	"strings"

	"github.com/riverqueue/river"
)

// chunkRow is a row of bulk_chunks.
type chunkRow struct {
	job                                        string
	number                                     int64
	platform                                   string
	position, cost, most, first                int64
	packed                                     []byte
	attempt, later, river, begun, epoch, lease int64
	holder                                     string
}

const chunkColumns = "job, number, platform, position, cost, most, first_line, lines, attempt, later, river, begun, " +
	"epoch, lease, holder"

func (c *chunkRow) fields() []any {
	return []any{
		&c.job, &c.number, &c.platform, &c.position, &c.cost, &c.most, &c.first, &c.packed, &c.attempt, &c.later, &c.river,
		&c.begun, &c.epoch, &c.lease, &c.holder,
	}
}

func (c *chunkRow) values() []any {
	return []any{
		c.job, c.number, c.platform, c.position, c.cost, c.most, c.first, c.packed, c.attempt, c.later, c.river, c.begun,
		c.epoch, c.lease, c.holder,
	}
}

// insertChunks adds n chunks.
func (t tx) insertChunks(n int, values []any) error {
	each := len(values) / n
	rows := make([]string, n)
	for i := range rows {
		rows[i] = "(" + params(1+i*each, each) + ")"
	}
	_, err := t.exec("INSERT INTO @bulk_chunks ("+chunkColumns+") VALUES "+strings.Join(rows, ", "), values...)
	return err
}

// params returns n parameters, the first of which is $from.
func params(from, n int) string {
	var b strings.Builder
	for i := range n {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString("$" + strconv.Itoa(from+i))
	}
	return b.String()
}

// window is how many chunks of a job and platform are in River's queue at a time.
const window = 32

// fill puts up to n chunks of a job and platform into River's queue: with retries first those that are tried again, then
// those that were not tried yet, in their order. Of a job in the order of costs, the cheapest are done first.
func (s *Service) fill(t tx, j *jobRow, on string, n int, retries bool) error {
	var numbers []int64
	var number int64
	add := func() error {
		numbers = append(numbers, number)
		return nil
	}
	cheapest := ""
	if j.Options.Cheapest {
		cheapest = `AND cost <= (SELECT min(cost) FROM @bulk_chunks WHERE job = $1 AND later <= {now}) `
	}
	if retries {
		if err := t.rows([]any{&number}, add, `SELECT number FROM @bulk_chunks WHERE job = $1 AND platform = $2
			AND river = 0 AND later > 0 AND later <= {now} `+cheapest+`ORDER BY later LIMIT $3 {skip}`, j.ID, on, n); err != nil {
			return err
		}
	}
	if n -= len(numbers); n > 0 {
		if err := t.rows([]any{&number}, add, `SELECT number FROM @bulk_chunks WHERE job = $1 AND platform = $2
			AND river = 0 AND later = 0 `+cheapest+`ORDER BY position LIMIT $3 {skip}`, j.ID, on, n); err != nil {
			return err
		}
	}
	return s.enqueue(t, j.ID, on, numbers)
}

// enqueue puts chunks into River's queue.
func (s *Service) enqueue(t tx, job, on string, numbers []int64) error {
	if len(numbers) == 0 {
		return nil
	}
	jobs := make([]river.InsertManyParams, len(numbers))
	for i, number := range numbers {
		jobs[i] = river.InsertManyParams{
			Args:       chunkArgs{Job: job, Chunk: number},
			InsertOpts: &river.InsertOpts{Queue: queueOf(on), MaxAttempts: maxAttempts},
		}
	}
	inserted, err := s.inserter.InsertManyTx(t.ctx, t.sql, jobs)
	if err != nil {
		return err
	}
	for i, number := range numbers {
		if _, err := t.exec("UPDATE @bulk_chunks SET river = $3, lease = 0, later = 0 WHERE job = $1 AND number = $2",
			job, number, inserted[i].Job.ID); err != nil {
			return err
		}
	}
	return nil
}

// maxAttempts is how often River runs one of its jobs that fails, because a store could not be used: so often that it
// never gives up. Attempts at lines are counted by this package.
const maxAttempts = 10_000

func queueOf(platform string) string { return "bulk-" + platform }

// chunkArgs are the arguments of a job of River.
type chunkArgs struct {
	Job   string `json:"job"`
	Chunk int64  `json:"chunk"`
}

// Kind implements [river.JobArgs].
func (chunkArgs) Kind() string { return "bulk_chunk" }
