package server

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"time"

	"github.com/socialdata/socialdata/keys"
	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/problem"
)

// lend lets a mounted handler answer, if there is room. The body of the request is there before the handler takes a
// place, and the place is free again when the handler begins to answer: who sends or reads slowly keeps no one out.
func (s *Server) lend(w *response, r *http.Request, h http.Handler) {
	if err := s.takeBody(w, r); err != nil {
		s.fail(w, r, err)
		return
	}
	if !s.lent.TryAcquire(1) {
		w.turnedAway = true
		s.fail(w, r, errBusy)
		return
	}
	w.leave, w.lent = func() { s.lent.Release(1) }, true
	defer w.done()
	h.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), lentKey{}, &loan{s, w})))
}

// takeBody reads the body that a mounted handler will read. A request that reads has none.
func (s *Server) takeBody(w *response, r *http.Request) error {
	if r.Method == http.MethodGet || r.Method == http.MethodHead {
		dropBody(w, r)
		return nil
	}
	if r.ContentLength == 0 {
		return nil
	}
	enter(r, waiting)
	defer enter(r, working)
	// Where it can be set. The web server's own limit may be longer, or none.
	_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(s.limits.BodyTimeout))
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, s.limits.BodyBytes))
	if _, long := errors.AsType[*http.MaxBytesError](err); long {
		return &problem.Error{
			Code: problem.InvalidRequest, Status: http.StatusRequestEntityTooLarge, Detail: "the body of the request is too long",
		}
	}
	if err != nil {
		return problem.Wrap(err, problem.InvalidRequest, "the body of the request did not arrive whole; send it again")
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	return nil
}

type lentKey struct{}

// loan is a request that a mounted handler answers.
type loan struct {
	s *Server
	w *response
}

// Enter says that a handler of [WithMount] has found out whose key a request shows. From then on the request counts as
// one of the API's within [Limits], in the share of the key's account too, until it is answered, and its log line names
// the key. Enter fails with the problem with which the API refuses a call at its limits. It is called once, by the
// goroutine that the handler was called on. Outside a server there are no limits, and Enter does nothing.
func Enter(ctx context.Context, key *keys.Key) error {
	l, ok := ctx.Value(lentKey{}).(*loan)
	if !ok {
		return nil
	}
	l.w.done()
	return l.s.admit(l.w, key)
}

// admit takes a place for the request of a known client, and one of the share of its account. They are free again when
// the request is answered.
func (s *Server) admit(w *response, key *keys.Key) error {
	if key != nil {
		w.key = key.ID
	}
	if !s.calls.TryAcquire(1) {
		w.turnedAway = true
		return errBusy
	}
	if key == nil {
		w.leave = func() { s.calls.Release(1) }
		return nil
	}
	give, err := s.shares.take(key.Account)
	if err != nil {
		s.calls.Release(1)
		return err
	}
	w.leave = func() {
		give()
		s.calls.Release(1)
	}
	return nil
}

// play takes one of the places of the sandbox, beside that of the call, if the request is for a sandbox.
func (s *Server) play(w *response) error {
	if info, _ := platform.Lookup(platform.ID(w.target)); !info.Sandbox {
		return nil
	}
	if !s.sandbox.TryAcquire(1) {
		w.turnedAway = true
		return errBusy
	}
	leave := w.leave
	w.leave = func() {
		s.sandbox.Release(1)
		leave()
	}
	return nil
}
