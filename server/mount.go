package server

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"time"

	"github.com/socialdata/socialdata/keys"
	"github.com/socialdata/socialdata/problem"
	"github.com/socialdata/socialdata/schema"
)

// serveMount lets a mounted handler answer, unless too many requests are in progress. It receives the body of the
// request before it takes a slot, and releases the slot when the handler begins to answer, so that callers who send or
// read slowly keep no slot.
func (s *Server) serveMount(w *response, r *http.Request, h http.Handler) {
	if hasCacheFields(r.URL.Path) {
		setCacheFields(w, schema.Miss, 0)
	}
	if err := takeBody(w, r, &s.limits); err != nil {
		s.fail(w, r, err)
		return
	}
	if !s.inFlight.mounts.TryAcquire(1) {
		s.fail(w, r, busy(w))
		return
	}
	w.releaseLater(func() { s.inFlight.mounts.Release(1) })
	w.mounted = true
	defer w.done()
	h.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), mountKey{}, &mountedRequest{s.inFlight, w})))
}

// takeBody receives the body of a request for a mounted handler, unless its method is one that reads.
func takeBody(w http.ResponseWriter, r *http.Request, limits *Limits) error {
	if r.Method == http.MethodGet || r.Method == http.MethodHead {
		dropBody(w, r)
		return nil
	}
	if r.ContentLength == 0 {
		return nil
	}
	beginPhase(r, waiting)
	defer beginPhase(r, working)
	// Not every response supports it. The web server's own limit may be longer, or absent.
	_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(limits.BodyTimeout))
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, limits.BodyBytes))
	if _, long := errors.AsType[*http.MaxBytesError](err); long {
		return &problem.Error{
			Code: problem.InvalidRequest, Status: http.StatusRequestEntityTooLarge,
			Detail: "the body of the request is too long",
		}
	}
	if err != nil {
		return problem.Wrap(err, problem.InvalidRequest, "the body of the request is incomplete; send it again")
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	return nil
}

type mountKey struct{}

// mountedRequest is a request while a mounted handler answers it.
type mountedRequest struct {
	inFlight *inFlight
	w        *response
}

// Enter reports to the server which key a handler of [WithMount] has found in a request. From then on until its answer,
// the request counts as a call of the API within [Limits], including the limit of the key's account, and its log line
// names the key. Enter fails with the same problem as a call of the API at its limits. A handler calls it once, in the
// goroutine in which it was called. Without a server there are no limits, and Enter does nothing.
func Enter(ctx context.Context, key *keys.Key) error {
	l, ok := ctx.Value(mountKey{}).(*mountedRequest)
	if !ok {
		return nil
	}
	l.w.done()
	return l.inFlight.admit(ctx, l.w, key)
}
