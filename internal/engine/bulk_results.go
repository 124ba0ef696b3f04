package engine

import (
	"context"
	"encoding/json"
	"strconv"

	"github.com/socialdata/socialdata/bulkjob"
	"github.com/socialdata/socialdata/internal/read"
	"github.com/socialdata/socialdata/operation"
	"github.com/socialdata/socialdata/problem"
	"github.com/socialdata/socialdata/schema"
)

const (
	// bulkResultsPage is the maximum number of results in a page, which also ends when it has bulkResultsBytes of data.
	// They are read in parts of bulkResultsPart, because results of lists are long.
	bulkResultsPage  = 1000
	bulkResultsBytes = 4 << 20
	bulkResultsPart  = 100
)

// bulkPosition is where results are read.
type bulkPosition struct {
	service bulkjob.Service
	owner   string
	job     bulkjob.Job // read before its results: what has ended by then is there
	after   int64
	bound   string // of cursors
}

// bulkAt returns the position of a call.
func (s *Session) bulkAt(ctx context.Context, row *operation.Operation, call operation.Call) (p bulkPosition, in operation.Args, err error) {
	if in, err = call.Bind(row.Params); err != nil {
		return p, in, err
	}
	if p.service, p.owner, err = s.Bulk().store(); err != nil {
		return p, in, err
	}
	p.bound = boundTo(&read.Row{Operation: row}, p.owner, in)
	if p.after, err = s.positionNumber(ctx, p.bound, in); err != nil {
		return p, in, err
	}
	if in.Cursor() == "" && in.Get("after") != "" {
		if p.after, err = strconv.ParseInt(in.Get("after"), 10, 64); err != nil {
			return p, in, problem.New(problem.InvalidRequest, `parameter "after" must be the number of a line`)
		}
	}
	ctx, cancel := s.bounded(ctx)
	defer cancel()
	p.job, err = p.service.Job(ctx, p.owner, in.Get("id"))
	return p, in, storedBulk(ctx, err)
}

// over reports whether the job gets no more results.
func (p *bulkPosition) over() bool {
	return p.job.State == bulkjob.Done || p.job.State == bulkjob.Ended
}

// part returns the next results, up to most of them: those before the first line that is still open.
func (p *bulkPosition) part(ctx context.Context, s *Session, most int) ([]bulkjob.Result, error) {
	if p.after >= p.job.Through {
		return nil, nil
	}
	ctx, cancel := s.bounded(ctx)
	defer cancel()
	found, err := p.service.Results(ctx, p.owner, p.job.Name, p.after, most)
	if err != nil {
		return nil, storedBulk(ctx, err)
	}
	for i := range found {
		if found[i].Line > p.job.Through {
			return found[:i], nil
		}
		p.after = found[i].Line
	}
	return found, nil
}

// listBulkResults returns a page of the results of a job, by line. While the job goes on there is always a cursor.
func listBulkResults(ctx context.Context, s *Session, row *read.Row, call operation.Call) (*operation.Answer, error) {
	p, in, err := s.bulkAt(ctx, row.Operation, call)
	if err != nil {
		return nil, err
	}
	rows, bytes, more := []schema.BulkResult{}, 0, true
	for most := in.Limit(bulkResultsPage); more && len(rows) < most && bytes < bulkResultsBytes; {
		size := min(bulkResultsPart, most-len(rows))
		found, err := p.part(ctx, s, size)
		if err != nil {
			return nil, err
		}
		for i := range found {
			shown, err := bulkResultShown(&found[i])
			if err != nil {
				return nil, err
			}
			rows = append(rows, shown)
			bytes += len(shown.Data) + len(shown.Raw)
		}
		more = len(found) == size
	}
	next := ""
	if more || !p.over() {
		next = strconv.FormatInt(p.after, 10)
	}
	return s.paged(ctx, call, rows, p.bound, next)
}

// bulkResultShown returns a result as callers see it.
func bulkResultShown(r *bulkjob.Result) (out schema.BulkResult, err error) {
	out = schema.BulkResult{
		Line: r.Line, Key: r.Key, Data: r.Data, Raw: r.Raw, DataAgeS: int64(r.DataAge.Seconds()), CreditsUsed: r.Credits,
	}
	if r.Cache != "" {
		out.Cache = new(schema.CacheState(r.Cache))
	}
	if r.Problem != nil {
		out.Problem = &problem.Error{}
		err = json.Unmarshal(r.Problem, out.Problem)
	}
	return out, err
}

// streamBulkResults yields all results that are there, by line. The meta is the first event: its cursor goes on behind the
// last of them.
func (s *Session) streamBulkResults(
	ctx context.Context, o *operation.Operation, call operation.Call, yield func(operation.Event) bool,
) error {
	p, in, err := s.bulkAt(ctx, o, call)
	if err != nil {
		return err
	}
	if in.Get("limit") != "" {
		return problem.New(problem.InvalidRequest, `parameter "limit" cannot be used with a stream of lines`)
	}
	end := ""
	if !p.over() {
		end = strconv.FormatInt(max(p.after, p.job.Through), 10)
	}
	head, err := s.paged(ctx, call, nil, p.bound, end)
	if err != nil || !yield(operation.Event{Meta: &head.Meta}) {
		return err
	}
	for {
		found, err := p.part(ctx, s, bulkResultsPart)
		if err == nil {
			err = s.stillValid(ctx)
		}
		if err != nil {
			return err
		}
		for i := range found {
			shown, err := bulkResultShown(&found[i])
			if err != nil {
				return err
			}
			b, err := schema.Marshal(&shown)
			if err != nil {
				return err
			}
			if !yield(operation.Event{Result: b}) {
				return nil
			}
		}
		if len(found) < bulkResultsPart {
			return nil
		}
	}
}
