package server

import (
	"net/http"
	"strings"

	"github.com/socialdata/socialdata"
)

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
	s.documents()
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
