package github_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/github"
	"github.com/socialdata/socialdata/providers/providertest"
	"github.com/socialdata/socialdata/schema"
)

func TestProvider(t *testing.T) {
	t.Parallel()
	providertest.Run(t, providertest.Suite{
		New: func(c *http.Client) providers.Provider { return github.New(github.Config{HTTP: c}) },
		Calls: []providertest.Call{
			profile("profile", "annexample"),
			profile("profile-bare", "bare"),
			profile("profile-organization", "example-org"),
			profile("profile-organization-without-its-page", "lonely-org"),
			providertest.List("posts", func(ctx context.Context, p providers.Provider, cursor string) (providers.Page[schema.Post], error) {
				return p.Posts(ctx, "annexample", cursor)
			}),
			post("post", "annexample/tea"),
			post("post-by-number", "5"),
			comments("comments", "annexample/tea"),
			comments("comments-of-issue", "annexample/tea#3"),
			providertest.List("followers", func(ctx context.Context, p providers.Provider, cursor string) (providers.Page[schema.Profile], error) {
				return p.Followers(ctx, "annexample", cursor)
			}),
			providertest.List("following", func(ctx context.Context, p providers.Provider, cursor string) (providers.Page[schema.Profile], error) {
				return p.Following(ctx, "annexample", cursor)
			}),
			search("search-profiles", providers.SearchQuery{Query: "bob", Kind: schema.ProfileResult}),
			search("search-posts", providers.SearchQuery{
				Query: "tea", Sort: "recent", Since: time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC),
			}),
			search("search-past-the-end", providers.SearchQuery{Query: "deep"}),
			providertest.List("linked", func(ctx context.Context, p providers.Provider, cursor string) (providers.Page[schema.LinkedProfile], error) {
				return p.Linked(ctx, "annexample", cursor)
			}),
		},
		Fails: []providertest.Fail{
			{Call: profile("unknown login", "nobody"), Want: providers.ErrNotFound},
			{Call: profile("primary limit", "limited"), Want: providers.ErrUnavailable},
			{Call: profile("secondary limit", "secondary"), Want: providers.ErrUnavailable},
			{Call: profile("secondary limit with a time", "abuse"), Want: providers.ErrUnavailable},
			{Call: profile("missing permission", "forbidden"), Want: providers.ErrUnavailable},
			{Call: profile("bad token", "bad"), Want: providers.ErrUnavailable},
			{Call: post("private repository", "annexample/secret"), Want: providers.ErrNotFound},
			{Call: post("blocked repository", "a/blocked"), Want: providers.ErrNotFound},
			{Call: post("blocked repository with status 403", "a/blocked403"), Want: providers.ErrNotFound},
		},
		Inputs: []providertest.Input{
			{Subject: providers.Handle, In: "@Torvalds", Want: "torvalds"},
			{Subject: providers.Handle, In: "https://github.com/Torvalds/linux", Want: "torvalds"},
			{Subject: providers.Handle, In: "dependabot[bot]", Want: "dependabot[bot]"},
			{Subject: providers.Handle, In: "https://gitlab.com/torvalds"},
			{Subject: providers.Handle, In: "https://github.com/settings"},
			{Subject: providers.Handle, In: "a/b"},
			{Subject: providers.PostID, In: "https://github.com/Octocat/Hello.git", Want: "octocat/hello"},
			{Subject: providers.PostID, In: "github.com/o/r/issues/12", Want: "o/r#12"},
			{Subject: providers.PostID, In: "112116543", Want: "112116543"},
			{Subject: providers.PostID, In: "octocat"},
		},
	})
}

func TestALimitClosesTheBucketAtOnce(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		header http.Header
		body   string
		low    time.Duration // what the caller is told to wait, at least
		top    time.Duration
	}{
		{"primary", http.Header{"X-Ratelimit-Remaining": {"0"}, "X-Ratelimit-Reset": {"4102444800"}}, "{}", time.Hour, time.Hour},
		{"primary without its end", http.Header{"X-Ratelimit-Remaining": {"0"}}, "{}", time.Minute, time.Minute},
		{"secondary", http.Header{"X-Ratelimit-Remaining": {"57"}}, `{"message":"You have exceeded a secondary rate limit."}`, time.Minute, time.Minute},
		{"secondary with a time", http.Header{"Retry-After": {"90"}}, "{}", 90 * time.Second, 90 * time.Second},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			calls := 0
			p := github.New(github.Config{HTTP: &http.Client{Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
				calls++
				return &http.Response{
					StatusCode: http.StatusForbidden, Body: io.NopCloser(strings.NewReader(tt.body)), Request: r, Header: tt.header,
				}, nil
			})}})
			_, err := p.Profile(t.Context(), "ann")
			e, ok := errors.AsType[*providers.Error](err)
			if !ok || e.RetryAfter < tt.low || e.RetryAfter > tt.top {
				t.Errorf("got %v, want to be told to wait from %v to %v", err, tt.low, tt.top)
			}
			for range 2 {
				if _, err := p.Profile(t.Context(), "ann"); !errors.Is(err, providers.ErrUnavailable) {
					t.Errorf("got %v, want ErrUnavailable", err)
				}
			}
			if calls != 1 {
				t.Errorf("%d requests went out, want 1: the bucket is closed until its reset", calls)
			}
		})
	}
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func profile(name, handle string) providertest.Call {
	return providertest.One(name, func(ctx context.Context, p providers.Provider) (schema.Profile, error) {
		return p.Profile(ctx, handle)
	})
}

func post(name, id string) providertest.Call {
	return providertest.One(name, func(ctx context.Context, p providers.Provider) (schema.Post, error) {
		return p.Post(ctx, id)
	})
}

func comments(name, id string) providertest.Call {
	return providertest.List(name, func(ctx context.Context, p providers.Provider, cursor string) (providers.Page[schema.Comment], error) {
		return p.Comments(ctx, id, cursor)
	})
}

func search(name string, q providers.SearchQuery) providertest.Call {
	return providertest.List(name, func(ctx context.Context, p providers.Provider, cursor string) (providers.Page[schema.SearchResult], error) {
		return p.Search(ctx, q, cursor)
	})
}
