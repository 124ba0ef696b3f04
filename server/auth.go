package server

import (
	"cmp"
	"errors"
	"net/http"
	"strings"

	"github.com/socialdata/socialdata"
	"github.com/socialdata/socialdata/keys"
	"github.com/socialdata/socialdata/problem"
)

// Auth says who makes a request, and so who pays. The key that it returns needs an ID, which the rate limit counts by
// and the log names, and an Account, whose balance pays; a Rate and caps of its own hold, the rest is only shown by
// /v1/me. It runs before anything is done for the caller, and on concurrent requests.
//
// An error that wraps [keys.ErrUnknown] is the same 401 for everybody, one that is a *[problem.Error] is answered as it
// stands, and any other is a fault of ours, which is logged and answered with 500.
type Auth func(*http.Request) (keys.Key, error)

// WithAuth asks auth who calls. The default asks the client's key store for the bearer key.
func WithAuth(auth Auth) Option { return func(s *Server) { s.auth = auth } }

var (
	errNobodyKnown = errors.New("server: the client has no key store, so nobody could call: " +
		"pass socialdata.WithKeys to the client or server.WithAuth to the server")
	errNoPayer = errors.New("server: WithAuth returned a key without an ID or an Account")
)

// authenticate returns the client of whoever makes a request.
func (s *Server) authenticate(r *http.Request) (*socialdata.Client, error) {
	if s.auth == nil {
		client, err := s.client.Authenticate(r.Context(), bearer(r))
		if errors.Is(err, keys.ErrUnknown) {
			err = problem.Wrap(err, problem.Unauthorized, `a valid API key is required; send it in the header "Authorization: Bearer API_KEY"`)
		}
		return client, err
	}
	key, err := s.auth(r)
	switch {
	case errors.Is(err, keys.ErrUnknown):
		return nil, problem.Wrap(err, problem.Unauthorized, "a valid API key is required")
	case err != nil:
		return nil, err
	case key.ID == "" || key.Account == "":
		return nil, errNoPayer
	}
	key.Prefix = cmp.Or(key.Prefix, key.ID[:min(len(key.ID), keys.PrefixLen)])
	key.Environment = cmp.Or(key.Environment, keys.Live)
	return s.client.As(key), nil
}

// bearer returns the key of the Authorization header, "" when there is none or more than one: who would then be meant
// could differ between us and what stands before us.
// https://www.rfc-editor.org/rfc/rfc6750#section-2.1
func bearer(r *http.Request) string {
	given := r.Header.Values("Authorization")
	if len(given) != 1 {
		return ""
	}
	scheme, secret, _ := strings.Cut(given[0], " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return ""
	}
	return strings.TrimSpace(secret)
}
