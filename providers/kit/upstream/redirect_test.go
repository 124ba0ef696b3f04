package upstream_test

import (
	"errors"
	"net/http"
	"testing"

	"github.com/socialdata/socialdata/providers/kit/upstream"
)

func TestStillReturnsTheRedirect(t *testing.T) {
	t.Parallel()
	errMoved := errors.New("moved")
	asked := 0
	c := upstream.New(upstream.Config{
		HTTP: upstream.Still(&http.Client{Transport: transport(func(r *http.Request) (*http.Response, error) {
			asked++
			return &http.Response{
				StatusCode: http.StatusFound, Header: http.Header{"Location": {"/b"}}, Body: http.NoBody, Request: r,
			}, nil
		})}),
		Base: "https://upstream.example",
		Check: func(res *upstream.Response) error {
			if res.Header.Get("Location") == "/b" {
				return errMoved
			}
			return nil
		},
	})
	if _, err := c.Do(t.Context(), upstream.Get("a")); !errors.Is(err, errMoved) || asked != 1 {
		t.Errorf("got %v after %d requests, want what Check said of the first", err, asked)
	}
	if upstream.Still(nil).CheckRedirect == nil {
		t.Error("a client of its own follows redirects")
	}
}

type transport func(*http.Request) (*http.Response, error)

func (f transport) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }
