package read_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/socialdata/socialdata"
	"github.com/socialdata/socialdata/cache"
	"github.com/socialdata/socialdata/internal/enginetest"
	"github.com/socialdata/socialdata/observe"
	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/privacy"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/upstream"
	"github.com/socialdata/socialdata/schema"
)

const bio = "write to ann@example.com or call +966 55 123 4567"

// talkative is a provider with an email address and a telephone number in its texts and raw.
func talkative() providers.Provider {
	raw := json.RawMessage(`{"id":"0551234567","bio":"ann\u0040example.com","contact_phone":966551234567}`)
	return providers.Provider{
		Name: "github", Platform: platform.GitHub, Source: schema.Own,
		Profile: func(context.Context, string) (schema.Profile, error) {
			return schema.Profile{
				Common: schema.Common{ID: "0551234567", URL: "https://github.com/ann", Raw: raw}, Handle: "ann", Bio: new(bio),
			}, nil
		},
		Posts: func(context.Context, string, string) (providers.Page[schema.Post], error) {
			with, without := enginetest.Post("p1"), enginetest.Post("p2")
			with.Text, with.Raw = bio, raw
			return providers.Page[schema.Post]{Items: []schema.Post{with, without}}, nil
		},
		Search: func(context.Context, providers.SearchQuery, string) (providers.Page[schema.SearchResult], error) {
			p := schema.Profile{Common: schema.Common{ID: "1", URL: "https://github.com/ann"}, Handle: "ann", Bio: new(bio)}
			return providers.Page[schema.SearchResult]{Items: []schema.SearchResult{schema.Result(&p)}}, nil
		},
		Routes:  providers.Routes(platform.GitHub, "users/{login}"),
		Forward: func(context.Context, string, url.Values) (json.RawMessage, error) { return raw, nil },
	}
}

// answered returns an answer, whose state must be want.
func answered[T any](t *testing.T, e *schema.Envelope[T], err error, want schema.CacheState) *schema.Envelope[T] {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	if e.Meta.Cache != want {
		t.Errorf("%T is a %s; want a %s", e.Data, e.Meta.Cache, want)
	}
	return e
}

func TestRedactedTextIsNeitherShownNorStored(t *testing.T) {
	t.Parallel()
	kept := cache.NewMemory(cache.MemoryConfig{})
	var mu sync.Mutex
	drift := map[string]int{}
	observer := observe.Observer{Drift: func(d observe.Drift) {
		mu.Lock()
		defer mu.Unlock()
		drift[d.Operation+" "+d.Field]++
	}}
	open := func(kinds ...privacy.Redaction) *enginetest.Engine {
		return enginetest.New(t, enginetest.Config{Cache: kept, Providers: []providers.Provider{talkative()}, Options: []socialdata.Option{
			socialdata.WithRedaction(kinds...), socialdata.WithObserver(observer),
		}})
	}
	ask := func(e *enginetest.Engine, want schema.CacheState) string {
		t.Helper()
		var out []any
		profile, err := e.Client.Profile(t.Context(), socialdata.ProfileRequest{Platform: platform.GitHub, Handle: "ann", ReadOptions: socialdata.ReadOptions{IncludeRaw: true}})
		out = append(out, answered(t, profile, err, want))
		posts, err := e.Client.Posts(t.Context(), socialdata.PostsRequest{Platform: platform.GitHub, Handle: "ann", ReadOptions: socialdata.ReadOptions{IncludeRaw: true}})
		out = append(out, answered(t, posts, err, want))
		found, err := e.Client.Search(t.Context(), socialdata.SearchRequest{Platform: platform.GitHub, Query: "ann"})
		out = append(out, answered(t, found, err, want))
		raw, err := e.Client.Raw(t.Context(), socialdata.RawRequest{Provider: "github", Path: "users/ann"})
		out = append(out, answered(t, raw, err, want))
		b, err := json.Marshal(out)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	both := open(privacy.Emails, privacy.Phones)
	for _, state := range []schema.CacheState{schema.Miss, schema.Hit} {
		got := ask(both, state)
		for _, leak := range []string{"ann@", "ann\\u0040", "123 4567", "966551234567"} {
			if strings.Contains(got, leak) {
				t.Errorf("a %s shows %s: %s", state, leak, got)
			}
		}
		if n := strings.Count(got, "[redacted]"); n != 12 { // two in each of three texts, two in each of three raws
			t.Errorf("a %s has %d marks: %s", state, n, got)
		}
		if n := strings.Count(got, `"0551234567"`); n != 4 {
			t.Errorf("a %s has %d ids: %s", state, n, got)
		}
	}
	want := map[string]int{}
	for op, n := range map[string]int{"profile": 2, "posts": 2, "search": 1, "raw": 1} {
		want[op+" redacted_emails"], want[op+" redacted_phones"] = n, n
	}
	mu.Lock()
	if diff := cmp.Diff(want, drift); diff != "" {
		t.Errorf("counted (-want +got):\n%s", diff)
	}
	mu.Unlock()
	if state := enginetest.Health(t, both.Open).Platforms[platform.GitHub]; state != schema.Healthy {
		t.Errorf("the platform is %s", state)
	}
	// An engine with another setting does not use the entries in a shared cache.
	phones := open(privacy.Phones)
	if got := ask(phones, schema.Miss); !strings.Contains(got, "ann@example.com") || strings.Contains(got, "123 4567") {
		t.Errorf("with phones alone: %s", got)
	}
	if got := ask(open(), schema.Miss); strings.Contains(got, "[redacted]") || !strings.Contains(got, "966551234567") {
		t.Errorf("with nothing: %s", got)
	}
	for e, want := range map[*enginetest.Engine][]string{both: {"emails", "phones"}, phones: {"phones"}, open(): {}} {
		list, err := e.Client.Platforms(t.Context(), socialdata.PlatformsRequest{})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, list.Data[0].Redacted); diff != "" {
			t.Errorf("platforms tell (-want +got):\n%s", diff)
		}
	}
}

// TestAnErasureDropsAnswersStoredForRevalidation reads an upstream that answers 304 to a matching validator.
func TestAnErasureDropsAnswersStoredForRevalidation(t *testing.T) {
	t.Parallel()
	var whole, confirmed atomic.Int64
	api := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("If-None-Match") != "" {
			confirmed.Add(1)
			w.WriteHeader(http.StatusNotModified)
			return
		}
		whole.Add(1)
		w.Header().Set("ETag", `"1"`)
		_, _ = w.Write([]byte(`{"login":"ann","bio":"ann@example.com"}`))
	}))
	t.Cleanup(api.Close)
	reads := func(options ...socialdata.Option) func() (sum [2]int64) {
		web := upstream.New(upstream.Config{HTTP: &http.Client{Transport: providers.Transport()}, Base: api.URL})
		p := enginetest.Profiles(platform.GitHub, "github", schema.Own, func(ctx context.Context, _ string) (schema.Profile, error) {
			var user struct {
				Login string `json:"login"`
				Bio   string `json:"bio"`
			}
			if _, err := web.JSON(ctx, upstream.Get("user"), &user); err != nil {
				return schema.Profile{}, err
			}
			return schema.Profile{Common: schema.Common{ID: "1", URL: "https://github.com/ann"}, Handle: user.Login, Bio: &user.Bio}, nil
		})
		e := enginetest.New(t, enginetest.Config{Providers: []providers.Provider{p}, Options: options})
		return func() [2]int64 {
			t.Helper()
			whole.Store(0)
			confirmed.Store(0)
			for _, erase := range []bool{false, false, true} {
				if erase {
					if _, err := e.Open.Operator().Erase(t.Context(), schema.EraseRequest{Platform: platform.GitHub, Handle: "another"}); err != nil {
						t.Fatal(err)
					}
				}
				e.Clock.Advance(3 * 3600 * 1e9)
				if _, err := e.Client.Profile(t.Context(), socialdata.ProfileRequest{Platform: platform.GitHub, Handle: "ann"}); err != nil {
					t.Fatal(err)
				}
			}
			return [2]int64{whole.Load(), confirmed.Load()}
		}
	}
	if got := reads()(); got != [2]int64{2, 1} {
		t.Errorf("%d whole answers and %d confirmed; want the second confirmed, and the one after the erasure whole", got[0], got[1])
	}
	if got := reads(socialdata.WithRedaction(privacy.Emails))(); got != [2]int64{3, 0} {
		t.Errorf("%d whole answers and %d confirmed; want nothing kept of which something is blanked", got[0], got[1])
	}
}
