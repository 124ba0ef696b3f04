package server

import (
	"cmp"
	"context"
	"net/http"
	"strings"

	"github.com/socialdata/socialdata"
	"github.com/socialdata/socialdata/operation"
	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/problem"
)

// operate answers an operation; nil is an unknown route. What needs no key, such as the health of the service, is always
// answered; of everything else only so much at a time. A client without a key takes no place (D71).
func (s *Server) operate(w *response, r *http.Request, o *operation.Operation) {
	if o != nil && o.NoKey {
		s.call(w, r, o, s.client)
		return
	}
	defer w.done()
	client, err := s.authenticate(r)
	if err == nil {
		err = s.admit(w, client.Key())
	}
	if err == nil {
		err = s.play(w)
	}
	if err == nil {
		err = limit(w, r, client)
	}
	if err != nil {
		s.fail(w, r, err)
		return
	}
	w.set("X-Credits-Used", "0") // until the call has succeeded
	s.call(w, r, o, client)
}

// call makes a call for somebody who may, and answers. It is done when only writing is left: a caller who reads slowly
// must not keep others from calling.
func (s *Server) call(w *response, r *http.Request, o *operation.Operation, client *socialdata.Client) {
	if o == nil {
		s.unknown(w, r)
		return
	}
	w.route, w.operation = o.Path, o.Name
	if !s.reads(w, r) {
		return
	}
	call, err := s.bind(w, r, o)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	if s.client.PlatformTable().Has(platform.ID(call.Platform)) {
		w.platform = call.Platform
	}
	if o.Streams && wantsEvents(r) {
		if o.Price == operation.Free {
			s.follow(w, r, client, o, call)
			return
		}
		s.stream(w, r, client, o, call)
		return
	}
	if o.Of != "" {
		call.More = more(w, client)
		call.Explain = func(code problem.Code) string { return explained(r, code) }
	}
	answer, err := client.Do(r.Context(), o, call)
	w.done()
	if err != nil {
		s.fail(w, r, err)
		return
	}
	s.answer(w, r, o, answer)
}

// limit takes the call from the rate limit of the client's key, and tells the state of that.
func limit(w *response, r *http.Request, client *socialdata.Client) error {
	allowance, err := client.Admit(r.Context())
	if allowance.Rate.Capacity > 0 {
		limitHeaders(w, allowance)
	}
	return err
}

// more returns what takes further calls from the limit of the client's key, and tells the state of that.
func more(w *response, client *socialdata.Client) func(context.Context, int) error {
	return func(ctx context.Context, n int) error {
		allowance, err := client.AdmitMore(ctx, n)
		if allowance.Rate.Capacity > 0 {
			limitHeaders(w, allowance)
		}
		return err
	}
}

// bind takes the call out of a request. What the parameters mean is the engine's to say.
func (s *Server) bind(w *response, r *http.Request, o *operation.Operation) (operation.Call, error) {
	call := operation.Call{Platform: w.target, Path: w.path, RequestID: requestID(r)}
	if o.Price == operation.Free && len(o.Params) == 0 {
		return call, nil // nothing to bind and nothing to pay: what is sent along does no harm
	}
	var err error
	call.Pairs, err = operation.ParseQuery(r.URL.RawQuery)
	if err != nil && (o.Service || s.client.PlatformTable().Has(platform.ID(w.target))) { // else the engine says so first
		return call, problem.Wrap(err, problem.InvalidRequest, "the query string is malformed; escape special characters as %XX")
	}
	if given := r.Header["Idempotency-Key"]; len(given) > 0 {
		// Several are joined as HTTP has it. An empty one must not pass as none: it is no more valid than a space is.
		call.IdempotencyKey = cmp.Or(strings.Join(given, ", "), " ")
	}
	return call, nil
}
