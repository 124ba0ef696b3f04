package server

import (
	"net/http"
	"strconv"
)

// unsetLength is the size up to which net/http, which keeps 2 KB until the handler has returned, sets Content-Length by
// itself. It would be the 15th header field of an answer from the cache, and the map of fields grows after 14: that
// took a tenth of the time of the handler (BenchmarkHandler).
const unsetLength = 1 << 10

// write writes a body, given in parts. It compresses it for callers that accept that.
func (s *Server) write(w *response, r *http.Request, status int, contentType string, parts ...[]byte) {
	w.set("Content-Type", contentType)
	w.vary("Accept-Encoding")
	if size(parts) > gzipFrom && wantsGzip(r) {
		zipped, err := s.zips.compress(parts...)
		if err == nil {
			w.set("Content-Encoding", "gzip")
			parts = [][]byte{zipped}
		}
	}
	if n := size(parts); n > unsetLength || r.Method == http.MethodHead {
		w.set("Content-Length", strconv.Itoa(n))
	}
	enter(r, writing)
	w.WriteHeader(status)
	for _, p := range parts {
		if _, err := w.Write(p); err != nil {
			return // fails if the caller is gone, who has paid already
		}
	}
}

func size(parts [][]byte) int {
	n := 0
	for _, p := range parts {
		n += len(p)
	}
	return n
}
