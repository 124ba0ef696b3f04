package server

import (
	"errors"
	"net/http"
	"strconv"
	"time"

	"github.com/socialdata/socialdata/observe"
	"github.com/socialdata/socialdata/problem"
	"github.com/socialdata/socialdata/schema"
)

// errBusy refuses a call before any work for it. It says nothing about a platform (D71).
var errBusy = problem.New(problem.PlatformUnavailable, "the service is at its limit").After(time.Second)

// fail writes an error as a problem document.
// https://www.rfc-editor.org/rfc/rfc9457
func (s *Server) fail(w *response, r *http.Request, err error) {
	p := s.problemOf(r, err)
	w.code = p.Code
	h := w.Header()
	for _, name := range []string{"ETag", "Link", "Content-Length", "Age", "Cache-Status", "Vary"} {
		h.Del(name)
	}
	h.Set("Cache-Control", "no-store")
	switch {
	case p.Remembered:
		setCacheFields(w, schema.Hit, int64(p.Age.Seconds()))
	case hasCacheFields(r.URL.Path):
		setCacheFields(w, schema.Miss, 0)
	}
	if w.admitted && h["X-Credits-Used"] == nil { // else it failed after it was charged
		w.set("X-Credits-Used", "0")
	}
	if p.Code == problem.Unauthorized {
		h.Set("WWW-Authenticate", "Bearer")
	}
	if p.RetryAfter > 0 || p.Code == problem.RateLimited {
		h.Set("Retry-After", strconv.FormatInt(p.RetryAfterSeconds(), 10))
	}
	body, err := schema.Marshal(p)
	if err != nil {
		body = []byte(`{}`)
	}
	s.write(w, r, p.HTTPStatus(), "application/problem+json", body)
}

// maxDetail is the maximum length of a detail, which may quote what the caller sent.
const maxDetail = 1000

// problemOf returns an error as the caller of this request sees it, and logs what callers must not see.
func (s *Server) problemOf(r *http.Request, err error) *problem.Error {
	p, ok := errors.AsType[*problem.Error](err)
	if !ok {
		p = problem.Wrap(err, problem.InternalError, "something went wrong on our side")
	}
	own := *p
	if own.RequestID != requestID(r) && own.Code == problem.InternalError { // else the engine has logged it with this id
		s.log.ErrorContext(r.Context(), "request failed", "request_id", requestID(r), "error", observe.Loggable(p))
	}
	own.RequestID, own.Detail, own.Type = requestID(r), clip(own.DetailIn(func(p problem.Phrase) string { return p.HTTP }), maxDetail), s.explained(own.Code)
	return &own
}
