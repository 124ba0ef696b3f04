package server

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"sync/atomic"

	"golang.org/x/sync/semaphore"

	"github.com/socialdata/socialdata"
	"github.com/socialdata/socialdata/operation"
	"github.com/socialdata/socialdata/problem"
)

// Server answers HTTP requests from a client.
type Server struct {
	client   *socialdata.Client
	log      *slog.Logger
	sections []Section
	auth     Auth // nil asks the client's key store
	ready    func(context.Context) error
	mounted  map[string]http.Handler
	limits   Limits
	mux      *http.ServeMux
	zips     zips
	calls    *semaphore.Weighted // those at work
	turned   turned
	draining atomic.Bool
}

// Option configures a [Server].
type Option func(*Server)

// Section is a table that the documentation page shows after its own.
type Section struct {
	Title string
	Intro string
	Head  []string
	Rows  [][]string
}

// WithLogger logs to l: one line for each request, and what callers must not see. No line holds a key, a path or a
// query. The default logs nothing.
func WithLogger(l *slog.Logger) Option { return func(s *Server) { s.log = l } }

// WithSections adds tables to the documentation page.
func WithSections(sections ...Section) Option {
	return func(s *Server) { s.sections = append(s.sections, sections...) }
}

// WithReady asks ready whether the program can serve, for /readyz. The default always can. A server that drains is not
// ready, whatever ready says.
func WithReady(ready func(context.Context) error) Option {
	return func(s *Server) { s.ready = ready }
}

// WithMount serves h at exactly that path, beside the API and within its limits. H knows its callers itself, and reads
// the bodies of their requests, which the API never does.
func WithMount(path string, h http.Handler) Option {
	return func(s *Server) { s.mounted[path] = h }
}

// WithLimits bounds what callers can make the process hold. The default is the zero [Limits].
func WithLimits(l Limits) Option { return func(s *Server) { s.limits = l } }

// New returns a server for client. It fails when the client has no key store and no [WithAuth] stands in for one.
func New(client *socialdata.Client, opts ...Option) (*Server, error) {
	s := &Server{
		client: client, log: slog.New(slog.DiscardHandler), mux: http.NewServeMux(),
		ready: func(context.Context) error { return nil }, mounted: map[string]http.Handler{},
	}
	for _, o := range opts {
		o(s)
	}
	if s.auth == nil && !client.KnowsKeys() {
		return nil, errNobodyKnown
	}
	s.limits.fill()
	s.calls = semaphore.NewWeighted(s.limits.InFlight)
	openAPI, err := describe()
	if err != nil {
		return nil, fmt.Errorf("server: API description: %w", err)
	}
	docs, err := page(s.sections)
	if err != nil {
		return nil, fmt.Errorf("server: documentation: %w", err)
	}
	s.routes()
	s.document("/openapi.json", "application/json", openAPI)
	s.document("/docs", "text/html; charset=utf-8", docs)
	s.document("/llms.txt", "text/plain; charset=utf-8", []byte(llms))
	s.document("/.well-known/api-catalog", "application/linkset+json", []byte(catalog))
	return s, nil
}

// Handler returns the handler of every route.
func (s *Server) Handler() http.Handler { return http.HandlerFunc(s.serve) }

// handler is a handler that knows the response it makes.
type handler func(*response, *http.Request)

// ServeHTTP implements [http.Handler]. Every request comes through [Server.serve], which made w.
func (h handler) ServeHTTP(w http.ResponseWriter, r *http.Request) { h(w.(*response), r) }

func (s *Server) routes() {
	reads := map[string]*operation.Operation{}
	for _, o := range socialdata.Operations() {
		if op, ok := strings.CutPrefix(o.Path, "/v1/{platform}/"); ok {
			reads[op] = o
			continue
		}
		s.mux.Handle(o.Path, s.operate(func(*http.Request) *operation.Operation { return o }))
	}
	// One pattern for all reads: the mux panics when /v1/{platform}/a meets /v1/raw/{provider}/{path...}.
	s.mux.Handle("/v1/{platform}/{operation...}", s.operate(func(r *http.Request) *operation.Operation {
		return reads[r.PathValue("operation")]
	}))
	// Without these the mux would send callers on to the same path with a slash.
	nothing := s.operate(func(*http.Request) *operation.Operation { return nil })
	s.mux.Handle("/v1/{word}", nothing)
	s.mux.Handle("/v1/raw/{provider}", nothing)
	s.mux.Handle("/livez", s.reading(func(w *response, r *http.Request) { s.probe(w, r, nil) }))
	s.mux.Handle("/readyz", s.reading(func(w *response, r *http.Request) { s.probe(w, r, s.readiness(r.Context())) }))
	s.mux.Handle("/", handler(s.unknown))
}

// maxPath is how much of a path is told again: it may be as long as a request may be.
const maxPath = 200

func (s *Server) unknown(w *response, r *http.Request) {
	s.fail(w, r, problem.New(problem.NotFound, "there is no route %s; see /docs", clip(r.URL.Path, maxPath)))
}

// reads tells whether a request reads, and refuses it when it does not.
func (s *Server) reads(w *response, r *http.Request) bool {
	if r.Method == http.MethodGet || r.Method == http.MethodHead {
		return true
	}
	w.Header().Set("Allow", "GET, HEAD")
	s.fail(w, r, &problem.Error{Code: problem.InvalidRequest, Status: http.StatusMethodNotAllowed, Detail: "only GET and HEAD are allowed here"})
	return false
}

// reading lets only requests through that read.
func (s *Server) reading(h handler) http.Handler {
	return handler(func(w *response, r *http.Request) {
		if s.reads(w, r) {
			h(w, r)
		}
	})
}
