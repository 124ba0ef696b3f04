package server

import (
	"cmp"
	"errors"
	"net/http"
	"strings"

	"github.com/socialdata/socialdata"
	"github.com/socialdata/socialdata/keys"
	"github.com/socialdata/socialdata/operation"
	"github.com/socialdata/socialdata/problem"
	"github.com/socialdata/socialdata/server/bearer"
)

var errNoPayer = errors.New("server: WithAuth returned a key without an ID or an Account")

// authenticate returns the client of the caller of a request. A caller that has sent many unknown keys waits for the
// answer.
func (s *Server) authenticate(r *http.Request) (*socialdata.Client, error) {
	client, err := s.knows(r)
	if errors.Is(err, keys.ErrUnknown) {
		s.foreign.slow(r.Context(), hostOf(r.RemoteAddr))
	}
	return client, err
}

func (s *Server) knows(r *http.Request) (*socialdata.Client, error) {
	client := s.client
	if strings.HasPrefix(r.UserAgent(), operation.UserAgent) {
		client = s.remote
	}
	if s.auth == nil {
		client, err := client.Authenticate(r.Context(), bearer.Token(r))
		if errors.Is(err, keys.ErrUnknown) {
			err = problem.Wrap(err, problem.Unauthorized,
				`a valid API key is required; send it in the header "Authorization: Bearer API_KEY"`)
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
	return client.As(key), nil
}
