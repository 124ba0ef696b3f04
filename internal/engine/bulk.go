package engine

import (
	"context"
	"errors"
	"math"
	"time"

	"github.com/socialdata/socialdata/bulkjob"
	"github.com/socialdata/socialdata/internal/account"
	"github.com/socialdata/socialdata/internal/read"
	"github.com/socialdata/socialdata/observe"
	"github.com/socialdata/socialdata/operation"
	"github.com/socialdata/socialdata/problem"
	"github.com/socialdata/socialdata/schema"
	"github.com/socialdata/socialdata/watch"
)

// bulk has bulk jobs worked while the engine is open.
type bulk struct {
	engine  *Engine
	service bulkjob.Service // nil if there are no bulk jobs
	stop    context.CancelFunc
	ended   chan struct{}
}

// bulkAgain is the pause after which jobs are worked again when the service has failed.
const bulkAgain = 5 * time.Second

func (b *bulk) open(e *Engine) {
	b.engine, b.service, b.ended = e, e.cfg.Bulk, make(chan struct{})
	if b.service == nil {
		close(b.ended)
		return
	}
	ctx, stop := context.WithCancel(context.Background())
	b.stop = stop
	go func() {
		defer close(b.ended)
		for ctx.Err() == nil {
			if err := b.service.Run(ctx, bulkWorker{e}); err != nil && ctx.Err() == nil {
				e.cfg.Log.ErrorContext(ctx, "bulk jobs are not worked; trying again", "error", err)
			}
			select {
			case <-ctx.Done():
			case <-time.After(bulkAgain):
			}
		}
	}()
}

func (b *bulk) close(ctx context.Context) error {
	if b.stop != nil {
		b.stop()
	}
	select {
	case <-b.ended:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// granted continues the jobs of an account that wait for credits. The service looks for itself now and then, so that an
// error only delays them.
func (b *bulk) granted(ctx context.Context, id string) {
	if b.service == nil {
		return
	}
	if err := b.service.Granted(ctx, id); err != nil {
		b.engine.cfg.Log.WarnContext(ctx, "bulk jobs of an account with new credits are continued later", "account", id, "error", err)
	}
}

// errNoBulk means that the program has no service of bulk jobs.
var errNoBulk = problem.New(problem.PlatformUnavailable,
	"this service has no bulk jobs: %s", problem.Phrase{
		HTTP: "its operator has not set them up", Command: "its operator has not set them up",
		Go: "pass a service of them to socialdata.WithBulk",
	})

// bulking is the operation in logs and problems of changes of bulk jobs.
var bulking = &operation.Operation{Name: "bulk", Path: "/manage/bulk/{name}", Service: true}

// AccountBulk starts, lists and stops the bulk jobs of the session's account.
type AccountBulk struct{ session *Session }

// Bulk returns the bulk jobs of the session's account.
func (s *Session) Bulk() AccountBulk { return AccountBulk{s} }

// store returns the service of bulk jobs and the account whose jobs the session can use.
func (a AccountBulk) store() (bulkjob.Service, string, error) {
	owner, err := a.session.owner()
	if err == nil && a.session.bulk.service == nil {
		err = errNoBulk
	}
	return a.session.bulk.service, owner, err
}

// storedBulk translates an error of the service of bulk jobs for callers.
func storedBulk(ctx context.Context, err error) error {
	_, ours := errors.AsType[*problem.Error](err)
	if err == nil || ours || ctx.Err() != nil || errors.Is(err, bulkjob.ErrAbsent) || errors.Is(err, bulkjob.ErrConflict) ||
		errors.Is(err, bulkjob.ErrFull) || errors.Is(err, watch.ErrInvalid) {
		return err
	}
	return &account.UnavailableError{Store: "bulk jobs", Err: err}
}

// Stop ends a job: what is under way is finished.
func (a AccountBulk) Stop(ctx context.Context, name string) (schema.BulkJob, error) {
	ctx, id := named(ctx, "")
	service, owner, err := a.store()
	var j bulkjob.Job
	if err == nil {
		bounded, cancel := a.session.bounded(ctx)
		j, err = service.Stop(bounded, owner, name)
		cancel()
	}
	if err != nil {
		return schema.BulkJob{}, a.session.fail(ctx, bulking, operation.Call{RequestID: id}, storedBulk(ctx, err))
	}
	return bulkShown(&j), nil
}

// bulkShown returns a job as callers see it.
func bulkShown(j *bulkjob.Job) schema.BulkJob {
	out := schema.BulkJob{
		ID: j.Name, State: string(j.State), Lines: j.Lines, Found: j.Found, Missing: j.Missing, Failed: j.Failed, Left: j.Left(),
		CreditsUsed: j.Used, Most: j.Most,
	}
	switch {
	case j.State == bulkjob.Waiting:
		out.WaitingFor = set(j.WaitingFor)
		if j.TriedIn > 0 {
			out.EtaS = new(int64(math.Ceil(j.TriedIn.Seconds())))
		}
	case j.State == bulkjob.Done:
		out.EtaS = new(int64(0))
	case j.State != bulkjob.Ended && j.LinesPerSecond > 0:
		out.EtaS = new(int64(math.Ceil(float64(out.Left) / j.LinesPerSecond)))
	}
	return out
}

// BulkJobs returns up to limit bulk jobs of an account, or of all for "", newest first.
func (e *Engine) BulkJobs(ctx context.Context, account string, limit int) ([]observe.BulkJob, error) {
	if e.bulk.service == nil {
		return nil, errNoBulk
	}
	ctx, cancel := e.bounded(ctx)
	defer cancel()
	jobs, err := e.bulk.service.Latest(ctx, account, limit)
	out := make([]observe.BulkJob, len(jobs))
	for i := range jobs {
		j := &jobs[i]
		out[i] = observe.BulkJob{
			BulkJob: bulkShown(j), Account: j.Account, Key: j.Key, CreatedAt: j.CreatedAt, EndedAt: j.EndedAt,
		}
	}
	return out, err
}

const bulkPage = 100

// listBulk returns one job, or a page of those of the account, by name.
func listBulk(ctx context.Context, s *Session, row *read.Row, call operation.Call) (*operation.Answer, error) {
	in, err := call.Bind(row.Params)
	if err != nil {
		return nil, err
	}
	service, owner, err := s.Bulk().store()
	if err != nil {
		return nil, err
	}
	bounded, cancel := s.bounded(ctx)
	defer cancel()
	if name := in.Get("id"); name != "" {
		j, err := service.Job(bounded, owner, name)
		if err != nil {
			return nil, storedBulk(ctx, err)
		}
		return s.free(ctx, call, bulkShown(&j))
	}
	bound, size := boundTo(row, owner, in), in.Limit(bulkPage)
	after, err := s.position(ctx, bound, in)
	if err != nil {
		return nil, err
	}
	jobs, err := service.Jobs(bounded, owner, after, size+1)
	if err != nil {
		return nil, storedBulk(ctx, err)
	}
	page, next := pageOf(jobs, size, func(j *bulkjob.Job) string { return j.Name }, bulkShown)
	return s.paged(ctx, call, page, bound, next)
}
