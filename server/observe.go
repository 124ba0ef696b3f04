package server

import (
	"cmp"
	"context"
	"net/http"
	"time"

	"github.com/socialdata/socialdata/problem"
)

// Request is one request that has been answered. Nothing in it is a caller's word, so that it can be counted by.
type Request struct {
	Method    string       // of RFC 9110, or PATCH; any other is _OTHER
	Route     string       // such as /v1/{platform}/profile or /docs; "" for a path that there is not
	Operation string       // such as profile; "" for what is none
	Platform  string       // "" when there is none
	Status    int          // of the answer
	Code      problem.Code // of a problem; else ""
	Duration  time.Duration
}

// WithObserver tells observe of each request, at its end and with its context.
func WithObserver(observe func(context.Context, Request)) Option {
	return func(s *Server) { s.observe = observe }
}

// WithMiddleware puts wrap around the handler of every route, in [Server.Handler] and [Server.Serve].
func WithMiddleware(wrap func(http.Handler) http.Handler) Option {
	return func(s *Server) { s.wrap = wrap }
}

// told returns what an observer may know of a request.
func (w *response) told(r *http.Request) Request {
	out := Request{
		Method: "_OTHER", Route: w.route, Operation: w.operation, Platform: w.platform,
		Status: cmp.Or(w.status, http.StatusOK), Code: w.code, Duration: time.Since(w.began),
	}
	switch r.Method {
	case http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete,
		http.MethodConnect, http.MethodOptions, http.MethodTrace:
		out.Method = r.Method
	}
	return out
}
