package server_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/socialdata/socialdata/internal/enginetest"
	"github.com/socialdata/socialdata/problem"
	"github.com/socialdata/socialdata/schema"
	"github.com/socialdata/socialdata/server"
)

// site is a server over an engine.
type site struct {
	*enginetest.Engine
	web     *httptest.Server
	handler http.Handler // for a site without a network
}

// open serves an engine.
func open(tb testing.TB, cfg enginetest.Config, opts ...server.Option) *site {
	tb.Helper()
	s := &site{Engine: enginetest.New(tb, cfg)}
	srv, err := server.New(s.Open, opts...)
	if err != nil {
		tb.Fatal(err)
	}
	s.web = httptest.NewServer(srv.Handler())
	tb.Cleanup(s.web.Close)
	return s
}

// reply is the answer to a request.
type reply struct {
	status int
	header http.Header
	body   []byte
}

// get reads a path with the key of the test's account.
func (s *site) get(tb testing.TB, path string) reply {
	tb.Helper()
	return s.getAs(tb, s.Secret, path)
}

// getAs reads a path with a key, "" for none.
func (s *site) getAs(tb testing.TB, secret, path string) reply {
	tb.Helper()
	header := http.Header{}
	if secret != "" {
		header.Set("Authorization", "Bearer "+secret)
	}
	return s.do(tb, http.MethodGet, path, header)
}

// with reads a path with the key of the test's account and more header fields, given as name and value.
func (s *site) with(tb testing.TB, path string, fields ...string) reply {
	tb.Helper()
	header := http.Header{"Authorization": {"Bearer " + s.Secret}}
	for i := 0; i < len(fields); i += 2 {
		header.Add(fields[i], fields[i+1])
	}
	return s.do(tb, http.MethodGet, path, header)
}

// do makes a request without a body.
func (s *site) do(tb testing.TB, method, path string, header http.Header) reply {
	tb.Helper()
	return s.request(tb, method, path, "", header)
}

// request makes a request. It does not follow redirects, because the server must not have any.
func (s *site) request(tb testing.TB, method, path, body string, header http.Header) reply {
	tb.Helper()
	if s.handler != nil {
		r := httptest.NewRequestWithContext(tb.Context(), method, path, strings.NewReader(body))
		w := httptest.NewRecorder()
		r.Header = header
		s.handler.ServeHTTP(w, r)
		return reply{w.Code, w.Header(), w.Body.Bytes()}
	}
	r, err := http.NewRequestWithContext(tb.Context(), method, s.web.URL+path, strings.NewReader(body))
	if err != nil {
		tb.Fatal(err)
	}
	r.Header = header
	resp, err := s.web.Client().Transport.RoundTrip(r)
	if err != nil {
		tb.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	got, err := io.ReadAll(resp.Body)
	if err != nil {
		tb.Fatal(err)
	}
	return reply{resp.StatusCode, resp.Header, got}
}

// envelope returns a successful answer.
func (r reply) envelope(tb testing.TB) schema.Envelope[json.RawMessage] {
	tb.Helper()
	var e schema.Envelope[json.RawMessage]
	if r.status != http.StatusOK {
		tb.Fatalf("status %d: %s", r.status, r.body)
	}
	if got := r.header.Get("Content-Type"); got != "application/json" {
		tb.Errorf("Content-Type is %q", got)
	}
	if err := json.Unmarshal(r.body, &e); err != nil {
		tb.Fatalf("%v in %s", err, r.body)
	}
	return e
}

// problem returns the problem of an answer, and checks the properties that all problems have.
func (r reply) problem(tb testing.TB) *problem.Error {
	tb.Helper()
	var p problem.Error
	if got := r.header.Get("Content-Type"); got != "application/problem+json" {
		tb.Fatalf("status %d, Content-Type %q: %s", r.status, got, r.body)
	}
	if err := json.Unmarshal(r.body, &p); err != nil {
		tb.Fatalf("%v in %s", err, r.body)
	}
	if p.HTTPStatus() != r.status {
		tb.Errorf("the body says status %d, the answer %d", p.HTTPStatus(), r.status)
	}
	if p.RequestID == "" || p.RequestID != r.header.Get("X-Request-Id") {
		tb.Errorf("request_id is %q, X-Request-Id %q", p.RequestID, r.header.Get("X-Request-Id"))
	}
	if r.header.Get("Cache-Control") != "no-store" {
		tb.Errorf("a problem may be stored: Cache-Control is %q", r.header.Get("Cache-Control"))
	}
	if r.header.Get("ETag") != "" || r.header.Get("Link") != "" {
		tb.Error("a problem has the header of a success")
	}
	return &p
}

// wantProblem checks the status and code of a problem, and that its detail contains some words.
func (r reply) wantProblem(tb testing.TB, code problem.Code, words ...string) problem.Error {
	tb.Helper()
	p := r.problem(tb)
	if p.Code != code {
		tb.Errorf("code is %s (%s), want %s", p.Code, p.Detail, code)
	}
	for _, w := range words {
		if !strings.Contains(p.Detail, w) {
			tb.Errorf("detail %q does not say %q", p.Detail, w)
		}
	}
	return *p
}
