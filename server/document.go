package server

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"net/http"
)

// document serves what does not change while the program runs.
func (s *Server) document(path, contentType string, body []byte) {
	sum := sha256.Sum256(body)
	tag := `W/"` + hex.EncodeToString(sum[:12]) + `"`
	s.mux.Handle(path, s.reading(func(w *response, r *http.Request) {
		w.operation = path
		w.Header().Set("Cache-Control", "public, max-age=300")
		w.Header().Set("ETag", tag)
		if matches(r.Header.Values("If-None-Match"), tag) {
			w.Header().Set("Vary", "Accept-Encoding")
			w.WriteHeader(http.StatusNotModified)
			return
		}
		s.write(w, r, http.StatusOK, contentType, body)
	}))
}

var errDraining = errors.New("server: draining")

// readiness returns nil when the program can serve.
func (s *Server) readiness(ctx context.Context) error {
	if s.draining.Load() {
		return errDraining
	}
	return s.ready(ctx)
}

// probe answers a health probe of an orchestrator.
func (s *Server) probe(w *response, r *http.Request, err error) {
	w.operation = r.URL.Path
	w.Header().Set("Cache-Control", "no-store")
	const text = "text/plain; charset=utf-8"
	switch {
	case errors.Is(err, errDraining):
		s.write(w, r, http.StatusServiceUnavailable, text, []byte("draining\n"))
	case err != nil:
		s.log.ErrorContext(r.Context(), "not ready", "request_id", requestID(r), "error", err)
		s.write(w, r, http.StatusServiceUnavailable, text, []byte("not ready\n"))
	default:
		w.probe = true
		s.write(w, r, http.StatusOK, text, []byte("ok\n"))
	}
}
