package server

import (
	"context"
	"log/slog"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"

	"golang.org/x/sync/semaphore"

	"github.com/socialdata/socialdata"
	"github.com/socialdata/socialdata/operation"
	"github.com/socialdata/socialdata/platform"
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
	metrics  *metrics // nil serves none
	observe  func(context.Context, Request)
	wrap     func(http.Handler) http.Handler
	limits   Limits
	mux      *http.ServeMux                  // of what is not below /v1
	own      map[string]*operation.Operation // the service's operations by what stands behind /v1/
	ops      map[string]*operation.Operation // the reads by what stands behind /v1/{platform}/
	zips     zips
	calls    *semaphore.Weighted // those at work
	shares   *shares
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
// ready, whatever ready says. Ready has two seconds.
func WithReady(ready func(context.Context) error) Option {
	return func(s *Server) { s.ready = ready }
}

// WithMount serves h at exactly that path, or below one that ends in a slash, beside the API and within its limits. H knows
// its callers itself, and reads the bodies of their requests, which the API never does.
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
		observe: func(context.Context, Request) {}, wrap: func(h http.Handler) http.Handler { return h },
		own: map[string]*operation.Operation{}, ops: map[string]*operation.Operation{},
	}
	for _, o := range opts {
		o(s)
	}
	if s.auth == nil && !client.KnowsKeys() {
		return nil, errNobodyKnown
	}
	s.limits.fill()
	s.calls = semaphore.NewWeighted(s.limits.InFlight)
	s.shares = &shares{most: s.limits.PerAccount, by: map[string]int64{}}
	s.routes()
	s.documents()
	return s, nil
}

// Handler returns the handler of every route.
func (s *Server) Handler() http.Handler { return s.wrap(http.HandlerFunc(s.serve)) }

// handler is a handler that knows the response it makes.
type handler func(*response, *http.Request)

// ServeHTTP implements [http.Handler]. Every request comes through [Server.serve], which made w.
func (h handler) ServeHTTP(w http.ResponseWriter, r *http.Request) { h(w.(*response), r) }

func (s *Server) routes() {
	for _, o := range socialdata.Operations() {
		if op, ok := strings.CutPrefix(o.Path, "/v1/{platform}/"); ok {
			s.ops[op] = o
		} else if own, ok := strings.CutPrefix(o.Path, "/v1/"); ok {
			s.own[own] = o
		} else {
			s.mux.Handle(o.Path, handler(func(w *response, r *http.Request) { s.operate(w, r, o) }))
		}
	}
	s.mux.Handle("/livez", s.reading(func(w *response, r *http.Request) { s.probe(w, r, nil) }))
	s.mux.Handle("/readyz", s.reading(func(w *response, r *http.Request) { s.probe(w, r, s.readiness(r.Context())) }))
	if s.metrics != nil {
		s.mux.Handle("/metrics", s.reading(s.showMetrics))
	}
	s.mux.Handle("/", handler(s.unknown))
}

// api answers a path below /v1. [http.ServeMux] is not asked: its patterns would meet (/v1/{platform}/a and
// /v1/raw/{provider}/{path...}), and to match them makes seven allocations.
func (s *Server) api(w *response, r *http.Request, path string) {
	word, rest, deeper := strings.Cut(path, "/")
	switch {
	case path == "":
		s.unknown(w, r)
	case !deeper:
		s.operate(w, r, s.own[word])
	case word == "raw" && strings.Contains(rest, "/"):
		w.target, w.path, _ = strings.Cut(rest, "/")
		s.operate(w, r, s.own["raw/{provider}/{path...}"])
	case word == "raw":
		s.operate(w, r, nil)
	default:
		w.target = word
		s.operate(w, r, s.ops[rest])
	}
}

// maxPath is how much of a path is told again: it may be as long as a request may be.
const maxPath = 200

func (s *Server) unknown(w *response, r *http.Request) {
	s.fail(w, r, problem.New(problem.NotFound, "there is no route %s%s; see /docs",
		clip(r.URL.Path, maxPath), s.meant(r.URL.Path)))
}

// meant names the route that was probably meant by one that does not exist, of the same platform or of none.
func (s *Server) meant(path string) string {
	op, below := strings.CutPrefix(path, "/v1/")
	base, ops := "/v1/", s.own
	if word, rest, deeper := strings.Cut(op, "/"); deeper && platform.ID(word).Valid() {
		base, ops, op = base+word+"/", s.ops, rest
	}
	name := problem.Nearest(op, slices.Sorted(maps.Keys(ops)))
	if !below || name == "" {
		return ""
	}
	return " (did you mean " + base + name + "?)"
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
