package truthsocial_test

import (
	"errors"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/providertest"
	"github.com/socialdata/socialdata/providers/truthsocial"
	"github.com/socialdata/socialdata/schema"
)

func TestProvider(t *testing.T) {
	t.Parallel()
	dated := providers.SearchQuery{
		Query: "tea", Since: time.Date(2026, 5, 1, 0, 0, 0, 0, time.UTC), Until: time.Date(2026, 6, 1, 0, 0, 0, 0, time.UTC),
	}
	datedProfiles := dated
	datedProfiles.Kind = schema.ProfileResult
	providertest.Run(t, providertest.Suite{
		New: func(c *http.Client) providers.Chain {
			return truthsocial.New(truthsocial.Config{Token: "secret-token", HTTP: c})
		},
		Calls: []providertest.Call{
			providertest.Profile("profile", "annexample"),
			providertest.Profile("profile-bare", "1776"),
			providertest.Profile("profile-by-number", "107000000000000002"),
			providertest.Posts("posts", "annexample"),
			providertest.Post("post", "116000000000000010"),
			providertest.Post("post-reblog", "116000000000000008"),
			providertest.Trending("trending", providers.TrendingQuery{}),
			providertest.Comments("comments", "116000000000000010"),
			providertest.Comments("comments-none", "116000000000000009"),
			providertest.Replies("replies", providers.RepliesQuery{CommentID: "116000000000000100", PostID: "116000000000000010"}),
			providertest.Replies("replies-of-an-unknown-post", providers.RepliesQuery{CommentID: "116000000000000100"}),
			providertest.Search("search-profiles", providers.SearchQuery{Query: "tea", Kind: schema.ProfileResult}),
			providertest.Search("search-posts", providers.SearchQuery{Query: "tea"}),
			providertest.Search("search-dated", dated),
			providertest.Suggestions("suggestions", providers.SuggestionsQuery{Query: "TEA"}),
			providertest.Community("community", "tea-house"),
			providertest.Community("community-bare", "110000000000000002"),
			providertest.CommunityPosts("community-posts", providers.CommunityPostsQuery{ID: "tea-house"}),
			providertest.CommunityPosts("community-posts-none", providers.CommunityPostsQuery{ID: "110000000000000002"}),
		},
		Fails: []providertest.Fail{
			{Call: providertest.Profile("unknown account", "nobody"), Want: providers.ErrNotFound},
			{Call: providertest.Profile("suspended account", "gone"), Want: providers.ErrNotFound},
			{Call: providertest.Posts("posts of a suspended account", "gone"), Want: providers.ErrNotFound},
			{Call: providertest.Profile("refused token", "hidden"), Want: providers.ErrUnavailable},
			{Call: providertest.Profile("refused token with status 422", "hidden422"), Want: providers.ErrUnavailable},
			{Call: providertest.Profile("rate limit", "limited"), Want: providers.ErrUnavailable},
			{Call: providertest.Profile("forbidden", "forbidden"), Want: providers.ErrUnavailable},
			{Call: providertest.Profile("Cloudflare's check", "challenged"), Want: providers.ErrUnavailable},
			{Call: providertest.Profile("a page with status 200", "page"), Want: providers.ErrUnavailable},
			{Call: providertest.Profile("passing trouble", "trouble"), Want: providers.ErrUnavailable},
			{Call: providertest.Profile("an answer of nothing", "nothing"), Want: providers.ErrUnavailable},
			{Call: providertest.Posts("a list of nothing", "107000000000000002"), Want: providers.ErrUnavailable},
			{Call: providertest.Search("a search of nothing", providers.SearchQuery{Query: "hasty"}), Want: providers.ErrUnavailable},
			{Call: providertest.Search("a filter that accounts lack", datedProfiles), Want: providers.ErrInvalid},
			{Call: providertest.Post("unknown post", "404"), Want: providers.ErrNotFound},
			{Call: providertest.Post("private post", "116000000000000007"), Want: providers.ErrNotFound},
			{Call: providertest.Comments("comments of an unknown post", "404"), Want: providers.ErrNotFound},
			{Call: providertest.Community("deleted group", "gone"), Want: providers.ErrNotFound},
			{Call: providertest.CommunityPosts("closed group", providers.CommunityPostsQuery{ID: "110000000000000004"}), Want: providers.ErrUnavailable},
			{Call: providertest.Posts("dead cursor", "annexample").From("1/abc"), Want: providers.ErrCursor},
			{Call: providertest.Comments("cursor that is no place", "116000000000000010").From("-1"), Want: providers.ErrCursor},
		},
		Inputs: []providertest.Input{
			{Subject: providers.Handle, In: "@AnnExample", Want: "annexample"},
			{Subject: providers.Handle, In: "ann@truthsocial.com", Want: "ann"},
			{Subject: providers.Handle, In: "https://truthsocial.com/@AnnExample/posts/116000000000000010", Want: "annexample"},
			{Subject: providers.Handle, In: "truthsocial.com/users/ann", Want: "ann"},
			{Subject: providers.Handle, In: "107780257626128497", Want: "107780257626128497"},
			{Subject: providers.Handle, In: "https://truthsocial.com/group/tea-house"},
			{Subject: providers.Handle, In: "https://mastodon.social/@ann"},
			{Subject: providers.Handle, In: "ann@mastodon.social"},
			{Subject: providers.Handle, In: "ann example"},
			{Subject: providers.PostID, In: "https://truthsocial.com/@AnnExample/116000000000000010", Want: "116000000000000010"},
			{Subject: providers.PostID, In: "https://truthsocial.com/@AnnExample/posts/116000000000000010?x=1", Want: "116000000000000010"},
			{Subject: providers.CommentID, In: "https://truthsocial.com/users/ann/statuses/116000000000000010", Want: "116000000000000010"},
			{Subject: providers.PostID, In: "https://truthsocial.com/group/tea-house/posts/116000000000000010", Want: "116000000000000010"},
			{Subject: providers.PostID, In: "https://truthsocial.com/groups/110000000000000001"},
			{Subject: providers.PostID, In: "https://truthsocial.com/"},
			{Subject: providers.PostID, In: "https://truthsocial.com/@ann"},
			{Subject: providers.PostID, In: "abc"},
			{Subject: providers.CommunityID, In: "https://truthsocial.com/group/Tea-House", Want: "tea-house"},
			{Subject: providers.CommunityID, In: "110000000000000001", Want: "110000000000000001"},
			{Subject: providers.CommunityID, In: "https://truthsocial.com/@ann"},
			{Subject: providers.CommunityID, In: "tea house"},
		},
	})
}

func TestWithoutATokenWhatNeedsOneIsNotServed(t *testing.T) {
	t.Parallel()
	p := truthsocial.New(truthsocial.Config{HTTP: always(http.StatusUnauthorized, `{"error":"This method requires an authenticated user"}`)})[0]
	needs := map[providers.Op][]string{}
	for _, op := range []providers.Op{
		providers.OpTrending, providers.OpSearch, providers.OpSuggestions, providers.OpComments, providers.OpReplies,
	} {
		needs[op] = []string{"token"}
	}
	if diff := cmp.Diff(needs, p.Missing); diff != "" {
		t.Errorf("missing settings (-want +got):\n%s", diff)
	}
	for op := range p.Filters {
		t.Errorf("filters for %s, which is not served", op)
	}
	// An account that hides from visitors says nothing about the upstream's health.
	_, err := p.Profile(t.Context(), "hidden")
	if !errors.Is(err, providers.ErrUnsupported) || !strings.Contains(err.Error(), "token") {
		t.Errorf("got error %v, want ErrUnsupported that names the token", err)
	}
}

func TestLeftOut(t *testing.T) {
	t.Parallel()
	providertest.Off(t, truthsocial.New(truthsocial.Config{Own: providers.OwnOff})[0])
}

func TestRequestsLookLikeTheSites(t *testing.T) {
	t.Parallel()
	var got http.Header
	p := truthsocial.New(truthsocial.Config{
		Token: "secret-token", CFClearance: "passed", UserAgent: "Browser/1",
		HTTP: &http.Client{Transport: providertest.Answers(func(r *http.Request) (int, string) {
			got = r.Header
			return http.StatusOK, "{}"
		})},
	})[0]
	_, _ = p.Profile(t.Context(), "ann") // there is nothing to read
	for name, want := range map[string]string{
		"Authorization": "Bearer secret-token", "Cookie": "cf_clearance=passed", "User-Agent": "Browser/1", "Sec-Fetch-Site": "same-origin",
	} {
		if got.Get(name) != want {
			t.Errorf("%s: %q, want %q", name, got.Get(name), want)
		}
	}
}

func TestForwardReadsNothingAboutTheTokensOwner(t *testing.T) {
	t.Parallel()
	p := truthsocial.New(truthsocial.Config{Token: "secret-token", HTTP: always(http.StatusOK, `{"id":"1"}`)})[0]
	for path, want := range map[string]error{
		"v1/accounts/107000000000000001": nil,
		"v1/accounts/lookup":             nil,
		"v1/timelines/tag/tea":           nil,
		"v1/accounts/verify_credentials": providers.ErrNotFound,
		"v1/accounts/relationships":      providers.ErrNotFound,
	} {
		if _, err := p.Forward(t.Context(), path, url.Values{}); !errors.Is(err, want) {
			t.Errorf("%s: got error %v, want %v", path, err, want)
		}
	}
}

func always(status int, body string) *http.Client {
	return &http.Client{Transport: providertest.Answers(func(*http.Request) (int, string) { return status, body })}
}
