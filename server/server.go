package server

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"runtime/debug"
	"strings"

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
	mux      *http.ServeMux
	openAPI  []byte
	docs     []byte
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

// WithLogger logs to l what callers must not see. The default logs nothing.
func WithLogger(l *slog.Logger) Option { return func(s *Server) { s.log = l } }

// WithSections adds tables to the documentation page.
func WithSections(sections ...Section) Option {
	return func(s *Server) { s.sections = append(s.sections, sections...) }
}

// WithReady asks ready whether the program can serve, for /readyz. The default always can.
func WithReady(ready func(context.Context) error) Option {
	return func(s *Server) { s.ready = ready }
}

// New returns a server for client. It fails when the client has no key store and no [WithAuth] stands in for one.
func New(client *socialdata.Client, opts ...Option) (*Server, error) {
	s := &Server{
		client: client, log: slog.New(slog.DiscardHandler), mux: http.NewServeMux(),
		ready: func(context.Context) error { return nil },
	}
	for _, o := range opts {
		o(s)
	}
	if s.auth == nil && !client.KnowsKeys() {
		return nil, errNobodyKnown
	}
	var err error
	if s.openAPI, err = describe(); err != nil {
		return nil, fmt.Errorf("server: API description: %w", err)
	}
	if s.docs, err = page(s.sections); err != nil {
		return nil, fmt.Errorf("server: documentation: %w", err)
	}
	s.routes()
	return s, nil
}

// Handler returns the handler of every route.
func (s *Server) Handler() http.Handler { return http.HandlerFunc(s.serve) }

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
	s.document("/openapi.json", "application/json", s.openAPI)
	s.document("/docs", "text/html; charset=utf-8", s.docs)
	s.document("/llms.txt", "text/plain; charset=utf-8", []byte(llms))
	s.document("/.well-known/api-catalog", "application/linkset+json", []byte(catalog))
	s.mux.Handle("/livez", s.reading(func(w http.ResponseWriter, r *http.Request) { s.probe(w, r, nil) }))
	s.mux.Handle("/readyz", s.reading(func(w http.ResponseWriter, r *http.Request) { s.probe(w, r, s.ready(r.Context())) }))
	s.mux.HandleFunc("/", s.unknown)
}

func (s *Server) unknown(w http.ResponseWriter, r *http.Request) {
	s.fail(w, r, problem.New(problem.NotFound, "there is no route %s; see /docs", r.URL.Path))
}

// reads tells whether a request reads, and refuses it when it does not.
func (s *Server) reads(w http.ResponseWriter, r *http.Request) bool {
	if r.Method == http.MethodGet || r.Method == http.MethodHead {
		return true
	}
	w.Header().Set("Allow", "GET, HEAD")
	s.fail(w, r, &problem.Error{Code: problem.InvalidRequest, Status: http.StatusMethodNotAllowed, Detail: "only GET and HEAD are allowed here"})
	return false
}

// reading lets only requests through that read.
func (s *Server) reading(h http.HandlerFunc) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if s.reads(w, r) {
			h(w, r)
		}
	})
}

func requestID(r *http.Request) string { return operation.RequestID(r.Context()) }

// serve gives the request its id, refuses what no route may see, and answers a panic like any other fault of ours.
func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	id := operation.NewRequestID()
	w.Header().Set("X-Request-Id", id)
	w.Header().Set("X-Content-Type-Options", "nosniff")
	r = r.WithContext(operation.WithRequestID(r.Context(), id))
	defer func() {
		if v := recover(); v != nil {
			if v == http.ErrAbortHandler { //nolint:errorlint // net/http compares it so
				panic(v)
			}
			s.log.ErrorContext(r.Context(), "handler panicked", "request_id", id, "panic", v, "stack", string(debug.Stack()))
			s.fail(w, r, problem.New(problem.InternalError, "something went wrong on our side"))
		}
	}()
	if odd(r.URL.EscapedPath()) {
		s.unknown(w, r)
		return
	}
	s.mux.ServeHTTP(w, r)
}

// odd tells whether a path has segments that the mux would tidy away, or slashes in disguise.
func odd(escaped string) bool {
	low := strings.ToLower(escaped)
	for _, bad := range []string{"//", "/./", "/../", "%2f", "%5c", "%2e%2e", "%00"} {
		if strings.Contains(low, bad) {
			return true
		}
	}
	return strings.HasSuffix(low, "/.") || strings.HasSuffix(low, "/..")
}

// document serves what does not change while the program runs.
func (s *Server) document(path, contentType string, body []byte) {
	s.mux.Handle(path, s.reading(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", contentType)
		w.Header().Set("Cache-Control", "public, max-age=300")
		_, _ = w.Write(body)
	}))
}

// probe answers a health probe of an orchestrator.
func (s *Server) probe(w http.ResponseWriter, r *http.Request, err error) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	if err != nil {
		s.log.ErrorContext(r.Context(), "not ready", "error", err)
		w.WriteHeader(http.StatusServiceUnavailable)
		_, _ = w.Write([]byte("not ready\n"))
		return
	}
	_, _ = w.Write([]byte("ok\n"))
}
