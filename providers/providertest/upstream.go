package providertest

import (
	"io"
	"net/http"
	"strings"
)

// Upstream plays an upstream for tests for which testdata/MANIFEST.json is not enough.
type Upstream func(r *http.Request) (*http.Response, error)

// RoundTrip implements [http.RoundTripper].
func (f Upstream) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// Answer returns an answer to r without headers.
func Answer(r *http.Request, status int, body string) *http.Response {
	return &http.Response{
		StatusCode: status, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(body)), Request: r,
	}
}

// Answers returns an upstream that answers each request with the result of f.
func Answers(f func(r *http.Request) (status int, body string)) Upstream {
	return func(r *http.Request) (*http.Response, error) {
		status, body := f(r)
		return Answer(r, status, body), nil
	}
}
