package server

import (
	"net/http"

	"github.com/socialdata/socialdata/problem"
)

func (s *Server) unknown(w *response, r *http.Request) {
	s.fail(w, r, problem.New(problem.NotFound, "there is no route %s%s; see /docs",
		clip(r.URL.Path, maxPath), s.below.Meant(r.URL.Path, s.front.PlatformTable())))
}

// reads reports whether the method of a request is one that reads, and answers the request if not.
func (s *Server) reads(w *response, r *http.Request) bool {
	if r.Method == http.MethodGet || r.Method == http.MethodHead {
		return true
	}
	w.Header().Set("Allow", "GET, HEAD")
	s.fail(w, r, &problem.Error{
		Code: problem.InvalidRequest, Status: http.StatusMethodNotAllowed, Detail: "only GET and HEAD are allowed here",
	})
	return false
}

// handler is a handler that is called with the server's own response.
type handler func(*response, *http.Request)

// ServeHTTP implements [http.Handler]. w comes from [Server.serve] for every request.
func (h handler) ServeHTTP(w http.ResponseWriter, r *http.Request) { h(w.(*response), r) }

// reading makes h answer requests with a method that reads, and refuses others.
func (s *Server) reading(h handler) http.Handler {
	return handler(func(w *response, r *http.Request) {
		if s.reads(w, r) {
			h(w, r)
		}
	})
}
