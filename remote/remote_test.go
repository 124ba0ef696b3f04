package remote_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/socialdata/socialdata"
	"github.com/socialdata/socialdata/accounts"
	"github.com/socialdata/socialdata/internal/enginetest"
	"github.com/socialdata/socialdata/operation"
	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/problem"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/mock"
	"github.com/socialdata/socialdata/remote"
	"github.com/socialdata/socialdata/schema"
	"github.com/socialdata/socialdata/server"
)

// traffic is what a client has sent and received.
type traffic struct {
	mu        sync.Mutex
	keys      []string // idempotency keys
	bytes     []int    // of bodies
	statuses  []int
	transport http.RoundTripper
}

func (tr *traffic) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := tr.transport.RoundTrip(r)
	tr.mu.Lock()
	defer tr.mu.Unlock()
	tr.keys = append(tr.keys, r.Header.Get("Idempotency-Key"))
	if err == nil {
		tr.statuses = append(tr.statuses, resp.StatusCode)
		tr.bytes = append(tr.bytes, int(resp.ContentLength))
	}
	return resp, err
}

// serve serves an engine, and returns a client of it with its traffic. Its key is that of e unless cfg has one.
func serve(t *testing.T, e *enginetest.Engine, cfg remote.Config) (*remote.Client, *traffic) {
	t.Helper()
	srv, err := server.New(e.Open, server.WithChanges())
	if err != nil {
		t.Fatal(err)
	}
	web := httptest.NewServer(srv.Handler())
	t.Cleanup(web.Close)
	seen := &traffic{transport: web.Client().Transport}
	if cfg.HTTPClient = (&http.Client{Transport: seen}); cfg.Key == "" {
		cfg.Key = e.Secret
	}
	c, err := remote.New(web.URL+"/", cfg)
	if err != nil {
		t.Fatal(err)
	}
	return c, seen
}

func salma() socialdata.ProfileRequest {
	return socialdata.ProfileRequest{Platform: platform.Mock, Handle: "salma"}
}

func TestUnchangedAnswersAreNotSentAgain(t *testing.T) {
	t.Parallel()
	e := enginetest.New(t, enginetest.Config{})
	c, seen := serve(t, e, remote.Config{})
	req := socialdata.PostsRequest{Platform: platform.Mock, Handle: "salma"}
	first, err := c.Posts(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	e.Clock.Advance(time.Minute)
	second, err := c.Posts(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]int{http.StatusOK, http.StatusNotModified}, seen.statuses); diff != "" {
		t.Errorf("statuses (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(first.Data, second.Data); diff != "" {
		t.Errorf("data (-first +second):\n%s", diff)
	}
	want := first.Meta
	want.Cache, want.DataAgeS, want.CreditsRemaining = schema.Hit, 60, first.Meta.CreditsRemaining-1
	want.RequestID, want.NextCursor = second.Meta.RequestID, second.Meta.NextCursor
	if diff := cmp.Diff(want, second.Meta); diff != "" || second.Meta.RequestID == first.Meta.RequestID {
		t.Errorf("meta (-want +got):\n%s", diff)
	}
	req.Cursor = second.Meta.NextCursor
	if _, err := c.Posts(t.Context(), req); err != nil {
		t.Errorf("the cursor of an unchanged answer: %v", err)
	}
	if left := e.Balance(t); left != 997 {
		t.Errorf("%d credits are left of 1000 after three reads; want 997", left)
	}
}

func TestEveryChargedCallHasItsOwnIdempotencyKey(t *testing.T) {
	t.Parallel()
	c, seen := serve(t, enginetest.New(t, enginetest.Config{}), remote.Config{})
	own := salma()
	own.IdempotencyKey = "the-callers-own-key"
	for _, req := range []socialdata.ProfileRequest{salma(), salma(), own, own} {
		if _, err := c.Profile(t.Context(), req); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := c.Account().Me(t.Context(), accounts.MeRequest{}); err != nil {
		t.Fatal(err)
	}
	k := seen.keys
	if len(k) != 5 || len(k[0]) < 16 || len(k[1]) < 16 || k[0] == k[1] || k[2] != own.IdempotencyKey || k[3] != k[2] ||
		k[4] != "" {
		t.Errorf("the keys are %q; want two new ones, the caller's own twice, and none for a free call", k)
	}
}

func TestACallThatFailsIsRepeatedAndChargedOnce(t *testing.T) {
	t.Parallel()
	e := enginetest.New(t, enginetest.Config{})
	c, seen := serve(t, e, remote.Config{})
	lost := 0
	inner := seen.transport
	seen.transport = roundTrip(func(r *http.Request) (*http.Response, error) {
		resp, err := inner.RoundTrip(r)
		if lost++; err == nil && lost == 1 { // the service has answered and charged, but the answer is lost
			_ = resp.Body.Close()
			return nil, io.ErrUnexpectedEOF
		}
		return resp, err
	})
	got, err := c.Profile(t.Context(), salma())
	if err != nil || got.Data.Handle != "salma" {
		t.Fatalf("got %v, %v; want the profile of salma", got, err)
	}
	if charges := e.Charges(t); len(charges) != 1 || len(seen.keys) != 2 || seen.keys[0] != seen.keys[1] {
		t.Errorf("charges %v for the keys %q; want one for the same key twice", charges, seen.keys)
	}
}

func TestWalkAndPages(t *testing.T) {
	t.Parallel()
	e := enginetest.New(t, enginetest.Config{})
	c, _ := serve(t, e, remote.Config{})
	req := socialdata.CommentsRequest{Platform: platform.Mock, PostID: "salma"}
	var here, there []string
	for comment, err := range socialdata.Walk(t.Context(), e.Client.Comments, req) {
		if err != nil {
			t.Fatal(err)
		}
		here = append(here, comment.ID)
	}
	pages := 0
	for page, err := range socialdata.Pages(t.Context(), c.Comments, req) {
		if err != nil {
			t.Fatal(err)
		}
		pages++
		for _, comment := range page.Data {
			there = append(there, comment.ID)
		}
	}
	if diff := cmp.Diff(here, there); diff != "" || pages < 2 {
		t.Errorf("%d pages; (-library +remote):\n%s", pages, diff)
	}
}

// TestPagesLimitsAndStatsAreTheSameOverHTTP makes the same calls in this process and over HTTP.
func TestPagesLimitsAndStatsAreTheSameOverHTTP(t *testing.T) {
	t.Parallel()
	e := enginetest.New(t, enginetest.Config{})
	c, _ := serve(t, e, remote.Config{})
	posts := socialdata.PostsRequest{Platform: platform.Mock, Handle: "ann"}
	all, err := e.Client.Posts(t.Context(), socialdata.PostsRequest{Platform: platform.Mock, Handle: "ann", Page: socialdata.Page{Pages: 10}})
	if err != nil || len(all.Data) != 47 || all.Data[29].CreatedAt == nil {
		t.Fatalf("%d posts, %v; want 47 with their times", len(all.Data), err)
	}
	since, stop, limit := posts, posts, posts
	since.Since, since.Pages = *all.Data[29].CreatedAt, 2
	stop.StopAtID = all.Data[33].ID
	limit.Limit = 25
	for name, req := range map[string]socialdata.PostsRequest{"since": since, "stop_at_id": stop, "limit": limit} {
		var here, there []string
		for reader, ids := range map[socialdata.Reader]*[]string{e.Client: &here, c: &there} {
			for p, err := range socialdata.Walk(t.Context(), reader.Posts, req) {
				if err != nil {
					t.Fatalf("%s: %v", name, err)
				}
				*ids = append(*ids, p.ID)
			}
		}
		if diff := cmp.Diff(here, there); diff != "" || len(here) < 25 || len(here) > 34 {
			t.Errorf("%s: %d posts; (-library +remote):\n%s", name, len(here), diff)
		}
	}
	req := socialdata.StatsRequest{Platform: platform.Mock, Handle: "ann", Pages: 2}
	here, err := e.Client.Stats(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	there, err := c.Stats(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(here.Data, there.Data); diff != "" || there.Meta.CreditsUsed != 2 {
		t.Errorf("stats (-library +remote):\n%s%+v", diff, there.Meta)
	}
}

func TestASearchIsWatchedAndItsRestCollected(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	e := enginetest.Of(t,
		enginetest.Searcher(platform.GitHub, enginetest.Lists(10, enginetest.Some("g", 3)...)),
		enginetest.Late(enginetest.Searcher(platform.Bluesky, enginetest.Lists(10, enginetest.Some("b", 2)...)), release))
	c, _ := serve(t, e, remote.Config{})
	req := socialdata.SearchAcrossRequest{
		Query: "coffee", Platforms: []platform.ID{platform.GitHub, platform.Bluesky}, Wait: time.Second,
	}
	got, err := c.SearchAcross(t.Context(), req)
	if err != nil || len(got.Data) != 3 || got.Meta.JobID == "" || got.Meta.Platforms[platform.Bluesky] != schema.Pending {
		t.Fatalf("got %+v, %v; want 3 results, and bluesky pending in a job", got, err)
	}
	close(release)
	rest, err := c.Job(t.Context(), socialdata.JobRequest{ID: got.Meta.JobID, Wait: 5 * time.Second})
	if err != nil || len(rest.Data) != 5 || rest.Meta.CreditsUsed != 2 || rest.Meta.Platforms[platform.Bluesky] != schema.OK {
		t.Fatalf("got %+v, %v; want 5 results for 2 credits, and bluesky ok", rest, err)
	}
	req.Query = "tea"
	var ids []string
	states, done := map[platform.ID]schema.PlatformState{}, false
	err = c.WatchSearch(t.Context(), req, func(ev socialdata.SearchEvent) bool {
		switch {
		case ev.Result != nil:
			ids = append(ids, ev.Result.Shared().ID)
		case ev.Meta != nil:
			done = ev.Meta.CreditsUsed == 2
		default:
			states[ev.Platform] = ev.State
		}
		return true
	})
	if err != nil || len(ids) != 5 || !done || states[platform.GitHub] != schema.OK ||
		states[platform.Bluesky] != schema.OK {
		t.Errorf("watched %v, %v, %v, 2 credits: %t; want 5 results, both platforms ok", ids, states, err, done)
	}
	n := 0
	if err := c.WatchSearch(t.Context(), req, func(socialdata.SearchEvent) bool { n++; return false }); err != nil ||
		n != 1 {
		t.Errorf("a caller who stops sees %d events, %v; want one", n, err)
	}
	err = c.WatchSearch(t.Context(), socialdata.SearchAcrossRequest{}, func(socialdata.SearchEvent) bool { return true })
	enginetest.WantProblem(t, err, problem.InvalidRequest, `"query"`)
}

func TestInvalidPathsAreNotFound(t *testing.T) {
	t.Parallel()
	e := enginetest.New(t, enginetest.Config{})
	c, _ := serve(t, e, remote.Config{})
	raw, err := c.Raw(t.Context(), socialdata.RawRequest{Provider: "mock", Path: "users/salma_haddad"})
	if err != nil || raw.Data == nil {
		t.Errorf("got %v, %v; want the raw answer", raw, err)
	}
	for _, path := range []string{"../../me", "users/../../../me", "users/salma?fresh=true", "", "users//salma"} {
		_, err = c.Raw(t.Context(), socialdata.RawRequest{Provider: "mock", Path: path})
		if !errors.Is(err, problem.NotFound) {
			t.Errorf("path %q: %v; want %s", path, err, problem.NotFound)
		}
	}
	_, err = c.Profile(t.Context(), socialdata.ProfileRequest{Platform: "mock/../github", Handle: "salma"})
	enginetest.WantProblem(t, err, problem.NotFound)
	_, err = c.Profile(t.Context(), socialdata.ProfileRequest{Handle: "salma"})
	enginetest.WantProblem(t, err, problem.NotFound)
	_, err = c.Do(t.Context(), &operation.Operation{Name: "nothing"}, operation.Call{})
	if !errors.Is(err, problem.NotFound) {
		t.Errorf("an unknown operation: %v; want %s", err, problem.NotFound)
	}
}

// TestProblemsAreThoseOfTheLibrary checks that problems are the same in both clients, including the operation. Of the
// library's detail, which is in Go words in the process, that is the form that it has over HTTP.
func TestProblemsAreThoseOfTheLibrary(t *testing.T) {
	t.Parallel()
	e := enginetest.New(t, enginetest.Config{})
	c, _ := serve(t, e, remote.Config{Retries: -1})
	for _, w := range mock.Magic() {
		if w.Status < 400 || w.Where != "every operation" || w.Word == "hang" {
			continue
		}
		req := socialdata.ProfileRequest{Platform: platform.Mock, Handle: w.Word}
		_, here := e.Client.Profile(t.Context(), req)
		_, there := c.Profile(t.Context(), req)
		want, _ := errors.AsType[*problem.Error](here)
		got, _ := errors.AsType[*problem.Error](there)
		if want == nil || got == nil || got.Code != want.Code || got.Call != want.Call || got.RequestID == "" ||
			got.Detail != detailOverHTTP(t, want) || got.HTTPStatus() != want.HTTPStatus() ||
			got.RetryAfter.Round(time.Second) < want.RetryAfter {
			t.Errorf("%s: the library says %v, remote %v", w.Word, here, there)
		}
	}
}

func detailOverHTTP(t *testing.T, p *problem.Error) string {
	t.Helper()
	b, err := json.Marshal(p)
	var document struct{ Detail string }
	if err == nil {
		err = json.Unmarshal(b, &document)
	}
	if err != nil {
		t.Fatal(err)
	}
	return document.Detail
}

// roundTrip is a service in the process.
type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// through returns a client of a service in the process.
func through(t *testing.T, key string, service roundTrip) *remote.Client {
	t.Helper()
	c, err := remote.New("https://data.example", remote.Config{Key: key, HTTPClient: &http.Client{Transport: service}})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// reply is an answer of a service in the process.
func reply(status int, kind, body string, fields ...string) *http.Response {
	h := http.Header{"Content-Type": {kind}}
	for i := 0; i < len(fields); i += 2 {
		h.Set(fields[i], fields[i+1])
	}
	return &http.Response{StatusCode: status, Header: h, Body: io.NopCloser(strings.NewReader(body))}
}

func refused(code problem.Code, fields string) *http.Response {
	return reply(code.Status(), "application/problem+json", fmt.Sprintf(
		`{"type":"urn:socialdata:problem:%[1]s","title":"t","status":%[2]d,"detail":"d","code":%[1]q,"request_id":"req_1"%[3]s}`,
		code, code.Status(), fields))
}

func good() *http.Response {
	return reply(200, "application/json",
		`{"data":{"id":"1","handle":"salma"},"meta":{"credits_used":1,"credits_remaining":1,"cache":"MISS","data_age_s":0,"request_id":"req_2"}}`)
}

func TestWhichFailuresAreRepeated(t *testing.T) {
	t.Parallel()
	lost := func() *http.Response { return nil }
	tests := []struct {
		name    string
		first   func() *http.Response // nil for no answer
		want    problem.Code          // "" if the call is repeated
		atLeast time.Duration         // before the second request
	}{
		{"no answer", lost, "", 0},
		{"429 with a time", func() *http.Response { return refused(problem.RateLimited, `,"retry_after":7`) }, "", 7 * time.Second},
		{"503 with a time", func() *http.Response { return refused(problem.PlatformUnavailable, `,"retry_after":3`) }, "", 3 * time.Second},
		{"503 that waiting does not help", func() *http.Response { return refused(problem.PlatformUnavailable, "") }, problem.PlatformUnavailable, 0},
		{"a time beyond patience", func() *http.Response {
			return refused(problem.PlatformUnavailable, `,"retry_after":61`)
		}, problem.PlatformUnavailable, 0},
		{"502 of a proxy", func() *http.Response { return reply(502, "text/html", "<h1>bad gateway") }, "", 0},
		{"503 of a proxy with a time", func() *http.Response { return reply(503, "text/html", "", "Retry-After", "5") }, "", 5 * time.Second},
		{"404", func() *http.Response { return refused(problem.NotFound, "") }, problem.NotFound, 0},
		{"402", func() *http.Response { return refused(problem.InsufficientCredits, "") }, problem.InsufficientCredits, 0},
		{"500", func() *http.Response { return refused(problem.InternalError, "") }, problem.InternalError, 0},
		{"404 of a proxy", func() *http.Response { return reply(404, "text/html", "<h1>404 Not Found</h1>") }, problem.PlatformUnavailable, 0},
		{"404 without a body", func() *http.Response { return reply(404, "", "") }, problem.PlatformUnavailable, 0},
		{"404 of a gateway", func() *http.Response { return reply(404, "application/json", `{"code":"not_found"}`) }, problem.PlatformUnavailable, 0},
		{"404 of another service", func() *http.Response {
			return reply(404, "application/problem+json", `{"title":"Not Found","status":404}`)
		}, problem.PlatformUnavailable, 0},
		{"410 of a proxy", func() *http.Response { return reply(410, "text/html", "<h1>Gone</h1>") }, problem.PlatformUnavailable, 0},
		{"a page", func() *http.Response { return reply(200, "text/html", "<h1>hello") }, problem.PlatformUnavailable, 0},
		{"a redirect", func() *http.Response {
			return reply(302, "text/html", "", "Location", "https://elsewhere.example/")
		}, problem.PlatformUnavailable, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var at []time.Time
				c := through(t, "sk_live_secret", func(r *http.Request) (*http.Response, error) {
					if r.URL.Host != "data.example" {
						t.Errorf("requested %s", r.URL.Host)
					}
					if at = append(at, time.Now()); len(at) > 1 {
						return good(), nil
					}
					if resp := tt.first(); resp != nil {
						return resp, nil
					}
					return nil, io.ErrUnexpectedEOF
				})
				_, err := c.Profile(t.Context(), salma())
				if again := tt.want == ""; (len(at) == 2) != again || codeOf(t, err) != tt.want {
					t.Fatalf("%d requests, %v; want it repeated: %t, the code %q", len(at), err, again, tt.want)
				}
				if p, ok := errors.AsType[*problem.Error](err); ok && p.Call != "Profile on mock" {
					t.Errorf("%v is a problem of the call %q; want Profile on mock", err, p.Call)
				}
				if tt.want == "" && (at[1].Sub(at[0]) < tt.atLeast || at[1].Sub(at[0]) > tt.atLeast+time.Second) {
					t.Errorf("repeated after %v; want %v", at[1].Sub(at[0]), tt.atLeast)
				}
			})
		})
	}
}

// TestCallsGoWithoutAnIdempotencyKeyWhenTheServiceCannotStoreOne checks that a service that has no room for more
// idempotency keys is called without one.
func TestCallsGoWithoutAnIdempotencyKeyWhenTheServiceCannotStoreOne(t *testing.T) {
	t.Parallel()
	var keys []string
	c := through(t, "", func(r *http.Request) (*http.Response, error) {
		if keys = append(keys, r.Header.Get("Idempotency-Key")); keys[len(keys)-1] != "" {
			return refused(problem.RateLimited, `,"retry_after":40000`), nil
		}
		return good(), nil
	})
	if _, err := c.Profile(t.Context(), salma()); err != nil || len(keys) != 2 {
		t.Errorf("got %v with the keys %q; want a second call without a key", err, keys)
	}
	own := salma()
	own.IdempotencyKey = "the-callers-own-key"
	if _, err := c.Profile(t.Context(), own); !errors.Is(err, problem.RateLimited) || len(keys) != 3 {
		t.Errorf("with a key of the caller's own: %v with the keys %q; want %s at once", err, keys, problem.RateLimited)
	}
}

func TestACallEndsWithItsContext(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := through(t, "", func(*http.Request) (*http.Response, error) {
			return refused(problem.RateLimited, `,"retry_after":30`), nil
		})
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		begun := time.Now()
		_, err := c.Profile(ctx, salma())
		if !errors.Is(err, context.DeadlineExceeded) && !errors.Is(err, problem.RateLimited) ||
			time.Since(begun) > time.Second {
			t.Errorf("got %v after %v; want an error within a second", err, time.Since(begun))
		}
	})
}

// TestErrorsContainNeitherKeyNorSubject checks that neither the key nor the parameters are in any error.
func TestErrorsContainNeitherKeyNorSubject(t *testing.T) {
	t.Parallel()
	const key = "sk_live_0123456789abcdefghijklmnopqrstuv012345"
	c, err := remote.New("http://127.0.0.1:1", remote.Config{Key: key, Retries: -1})
	if err != nil {
		t.Fatal(err)
	}
	req := salma()
	req.Handle = "asked-in-private"
	_, err = c.Profile(t.Context(), req)
	text := fmt.Sprintf("%v %+v %v %+v %#v", err, err, c, c, c)
	if !errors.Is(err, problem.PlatformUnavailable) || strings.Contains(text, "private") || strings.Contains(text, key) {
		t.Errorf("got %s; want %s without key and handle", text, problem.PlatformUnavailable)
	}
	if !strings.Contains(err.Error(), "connection refused") || !strings.HasPrefix(err.Error(), "Profile on mock: ") {
		t.Errorf("got %q; want Profile on mock: … connection refused", err)
	}
}

func TestInvalidAddressesAndKeys(t *testing.T) {
	t.Parallel()
	for _, address := range []string{
		"", "data.example", "ftp://data.example", "https://", "https://user:pass@data.example", "https://data.example?x=1",
		"https://data.example#x", "https://data.example/v1", "https://data.example/v1/", "https://data.example/%zz",
	} {
		if _, err := remote.New(address, remote.Config{}); err == nil || strings.Contains(err.Error(), "pass@") {
			t.Errorf("address %q: %v; want an error without the password", address, err)
		}
	}
	for _, key := range []string{"sk_live_a b", "sk_live_a\n", "ключ"} {
		if _, err := remote.New("https://data.example", remote.Config{Key: key}); err == nil ||
			strings.Contains(err.Error(), key) {
			t.Errorf("key %q: %v; want an error without the key", key, err)
		}
	}
}

// TestAServiceBelowAPath uses a service that is mounted below a path, and has a platform of its own.
func TestAServiceBelowAPath(t *testing.T) {
	t.Parallel()
	own := enginetest.Profiles("mastodon", "own", schema.Own,
		func(_ context.Context, handle string) (schema.Profile, error) {
			return enginetest.Profile(handle), nil
		})
	e := enginetest.New(t, enginetest.Config{
		Providers: []providers.Provider{own},
		Options: []socialdata.Option{socialdata.WithPlatform(platform.Info{
			ID: "mastodon", Name: "Mastodon", BaseCredits: 1,
		})},
	})
	srv, err := server.New(e.Open)
	if err != nil {
		t.Fatal(err)
	}
	web := httptest.NewServer(http.StripPrefix("/data/api", srv.Handler()))
	t.Cleanup(web.Close)
	c, err := remote.New(web.URL+"/data/api", remote.Config{Key: e.Secret})
	if err != nil {
		t.Fatal(err)
	}
	got, err := c.Profile(t.Context(), socialdata.ProfileRequest{Platform: "mastodon", Handle: "salma"})
	if err != nil || got.Data.Handle != "salma" {
		t.Errorf("got %+v, %v; want the profile of salma", got, err)
	}
	if health, err := c.Health(t.Context()); err != nil || health.Status != "ok" {
		t.Errorf("health is %+v, %v; want ok", health, err)
	}
	if err := c.Close(t.Context()); err != nil {
		t.Error(err)
	}
}
