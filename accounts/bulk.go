package accounts

import (
	"context"
	"io"
	"strconv"
	"time"

	"github.com/socialdata/socialdata/internal/engine"
	"github.com/socialdata/socialdata/internal/typed"
	"github.com/socialdata/socialdata/operation"
	"github.com/socialdata/socialdata/problem"
	"github.com/socialdata/socialdata/schema"
)

// Bulk are the account's bulk jobs: files of up to 2,000,000 reads that are worked in the background: see socialdata.WithBulk.
func (a Account) Bulk() Bulk { return Bulk(a) }

// Bulk are the bulk jobs of one account. For an unknown one the error is not_found.
type Bulk struct{ caller operation.Caller }

// BulkRequest is a file of reads and what they have in common.
type BulkRequest struct {
	Name string // of the job, of a-z, 0-9 and -
	// File has a read on each line, as JSON: {"platform": "x", "operation": "profile", "params": {"handle": "jack"}}, or
	// {"url": "https://…"}; see [schema.BulkLine]. It has up to 2,000,000 lines and 256 MiB, and is never all in memory.
	// Empty lines are skipped.
	File       io.Reader
	MaxCredits int64     // the job waits when it would cost more; 0 is no limit
	Fresh      bool      // skips the cache; costs twice the base
	Enrich     string    // "arabic" enriches texts, for 3 credits more for reads that are made together
	IncludeRaw bool      // adds what the upstream has answered
	Fields     string    // only these fields of each object, such as "id,author.handle"; "" is all
	Deadline   time.Time // what is open then is not begun; zero means never
	Cheapest   bool      // works the cheapest lines first, instead of in their order
}

// Start starts a job, and returns which lines were refused, and what it costs. The key that the client is bound to pays,
// for what is found. The same file with the same options starts nothing, and returns the job that is there; another one
// is an invalid_request until that job is done. Then it replaces the job with its results. If File cannot be read to its
// end, nothing is started.
func (b Bulk) Start(ctx context.Context, req BulkRequest) (schema.BulkStart, error) {
	out, isNew, err := engine.StartBulk.On(ctx, b.caller, req.Name, operation.File{Lines: req.File, Pairs: req.pairs()})
	out.New = isNew
	return out, err
}

func (r *BulkRequest) pairs() (out operation.Pairs) {
	add := func(set bool, name, value string) {
		if set {
			out = append(out, operation.Pair{Name: name, Value: value})
		}
	}
	add(r.MaxCredits != 0, "max_credits", strconv.FormatInt(r.MaxCredits, 10))
	add(r.Fresh, "fresh", "true")
	add(r.Enrich != "", "enrich", r.Enrich)
	add(r.IncludeRaw, "include_raw", "true")
	add(r.Fields != "", "fields", r.Fields)
	add(!r.Deadline.IsZero(), "deadline", r.Deadline.UTC().Format(time.RFC3339))
	add(r.Cheapest, "order", "cheapest")
	return out
}

// Status returns the state of a job.
func (b Bulk) Status(ctx context.Context, name string) (schema.BulkJob, error) {
	if name == "" {
		return schema.BulkJob{}, problem.New(problem.InvalidRequest, "the name of the job is missing")
	}
	e, err := typed.Do(ctx, b.caller, typed.Operation[schema.BulkJob](opBulk), &BulkJobsRequest{Name: name})
	if err != nil {
		return schema.BulkJob{}, err
	}
	return e.Data, nil
}

// List returns one page of the jobs, by name. The Name of req is ignored: see [Bulk.Status].
func (b Bulk) List(ctx context.Context, req BulkJobsRequest) (*schema.Envelope[[]schema.BulkJob], error) {
	req.Name = ""
	return typed.Do(ctx, b.caller, opBulk, &req)
}

// Results returns one page of the results of a job, by line: those before the first line that is still open, so that
// going on behind the last one misses none. While the job goes on, Meta.NextCursor is always set.
func (b Bulk) Results(ctx context.Context, req BulkResultsRequest) (*schema.Envelope[[]schema.BulkResult], error) {
	return typed.Do(ctx, b.caller, opBulkResults, &req)
}

// Stop ends a job: what is under way is finished and charged, and the rest never begun. Its results stay.
func (b Bulk) Stop(ctx context.Context, name string) (schema.BulkJob, error) {
	out, _, err := engine.StopBulk.On(ctx, b.caller, name, struct{}{})
	return out, err
}
