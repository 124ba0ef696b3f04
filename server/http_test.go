package server_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/socialdata/socialdata"
	"github.com/socialdata/socialdata/internal/enginetest"
	"github.com/socialdata/socialdata/keys"
	"github.com/socialdata/socialdata/operation"
	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/problem"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/mock"
	"github.com/socialdata/socialdata/schema"
	"github.com/socialdata/socialdata/server"
)

func TestHeadIsGetWithoutABody(t *testing.T) {
	t.Parallel()
	s := open(t, enginetest.Config{})
	key := http.Header{"Authorization": {"Bearer " + s.Secret}}
	s.get(t, "/v1/mock/profile?handle=salma").envelope(t) // so that both are hits
	for _, path := range []string{
		"/v1/mock/profile?handle=salma", "/v1/mock/profile", "/v1/nothing", "/docs", "/openapi.json", "/health", "/livez",
	} {
		get, head := s.do(t, http.MethodGet, path, key), s.do(t, http.MethodHead, path, key)
		if len(head.body) > 0 || head.status != get.status {
			t.Errorf("%s: HEAD returned %d with %d bytes, GET %d", path, head.status, len(head.body), get.status)
		}
		for _, field := range []string{
			"Content-Type", "ETag", "Cache-Control", "X-Cache", "X-Credits-Used", "WWW-Authenticate",
		} {
			if head.header.Get(field) != get.header.Get(field) {
				t.Errorf("%s: HEAD says %s: %s, GET %s", path, field, head.header.Get(field), get.header.Get(field))
			}
		}
	}
	if got := len(s.Charges(t)); got != 3 {
		t.Errorf("%d charges, want 3: HEAD costs what GET costs", got)
	}
}

func TestNotModifiedIsChargedLikeAHit(t *testing.T) {
	t.Parallel()
	s := open(t, enginetest.Config{})
	const path = "/v1/mock/posts?handle=salma"
	first := s.get(t, path)
	tag := first.header.Get("ETag")
	if !strings.HasPrefix(tag, `W/"`) {
		t.Fatalf("ETag is %s, want a weak one", tag)
	}
	strong := strings.TrimPrefix(tag, "W/")
	for _, match := range []string{tag, strong, `"other", ` + tag, "*"} {
		r := s.with(t, path, "If-None-Match", match)
		if r.status != http.StatusNotModified || len(r.body) > 0 || r.header.Get("ETag") != tag {
			t.Errorf("%s returned %d with %d bytes", match, r.status, len(r.body))
		}
		if r.header.Get("X-Cache") != "HIT" || r.header.Get("X-Credits-Used") != "1" {
			t.Errorf("%s: X-Cache %s, X-Credits-Used %s", match, r.header.Get("X-Cache"), r.header.Get("X-Credits-Used"))
		}
	}
	for _, path := range []string{path + "&include_raw=true", path + "&enrich=arabic", "/v1/mock/posts?handle=noura"} {
		if r := s.with(t, path, "If-None-Match", tag); r.status != http.StatusOK || r.header.Get("ETag") == tag {
			t.Errorf("%s has the same tag: %d", path, r.status)
		}
	}
	if r := s.with(t, path, "If-None-Match", `W/"other"`); r.status != http.StatusOK {
		t.Errorf("with another tag: got %d, want 200", r.status)
	}
	s.WantBalance(t, 1000-1-4-1-4-1-1)
	if r := s.with(t, "/v1/mock/posts?handle=not_found", "If-None-Match", "*"); r.status != http.StatusNotFound {
		t.Errorf("a failure returned %d", r.status)
	}
}

func TestHeadersOfASuccess(t *testing.T) {
	t.Parallel()
	s := open(t, enginetest.Config{})
	miss := s.get(t, "/v1/mock/posts?handle=salma")
	s.Clock.Advance(100 * time.Second)
	hit := s.get(t, "/v1/mock/posts?handle=salma")
	for field, want := range map[string][2]string{
		"X-Cache": {"MISS", "HIT"}, "X-Data-Age": {"0", "100"}, "Age": {"", "100"},
		"Cache-Control": {"private, max-age=900", "private, max-age=800"}, "Vary": {"Authorization", "Authorization"},
		"Cache-Status":           {"socialdata; fwd=miss; stored", "socialdata; hit; ttl=800"},
		"X-Content-Type-Options": {"nosniff", "nosniff"},
	} {
		if got := [2]string{miss.header.Get(field), hit.header.Get(field)}; got != want {
			t.Errorf("%s is %q, want %q", field, got, want)
		}
	}
	next := miss.header.Get("Link")
	page, rel, _ := strings.Cut(strings.TrimPrefix(next, "<"), ">")
	if rel != `; rel="next"` {
		t.Fatalf("Link is %s", next)
	}
	if two := s.get(t, "/v1/mock/posts"+page).envelope(t); two.Meta.Cache != schema.Miss {
		t.Error("the link is that of the same page")
	}
	if got := s.get(t, "/v1/me").header.Get("Cache-Control"); got != "no-store" {
		t.Errorf("me may be stored: %s", got)
	}
}

func TestIdempotencyKeyOverHTTP(t *testing.T) {
	t.Parallel()
	s := open(t, enginetest.Config{})
	const path, key = "/v1/mock/profile?handle=salma", "0123456789abcdef"
	first, again := s.with(t, path, "Idempotency-Key", key), s.with(t, path, "Idempotency-Key", key)
	if first.header.Get("X-Idempotent-Replay") != "" || again.header.Get("X-Idempotent-Replay") != "true" ||
		again.header.Get("X-Credits-Used") != "1" {
		t.Errorf("headers are %v and %v", first.header, again.header)
	}
	if diff := cmp.Diff(string(first.envelope(t).Data), string(again.envelope(t).Data)); diff != "" {
		t.Errorf("data (-first +again):\n%s", diff)
	}
	if got := again.header.Get("Cache-Control"); got != "private, max-age=0" {
		t.Errorf("a replay may be stored: %s", got)
	}
	s.with(t, "/v1/mock/profile?handle=noura", "Idempotency-Key", key).wantProblem(t, problem.InvalidRequest,
		"Idempotency-Key")
	s.with(t, path, "Idempotency-Key", "short").wantProblem(t, problem.InvalidRequest, "Idempotency-Key")
	s.with(t, path, "Idempotency-Key", "").wantProblem(t, problem.InvalidRequest, "Idempotency-Key")
	s.with(t, path, "Idempotency-Key", key, "Idempotency-Key", key).wantProblem(t, problem.InvalidRequest, "once")
	s.with(t, "/v1/search?query=a", "Idempotency-Key", key+"x", "Accept", "text/event-stream").wantProblem(t,
		problem.InvalidRequest, "stream")
	s.WantBalance(t, 999)
}

func TestRepliesContainNoInternals(t *testing.T) {
	t.Parallel()
	s := open(t, enginetest.Config{})
	r := s.get(t, "/v1/mock/profile?handle=panic")
	p := r.wantProblem(t, problem.InternalError)
	if strings.Contains(string(r.body), "mock:") || p.Detail != "something went wrong on our side" {
		t.Errorf("the body shows internals: %s", r.body)
	}
	s.WantBalance(t, 1000)
	r = s.get(t, "/v1/mock/profile?handle="+url.QueryEscape("<script>&</script>"))
	if !strings.Contains(string(r.body), "handle") || r.header.Get("Content-Type") != "application/problem+json" {
		t.Errorf("got %s: %s; want a problem that names handle", r.header.Get("Content-Type"), r.body)
	}
}

// webProvider reads a page over HTTP as providers do: its size is limited, and content that cannot be read is an error.
func webProvider(base string, client *http.Client) providers.Provider {
	return providers.Provider{
		Name: "web", Platform: platform.GitHub, Source: schema.Own,
		Profile: func(ctx context.Context, handle string) (schema.Profile, error) {
			r, err := http.NewRequestWithContext(ctx, http.MethodGet, base+"/"+handle, nil)
			if err != nil {
				return schema.Profile{}, err
			}
			resp, err := client.Do(r)
			if err != nil {
				return schema.Profile{}, err
			}
			defer func() { _ = resp.Body.Close() }()
			var wire struct {
				ID   string `json:"id"`
				Name string `json:"name"`
			}
			if err := json.NewDecoder(io.LimitReader(resp.Body, 1<<20)).Decode(&wire); err != nil {
				return schema.Profile{}, fmt.Errorf("web: %w", err)
			}
			return schema.Profile{Common: schema.Common{ID: wire.ID, URL: base + "/" + handle}, Handle: wire.Name}, nil
		},
	}
}

func TestHostileUpstreams(t *testing.T) {
	t.Parallel()
	upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for name := range r.Header {
			if name != "User-Agent" && name != "Accept-Encoding" {
				t.Errorf("the upstream sees the caller's %s", name)
			}
		}
		switch r.URL.Path {
		case "/good":
			_, _ = io.WriteString(w, `{"id":"1","name":"good"}`)
		case "/html":
			_, _ = io.WriteString(w, `<!doctype html><title>Are you human?</title>`)
		case "/truncated":
			_, _ = io.WriteString(w, `{"id":"1","na`)
		case "/shape":
			_, _ = io.WriteString(w, `{"id":{"deep":[1]},"name":7}`)
		case "/empty":
		case "/nothing":
			_, _ = io.WriteString(w, `{}`)
		case "/endless":
			for chunk := strings.Repeat(" ", 1<<16); ; {
				if _, err := io.WriteString(w, chunk); err != nil {
					return
				}
			}
		case "/broken":
			panic(http.ErrAbortHandler)
		}
	}))
	t.Cleanup(upstream.Close)
	for _, body := range []string{"html", "truncated", "shape", "empty", "nothing", "endless", "broken"} {
		t.Run(body, func(t *testing.T) {
			t.Parallel()
			p, calls := counted(webProvider(upstream.URL, upstream.Client()))
			s := open(t, enginetest.Config{Providers: []providers.Provider{p}})
			for range 2 {
				s.with(t, "/v1/github/profile?handle="+body, "Cookie", "a=b", "X-Secret", "c", "Accept-Language",
					"ar").wantProblem(t, problem.PlatformUnavailable)
			}
			if s.Balance(t) != 1000 || calls.Count() != 2 {
				t.Errorf("%d credits are left after %d calls; want nothing charged, nothing cached", s.Balance(t), calls.Count())
			}
			if r := s.get(t, "/v1/github/profile?handle=good"); r.status != http.StatusOK {
				t.Errorf("the next call returned %s", r.body)
			}
		})
	}
}

func TestMountsUnderAPrefix(t *testing.T) {
	t.Parallel()
	s := &site{Engine: enginetest.New(t, enginetest.Config{})}
	srv, err := server.New(s.Open)
	if err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.Handle("/data/", http.StripPrefix("/data", srv.Handler()))
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTeapot) })
	s.web = httptest.NewServer(mux)
	t.Cleanup(s.web.Close)
	for path, want := range map[string]int{
		"/data/v1/mock/profile?handle=salma": 200, "/data/v1/me": 200, "/data/docs": 200, "/data/openapi.json": 200, "/data/health": 200,
		"/data/v1/nothing": 404, "/data/nothing": 404, "/data/": 302, "/v1/me": http.StatusTeapot, "/": http.StatusTeapot,
	} {
		if r := s.get(t, path); r.status != want {
			t.Errorf("%s returned %d, want %d", path, r.status, want)
		}
	}
	one := s.get(t, "/data/v1/mock/posts?handle=salma")
	link, _, _ := strings.Cut(strings.TrimPrefix(one.header.Get("Link"), "<"), ">")
	at, err := url.Parse(s.web.URL + "/data/v1/mock/posts?handle=salma")
	if err != nil {
		t.Fatal(err)
	}
	next, err := at.Parse(link)
	if err != nil {
		t.Fatal(err)
	}
	if r := s.get(t, next.RequestURI()); r.status != http.StatusOK {
		t.Errorf("the link to the next page is wrong under a prefix: %s", next)
	}
	docs := string(s.get(t, "/data/docs").body)
	if strings.Contains(docs, `href="/`) {
		t.Error("the documentation links to the root of the host")
	}
}

func TestRawOverHTTP(t *testing.T) {
	t.Parallel()
	s := open(t, enginetest.Config{})
	r := s.with(t, "/v1/raw/mock/echo/%D8%B3%20x?a=1&a=2&cursor=c&include_raw=odd&fresh=true", "Cookie", "a=b", "X-Secret",
		"c")
	got := r.envelope(t)
	want := `{"path":"echo/س x","query":{"a":["1","2"],"cursor":["c"],"include_raw":["odd"]}}`
	if diff := cmp.Diff(want, string(got.Data)); diff != "" {
		t.Errorf("the requests to the provider (-want +got):\n%s", diff)
	}
	if got.Meta.CreditsUsed != 2 {
		t.Errorf("it cost %d, want 2", got.Meta.CreditsUsed)
	}
	newDescription(t).check(t, operationOf(t, "raw"), r)
	s.get(t, "/v1/raw/mock/users/not_found").wantProblem(t, problem.NotFound)
	s.get(t, "/v1/raw/mock/users/upstream_error").wantProblem(t, problem.PlatformUnavailable)
	s.get(t, "/v1/raw/mock/users/timeout").wantProblem(t, problem.UpstreamTimeout)
	s.WantBalance(t, 998)
}

func operationOf(t *testing.T, name string) *operation.Operation {
	t.Helper()
	for _, o := range socialdata.Operations() {
		if o.Name == name {
			return o
		}
	}
	t.Fatalf("there is no operation %s", name)
	return nil
}

func TestReadiness(t *testing.T) {
	t.Parallel()
	down := errors.New("the store's password is xyz")
	s := open(t, enginetest.Config{}, server.WithReady(func(context.Context) error { return down }))
	if p := s.getAs(t, "", "/readyz").wantProblem(t, problem.PlatformUnavailable, "not ready"); strings.Contains(p.Detail,
		"xyz") {
		t.Errorf("readyz shows the cause: %q", p.Detail)
	}
	if r := s.getAs(t, "", "/livez"); r.status != http.StatusOK {
		t.Errorf("livez: status %d, want 200", r.status)
	}
}

// hangingKeys are keys that cannot be looked up before release is closed.
type hangingKeys struct {
	keys.Store
	release chan struct{}
}

func (k hangingKeys) Lookup(ctx context.Context, h keys.Hash) (keys.Key, error) {
	select {
	case <-k.release:
		return k.Store.Lookup(ctx, h)
	case <-ctx.Done():
		return keys.Key{}, ctx.Err()
	}
}

func TestAServerWhoseStoreHangsIsNotReady(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		e := enginetest.New(t, enginetest.Config{})
		store := hangingKeys{e.Keys, make(chan struct{})}
		client, err := socialdata.New(socialdata.WithLedger(e.Ledger), socialdata.WithKeys(store),
			socialdata.WithEnricher(enginetest.Enricher()))
		if err != nil {
			t.Fatal(err)
		}
		defer client.Close(context.Background()) //nolint:errcheck // only a test's own
		srv, err := server.New(client)
		if err != nil {
			t.Fatal(err)
		}
		status := func() int {
			w := httptest.NewRecorder()
			srv.Handler().ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/readyz", nil))
			return w.Code
		}
		if got := status(); got != http.StatusOK {
			t.Errorf("before any call: %d", got)
		}
		for range 3 {
			go client.Authenticate(t.Context(), e.Secret) //nolint:errcheck // it only has to wait
		}
		time.Sleep(3 * time.Second)
		if got := status(); got != http.StatusServiceUnavailable {
			t.Errorf("while the keys hang: %d", got)
		}
		close(store.release)
		time.Sleep(2 * time.Second) // it is left alone for as long
		status()                    // probes it
		synctest.Wait()
		if got := status(); got != http.StatusOK {
			t.Errorf("after the keys have answered: %d", got)
		}
	})
}

func TestDocumentationHoldsEveryOperationAndSection(t *testing.T) {
	t.Parallel()
	s := open(t, enginetest.Config{},
		server.WithSections(server.Section{Title: "sandbox", Head: []string{"word"}, Rows: [][]string{{"<not_found>"}}}))
	docs := string(s.getAs(t, "", "/docs").body)
	for _, o := range socialdata.Operations() {
		if !strings.Contains(docs, "<code>"+strings.ReplaceAll(o.Path, "...", "")+"</code>") {
			t.Errorf("%s is not in the documentation", o.Path)
		}
	}
	for _, want := range []string{"sandbox", "&lt;not_found&gt;"} {
		if !strings.Contains(docs, want) {
			t.Errorf("%q is not in the documentation", want)
		}
	}
}

// bubble serves an engine without a network, for tests in a synctest bubble.
func bubble(t *testing.T, cfg enginetest.Config) *site {
	t.Helper()
	s := &site{Engine: enginetest.New(t, cfg)}
	srv, err := server.New(s.Open)
	if err != nil {
		t.Fatal(err)
	}
	s.handler = srv.Handler()
	return s
}

func TestAJobOverHTTP(t *testing.T) {
	t.Parallel()
	doc := newDescription(t)
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		s := bubble(t, enginetest.Config{Providers: []providers.Provider{
			mock.NewFor(platform.TikTok, mock.Config{}), mock.NewFor(platform.X, mock.Config{Release: release}),
		}})
		first := s.get(t, "/v1/search?query=pending_on_x&wait_s=1")
		doc.check(t, operationOf(t, "search_across"), first)
		e := first.envelope(t)
		if e.Meta.JobID == "" || first.header.Get("Retry-After") != "2" || first.header.Get("Cache-Control") != "no-store" ||
			first.header.Get("ETag") != "" {
			t.Errorf("%v, %+v", first.header, e.Meta)
		}
		close(release)
		rest := s.get(t, "/v1/job?wait_s=5&id="+e.Meta.JobID)
		doc.check(t, operationOf(t, "job"), rest)
		got := rest.envelope(t)
		if got.Meta.JobID != "" || got.Meta.CreditsUsed != 2 || rest.header.Get("Retry-After") != "" || len(got.Data) < 100 {
			t.Errorf("got %v, %+v; want the whole search for 2 credits and no job", rest.header, got.Meta)
		}
		inside, err := s.Client.Job(t.Context(), socialdata.JobRequest{ID: e.Meta.JobID})
		if err != nil {
			t.Fatal(err)
		}
		whole := s.get(t, "/v1/job?id="+e.Meta.JobID).envelope(t)
		if data, err := schema.Marshal(inside.Data); err != nil || string(data) != string(whole.Data) {
			t.Errorf("the complete results differ, or %v", err)
		}
		_, other := s.Account(t, "another", 10)
		foreign, unknown := s.getAs(t, other, "/v1/job?id="+e.Meta.JobID), s.getAs(t, other, "/v1/job?id=job_unknown")
		p, q := foreign.wantProblem(t, problem.NotFound), unknown.wantProblem(t, problem.NotFound)
		if diff := cmp.Diff(strings.ReplaceAll(string(unknown.body), q.RequestID, ""),
			strings.ReplaceAll(string(foreign.body), p.RequestID, "")); diff != "" {
			t.Errorf("the answer shows whether there is a job (-unknown +foreign):\n%s", diff)
		}
	})
}

func TestASearchIsStreamed(t *testing.T) {
	t.Parallel()
	s := open(t, enginetest.Config{Providers: enginetest.Sandboxes(mock.Config{}, platform.TikTok, platform.X)})
	r := s.with(t, "/v1/search?query=upstream_error_on_x&include_raw=true", "Accept", "text/event-stream")
	if r.status != http.StatusOK || r.header.Get("Content-Type") != "text/event-stream" ||
		r.header.Get("Cache-Control") != "no-store" {
		t.Fatalf("%d, %v", r.status, r.header)
	}
	states := map[string]string{}
	results, done := 0, false
	for event := range strings.SplitSeq(strings.TrimSuffix(string(r.body), "\n\n"), "\n\n") {
		name, data, ok := strings.Cut(event, "\ndata: ")
		if !ok || strings.Contains(data, "\n") || done {
			t.Fatalf("an event is %q", event)
		}
		switch name {
		case "event: platform":
			var p struct{ Platform, State string }
			if err := json.Unmarshal([]byte(data), &p); err != nil {
				t.Fatal(err)
			}
			states[p.Platform] = p.State
		case "event: result":
			var o schema.SearchResult
			if err := json.Unmarshal([]byte(data), &o); err != nil || len(o.Shared().Raw) == 0 {
				t.Fatalf("%v in %s", err, data)
			}
			results++
		case "event: done":
			var e struct{ Meta schema.Meta }
			if err := json.Unmarshal([]byte(data), &e); err != nil || e.Meta.CreditsUsed != 1 ||
				e.Meta.CreditsRemaining != 999 || e.Meta.NextCursor == "" {
				t.Errorf("%v in %s", err, data)
			}
			done = true
		default:
			t.Errorf("an event is %q", event)
		}
	}
	if diff := cmp.Diff(map[string]string{"tiktok": "ok", "x": "error"}, states); diff != "" || results != 20 || !done {
		t.Errorf("%d results, done %t, platforms (-want +got):\n%s", results, done, diff)
	}
	s.with(t, "/v1/search?query=", "Accept", "text/event-stream").wantProblem(t, problem.InvalidRequest, `"query"`)
	late := s.with(t, "/v1/search?query=upstream_error", "Accept", "text/event-stream")
	if !strings.Contains(string(late.body), "event: error\ndata: {") ||
		!strings.Contains(string(late.body), `"code":"platform_unavailable"`) {
		t.Errorf("a failure after the first event is %s", late.body)
	}
	s.WantBalance(t, 999)
}

func TestAPanicOfTheHandlerIsAProblem(t *testing.T) {
	t.Parallel()
	s := open(t, enginetest.Config{}, server.WithReady(func(context.Context) error { panic("secret") }))
	r := s.getAs(t, "", "/readyz")
	if p := r.wantProblem(t, problem.InternalError); strings.Contains(p.Detail, "secret") {
		t.Errorf("the body shows internals: %s", r.body)
	}
}
