package server

import (
	"context"
	"errors"
	"net/http"
	"sync/atomic"

	"github.com/socialdata/socialdata"
	"github.com/socialdata/socialdata/operation"
	"github.com/socialdata/socialdata/schema"
)

// Server answers HTTP requests from a client.
type Server struct {
	config
	client    *socialdata.Client
	remote    *socialdata.Client // the same, for calls of package remote
	front     operation.FrontEnd
	mux       *http.ServeMux   // routes outside of /v1
	below     operation.Routes // routes of /v1
	zips      zips
	inFlight  *inFlight
	stopping  context.Context // ends when the server starts to drain
	stop      context.CancelFunc
	logCounts logCounts
	foreign   unknownKeys // callers with unknown keys
	draining  atomic.Bool
	reported  statusPages
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
		config: cfg, client: socialdata.From(client, schema.FromAPI), remote: socialdata.From(client, schema.FromRemote),
		front: socialdata.FrontEnd(client), mux: http.NewServeMux(), below: operation.NewRoutes(socialdata.Operations()),
	}
	if s.auth == nil && !s.front.KnowsKeys() {
		return nil, errNoAuth
	}
	s.limits.fill()
	s.inFlight = newInFlight(s.limits)
	s.stopping, s.stop = context.WithCancel(context.Background())
	s.routes()
	return s, nil
}
