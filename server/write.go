package server

import (
	"net/http"
	"strconv"
)

// write writes a body that is in parts, compressed for whoever can read that.
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
	enter(r, writing)
	w.WriteHeader(status)
	for _, p := range parts {
		if _, err := w.Write(p); err != nil {
			return // a caller who has gone has paid: the books were closed before
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
