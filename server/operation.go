package server

import (
	"cmp"
	"errors"
	"net/http"
	"net/url"
	"strings"

	"github.com/socialdata/socialdata"
	"github.com/socialdata/socialdata/operation"
	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/problem"
)

// operate answers the operation that find names, in the order of D1: key, rate limit, and then whatever the engine
// finds wrong.
func (s *Server) operate(find func(*http.Request) *operation.Operation) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		o := find(r)
		if o != nil && !s.reads(w, r) {
			return
		}
		client := s.client
		if o == nil || !o.NoKey {
			var err error
			if client, err = s.admit(w, r); err != nil {
				s.fail(w, r, err)
				return
			}
			w.Header().Set("X-Credits-Used", "0") // until the call has succeeded
		}
		if o == nil {
			s.unknown(w, r)
			return
		}
		call, err := bind(r, o)
		if err != nil {
			s.fail(w, r, err)
			return
		}
		if o.Streams && wantsEvents(r) {
			s.stream(w, r, client, call)
			return
		}
		answer, err := client.Do(r.Context(), o, call)
		if err != nil {
			s.fail(w, r, err)
			return
		}
		s.answer(w, r, o, answer)
	})
}

// admit returns the client of the caller's key, if the key is good and may call now.
func (s *Server) admit(w http.ResponseWriter, r *http.Request) (*socialdata.Client, error) {
	client, err := s.authenticate(r)
	if err != nil {
		return nil, err
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

// fail writes an error as a problem document.
func (s *Server) fail(w http.ResponseWriter, r *http.Request, err error) {
	p, ok := errors.AsType[*problem.Error](err)
	if !ok {
		p = problem.Wrap(err, problem.InternalError, "something went wrong on our side")
	}
	own := *p
	if own.RequestID != requestID(r) && own.Code == problem.InternalError { // else the engine has logged it under this id
		s.log.ErrorContext(r.Context(), "request failed", "request_id", requestID(r), "path", r.URL.Path, "error", errors.Join(p, p.Unwrap()))
	}
	own.RequestID = requestID(r)
	writeProblem(w, &own)
}
