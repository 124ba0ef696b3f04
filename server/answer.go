package server

import (
	"net/http"

	"github.com/socialdata/socialdata/operation"
	"github.com/socialdata/socialdata/schema"
)

// answer writes a successful answer: the envelope, and headers that repeat meta for clients that do not read bodies.
func (s *Server) answer(w *response, r *http.Request, o *operation.Operation, a *operation.Answer) {
	if o.Bare {
		setCacheFields(w, schema.Miss, 0)
		w.set("Cache-Control", "no-store")
		s.write(w, r, http.StatusOK, "application/json", a.Data)
		return
	}
	metaHeaders(w, a)
	next := ""
	if a.Meta.NextCursor != "" {
		next = nextURL(r.URL, a.Meta.NextCursor)
	}
	linkHeader(w, next, a.Made)
	if a.Made != nil {
		w.operation, w.platform = a.Made.Operation.Name, string(a.Made.Platform)
		w.set("Content-Location", a.Made.Path)
	}
	if a.Tag != "" {
		tag := `W/"` + a.Tag + `"`
		w.set("Etag", tag)
		if matches(r.Header["If-None-Match"], tag) {
			w.vary("Accept-Encoding")
			w.WriteHeader(http.StatusNotModified)
			return
		}
	}
	meta, err := schema.Marshal(a.Meta)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	// The data is already encoded: it is written exactly as it is in the cache.
	s.write(w, r, http.StatusOK, "application/json", []byte(`{"data":`), a.Data, []byte(`,"meta":`), meta, []byte("}"))
}
