package truthsocial_test

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
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
		Witness: true,
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
			{
				Call: providertest.CommunityPosts("an empty group, whose posts nothing counts", providers.CommunityPostsQuery{ID: "110000000000000002"}),
				Want: providers.ErrUnavailable,
			},
			{Call: providertest.CommunityPosts("closed group", providers.CommunityPostsQuery{ID: "110000000000000004"}), Want: providers.ErrUnavailable},
			{Call: providertest.Posts("dead cursor", "annexample").From("1/abc"), Want: providers.ErrCursor},
			{Call: providertest.Comments("cursor that is no place", "116000000000000010").From("-1"), Want: providers.ErrCursor},
		},
		Drift: &providertest.Drift{
			// An original post has no reblog, and an account that is not suspended does not say so.
			Absent: []string{"reblog", "[].reblog", "accounts[].suspended"},
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

func TestOperationsThatNeedAToken(t *testing.T) {
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
		if !p.Serves(op) {
			t.Errorf("filters for %s, which is not served", op)
		}
	}
	// An account that is hidden from visitors says nothing about the upstream's health.
	_, err := p.Profile(t.Context(), "hidden")
	if !errors.Is(err, providers.ErrUnsupported) || !strings.Contains(err.Error(), "token") {
		t.Errorf("got error %v, want ErrUnsupported that names the token", err)
	}
}

func TestAnEmptyListNeedsAWitness(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, counts, link, cursor string
		want                       error
	}{
		{"none are counted", `,"statuses_count":0,"replies_count":0`, "", "", nil},
		{"some are counted", `,"statuses_count":35318,"replies_count":3`, "", "", providers.ErrUnavailable},
		{"nothing is counted", `,"statuses_count":-1,"replies_count":-1`, "", "", providers.ErrUnavailable},
		{"more behind nothing", `,"statuses_count":0,"replies_count":0`, `<https://truthsocial.com/api/x>; rel="next"`, "", providers.ErrUnavailable},
		{"the end of a walk", `,"statuses_count":9,"replies_count":9`, `<https://truthsocial.com/api/x>; rel="prev"`, "1/2", nil},
		{"a page in the middle", `,"statuses_count":9,"replies_count":9`, `<https://truthsocial.com/api/x>; rel="next"`, "1/2", providers.ErrUnavailable},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			p := truthsocial.New(truthsocial.Config{Token: "t", HTTP: &http.Client{Transport: providertest.Upstream(
				func(r *http.Request) (*http.Response, error) {
					w := httptest.NewRecorder()
					switch {
					case strings.HasSuffix(r.URL.Path, "/statuses"), strings.HasSuffix(r.URL.Path, "/descendants"):
						w.Header().Set("Link", tt.link)
						_, _ = w.WriteString(`[]`)
					case strings.Contains(r.URL.Path, "/statuses/"):
						_, _ = w.WriteString(`{"id":"1","visibility":"public","reblog":null` + tt.counts + `}`)
					default:
						_, _ = w.WriteString(`{"id":"1","acct":"ann"` + tt.counts + `}`)
					}
					res := w.Result()
					res.Request = r
					return res, nil
				})}})[0]
			if _, err := p.Posts(t.Context(), "ann", tt.cursor); !errors.Is(err, tt.want) {
				t.Errorf("posts: got error %v, want %v", err, tt.want)
			}
			cursor := tt.cursor
			if cursor != "" {
				cursor = "20"
			}
			if _, err := p.Comments(t.Context(), "1", cursor); !errors.Is(err, tt.want) {
				t.Errorf("comments: got error %v, want %v", err, tt.want)
			}
		})
	}
	p := truthsocial.New(truthsocial.Config{Token: "t", HTTP: always(http.StatusOK, `{"accounts":[],"statuses":[]}`)})[0]
	for cursor, want := range map[string]error{"": providers.ErrUnavailable, "20": providers.ErrUnavailable, "23": nil} {
		if _, err := p.Search(t.Context(), providers.SearchQuery{Query: "tea"}, cursor); !errors.Is(err, want) {
			t.Errorf("search at %q: got error %v, want %v", cursor, err, want)
		}
	}
}

func TestLeftOut(t *testing.T) {
	t.Parallel()
	providertest.Off(t, truthsocial.New(truthsocial.Config{Own: providers.OwnOff})[0])
}

func TestRequestsLookLikeThoseOfTheSite(t *testing.T) {
	t.Parallel()
	var got http.Header
	p := truthsocial.New(truthsocial.Config{
		Token: "secret-token", CFClearance: "passed", UserAgent: "Browser/1",
		HTTP: &http.Client{Transport: providertest.Answers(func(r *http.Request) (int, string) {
			got = r.Header
			return http.StatusOK, "{}"
		})},
	})[0]
	_, _ = p.Profile(t.Context(), "ann") // there is no data to read
	for name, want := range map[string]string{
		"Authorization": "Bearer secret-token", "Cookie": "cf_clearance=passed", "User-Agent": "Browser/1", "Sec-Fetch-Site": "same-origin",
	} {
		if got.Get(name) != want {
			t.Errorf("%s: %q, want %q", name, got.Get(name), want)
		}
	}
}

func TestForwardHidesTheTokensOwner(t *testing.T) {
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

func TestReblogHasTheContentsOfItsOriginal(t *testing.T) {
	t.Parallel()
	const outer = `{"id":"116000000000000008","visibility":"public","language":null,"created_at":"2026-05-01T10:00:00.123Z",` +
		`"content":"<p>RT <span class=\"h-card\"><a href=\"https://truthsocial.com/@bob\">@<span>bob</span></a></span>الخبر</p>",` +
		`"account":{"id":"107000000000000001","acct":"AnnExample"},"media_attachments":[],"mentions":[],"tags":[],` +
		`"replies_count":0,"reblogs_count":0,"favourites_count":0,"reblog":`
	const inner = `{"id":"116000000000000001","visibility":"public","language":"ar","content":"<p>الخبر #شاي مع @cy</p>",` +
		`"account":{"id":"107000000000000002","acct":"bob"},"mentions":[{"acct":"cy"}],"tags":[{"name":"شاي"}],` +
		`"replies_count":-1,"reblogs_count":"4","favourites_count":5.0}`
	read := func(reblog string) (schema.Post, error) {
		p := truthsocial.New(truthsocial.Config{HTTP: always(http.StatusOK, outer+reblog+"}")})[0]
		return p.Post(t.Context(), "116000000000000008")
	}
	got, err := read(inner)
	if err != nil {
		t.Fatal(err)
	}
	want := schema.Post{
		Text: "RT @bob: الخبر #شاي مع @cy", Lang: new("ar"), Hashtags: []string{"شاي"}, Mentions: []string{"cy"},
		Engagement: schema.Engagement{Likes: new(int64(5)), Shares: new(int64(4))},
	}
	words := schema.Post{Text: got.Text, Lang: got.Lang, Hashtags: got.Hashtags, Mentions: got.Mentions, Engagement: got.Engagement}
	if diff := cmp.Diff(want, words); diff != "" || got.Author.Handle != "AnnExample" || got.ID != "116000000000000008" {
		t.Errorf("by %s, words (-want +got):\n%s", got.Author.Handle, diff)
	}
	for _, odd := range []string{`"yes"`, `[]`, `{}`, `7`} {
		if got, err := read(odd); !errors.Is(err, providers.ErrUnavailable) {
			t.Errorf("reblog %s: %+v with error %v, want ErrUnavailable", odd, got.Engagement, err)
		}
	}
}

func TestUnknownVisibilityIsAnError(t *testing.T) {
	t.Parallel()
	for visibility, want := range map[string]error{
		`"public"`: nil, `"group"`: nil, `"private"`: providers.ErrNotFound, `"self"`: providers.ErrNotFound,
		`""`: providers.ErrUnavailable, `{}`: providers.ErrUnavailable, `"friends"`: providers.ErrUnavailable,
	} {
		p := truthsocial.New(truthsocial.Config{Token: "secret-token", HTTP: always(http.StatusOK,
			`{"id":"116000000000000008","content":"x","visibility":`+visibility+`}`)})[0]
		if _, err := p.Post(t.Context(), "116000000000000008"); !errors.Is(err, want) {
			t.Errorf("%s: got error %v, want %v", visibility, err, want)
		}
	}
}

// TestEmptyPageIsNotTheEnd: some pages of a search are empty although later ones are not.
func TestEmptyPageIsNotTheEnd(t *testing.T) {
	t.Parallel()
	row := func(n int) string { return fmt.Sprintf(`{"id":"116%015d","visibility":"public","content":"tea"}`, n) }
	full := make([]string, 20)
	for i := range full {
		full[i] = row(i + 1)
	}
	answers := map[string]string{"": strings.Join(full, ","), "20": "", "40": row(21), "41": ""}
	p := truthsocial.New(truthsocial.Config{Token: "secret-token", HTTP: &http.Client{
		Transport: providertest.Answers(func(r *http.Request) (int, string) {
			rows, known := answers[r.URL.Query().Get("offset")]
			if !known {
				return http.StatusNotImplemented, "{}"
			}
			return http.StatusOK, `{"statuses":[` + rows + `]}`
		}),
	}})[0]
	var got []int
	for cursor, more := "", true; more; more = cursor != "" {
		page, err := p.Search(t.Context(), providers.SearchQuery{Query: "tea"}, cursor)
		if err != nil {
			t.Fatal(err)
		}
		got, cursor = append(got, len(page.Items)), page.Next
	}
	if diff := cmp.Diff([]int{20, 1, 0}, got); diff != "" {
		t.Errorf("pages (-want +got):\n%s", diff)
	}
	delete(answers, "40")
	if _, err := p.Search(t.Context(), providers.SearchQuery{Query: "tea"}, "20"); !errors.Is(err, providers.ErrUnavailable) {
		t.Errorf("the page behind fails: got error %v, want ErrUnavailable", err)
	}
}

func TestForwardShowsOnlyPublicStatuses(t *testing.T) {
	t.Parallel()
	for visibility, want := range map[string]error{"public": nil, "private": providers.ErrNotFound} {
		status := `{"id":"116","visibility":"` + visibility + `"}`
		for path, answer := range map[string]string{
			"v1/statuses/116": status, "v1/statuses/116/context": status, "v1/statuses/116/favourited_by": status,
			"v1/accounts/107/statuses": "[" + status + "]", "v1/timelines/group/1": `[{"reblog":` + status + `}]`,
			"v1/timelines/tag/tea": "[" + status + "]", "v2/search": `{"statuses":[` + status + `]}`,
		} {
			p := truthsocial.New(truthsocial.Config{Token: "secret-token", HTTP: always(http.StatusOK, answer)})[0]
			if _, err := p.Forward(t.Context(), path, url.Values{}); !errors.Is(err, want) {
				t.Errorf("%s of a %s status: got error %v, want %v", path, visibility, err, want)
			}
		}
	}
}
