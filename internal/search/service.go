// Package search asks several platforms at once and merges what they find. It is made of many reads: a [Service] plans
// one for each platform, holds the whole price, and answers when all have come to an end or when the caller has waited
// long enough. What is late then is a job, which the caller collects.
package search

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/socialdata/socialdata/internal/account"
	"github.com/socialdata/socialdata/internal/cursor"
	"github.com/socialdata/socialdata/internal/read"
	"github.com/socialdata/socialdata/operation"
	"github.com/socialdata/socialdata/store/records"
)

// Service makes fan-out searches. It is safe for concurrent use.
type Service struct {
	cfg Config

	mu      sync.Mutex
	live    map[string]*job // the searches that this process is working on
	wg      sync.WaitGroup
	telling sync.Mutex
}

// Config is what a [Service] is made of. All of it must be there.
type Config struct {
	Reader  *read.Reader
	Row     *read.Row            // how one platform is searched
	All     *operation.Operation // what the caller asked for
	Records records.Store
	Sealer  *cursor.Sealer
	Timeout time.Duration // of one search, however late its parts are
	Now     func() time.Time
	Log     *slog.Logger
}

// New returns a Service.
func New(cfg Config) *Service { return &Service{cfg: cfg, live: map[string]*job{}} }

// running returns the job of that id if this process works on it, or nil.
func (s *Service) running(id string) *job {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.live[id]
}

// Close returns when all work has ended, or with ctx.
func (s *Service) Close(ctx context.Context) error {
	done := make(chan struct{})
	go func() {
		s.wg.Wait()
		close(done)
	}()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-done:
		return nil
	}
}

// All makes a fan-out search and answers when all platforms have come to an end, or when the caller has waited long
// enough and something is there: the rest is then a job. An idempotencyKey that is not "" is charged once.
func (s *Service) All(
	ctx context.Context, who account.Caller, plan *Plan, requestID, idempotencyKey string,
) (*operation.Answer, error) {
	j, err := s.start(ctx, who, plan, requestID, idempotencyKey)
	if err != nil {
		return nil, err
	}
	j.waitFirst(ctx, plan.wait)
	return s.firstAnswer(ctx, who, j, requestID)
}
