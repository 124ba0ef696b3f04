package server

import (
	"errors"
	"net/http"
	"sync/atomic"

	"golang.org/x/sync/semaphore"

	"github.com/socialdata/socialdata"
	"github.com/socialdata/socialdata/operation"
)

// Server answers HTTP requests from a client.
type Server struct {
	config
	client   *socialdata.Client
	mux      *http.ServeMux                  // of everything outside /v1
	own      map[string]*operation.Operation // the service's operations, by the rest of the path after /v1/
	ops      map[string]*operation.Operation // the reads, by the rest of the path after /v1/{platform}/
	zips     zips
	calls    *semaphore.Weighted // those at work
	lent     *semaphore.Weighted // requests that mounted handlers work on
	sandbox  *semaphore.Weighted // those of them that a sandbox answers
	shares   *shares
	quiet    quiet
	draining atomic.Bool
}

// New returns a server for client. It fails when the client has no key store and [WithAuth] is not among the options, and
// when an option cannot be used, which it names: a value that is nil or out of its bounds, a path that is mounted twice.
func New(client *socialdata.Client, opts ...Option) (*Server, error) {
	if client == nil {
		return nil, errors.New("server: the client is nil: pass what socialdata.New returns")
	}
	cfg, err := configure(opts)
	if err != nil {
		return nil, err
	}
	s := &Server{
		config: cfg, client: client, mux: http.NewServeMux(),
		own: map[string]*operation.Operation{}, ops: map[string]*operation.Operation{},
	}
	if s.auth == nil && !client.KnowsKeys() {
		return nil, errNoAuth
	}
	s.limits.fill()
	s.calls = semaphore.NewWeighted(s.limits.InFlight)
	s.sandbox = semaphore.NewWeighted(s.limits.Sandbox)
	s.lent = semaphore.NewWeighted(s.limits.Mounted)
	s.shares = &shares{most: s.limits.PerAccount, by: map[string]int64{}}
	s.routes()
	return s, nil
}
