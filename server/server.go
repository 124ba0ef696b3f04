package server

import (
	"context"
	"errors"
	"net/http"
	"sync/atomic"

	"github.com/socialdata/socialdata"
	"github.com/socialdata/socialdata/operation"
)

// Server answers HTTP requests from a client.
type Server struct {
	config
	client   *socialdata.Client
	mux      *http.ServeMux   // routes outside of /v1
	below    operation.Routes // routes of /v1
	zips     zips
	places   *places
	stopping context.Context // ends when the server starts to drain
	stop     context.CancelFunc
	quiet    quiet
	foreign  strangers // callers with unknown keys
	draining atomic.Bool
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
	s.places = newPlaces(s.limits)
	if s.mayErase != nil {
		s.mounted[erasuresPath] = http.HandlerFunc(s.erasures)
	}
	s.stopping, s.stop = context.WithCancel(context.Background())
	s.routes()
	return s, nil
}
