package server

import (
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
	shares   *shares
	quiet    quiet
	draining atomic.Bool
}

// New returns a server for client. It fails when the client has no key store and [WithAuth] is not among the options.
func New(client *socialdata.Client, opts ...Option) (*Server, error) {
	s := &Server{
		config: newConfig(), client: client, mux: http.NewServeMux(),
		own: map[string]*operation.Operation{}, ops: map[string]*operation.Operation{},
	}
	for _, o := range opts {
		o(&s.config)
	}
	if s.auth == nil && !client.KnowsKeys() {
		return nil, errNoAuth
	}
	s.limits.fill()
	s.calls = semaphore.NewWeighted(s.limits.InFlight)
	s.lent = semaphore.NewWeighted(s.limits.Mounted)
	s.shares = &shares{most: s.limits.PerAccount, by: map[string]int64{}}
	s.routes()
	return s, nil
}
