package server

import (
	"net/http"
	"strings"

	"github.com/socialdata/socialdata"
	"github.com/socialdata/socialdata/operation"
)

func (s *Server) routes() {
	for _, o := range socialdata.Operations() {
		if !strings.HasPrefix(o.Path, "/v1/") {
			s.mux.Handle(o.Path, handler(func(w *response, r *http.Request) { s.operate(w, r, o) }))
		}
	}
	s.mux.Handle("/livez", s.reading(func(w *response, r *http.Request) { s.probe(w, r, nil) }))
	s.mux.Handle("/readyz", s.reading(func(w *response, r *http.Request) { s.probe(w, r, s.readiness(r.Context())) }))
	if s.metrics != nil {
		s.mux.Handle("/metrics", s.reading(s.showMetrics))
	}
	if s.status {
		for _, path := range []string{statusPath, statusPath + ".json", statusPath + ".atom"} {
			s.mux.Handle(path, s.reading(func(w *response, r *http.Request) { s.showStatus(w, r, path) }))
		}
	}
	if len(s.changes) > 0 {
		s.mux.Handle(operation.FeedPath, s.reading(s.feed))
	}
	s.mux.Handle("/", handler(s.unknown))
	s.documents()
}

// api answers a path below /v1.
func (s *Server) api(w *response, r *http.Request, path string) {
	if path == "" {
		s.unknown(w, r)
		return
	}
	var o *operation.Operation
	o, w.target, w.path = s.below.Find(path)
	s.operate(w, r, o)
}
