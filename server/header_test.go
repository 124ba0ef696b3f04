package server_test

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/socialdata/socialdata/internal/enginetest"
	"github.com/socialdata/socialdata/keys"
	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/problem"
	"github.com/socialdata/socialdata/providers/mock"
	"github.com/socialdata/socialdata/server"
)

// TestEveryResponseHasTheStateOfTheCache checks X-Cache and X-Data-Age (D61).
func TestEveryResponseHasTheStateOfTheCache(t *testing.T) {
	t.Parallel()
	s := open(t, enginetest.Config{Credits: 20})
	tired := open(t, enginetest.Config{Rate: keys.Rate{Capacity: 1, Refill: 0.001}})
	tired.get(t, "/v1/me").envelope(t)
	key := http.Header{"Authorization": {"Bearer " + s.Secret}}
	s.get(t, "/v1/mock/profile?handle=not_found")
	s.get(t, "/v1/mock/profile?handle=salma")
	s.get(t, "/v1/raw/mock/users/not_found")
	s.Clock.Advance(40 * time.Second)
	tests := []struct {
		name   string
		reply  reply
		status int
		state  string
		age    string
	}{
		{"a miss", s.get(t, "/v1/mock/profile?handle=noura"), 200, "MISS", "0"},
		{"a hit", s.get(t, "/v1/mock/profile?handle=salma"), 200, "HIT", "40"},
		{"an answer that has not changed", s.with(t, "/v1/mock/profile?handle=salma", "If-None-Match", "*"), 304, "HIT", "40"},
		{"me", s.get(t, "/v1/me"), 200, "MISS", "0"},
		{"the platforms", s.getAs(t, "", "/v1/platforms"), 200, "MISS", "0"},
		{"health", s.getAs(t, "", "/health"), 200, "MISS", "0"},
		{"health, posted", s.do(t, http.MethodPost, "/health", key), 405, "MISS", "0"},
		{"a stream", s.with(t, "/v1/search?query=a", "Accept", "text/event-stream"), 200, "MISS", "0"},
		{"a remembered absence", s.get(t, "/v1/mock/profile?handle=not_found"), 404, "HIT", "40"},
		{"a cached absence, by HEAD", s.do(t, http.MethodHead, "/v1/mock/profile?handle=not_found", key), 404, "HIT", "40"},
		{"a cached absence of raw", s.get(t, "/v1/raw/mock/users/not_found"), 404, "HIT", "40"},
		{"a cached absence with fresh", s.get(t, "/v1/mock/profile?handle=not_found&fresh=true"), 404, "MISS", "0"},
		{"a first absence", s.get(t, "/v1/mock/post?id=not_found"), 404, "MISS", "0"},
		{"no key", s.getAs(t, "", "/v1/mock/profile?handle=salma"), 401, "MISS", "0"},
		{"no route", s.get(t, "/v1/nothing"), 404, "MISS", "0"},
		{"no platform", s.get(t, "/v1/nowhere/profile?handle=a"), 404, "MISS", "0"},
		{"version alone", s.get(t, "/v1"), 404, "MISS", "0"},
		{"a bad parameter", s.get(t, "/v1/mock/profile?handle=salma&x=1"), 400, "MISS", "0"},
		{"a failing upstream", s.get(t, "/v1/mock/profile?handle=upstream_error"), 503, "MISS", "0"},
		{"not offered", s.get(t, "/v1/kwai/profile?handle=a"), 503, "MISS", "0"},
		{"rate limited", tired.get(t, "/v1/mock/profile?handle=salma"), 429, "MISS", "0"},
		{"the documentation", s.getAs(t, "", "/docs"), 200, "", ""},
		{"an unknown page", s.getAs(t, "", "/nothing"), 404, "", ""},
	}
	for _, tt := range tests {
		h := tt.reply.header
		got := []string{strconv.Itoa(tt.reply.status), h.Get("X-Cache"), h.Get("X-Data-Age")}
		if diff := cmp.Diff([]string{strconv.Itoa(tt.status), tt.state, tt.age}, got); diff != "" {
			t.Errorf("%s: status, X-Cache, X-Data-Age (-want +got):\n%s", tt.name, diff)
		}
	}
}

func TestAFreshAnswerIsNotReused(t *testing.T) {
	t.Parallel()
	s := open(t, enginetest.Config{})
	for _, path := range []string{
		"/v1/mock/posts?handle=salma", "/v1/search?query=a", "/v1/raw/mock/users/salma", "/v1/mock/live?handle=salma",
	} {
		plain := s.get(t, path)
		if got := plain.header.Get("Cache-Control"); !strings.HasPrefix(got, "private, max-age=") {
			t.Errorf("%s: Cache-Control is %s", path, got)
		}
		and := "?"
		if strings.Contains(path, "?") {
			and = "&"
		}
		fresh := s.get(t, path+and+"fresh=true")
		if got := fresh.header.Get("Cache-Control"); got != "private, no-cache" || fresh.header.Get("ETag") == "" {
			t.Errorf("%s, fresh: Cache-Control is %s, ETag %s", path, got, fresh.header.Get("ETag"))
		}
	}
}

func TestALinkOverTheSizeLimitIsNotSent(t *testing.T) {
	t.Parallel()
	s := open(t, enginetest.Config{})
	long := 0
	for cursor, page := "", 0; page < 12; page++ {
		params := url.Values{"handle": {"endless"}}
		if cursor != "" {
			params.Set("cursor", cursor)
		}
		r := s.get(t, "/v1/mock/posts?"+params.Encode())
		cursor = r.envelope(t).Meta.NextCursor
		params.Set("cursor", cursor)
		want := "<?" + params.Encode() + `>; rel="next"`
		if len(want) > 1024 {
			want = ""
			long++
		}
		if got := r.header.Get("Link"); got != want {
			t.Errorf("page %d: Link is %q, want %q", page+1, got, want)
		}
	}
	if long == 0 {
		t.Error("no page had a long link: the test shows nothing")
	}
}

// raw makes a request with a client that does not decompress the answer.
func (s *site) raw(tb testing.TB, path string, fields ...string) reply {
	tb.Helper()
	r, w := httptest.NewRequestWithContext(tb.Context(), http.MethodGet, path, nil), httptest.NewRecorder()
	r.Header.Set("Authorization", "Bearer "+s.Secret)
	for i := 0; i < len(fields); i += 2 {
		r.Header.Add(fields[i], fields[i+1])
	}
	s.handler.ServeHTTP(w, r)
	return reply{w.Code, w.Header(), w.Body.Bytes()}
}

func unzip(tb testing.TB, b []byte) []byte {
	tb.Helper()
	z, err := gzip.NewReader(bytes.NewReader(b))
	if err != nil {
		tb.Fatal(err)
	}
	out, err := io.ReadAll(z)
	if err != nil {
		tb.Fatal(err)
	}
	return out
}

func TestLongTextsAreCompressed(t *testing.T) {
	t.Parallel()
	s := bubble(t, enginetest.Config{Credits: 1 << 30})
	for path, zipped := range map[string]bool{
		"/v1/mock/posts?handle=salma":                  true,
		"/v1/mock/posts?handle=salma&include_raw=true": true,
		"/v1/search?query=a":                           true,
		"/v1/platforms":                                true,
		"/docs":                                        true,
		"/docs/platforms":                              true,
		"/docs/docs.css":                               true,
		"/docs/docs.js":                                true,
		"/schemas/post.json":                           true,
		"/openapi.json":                                true,
		"/v1/mock/profile?handle=" + strings.Repeat("x", 500) + "!":       false,
		"/v1/mock/post?id=" + url.QueryEscape("https://mock.example/x/y"): false,
		"/v1/me":  false,
		"/health": false,
		"/livez":  false,
	} {
		s.raw(t, path) // so that what can be cached is a hit
		plain, packed := s.raw(t, path), s.raw(t, path, "Accept-Encoding", "br, gzip;q=0.5")
		if plain.header.Get("Content-Encoding") != "" || (packed.header.Get("Content-Encoding") == "gzip") != zipped {
			t.Errorf("%s: Content-Encoding %q of %d bytes", path, packed.header.Get("Content-Encoding"), len(plain.body))
			continue
		}
		if zipped != (len(plain.body) > 1024) {
			t.Errorf("%s has %d bytes: the test shows nothing", path, len(plain.body))
		}
		for name, r := range map[string]reply{"plain": plain, "packed": packed} {
			if got := r.header.Get("Content-Length"); got != strconv.Itoa(len(r.body)) && (got != "" || len(r.body) > 1024) {
				t.Errorf("%s, %s: Content-Length is %s of %d bytes", path, name, got, len(r.body))
			}
			if !slices.Contains(r.header.Values("Vary"), "Accept-Encoding") {
				t.Errorf("%s, %s: Vary is %v, want Accept-Encoding in it", path, name, r.header.Values("Vary"))
			}
		}
		if plain.header.Get("ETag") != packed.header.Get("ETag") || plain.header.Get("ETag") != "" &&
			!strings.HasPrefix(plain.header.Get("ETag"), `W/"`) {
			t.Errorf("%s: the tags are %s and %s, want the same weak one", path, plain.header.Get("ETag"),
				packed.header.Get("ETag"))
		}
		if !zipped {
			continue
		}
		if len(packed.body) > len(plain.body)/2 {
			t.Errorf("%s: %d bytes became %d", path, len(plain.body), len(packed.body))
		}
		same := unzip(t, packed.body)
		if data, _, ok := bytes.Cut(plain.body, []byte(`,"meta":`)); !ok && !bytes.Equal(same, plain.body) ||
			!bytes.HasPrefix(same, data) {
			t.Errorf("%s: the decompressed body differs", path)
		}
	}
	tag := s.raw(t, "/v1/mock/posts?handle=salma", "Accept-Encoding", "gzip").header.Get("ETag")
	if r := s.raw(t, "/v1/mock/posts?handle=salma", "If-None-Match", tag); r.status != http.StatusNotModified ||
		len(r.body) > 0 {
		t.Errorf("the tag of the compressed body returned %d", r.status)
	}
	doc := s.raw(t, "/openapi.json")
	if r := s.raw(t, "/openapi.json", "If-None-Match", doc.header.Get("ETag"), "Accept-Encoding",
		"gzip"); r.status != http.StatusNotModified {
		t.Errorf("the description is sent again: %d", r.status)
	}
}

func TestProblemsQuoteAShortPartOfTheRequest(t *testing.T) {
	t.Parallel()
	s := bubble(t, enginetest.Config{})
	long := strings.Repeat("ab/", 300_000)
	for _, path := range []string{
		"/" + long + "x", "/v1/" + long + "x", "/v1/mock/" + long + "x", "/v1/raw/mock/" + long + "x",
		"/v1/" + strings.ReplaceAll(long, "/", "") + "/profile", "/v1/raw/" + strings.ReplaceAll(long, "/", "") + "/x",
		"/v1/mock/profile?" + long + "=1", "/v1/mock/profile?handle=" + long, "/v1/mock/profile?fresh=" + long,
		"/v1/search?query=a&platforms=" + long, "/v1/mock/posts?handle=a&cursor=" + long, "/%D8%A8" + strings.Repeat("%D8%A8", 90_000),
	} {
		r := s.raw(t, path)
		if p := r.problem(t); len(r.body) > 2000 || !utf8Valid(p.Detail) {
			t.Errorf("%.30s… returned %d bytes: %.200s", path, len(r.body), r.body)
		}
	}
}

func utf8Valid(s string) bool { return !strings.ContainsRune(s, '\uFFFD') }

// dull is a response of a middleware that only has the required methods.
type dull struct{ w http.ResponseWriter }

func (d dull) Header() http.Header         { return d.w.Header() }
func (d dull) Write(b []byte) (int, error) { return d.w.Write(b) }
func (d dull) WriteHeader(status int)      { d.w.WriteHeader(status) }

func TestAStreamGoesThroughAMiddleware(t *testing.T) {
	t.Parallel()
	e := enginetest.New(t, enginetest.Config{Providers: enginetest.Sandboxes(mock.Config{}, platform.TikTok, platform.X)})
	srv, err := server.New(e.Open)
	if err != nil {
		t.Fatal(err)
	}
	s := &site{Engine: e, handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { srv.Handler().ServeHTTP(dull{w}, r) })}
	r := s.with(t, "/v1/search?query=a", "Accept", "text/event-stream")
	if n := strings.Count(string(r.body), "event: result\n"); n != 40 ||
		!strings.Contains(string(r.body), "event: done\n") {
		t.Errorf("%d results of 40:\n%.300s", n, r.body)
	}
	s.WantBalance(t, 998)
}

func TestAMethodThatIsNotAllowedIsCountedLikeAnyCall(t *testing.T) {
	t.Parallel()
	s := open(t, enginetest.Config{Rate: keys.Rate{Capacity: 2, Refill: 0.001}})
	s.do(t, http.MethodPost, "/v1/me", http.Header{}).wantProblem(t, problem.Unauthorized)
	key := http.Header{"Authorization": {"Bearer " + s.Secret}}
	for range 2 {
		if p := s.do(t, http.MethodPost, "/v1/mock/profile", key).wantProblem(t,
			problem.InvalidRequest); p.Status != http.StatusMethodNotAllowed {
			t.Errorf("status %d, want 405", p.Status)
		}
	}
	s.do(t, http.MethodPost, "/v1/mock/profile", key).wantProblem(t, problem.RateLimited)
}

func TestHeadersOfMiddlewareAreKept(t *testing.T) {
	t.Parallel()
	e := enginetest.New(t, enginetest.Config{})
	srv, err := server.New(e.Open)
	if err != nil {
		t.Fatal(err)
	}
	for _, before := range [][]string{nil, {"Origin"}, {"Origin", "Accept"}} {
		w := httptest.NewRecorder()
		for _, name := range before {
			w.Header().Add("Vary", name)
		}
		r := httptest.NewRequest(http.MethodGet, "/v1/mock/profile?handle=ann", nil)
		r.Header.Set("Authorization", "Bearer "+e.Secret)
		srv.Handler().ServeHTTP(w, r)
		if diff := cmp.Diff(append(before, "Authorization", "Accept-Encoding"), w.Header().Values("Vary")); diff != "" {
			t.Errorf("after %v (-want +got):\n%s", before, diff)
		}
		for name := range w.Header() {
			if name != http.CanonicalHeaderKey(name) {
				t.Errorf("the field %q cannot be found by its name", name)
			}
		}
	}
}
