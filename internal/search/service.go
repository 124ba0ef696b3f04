package search

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"

	"github.com/socialdata/socialdata/credits"
	"github.com/socialdata/socialdata/internal/account"
	"github.com/socialdata/socialdata/internal/background"
	"github.com/socialdata/socialdata/internal/cursor"
	"github.com/socialdata/socialdata/internal/read"
	"github.com/socialdata/socialdata/internal/upstreams"
	"github.com/socialdata/socialdata/operation"
	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/privacy"
	"github.com/socialdata/socialdata/problem"
	"github.com/socialdata/socialdata/schema"
	"github.com/socialdata/socialdata/store/records"
)

// Service makes fan-out searches. It is safe for concurrent use.
type Service struct {
	cfg  Config
	work background.Group

	mu   sync.Mutex
	live map[string]*job // the searches that this process makes

	looks singleflight.Group // reads of jobs of other processes

	untold untold
}

// Config is what a [Service] needs. All fields are required.
type Config struct {
	Reader    *read.Reader
	Upstreams *upstreams.Pool
	Row       *read.Row            // the search of one platform
	All       *operation.Operation // the search of several platforms
	Records   records.Store
	Marks     func(data []byte) privacy.Marks // of everyone in JSON
	Cursors   *cursor.Keeper
	Settle    func(context.Context, account.Due) (credits.Receipt, error) // see [account.Accounts.Settle]
	// ToldAsFailed is [account.Accounts.ToldAsFailed].
	ToldAsFailed func(context.Context, account.Due, error)
	// Untold is [account.Accounts.Untold].
	Untold func(context.Context, account.Due, error)
	// Explain returns why a platform's search failed, for callers.
	Explain func(platform.ID, error) schema.PlatformError
	Timeout time.Duration // for one search, including late parts
	// JobLife is for how long a job is stored after its end, and KeyedLife for one with an idempotency key.
	JobLife, KeyedLife time.Duration
	Now                func() time.Time
	Log                *slog.Logger
}

// New returns a Service.
func New(cfg Config) *Service {
	return &Service{cfg: cfg, live: map[string]*job{}, untold: newUntold()}
}

// Request is who makes a search, and how.
type Request struct {
	Who            account.Caller
	ID             string        // the request id of the call
	IdempotencyKey string        // makes the charge happen once, however often the call is repeated; "" for none
	Left           time.Duration // time for the search; 0 means the service's timeout
}

// errClosed means that the service is closed.
var errClosed = problem.New(problem.PlatformUnavailable, "the service is shutting down; nothing was charged")

// running returns the job with that id if this process makes it, or nil.
func (s *Service) running(id string) *job {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.live[id]
}

// enter and leave maintain the jobs that this process makes.
func (s *Service) enter(id string, j *job) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.live[id] = j
}

func (s *Service) leave(id string, j *job) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.live[id] == j {
		delete(s.live, id)
	}
}

// Close refuses new searches and returns when all in progress have ended, or when ctx ends.
func (s *Service) Close(ctx context.Context) error {
	s.untold.close()
	return s.work.Close(ctx)
}
