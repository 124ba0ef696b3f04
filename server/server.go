package server

import (
	"context"
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
	client    *socialdata.Client
	mux       *http.ServeMux   // routes outside of /v1
	below     operation.Routes // routes of /v1
	zips      zips
	calls     *semaphore.Weighted // calls at work
	lent      *semaphore.Weighted // requests at work in mounted handlers
	sandbox   *semaphore.Weighted // calls at work that a sandbox answers
	shares    *shares
	streams   *semaphore.Weighted // streams of changes
	listeners *shares             // the streams of each key
	stopping  context.Context     // ends when the server starts to drain
	stop      context.CancelFunc
	quiet     quiet
	foreign   strangers // callers with unknown keys
	draining  atomic.Bool
}

// New returns a server for client. It fails when the client has no key store and there is no [WithAuth], and when an
// option is invalid: its value is nil or out of range, or a path is mounted twice. The error names the option.
func New(client *socialdata.Client, opts ...Option) (*Server, error) {
	if client == nil {
		return nil, errors.New("server: the client is nil: pass what socialdata.New returns")
	}
	cfg, err := configure(opts)
	if err != nil {
		return nil, err
	}
	s := &Server{
		config: cfg, client: client, mux: http.NewServeMux(), below: operation.NewRoutes(socialdata.Operations()),
	}
	if s.auth == nil && !client.KnowsKeys() {
		return nil, errNoAuth
	}
	s.limits.fill()
	s.calls = semaphore.NewWeighted(s.limits.InFlight)
	s.sandbox = semaphore.NewWeighted(s.limits.Sandbox)
	s.lent = semaphore.NewWeighted(s.limits.Mounted)
	if s.mayErase != nil {
		s.mounted[erasuresPath] = http.HandlerFunc(s.erasures)
	}
	s.shares = newShares(s.limits.PerAccount,
		"the account has %d calls at work, which is as many as it may; wait until one has ended")
	s.streams = semaphore.NewWeighted(s.limits.Streams)
	s.listeners = newShares(s.limits.PerKey, "the key has %d streams open, which is as many as it may; close one first")
	s.stopping, s.stop = context.WithCancel(context.Background())
	s.routes()
	return s, nil
}
