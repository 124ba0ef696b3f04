package server

import "net/http"

// WithMetrics serves page at /metrics to the requests that may lets through; an error of it is answered as one of [Auth] is.
// Like health it is answered however many calls are at work: that is when somebody looks. The default serves none.
func WithMetrics(page http.Handler, may func(*http.Request) error) Option {
	return func(s *Server) { s.metrics = &metrics{page, may} }
}

// metrics is the page that says what was measured, and who sees it.
type metrics struct {
	page http.Handler
	may  func(*http.Request) error
}

func (s *Server) showMetrics(w *response, r *http.Request) {
	w.route, w.operation = r.URL.Path, r.URL.Path
	if err := s.metrics.may(r); err != nil {
		s.fail(w, r, err)
		return
	}
	w.set("Cache-Control", "no-store")
	s.metrics.page.ServeHTTP(w, r)
}
