package server

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"net/http"
	"strconv"
	"sync"
	"time"
)

// staticLevel makes bodies nearly as small as the best level does, in a quarter of its time: anybody may ask for a page
// under an address that nobody has asked under before.
const staticLevel = 5

// static is a body that is the same for everybody, as it is and compressed.
type static struct {
	contentType, tag string
	plain            []byte
	zipped           func() []byte // nil for what is not worth it; the first who asks waits for it
}

func newStatic(contentType string, body []byte) *static {
	sum := sha256.Sum256(body)
	s := &static{contentType: contentType, tag: `W/"` + hex.EncodeToString(sum[:12]) + `"`, plain: body}
	if len(body) > gzipFrom {
		s.zipped = sync.OnceValue(func() []byte { return zip(body) })
	}
	return s
}

func zip(body []byte) []byte {
	var b bytes.Buffer
	w, _ := gzip.NewWriterLevel(&b, staticLevel) // fails for levels that there are not
	_, _ = w.Write(body)                         // a buffer takes everything
	_ = w.Close()
	return b.Bytes()
}

// serve answers r with the body, or that it has not changed.
func (s *static) serve(w *response, r *http.Request) {
	h := w.Header()
	h.Set("Cache-Control", "public, max-age=300")
	h.Set("ETag", s.tag)
	h.Add("Vary", "Accept-Encoding")
	if matches(r.Header.Values("If-None-Match"), s.tag) {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	h.Set("Content-Type", s.contentType)
	body := s.plain
	if s.zipped != nil && wantsGzip(r) {
		h.Set("Content-Encoding", "gzip")
		body = s.zipped()
	}
	h.Set("Content-Length", strconv.Itoa(len(body)))
	enter(r, writing)
	w.WriteHeader(http.StatusOK)
	_, _ = w.Write(body) // a caller who has gone needs no answer
}

// document serves what does not change while the program runs. It is made when somebody asks for it first.
func (s *Server) document(path string, make func() (*static, error)) {
	s.mux.Handle(path, s.reading(func(w *response, r *http.Request) {
		w.route, w.operation = path, path
		body, err := make()
		if err != nil {
			s.fail(w, r, err)
			return
		}
		body.serve(w, r)
	}))
}

var errDraining = errors.New("server: draining")

// readyPatience is how long the program has to say that it can serve.
const readyPatience = 2 * time.Second

// readiness returns nil when the program can serve.
func (s *Server) readiness(ctx context.Context) error {
	if s.draining.Load() {
		return errDraining
	}
	ctx, cancel := context.WithTimeout(ctx, readyPatience)
	defer cancel()
	return s.ready(ctx)
}

// probe answers a health probe of an orchestrator.
func (s *Server) probe(w *response, r *http.Request, err error) {
	w.route, w.operation = r.URL.Path, r.URL.Path
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
