package server_test

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/socialdata/socialdata"
	"github.com/socialdata/socialdata/internal/enginetest"
	"github.com/socialdata/socialdata/problem"
	"github.com/socialdata/socialdata/schema"
	"github.com/socialdata/socialdata/server"
)

// TestAccountsSeeNothingOfEachOther uses the key of one account to ask for what belongs to another.
func TestAccountsSeeNothingOfEachOther(t *testing.T) {
	t.Parallel()
	s := open(t, enginetest.Config{})
	_, stranger := s.Account(t, "stranger", 1000)
	const word = "order-0123456789"
	for range 101 { // more than one page of ledger entries
		s.get(t, "/v1/mock/profile?handle=salma").envelope(t)
	}
	mine := s.with(t, "/v1/mock/profile?handle=salma", "Idempotency-Key", word)
	id := mine.envelope(t).Meta.RequestID

	books := s.getAs(t, stranger, "/v1/usage?request_id="+id).envelope(t)
	if string(books.Data) != "[]" {
		t.Errorf("a stranger sees the charge: %s", books.Data)
	}
	page := s.get(t, "/v1/usage").envelope(t)
	s.getAs(t, stranger, "/v1/usage?cursor="+url.QueryEscape(page.Meta.NextCursor)).wantProblem(t, problem.InvalidRequest,
		`"cursor"`)
	if all := s.getAs(t, stranger, "/v1/usage").envelope(t); strings.Contains(string(all.Data), s.Key.ID) {
		t.Errorf("a stranger sees the entries: %s", all.Data)
	}

	header := http.Header{"Authorization": {"Bearer " + stranger}, "Idempotency-Key": {word}}
	theirs := s.do(t, http.MethodGet, "/v1/mock/profile?handle=salma", header)
	if theirs.header.Get("X-Idempotent-Replay") != "" || theirs.envelope(t).Meta.CreditsUsed != 1 {
		t.Errorf("a stranger gets the answer for another's idempotency key: %v", theirs.header)
	}
	if other := s.do(t, http.MethodGet, "/v1/mock/profile?handle=noura",
		header); other.problem(t).Code != problem.InvalidRequest {
		t.Errorf("the stranger's own key is not bound to its request: %s", other.body)
	}
}

// TestNoTwoRequestsShareAnEntryOfTheCache makes requests whose parameters would be the same text if they were joined
// without separators.
func TestNoTwoRequestsShareAnEntryOfTheCache(t *testing.T) {
	t.Parallel()
	s := open(t, enginetest.Config{Credits: 10_000})
	seen := map[string]string{}
	for _, path := range []string{
		"/v1/mock/search?query=a&kind=post", "/v1/mock/search?query=a%26kind%3Dpost", "/v1/mock/search?query=a%7Cpost",
		"/v1/mock/search?query=a%00post", "/v1/mock/search?query=a", "/v1/mock/search?query=a&lang=ar", "/v1/mock/search?query=a&handle=ar",
		"/v1/mock/search?query=%22a%22", "/v1/mock/search?query=a%22%7C%22", "/v1/mock/search?query=a%20", "/v1/mock/search?query=a%5C",
		"/v1/mock/posts?handle=a", "/v1/mock/reels?handle=a", "/v1/mock/tracks?handle=a", "/v1/mock/profile?handle=a", "/v1/mock/live?handle=a",
		"/v1/raw/mock/echo/a?b=c", "/v1/raw/mock/echo/a%3Fb=c", "/v1/raw/mock/echo/a?b%3Dc", "/v1/raw/mock/echo/a?b=c&d", "/v1/raw/mock/echo/a?b=c%26d",
	} {
		r := s.get(t, path)
		if r.status != http.StatusOK {
			continue // refused, and so not cached
		}
		if path == "/v1/mock/search?query=a%20" { // the same query after spaces are trimmed
			continue
		}
		e := r.envelope(t)
		if e.Meta.Cache != schema.Miss {
			t.Errorf("%s is answered from the entry of another request", path)
		}
		if other := seen[string(e.Data)]; other != "" && strings.HasPrefix(path, "/v1/raw/") {
			t.Errorf("%s and %s have the same answer", path, other)
		}
		seen[string(e.Data)] = path
	}
	if len(seen) < 12 {
		t.Errorf("%d requests were answered: the test shows nothing", len(seen))
	}
}

func TestHealthNamesDependencies(t *testing.T) {
	t.Parallel()
	for want, opts := range map[string][]socialdata.Option{
		"": nil,
		`"dependencies":{"cache":"ok","limiter":"down"}`: {
			socialdata.WithDependency("limiter", func() schema.HealthState { return schema.Down }),
			socialdata.WithDependency("cache", func() schema.HealthState { return schema.Healthy }),
		},
	} {
		e := enginetest.New(t, enginetest.Config{Options: opts})
		srv, err := server.New(e.Open)
		if err != nil {
			t.Fatal(err)
		}
		w := httptest.NewRecorder()
		srv.Handler().ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/health", nil))
		if body := w.Body.String(); w.Code != http.StatusOK || !strings.Contains(body, want) ||
			strings.Contains(body, "dependencies") != (want != "") {
			t.Errorf("%d: %s; want %q", w.Code, body, want)
		}
	}
}
