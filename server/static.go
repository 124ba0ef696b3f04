package server

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"strconv"
	"sync"
)

// staticLevel makes bodies nearly as small as the best level, in a quarter of the time: any caller can request a page
// under an address that has not been used before.
const staticLevel = 5

// static is a body that is the same for all callers, uncompressed and compressed.
type static struct {
	contentType, tag string
	plain            []byte
	zipped           func() []byte // nil if compression saves nothing; the first caller waits for it
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
	w, _ := gzip.NewWriterLevel(&b, staticLevel) // fails only for invalid levels
	_, _ = w.Write(body)                         // a buffer never fails
	_ = w.Close()
	return b.Bytes()
}

// serve answers r with the body, or with 304. Unless w says otherwise, others may store it for five minutes.
func (s *static) serve(w *response, r *http.Request) {
	h := w.Header()
	if h.Get("Cache-Control") == "" {
		h.Set("Cache-Control", "public, max-age=300")
	}
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
	beginPhase(r, writing)
	w.WriteHeader(http.StatusOK)
	_, _ = w.Write(body) // fails if the caller is gone
}

// document serves what does not change while the program runs. It is made on the first request.
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
