package x_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/providertest"
	"github.com/socialdata/socialdata/providers/x"
	"github.com/socialdata/socialdata/schema"
)

func official(c *http.Client) providers.Provider {
	return x.New(x.Config{Token: "app-token", UserToken: "user-token", HTTP: c})[0]
}

func TestOfficial(t *testing.T) {
	t.Parallel()
	providertest.Run(t, providertest.Suite{
		New: func(c *http.Client) providers.Chain { return providers.Chain{official(c)} },
		Calls: []providertest.Call{
			providertest.Profile("profile", "ann_example"),
			providertest.Profile("profile-empty-strings", "bo"),
			providertest.Profile("profile-by-number", "102"),
			providertest.Posts("posts", "ann_example"),
			providertest.Posts("posts-in-other-words", "102"),
			providertest.Post("post", "2006"),
			providertest.Post("post-author-not-included", "1212"),
			providertest.Comments("comments", "5000"),
			providertest.Comments("comments-of-reply", "5001"),
			providertest.Replies("replies", providers.RepliesQuery{CommentID: "5001"}),
			providertest.Search("search", providers.SearchQuery{Query: "شاي"}),
			providertest.Search("search-filtered", providers.SearchQuery{
				Query: "tea OR شاي", Sort: "relevance", Lang: "he", Handle: "ann_example",
				Since: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), Until: time.Date(2026, 1, 3, 0, 0, 0, 0, time.UTC),
			}),
			providertest.Search("search-profiles", providers.SearchQuery{Query: "ann", Kind: schema.ProfileResult}),
			providertest.Live("live", "ann_example"),
			providertest.Live("live-off-air", "bo"),
			providertest.Live("live-announced", "102"),
			providertest.Community("community", "1758"),
		},
		Fails: []providertest.Fail{
			{Call: providertest.Profile("unknown handle", "nobody"), Want: providers.ErrNotFound},
			{Call: providertest.Profile("a handle that cannot be", "much_too_long_for_x"), Want: providers.ErrNotFound},
			{Call: providertest.Profile("suspended account", "gone"), Want: providers.ErrNotFound},
			{Call: providertest.Profile("an error that we do not know", "odd"), Want: providers.ErrUnavailable},
			{Call: providertest.Profile("bad token", "bad_token"), Want: providers.ErrUnavailable},
			{Call: providertest.Profile("no credits", "no_credits"), Want: providers.ErrUnavailable},
			{Call: providertest.Profile("not enrolled", "not_enrolled"), Want: providers.ErrUnavailable},
			{Call: providertest.Profile("a user's token wanted", "app_only"), Want: providers.ErrUnsupported},
			{Call: providertest.Profile("window used up", "limited"), Want: providers.ErrUnavailable},
			{Call: providertest.Profile("window used up, without headers", "limited_bare"), Want: providers.ErrUnavailable},
			{Call: providertest.Profile("month used up", "capped"), Want: providers.ErrUnavailable},
			{Call: providertest.Profile("an address that X does not know", "lost_path"), Want: providers.ErrUnavailable},
			{Call: providertest.Profile("gateway time-out", "slow"), Want: providers.ErrTimeout},
			{Call: providertest.Posts("protected account", "shy"), Want: providers.ErrNotFound},
			{Call: providertest.Posts("protected account that does not say so", "closed"), Want: providers.ErrNotFound},
			{Call: providertest.Posts("posts of an unknown handle", "nobody"), Want: providers.ErrNotFound},
			{Call: providertest.Post("unknown post", "404"), Want: providers.ErrNotFound},
			{Call: providertest.Post("protected post", "403"), Want: providers.ErrNotFound},
			{Call: providertest.Comments("comments of an unknown post", "404"), Want: providers.ErrNotFound},
			{Call: providertest.Community("unknown community", "404"), Want: providers.ErrNotFound},
			{Call: providertest.Search("bad query", providers.SearchQuery{Query: "min_faves:1"}), Want: providers.ErrInvalid},
			{Call: providertest.Search("too early", providers.SearchQuery{Query: "early"}), Want: providers.ErrInvalid},
			{Call: providertest.Search("our own fault", providers.SearchQuery{Query: "ours"}), Want: providers.ErrUnavailable},
			{Call: providertest.Search("too long", providers.SearchQuery{Query: strings.Repeat("س", 512)}), Want: providers.ErrInvalid},
			{Call: providertest.Search("operators in a handle", providers.SearchQuery{Query: "tea", Handle: "a OR b"}), Want: providers.ErrInvalid},
			{Call: providertest.Search("operators in a language", providers.SearchQuery{Query: "tea", Lang: "ar OR b"}), Want: providers.ErrInvalid},
			{Call: providertest.Search("profiles in Arabic", providers.SearchQuery{Query: "شاي", Kind: schema.ProfileResult}), Want: providers.ErrInvalid},
			{Call: providertest.Search("profiles by time", providers.SearchQuery{Query: "ann", Kind: schema.ProfileResult, Sort: "recent"}), Want: providers.ErrInvalid},
		},
		Lone: map[providers.Op][]string{providers.OpProfile: {"102"}},
		Drift: &providertest.Drift{
			// The last page has no token, and a post without references does not have that field.
			Absent: []string{"meta", "meta.next_token", "data[].referenced_tweets", "data[].referenced_posts"},
		},
		Inputs: []providertest.Input{
			{Subject: providers.Handle, In: "@Ann_Example", Want: "ann_example"},
			{Subject: providers.Handle, In: "https://twitter.com/Ann_Example/status/1", Want: "ann_example"},
			{Subject: providers.Handle, In: "mobile.x.com/Ann_Example", Want: "ann_example"},
			{Subject: providers.Handle, In: "https://x.com/i/user/100", Want: "100"},
			{Subject: providers.Handle, In: "much_too_long_for_x"},
			{Subject: providers.Handle, In: "https://x.com/home"},
			{Subject: providers.Handle, In: "https://x.com/"},
			{Subject: providers.Handle, In: "https://bsky.app/profile/ann"},
			{Subject: providers.PostID, In: "2006", Want: "2006"},
			{Subject: providers.PostID, In: "https://x.com/Ann_Example/status/2006/photo/1?s=20", Want: "2006"},
			{Subject: providers.PostID, In: "https://twitter.com/i/web/status/2006", Want: "2006"},
			{Subject: providers.CommentID, In: "x.com/i/status/2006", Want: "2006"},
			{Subject: providers.PostID, In: "https://x.com/Ann_Example"},
			{Subject: providers.PostID, In: "abc"},
			{Subject: providers.PostID, In: "123456789012345678901"},
			{Subject: providers.CommunityID, In: "https://x.com/i/communities/1758", Want: "1758"},
			{Subject: providers.CommunityID, In: "Q29tbXVuaXR5OjE3NTg=", Want: "1758"},
			{Subject: providers.CommunityID, In: "tea"},
			{Subject: providers.CommunityID, In: "https://x.com/Ann_Example"},
		},
	})
}

func TestEmbed(t *testing.T) {
	t.Parallel()
	providertest.Run(t, providertest.Suite{
		New: func(c *http.Client) providers.Chain { return x.New(x.Config{HTTP: c}) }, Upstream: "x_own", Witness: true,
		Calls: []providertest.Call{
			providertest.Post("embed", "1703436713362870723"),
		},
		Fails: []providertest.Fail{
			{Call: providertest.Post("deleted post", "404404404404404404"), Want: providers.ErrNotFound},
			{Call: providertest.Post("no such post, said with nothing", "20"), Want: providers.ErrNotFound},
			{Call: providertest.Post("no such post", "21"), Want: providers.ErrNotFound},
		},
		Drift: &providertest.Drift{Absent: []string{"{}"}}, // X's answer for a post that does not exist
		Inputs: []providertest.Input{
			{Subject: providers.PostID, In: "https://x.com/Ann_Example/status/2006", Want: "2006"},
		},
	})
}

func TestExpiredCursors(t *testing.T) {
	t.Parallel()
	upstream := providertest.Answers(func(r *http.Request) (int, string) {
		if strings.Contains(r.URL.Path, "by/username") {
			return 200, `{"data":{"id":"100","username":"ann"}}`
		}
		return 400, `{"errors":[{"parameters":{"pagination_token":["stale"]},"message":"not valid"}]}`
	})
	p := official(&http.Client{Transport: upstream})
	if _, err := p.Posts(t.Context(), "ann", "stale"); !errors.Is(err, providers.ErrCursor) {
		t.Errorf("Posts: got error %v, want ErrCursor", err)
	}
	for _, cursor := range []string{"stale", "c:", "x:stale"} {
		if _, err := p.Comments(t.Context(), "5000", cursor); !errors.Is(err, providers.ErrCursor) {
			t.Errorf("Comments after %q: got error %v, want ErrCursor", cursor, err)
		}
	}
}

func TestHandleIsLookedUpOnce(t *testing.T) {
	t.Parallel()
	var asked []string
	p := official(&http.Client{Transport: providertest.Answers(func(r *http.Request) (int, string) {
		asked = append(asked, r.URL.Path)
		if strings.Contains(r.URL.Path, "by/username") {
			return 200, `{"data":{"id":"100","username":"ann"}}`
		}
		return 200, `{"meta":{"result_count":0}}`
	})})
	for range 2 {
		if _, err := p.Posts(t.Context(), "ann", ""); err != nil {
			t.Fatal(err)
		}
	}
	want := []string{"/2/users/by/username/ann", "/2/users/100/tweets", "/2/users/100/tweets"}
	if diff := cmp.Diff(want, asked); diff != "" {
		t.Errorf("requests (-want +got):\n%s", diff)
	}
}

func TestProfilesOfABatchAreCached(t *testing.T) {
	t.Parallel()
	var asked []string
	p := official(&http.Client{Transport: providertest.Answers(func(r *http.Request) (int, string) {
		asked = append(asked, r.URL.Path)
		if strings.HasSuffix(r.URL.Path, "/by") {
			return 200, `{"data":[{"id":"100","username":"Ann"}],"errors":[{"value":"Bo","title":"Not Found Error","type":"x/resource-not-found"}]}`
		}
		return 200, `{"meta":{"result_count":0}}`
	})})
	found, err := p.Batches.Profile.Read(t.Context(), []string{"ann", "bo"})
	single, whole := providers.Apart(err)
	if len(found) != 1 || whole != nil || !errors.Is(single["bo"], providers.ErrNotFound) {
		t.Fatalf("found %v, got error %v", found, err)
	}
	if _, err := p.Posts(t.Context(), "ann", ""); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"/2/users/by", "/2/users/100/tweets"}, asked); diff != "" {
		t.Errorf("requests (-want +got):\n%s", diff)
	}
}

func TestRefusedKeyFailsAlone(t *testing.T) {
	t.Parallel()
	var asked []string
	p := official(&http.Client{Transport: providertest.Answers(func(r *http.Request) (int, string) {
		asked = append(asked, r.URL.Query().Get("ids"))
		return 400, `{"errors":[{"parameters":{"ids":["1,2"]},"message":"not valid"}]}`
	})})
	long := strings.Repeat("9", 20)
	found, err := p.Batches.Post.Read(t.Context(), []string{"1", long, "2"})
	single, whole := providers.Apart(err)
	if whole != nil || len(found) != 0 || len(single) != 3 {
		t.Errorf("found %v, got error %v", found, err)
	}
	for key, err := range single {
		if errors.Is(err, providers.ErrNotFound) || errors.Is(err, providers.ErrInvalid) {
			t.Errorf("%s is not left to a read of its own: %v", key, err)
		}
	}
	if diff := cmp.Diff([]string{"1,2"}, asked); diff != "" {
		t.Errorf("ids (-want +got):\n%s", diff)
	}
}

func TestAcceptedFieldNamesAreKept(t *testing.T) {
	t.Parallel()
	var asked []string
	p := official(&http.Client{Transport: providertest.Answers(func(r *http.Request) (int, string) {
		if r.URL.Query().Has("tweet.fields") {
			asked = append(asked, "tweet")
			return 400, `{"errors":[{"parameters":{"tweet.fields":["id"]}}]}`
		}
		asked = append(asked, "post")
		return 200, `{"data":[{"id":"1","text":"a","author_id":"2"}]}`
	})})
	for range 2 {
		if _, err := p.Post(t.Context(), "1"); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff([]string{"tweet", "post", "post"}, asked); diff != "" {
		t.Errorf("words (-want +got):\n%s", diff)
	}
}

func TestAppTokenIsFetchedWithKeyAndSecret(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, token string
		status      int
		want        error
	}{
		{"bearer", `{"token_type":"bearer","access_token":"fetched"}`, 200, nil},
		{"another type", `{"token_type":"mac","access_token":"fetched"}`, 200, providers.ErrUnavailable},
		{"bad key", `{"errors":[{"code":99,"label":"authenticity_token_error"}]}`, 403, providers.ErrUnavailable},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			p := x.New(x.Config{APIKey: "k y", APISecret: "s+t", HTTP: &http.Client{Transport: providertest.Answers(func(r *http.Request) (int, string) {
				if r.URL.Path == "/oauth2/token" {
					if user, secret, _ := r.BasicAuth(); user != "k+y" || secret != "s%2Bt" || r.FormValue("grant_type") != "client_credentials" {
						t.Errorf("token asked for as %q, %q with %v", user, secret, r.Form)
					}
					return tt.status, tt.token
				}
				if got := r.Header.Get("Authorization"); got != "Bearer fetched" {
					t.Errorf("Authorization %q", got)
				}
				return 200, `{"data":{"id":"1","username":"ann"}}`
			})}})[0]
			if _, err := p.Profile(t.Context(), "ann"); !errors.Is(err, tt.want) {
				t.Errorf("got error %v, want %v", err, tt.want)
			}
		})
	}
}

func TestSettings(t *testing.T) {
	t.Parallel()
	ps := x.New(x.Config{})
	if ps[0].Serves(providers.OpPost) || len(ps[0].Missing[providers.OpPost]) == 0 || !ps[1].Serves(providers.OpPost) {
		t.Error("without credentials the embedded posts alone are served, and the setting is named")
	}
	providertest.Off(t, x.New(x.Config{Own: providers.OwnOff})[1])
	for token, want := range map[string][]string{"": {"post"}, "u": {"post", "profile"}} {
		p := x.New(x.Config{Token: "a", UserToken: token})[0]
		if diff := cmp.Diff(want, p.Filters[providers.OpSearch]["kind"]); diff != "" {
			t.Errorf("kinds with user token %q (-want +got):\n%s", token, diff)
		}
	}
	asked := ""
	archive := x.New(x.Config{Token: "a", FullArchive: true, HTTP: &http.Client{Transport: providertest.Answers(func(r *http.Request) (int, string) {
		asked = r.URL.Path
		return 200, `{"meta":{"result_count":0}}`
	})}})[0]
	if _, err := archive.Search(t.Context(), providers.SearchQuery{Query: "tea"}, ""); err != nil || asked != "/2/tweets/search/all" {
		t.Errorf("asked %q (%v)", asked, err)
	}
}

func TestMalformedAnswersAreErrors(t *testing.T) {
	t.Parallel()
	for _, body := range []string{
		`null`, `{}`, `[]`, `{"error":{"code":500}}`, `{"data":null}`, `{"data":"x"}`, `{"meta":{}}`, `{"meta":{"result_count":3}}`,
		`{"data":{"id":"7","username":"another"}}`, `{"data":[{"id":"7","text":"another"}]}`,
	} {
		p := official(&http.Client{Transport: providertest.Answers(func(*http.Request) (int, string) { return http.StatusOK, body })})
		_, profile := p.Profile(t.Context(), "ann")
		_, posts := p.Posts(t.Context(), "ann", "")
		_, post := p.Post(t.Context(), "1")
		_, comments := p.Comments(t.Context(), "1", "")
		_, live := p.Live(t.Context(), "ann")
		_, community := p.Community(t.Context(), "1758")
		for i, err := range []error{profile, posts, post, comments, live, community} {
			if !errors.Is(err, providers.ErrUnavailable) {
				t.Errorf("%s: call %d: got error %v, want ErrUnavailable", body, i, err)
			}
		}
	}
}

func TestRetweetWithoutItsOriginalHasOnlyShares(t *testing.T) {
	t.Parallel()
	for name, references := range map[string]string{
		"retweet":                 `[{"type":"retweeted","id":"2"}]`,
		"reference without type":  `[{"id":"2"}]`,
		"references that are odd": `"retweeted"`,
	} {
		p := official(&http.Client{Transport: providertest.Answers(func(*http.Request) (int, string) {
			return http.StatusOK, `{"data":[{"id":"1","text":"RT @bo: te…","referenced_tweets":` + references + `,` +
				`"public_metrics":{"retweet_count":7,"quote_count":0,"like_count":0,"reply_count":0,"impression_count":0}}]}`
		})})
		got, err := p.Post(t.Context(), "1")
		if diff := cmp.Diff(schema.Engagement{Shares: new(int64(7))}, got.Engagement); err != nil || diff != "" {
			t.Errorf("%s: %v, engagement (-want +got):\n%s", name, err, diff)
		}
	}
}

func TestRefusedQueryIsTheCallersError(t *testing.T) {
	t.Parallel()
	p := official(&http.Client{Transport: providertest.Answers(func(*http.Request) (int, string) {
		return http.StatusBadRequest, `{"errors":[{"parameters":{"query":["min_faves:1"]},"message":"Reference to invalid operator 'min_faves'."}]}`
	})})
	_, err := p.Search(t.Context(), providers.SearchQuery{Query: "min_faves:1"}, "")
	if e, ok := errors.AsType[*providers.Error](err); !ok || !errors.Is(err, providers.ErrInvalid) || !strings.Contains(e.Detail, "invalid operator") {
		t.Errorf("got error %v, want ErrInvalid with the reason", err)
	}
}
