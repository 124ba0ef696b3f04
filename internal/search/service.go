package search

import (
	"context"
	"log/slog"
	"time"

	"github.com/socialdata/socialdata/internal/account"
	"github.com/socialdata/socialdata/internal/background"
	"github.com/socialdata/socialdata/internal/calls"
	"github.com/socialdata/socialdata/internal/cursor"
	"github.com/socialdata/socialdata/internal/read"
	"github.com/socialdata/socialdata/internal/upstreams"
	"github.com/socialdata/socialdata/operation"
	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/privacy"
	"github.com/socialdata/socialdata/problem"
	"github.com/socialdata/socialdata/records"
	"github.com/socialdata/socialdata/schema"
)

// Service makes fan-out searches. It is safe for concurrent use.
type Service struct {
	cfg  Config
	work background.Group

	planner *planner // checks requests
	fetcher *fetcher // reads from platforms
	cursors *cursors
	running running // the jobs of this process
}

// Config is what a [Service] needs. All fields are required.
type Config struct {
	Reader    *read.Reader
	Upstreams *upstreams.Pool
	Row       *read.Row            // the search of one platform
	All       *operation.Operation // the search of several platforms
	Calls     *calls.Keeper
	Records   records.Store                   // for the list of jobs
	Marks     func(data []byte) privacy.Marks // of everyone in JSON
	Cursors   *cursor.Keeper
	// Explain returns why a platform's search failed, for callers.
	Explain func(platform.ID, error) schema.PlatformError
	Timeout time.Duration // for one search, including late parts
	JobLife time.Duration // for how long a job without a key is stored after its end
	Now     func() time.Time
	Log     *slog.Logger
}

// New returns a Service.
func New(cfg Config) *Service {
	s := &Service{
		cfg: cfg, fetcher: &fetcher{reader: cfg.Reader, log: cfg.Log},
		cursors: &cursors{keeper: cfg.Cursors, marks: cfg.Marks}, running: running{by: map[string]chan struct{}{}},
	}
	s.planner = &planner{
		reader: cfg.Reader, upstreams: cfg.Upstreams, row: cfg.Row, all: cfg.All, explain: cfg.Explain, cursors: s.cursors,
		now: cfg.Now,
	}
	return s
}

// Request is the caller and the settings of a search.
type Request struct {
	Who   account.Caller
	ID    string    // the request id of the call
	Over  time.Time // when the time for the search is over; the zero time means after the service's timeout
	Typed bool      // the caller is in this process, and gets Go values if possible
}

// over returns when the time for a search is over.
func (s *Service) over(req Request) time.Time {
	if req.Over.IsZero() {
		return time.Now().Add(s.cfg.Timeout)
	}
	return req.Over
}

// errClosed means that the service is closed.
var errClosed = problem.New(problem.PlatformUnavailable, "the service is shutting down; nothing was charged")

// Close refuses new searches and waits until those in progress have ended, or until ctx ends.
func (s *Service) Close(ctx context.Context) error {
	return s.work.Close(ctx)
}
