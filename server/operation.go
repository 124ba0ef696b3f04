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

// operate answers an operation; o is nil for an unknown route. Operations that need no key, such as the health of the
// service, are always answered; the number of other calls in progress is limited. A call without a valid key takes no
// slot (D71).
func (s *Server) operate(w *response, r *http.Request, o *operation.Operation) {
	if o != nil && o.NoKey {
		s.call(w, r, o, s.client)
		return
	}
	defer w.done()
	client, err := s.authenticate(r)
	if err == nil {
		err = s.inFlight.admit(r.Context(), w, client.Key())
	}
	if err == nil {
		err = limit(w, r, client)
	}
	if err != nil {
		s.fail(w, r, err)
		return
	}
	w.admitted = true
	s.call(w, r, o, client)
}

// call makes the call of a client that has been admitted, and answers it. The call takes no slot while its answer is
// written, so that a caller who reads slowly does not keep others from calling.
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
	if err == nil {
		err = s.rehearse(r, client, o.Path)
	}
	if err != nil {
		s.fail(w, r, err)
		return
	}
	if s.front.PlatformTable().Has(platform.ID(call.Platform)) {
		w.platform = call.Platform
	}
	if o.Lines && wantsLines(r) {
		s.lines(w, r, client, o, call)
		return
	}
	if o.Streams && wantsEvents(r) {
		if o.Price == operation.Free {
			s.follow(w, r, client, o, call)
			return
		}
		s.stream(w, r, client, o, call)
		return
	}
	call.More = more(w, client)
	if o.Of != "" {
		call.Explain = s.explained
	}
	answer, err := socialdata.FrontEnd(client).Do(r.Context(), o, call)
	w.done()
	if err != nil {
		s.fail(w, r, err)
		return
	}
	s.answer(w, r, o, answer)
}

// limit counts the call in the rate limit of the client's key, and sets the header fields for its state.
func limit(w *response, r *http.Request, client *socialdata.Client) error {
	allowance, err := socialdata.FrontEnd(client).Admit(r.Context())
	if allowance.Rate.Capacity > 0 {
		limitHeaders(w, allowance)
	}
	return err
}

// more returns a function that counts further calls in the rate limit of the client's key, and sets the header fields
// for its state.
func more(w *response, client *socialdata.Client) func(context.Context, int) error {
	return func(ctx context.Context, n int) error {
		allowance, err := socialdata.FrontEnd(client).AdmitMore(ctx, n)
		if allowance.Rate.Capacity > 0 {
			limitHeaders(w, allowance)
		}
		return err
	}
}

// bind makes a call of a request. The engine checks its parameters.
func (s *Server) bind(w *response, r *http.Request, o *operation.Operation) (operation.Call, error) {
	call := operation.Call{Platform: w.target, Path: w.path, RequestID: requestID(r)}
	if o.Price == operation.Free && len(o.Params) == 0 {
		return call, nil // it has no parameters and is free, so anything that was sent is ignored
	}
	var err error
	call.Pairs, err = operation.ParseQuery(r.URL.RawQuery)
	if err != nil && (o.Service || s.front.PlatformTable().Has(platform.ID(w.target))) { // else the engine reports it
		return call, problem.Wrap(err, problem.InvalidRequest,
			"the query string is malformed; escape special characters as %XX")
	}
	if given := r.Header["Idempotency-Key"]; len(given) > 0 {
		// HTTP joins several values with commas. An empty value is as invalid as a space, and must not count as absent.
		call.IdempotencyKey = cmp.Or(strings.Join(given, ", "), " ")
	}
	return call, nil
}
