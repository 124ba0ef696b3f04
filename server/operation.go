package server

import (
	"cmp"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/socialdata/socialdata"
	"github.com/socialdata/socialdata/operation"
	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/problem"
)

// errBusy refuses a call before anything is done for it, and says nothing of any platform (D71).
var errBusy = problem.New(problem.PlatformUnavailable, "the service is at its limit").After(time.Second)

// operate answers the operation that find names: nil is an unknown route. What costs nobody a key, such as the health of
// the service, is always answered; of everything else only so much at a time.
func (s *Server) operate(find func(*http.Request) *operation.Operation) http.Handler {
	return handler(func(w *response, r *http.Request) {
		o := find(r)
		if o != nil && o.NoKey {
			s.call(w, r, o, s.client, func() {})
			return
		}
		if !s.calls.TryAcquire(1) {
			w.turnedAway = true
			s.fail(w, r, errBusy)
			return
		}
		done := sync.OnceFunc(func() { s.calls.Release(1) })
		defer done()
		client, err := s.admit(w, r)
		if err != nil {
			s.fail(w, r, err)
			return
		}
		w.Header().Set("X-Credits-Used", "0") // until the call has succeeded
		s.call(w, r, o, client, done)
	})
}

// call makes a call for somebody who may, and answers. Done is called when only writing is left: a caller who reads
// slowly must not keep others from calling.
func (s *Server) call(w *response, r *http.Request, o *operation.Operation, client *socialdata.Client, done func()) {
	if o == nil {
		s.unknown(w, r)
		return
	}
	w.operation = o.Name
	if !s.reads(w, r) {
		return
	}
	call, err := bind(r, o)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	if platform.ID(call.Platform).Valid() {
		w.platform = call.Platform
	}
	if o.Streams && wantsEvents(r) {
		s.stream(w, r, client, call)
		return
	}
	answer, err := client.Do(r.Context(), o, call)
	done()
	if err != nil {
		s.fail(w, r, err)
		return
	}
	s.answer(w, r, o, answer)
}

// admit returns the client of whoever calls, if they may call now (D1).
func (s *Server) admit(w *response, r *http.Request) (*socialdata.Client, error) {
	client, err := s.authenticate(r)
	if err != nil {
		return nil, err
	}
	if key := client.Key(); key != nil {
		w.key = key.ID
	}
	allowance, err := client.Admit(r.Context())
	if allowance.Rate.Capacity > 0 {
		limitHeaders(w.Header(), allowance)
	}
	return client, err
}

// bind takes the call out of a request. What the parameters mean is the engine's to say.
func bind(r *http.Request, o *operation.Operation) (operation.Call, error) {
	call := operation.Call{Platform: r.PathValue("platform"), Path: r.PathValue("path"), RequestID: requestID(r)}
	if provider := r.PathValue("provider"); provider != "" {
		call.Platform = provider
	}
	if o.Price == operation.Free && len(o.Params) == 0 {
		return call, nil // nothing to bind and nothing to pay: what is sent along does no harm
	}
	var err error
	call.Params, err = url.ParseQuery(r.URL.RawQuery)
	if word := r.PathValue("platform"); err != nil && (word == "" || platform.ID(word).Valid()) { // else the engine says so first
		return call, problem.Wrap(err, problem.InvalidRequest, "the query string is malformed; escape special characters as %XX")
	}
	if given := r.Header.Values("Idempotency-Key"); len(given) > 0 {
		// Several are joined as HTTP has it. An empty one must not pass as none: it is no more valid than a space is.
		call.IdempotencyKey = cmp.Or(strings.Join(given, ", "), " ")
	}
	return call, nil
}
