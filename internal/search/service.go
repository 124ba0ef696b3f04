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
	live map[string]*job // the searches that this process is working on

	looks singleflight.Group // at jobs that other processes are working on

	untold untold
}

// Config is what a [Service] is made of. All of it must be there.
type Config struct {
	Reader    *read.Reader
	Upstreams *upstreams.Pool
	Row       *read.Row            // how one platform is searched
	All       *operation.Operation // what the caller asked for
	Records   records.Store
	Marks     func(data []byte) privacy.Marks // of everyone in JSON
	Cursors   *cursor.Keeper
	Settle    func(context.Context, account.Due) (credits.Receipt, error) // see [account.Accounts.Settle]
	// ToldAsFailed is [account.Accounts.ToldAsFailed].
	ToldAsFailed func(context.Context, account.Due, error)
	// Untold is [account.Accounts.Untold].
	Untold func(context.Context, account.Due, error)
	// Explain says to callers why a platform's search failed.
	Explain func(platform.ID, error) schema.PlatformError
	Timeout time.Duration // of one search, however late its parts are
	// JobLife is how long a job is kept after its end, and KeyedLife one that was made under an idempotency key.
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
	ID             string        // of the request
	IdempotencyKey string        // what is charged once, however often it is asked; "" for none
	Left           time.Duration // how long the search may take; 0 means the service's time-out
}

// errClosed says that the service takes no more searches.
var errClosed = problem.New(problem.PlatformUnavailable, "the service is shutting down; nothing was charged")

// running returns the job of that id if this process works on it, or nil.
func (s *Service) running(id string) *job {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.live[id]
}

// enter and leave keep the list of what is worked on.
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

// Close refuses new searches and returns when those under way have ended, or with ctx.
func (s *Service) Close(ctx context.Context) error {
	s.untold.close()
	return s.work.Close(ctx)
}
