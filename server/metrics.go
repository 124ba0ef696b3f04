package server

import (
	"net/http"
)

func (s *Server) showMetrics(w *response, r *http.Request) {
	w.route, w.operation = r.URL.Path, r.URL.Path
	if err := s.mayMeasure(r); err != nil {
		s.fail(w, r, err)
		return
	}
	w.set("Cache-Control", "no-store")
	s.metrics.ServeHTTP(w, r)
}
