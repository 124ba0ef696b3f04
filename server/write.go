package server

import (
	"net/http"
	"strconv"
)

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
	w.set("Content-Length", strconv.Itoa(size(parts)))
	beginPhase(r, writing)
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
