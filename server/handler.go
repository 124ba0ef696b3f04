package server

import (
	"net/http"
	"runtime/debug"
	"strings"
	"time"

	"github.com/socialdata/socialdata/callctx"
	"github.com/socialdata/socialdata/observe"
	"github.com/socialdata/socialdata/operation"
	"github.com/socialdata/socialdata/problem"
)

// Handler returns the handler of every route.
func (s *Server) Handler() http.Handler { return s.wrap(http.HandlerFunc(s.serve)) }

// serve gives a request its id, refuses requests that no route accepts, answers a panic like any other internal error,
// and writes the log line of the request.
func (s *Server) serve(rw http.ResponseWriter, r *http.Request) {
	id := callctx.NewID()
	r = r.WithContext(callctx.Begin(r.Context(), id))
	w := &response{ResponseWriter: rw, began: callctx.Of(r.Context()).Begun}
	w.values = w.buffer[:0]
	r.RemoteAddr = s.proxies.caller(r)
	w.set("X-Request-Id", id)
	w.set("X-Content-Type-Options", "nosniff")
	defer s.finish(w, r)
	defer s.rescue(w, r)
	if at, h := s.mountedAt(r.URL.Path); h != nil {
		w.route = at
		s.serveMount(w, r, h)
		return
	}
	if s.manages(r.URL.Path) && !s.mountsOnly && !operation.Odd(r.URL.EscapedPath()) {
		s.manage(w, r)
		return
	}
	dropBody(w, r)
	switch {
	case r.Method == http.MethodConnect: // it has no path
		s.reads(w, r)
	case s.mountsOnly || !strings.HasPrefix(r.URL.Path, "/") || operation.Odd(r.URL.EscapedPath()):
		s.unknown(w, r)
	default:
		if path, ok := strings.CutPrefix(r.URL.Path, "/v1/"); ok {
			s.api(w, r, path)
			return
		}
		s.mux.ServeHTTP(w, r)
	}
}

// mountedAt returns the handler that is mounted at path, or at the nearest path above it.
func (s *Server) mountedAt(path string) (nearest string, h http.Handler) {
	if strings.HasPrefix(path, "/v1/") { // see WithMount
		return "", nil
	}
	if h = s.mounted[path]; h != nil {
		return path, h
	}
	for at, below := range s.mounted {
		if strings.HasSuffix(at, "/") && strings.HasPrefix(path, at) && len(at) > len(nearest) {
			nearest, h = at, below
		}
	}
	return nearest, h
}

// bodyGrace is how long a connection stays open after an answer to receive an unread body. If it were closed at once,
// the client might not receive the answer.
const bodyGrace = 500 * time.Millisecond

// dropBody leaves the body of a request unread: no route reads one, and a caller may announce a body and never send it.
// The connection ends with the answer, so that no proxy can take a part of the body for another request.
func dropBody(w http.ResponseWriter, r *http.Request) {
	if r.ContentLength != 0 && r.ProtoMajor == 1 {
		w.Header().Set("Connection", "close") // without it, net/http reads the body before it answers
	}
}

// endBody limits how long net/http waits for an unread body after the answer.
func endBody(w http.ResponseWriter, r *http.Request) {
	if r.ContentLength != 0 {
		_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(bodyGrace)) // else that of the web server applies
	}
}

// rescue answers a panic. An answer that has begun cannot be replaced: the connection is closed.
func (s *Server) rescue(w *response, r *http.Request) {
	v := recover()
	if v == nil {
		return
	}
	if v == http.ErrAbortHandler { //nolint:errorlint // net/http compares it so
		panic(v)
	}
	s.log.ErrorContext(r.Context(), "handler panicked", "request_id", requestID(r), "panic", observe.Recovered(v), "stack",
		string(debug.Stack()))
	if w.status != 0 {
		panic(http.ErrAbortHandler)
	}
	s.fail(w, r, problem.New(problem.InternalError, "something went wrong on our side"))
}

// finish ends a request.
func (s *Server) finish(w *response, r *http.Request) {
	endBody(w, r)
	now := time.Now()
	took := now.Sub(w.began)
	s.record(w, r, now, took)
	s.observe(r.Context(), w.observed(r, took))
}
