package instagram_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/socialdata/socialdata/callctx"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/instagram"
	"github.com/socialdata/socialdata/providers/providertest"
	"github.com/socialdata/socialdata/schema"
)

func official(c *http.Client) providers.Chain {
	return instagram.New(instagram.Config{Token: "secret-token", AccountID: "17841400000000001", HTTP: c})
}

func TestOfficial(t *testing.T) {
	t.Parallel()
	providertest.Run(t, providertest.Suite{
		New: official,
		Calls: []providertest.Call{
			providertest.Profile("profile", "ann.example"),
			providertest.Profile("profile-bare", "bare"),
			providertest.Posts("posts", "ann.example"),
			providertest.Posts("posts-without-newer-fields", "older.fields"),
			providertest.Reels("reels", "ann.example"),
			providertest.Search("search", providers.SearchQuery{Query: "#شاي"}),
			providertest.Search("search-top", providers.SearchQuery{Query: "#شاي", Sort: "relevance"}),
			providertest.Search("search-quiet", providers.SearchQuery{Query: "#quiet"}),
			providertest.Search("search-quiet-recent", providers.SearchQuery{Query: "#quiet", Sort: "recent"}),
		},
		Fails: []providertest.Fail{
			{Call: providertest.Profile("missing, personal or for adults", "nobody"), Want: providers.ErrNotHere},
			{Call: providertest.Profile("missing, by status alone", "lost"), Want: providers.ErrUnavailable},
			{Call: providertest.Profile("expired token", "expired"), Want: providers.ErrUnavailable},
			{Call: providertest.Profile("missing permission", "forbidden"), Want: providers.ErrUnsupported},
			{Call: providertest.Profile("live video", "live.one"), Want: providers.ErrUnsupported},
			{Call: providertest.Profile("limit", "limited"), Want: providers.ErrUnavailable},
			{Call: providertest.Profile("limit of the account", "limited.others"), Want: providers.ErrUnavailable},
			{Call: providertest.Profile("passing fault", "broken"), Want: providers.ErrUnavailable},
			{Call: providertest.Profile("our own account is another", "wrong.account"), Want: providers.ErrUnavailable},
			{Call: providertest.Profile("refused field", "refused.field"), Want: providers.ErrUnavailable},
			{Call: providertest.Posts("dead cursor", "ann.example").From("stale"), Want: providers.ErrCursor},
			{
				Call: providertest.Posts("a cursor that would ask for more", "ann.example").From("x){id},followers{id"),
				Want: providers.ErrCursor,
			},
			{Call: providertest.Search("no hashtag", providers.SearchQuery{Query: "tea"}), Want: providers.ErrUnsupported},
			{Call: providertest.Search("two words", providers.SearchQuery{Query: "#two words"}), Want: providers.ErrInvalid},
			{Call: providertest.Search("refused hashtag", providers.SearchQuery{Query: "#odd"}), Want: providers.ErrInvalid},
			{
				Call: providertest.Search("unknown hashtag", providers.SearchQuery{Query: "#missing"}),
				Want: providers.ErrNotFound,
			},
			{
				Call: providertest.Search("hashtag without a number", providers.SearchQuery{Query: "#none"}),
				Want: providers.ErrNotFound,
			},
			{
				Call: providertest.Search("one hashtag too many", providers.SearchQuery{Query: "#thirtyfirst"}),
				Want: providers.ErrUnavailable,
			},
			{Call: providertest.Search("dead cursor of a hashtag", providers.SearchQuery{Query: "#شاي"}).
				From("17843000000000001/recent_media/stale"), Want: providers.ErrCursor},
			{
				Call: providertest.Search("no cursor", providers.SearchQuery{Query: "#شاي"}).From("../me/accounts"),
				Want: providers.ErrCursor,
			},
		},
		Drift: &providertest.Drift{
			// "ABSENT after = last page", when the list is within another object; else the last page has no next.
			Absent: []string{
				"business_discovery.media.paging", "business_discovery.media.paging.cursors",
				"business_discovery.media.paging.cursors.after", "paging", "paging.next",
			},
		},
		Inputs: []providertest.Input{
			{Subject: providers.Handle, In: "@Ann.Example", Want: "ann.example"},
			{Subject: providers.Handle, In: "https://www.instagram.com/Ann.Example/?hl=ar", Want: "ann.example"},
			{Subject: providers.Handle, In: "instagram.com/ann_1/reels/", Want: "ann_1"},
			{Subject: providers.Handle, In: "https://instagram.com/_u/ann/", Want: "ann"},
			{Subject: providers.Handle, In: "https://www.instagram.com/stories/ann/", Want: "ann"},
			{Subject: providers.Handle, In: "https://www.instagram.com/stories/ann/3111290796599140206/"},
			{Subject: providers.Handle, In: "https://www.instagram.com/p/CAnqPB-Jzcj/"},
			{Subject: providers.Handle, In: "https://www.instagram.com/explore/tags/tea/"},
			{Subject: providers.Handle, In: "https://www.threads.com/@ann"},
			{Subject: providers.Handle, In: "ann example"},
			{Subject: providers.Handle, In: "ann){id"},
			{Subject: providers.PostID, In: "CAnqPB-Jzcj", Want: "2317006284167526179"},
			{Subject: providers.PostID, In: "2317006284167526179_305701719", Want: "2317006284167526179"},
			{Subject: providers.PostID, In: "2317006284167526179", Want: "2317006284167526179"},
			{Subject: providers.PostID, In: "https://www.instagram.com/p/CAnqPB-Jzcj/?igsh=1", Want: "2317006284167526179"},
			{Subject: providers.PostID, In: "https://www.instagram.com/jlo/reel/CAnqPB-Jzcj/", Want: "2317006284167526179"},
			{Subject: providers.PostID, In: "instagr.am/tv/CAnqPB-Jzcj", Want: "2317006284167526179"},
			{Subject: providers.PostID, In: "https://www.instagram.com/reels/CAnqPB-JzcjAAAAAAAAAAAAAAAAAAAAAAAAAAAA/", Want: "2317006284167526179"},
			{Subject: providers.PostID, In: "12_3456789", Want: "970243687347633981"},
			{Subject: providers.PostID, In: "17885103395504675", Want: "17885103395504675"},
			{Subject: providers.PostID, In: "-IpfEp6gj", Want: "-IpfEp6gj"}, // its number could be an id of the official API
			{Subject: providers.PostID, In: "https://www.instagram.com/jlo/"},
			{Subject: providers.PostID, In: "https://www.instagram.com/share/reel/BACkPBJzcj/"}, // a code of another kind
			{Subject: providers.Handle, In: "https://www.instagram.com/share/BACkPBJzcj/"},
			{Subject: providers.PostID, In: "no code"},
			{Subject: providers.PostID, In: "0"},
			{Subject: providers.PostID, In: strings.Repeat("9", 25)},
			{Subject: providers.PostID, In: "zzzzzzzzzzzzzz"},
			{Subject: providers.CommentID, In: "https://www.instagram.com/p/CAnqPB-Jzcj/c/18010691239975903/", Want: "18010691239975903"},
			{Subject: providers.CommentID, In: "18010691239975903", Want: "18010691239975903"},
			{Subject: providers.CommentID, In: "https://www.instagram.com/p/CAnqPB-Jzcj/"},
			{Subject: providers.CollectionID, In: "highlight:17989013438800507", Want: "17989013438800507"},
			{Subject: providers.CollectionID, In: "https://www.instagram.com/stories/highlights/17989013438800507/", Want: "17989013438800507"},
			{Subject: providers.CollectionID, In: "https://www.instagram.com/stories/ann/17989013438800507/"},
			{Subject: providers.TrackID, In: "1392969992841787", Want: "1392969992841787"},
			{Subject: providers.TrackID, In: "https://www.instagram.com/reels/audio/1392969992841787/", Want: "1392969992841787"},
			{Subject: providers.TrackID, In: "https://www.instagram.com/reel/DF5s0duxDts/"},
		},
	})
}

func TestOwn(t *testing.T) {
	t.Parallel()
	providertest.Run(t, providertest.Suite{
		New: func(c *http.Client) providers.Chain { return instagram.New(instagram.Config{HTTP: c}) }, Upstream: "instagram_own", Witness: true,
		// has_next_page says that it is the last page.
		Witnessed: []string{"feed-2.json data.xdt_api__v1__feed__user_timeline_graphql_connection.edges"},
		Calls: []providertest.Call{
			providertest.Profile("own-profile", "ann.example"),
			providertest.Profile("own-profile-private", "shy"),
			providertest.Profile("own-profile-page", "paged"),
			providertest.Profile("own-profile-head", "head.only"),
			providertest.Posts("own-posts", "ann.example"),
			providertest.Posts("own-posts-beside-the-account", "first.only"),
			providertest.Posts("own-posts-none", "silent.one"),
			providertest.Reels("own-reels", "ann.example"),
			providertest.Post("own-post", "3111290796599140206"),
			providertest.Post("own-post-video", "3111290796599140999"),
			providertest.Post("own-post-query", "2317006284167526179"),
			providertest.Post("own-post-head", "2569264890088593589"),
			providertest.Post("own-post-older-head", "2569264890088590008"),
			providertest.Comments("own-comments", "3111290796599140206"),
			providertest.Comments("own-comments-query", "2317006284167526179"),
			providertest.Comments("own-comments-none", "2569264890088590007"),
			providertest.Collections("own-collections", providers.CollectionsQuery{Handle: "paged"}),
		},
		Fails: []providertest.Fail{
			{Call: providertest.Profile("unknown account", "nobody"), Want: providers.ErrNotFound},
			{Call: providertest.Profile("unknown account, by status", "missing"), Want: providers.ErrNotFound},
			{Call: providertest.Profile("unknown account, by the status of its page", "gone"), Want: providers.ErrNotFound},
			{Call: providertest.Profile("redirect to the login", "walled"), Want: providers.ErrUnavailable},
			{Call: providertest.Profile("check, and a login on another host", "checked"), Want: providers.ErrUnavailable},
			{Call: providertest.Profile("page without data", "bare.page"), Want: providers.ErrUnavailable},
			{Call: providertest.Profile("page with null in the account's place", "null.page"), Want: providers.ErrUnavailable},
			{Call: providertest.Profile("limit", "limited"), Want: providers.ErrUnavailable},
			{Call: providertest.Profile("failure with status 200", "failing"), Want: providers.ErrUnavailable},
			{Call: providertest.Profile("null beside an error", "faulty"), Want: providers.ErrUnavailable},
			{Call: providertest.Posts("posts of a private account", "shy"), Want: providers.ErrNotFound},
			{Call: providertest.Posts("posts of an unknown account", "nobody"), Want: providers.ErrNotFound},
			{Call: providertest.Posts("posts that only members see", "members.only"), Want: providers.ErrUnavailable},
			{Call: providertest.Posts("posts behind a login", "walled"), Want: providers.ErrUnavailable},
			{Call: providertest.Post("deleted post", "2569264890088590001"), Want: providers.ErrNotFound},
			{Call: providertest.Post("deleted post, by status", "2569264890088590004"), Want: providers.ErrNotFound},
			{Call: providertest.Post("post that only members see", "2569264890088590002"), Want: providers.ErrUnavailable},
			{Call: providertest.Post("null beside an error", "2569264890088590003"), Want: providers.ErrUnavailable},
			{Call: providertest.Post("another post", "2569264890088590005"), Want: providers.ErrUnavailable},
			{Call: providertest.Post("id of the official interface", "17885103395504675"), Want: providers.ErrUnsupported},
			{Call: providertest.Comments("comments switched off", "2569264890088590006"), Want: providers.ErrNotFound},
			{
				Call: providertest.Comments("a page of comments that was never offered", "3111290796599140206").From("2"),
				Want: providers.ErrCursor,
			},
			{
				Call: providertest.Collections("highlights of a private account", providers.CollectionsQuery{Handle: "shy"}),
				Want: providers.ErrNotFound,
			},
			{
				Call: providertest.Collections("highlights behind a login", providers.CollectionsQuery{Handle: "walled"}),
				Want: providers.ErrUnavailable,
			},
		},
		Drift: &providertest.Drift{
			Absent: []string{
				"data.user", "data.xdt_shortcode_media", // null means that it does not exist
				// A false flag may be missing: then the counts are shown.
				"data.xdt_api__v1__feed__user_timeline_graphql_connection.edges[].node.like_and_view_counts_disabled",
			},
		},
		Inputs: []providertest.Input{
			{Subject: providers.PostID, In: "CAnqPB-Jzcj", Want: "2317006284167526179"},
		},
	})
}

func TestARouteSaysWhatAPageIs(t *testing.T) {
	t.Parallel()
	const unread = `<script type="application/json" data-sjs>{"x":1}</script>`
	tests := []struct {
		name, page string
		want       error
		blame      providers.Blame
	}{
		{"no such page", `<script>{"canonicalRouteName":"comet.igweb.PolarisErrorRoute"}</script>`, providers.ErrNotFound, providers.BlameNone},
		{"a login", `<script>{"name":"PolarisCAAIGLoginHomepageRoute"}</script>`, providers.ErrUnavailable, providers.BlameNone},
		{"a page without its data", `<script>{"name":"PolarisProfileRoute"}</script>` + unread, providers.ErrUnavailable, providers.BlameUpstream},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			p := instagram.New(instagram.Config{HTTP: &http.Client{Transport: providertest.Answers(func(r *http.Request) (int, string) {
				if strings.Contains(r.URL.Path, "web_profile_info") || strings.Contains(r.URL.Path, "graphql") {
					return http.StatusUnauthorized, `{}`
				}
				return http.StatusOK, tt.page
			})}})[1]
			drifted := 0
			ctx := callctx.WithTrace(t.Context(), callctx.Trace{Drift: func(callctx.Drift) { drifted++ }})
			_, err := p.Profile(ctx, "ann")
			if !errors.Is(err, tt.want) || providers.BlameOf(err) != tt.blame || drifted > 0 {
				t.Errorf("got error %v counting as %v with %d drifts, want %v", err, providers.BlameOf(err), drifted, tt.want)
			}
		})
	}
}

func TestAnEmptyListNeedsAWitness(t *testing.T) {
	t.Parallel()
	user := func(count string) string {
		return `{"data":{"user":{"id":"7","username":"ann","edge_owner_to_timeline_media":{"count":` + count + `,"edges":[]}}}}`
	}
	const end, more = `{"has_next_page":false,"end_cursor":null}`, `{"has_next_page":true,"end_cursor":"9_7"}`
	for _, tt := range []struct {
		name, count, cursor, info string
		want                      error
	}{
		{"no posts are counted", "0", "", end, nil},
		{"posts are counted", "5", "", end, providers.ErrUnavailable},
		{"no count", "null", "", end, providers.ErrUnavailable},
		{"more is promised", "0", "", more, providers.ErrUnavailable},
		{"more is promised behind a cursor", "0", "8_7", more, providers.ErrUnavailable},
		{"the end, which the page itself marks", "0", "8_7", end, nil},
	} {
		p := instagram.New(instagram.Config{HTTP: &http.Client{Transport: providertest.Answers(func(r *http.Request) (int, string) {
			if strings.Contains(r.URL.Path, "web_profile_info") {
				return http.StatusOK, user(tt.count)
			}
			return http.StatusOK, `{"data":{"xdt_api__v1__feed__user_timeline_graphql_connection":{"edges":[],"page_info":` + tt.info + `}}}`
		})}})[1]
		if got, err := p.Posts(t.Context(), "ann", tt.cursor); !errors.Is(err, tt.want) || len(got.Items) > 0 {
			t.Errorf("%s: got %+v, %v, want %v", tt.name, got, err, tt.want)
		}
	}
	for post, want := range map[string]error{
		`{"pk":"3111290796599140206","comment_count":0}`: nil, `{"pk":"3111290796599140206","comment_count":103}`: providers.ErrUnavailable,
		`{"pk":"3111290796599140206"}`: providers.ErrUnavailable, `null`: providers.ErrUnavailable,
	} {
		p := instagram.New(instagram.Config{HTTP: &http.Client{Transport: providertest.Answers(func(r *http.Request) (int, string) {
			if r.Method == http.MethodPost {
				return http.StatusUnauthorized, `{}`
			}
			return http.StatusOK, `<script data-sjs>{"xig_polaris_media":{"if_not_gated_logged_out":` + post + `,"comments_connection":{"edges":[]}}}</script>`
		})}})[1]
		if got, err := p.Comments(t.Context(), "3111290796599140206", ""); !errors.Is(err, want) || len(got.Items) > 0 {
			t.Errorf("comments of %s: got %+v, %v, want %v", post, got, err, want)
		}
	}
}

func TestAReelKnownByItsHeadAlone(t *testing.T) {
	t.Parallel()
	p := instagram.New(instagram.Config{HTTP: &http.Client{Transport: providertest.Answers(func(r *http.Request) (int, string) {
		if r.Method == http.MethodPost {
			return http.StatusUnauthorized, `{}`
		}
		return http.StatusOK, `<meta property="og:url" content="https://www.instagram.com/ann/reel/Csthn7EO99u/">
			<meta property="og:image" content="https://cdn.example/1.jpg"><meta name="twitter:title" content="Ann (@ann) • Instagram">`
	})}})[1]
	got, err := p.Post(t.Context(), "3111290796599140206")
	if err != nil || got.URL != "https://www.instagram.com/reel/Csthn7EO99u/" || len(got.Media) != 1 || got.Media[0].Type != schema.Video {
		t.Errorf("got %+v, %v, want a reel", got, err)
	}
}

func TestAnAuthorWithOnlyAnID(t *testing.T) {
	t.Parallel()
	post, err := instagram.ParsePost(t.Context(), []byte(`{"code":"Csthn7EO99u","owner":{"pk":"7"}}`))
	if err != nil || post.ID != "3111290796599140206" || post.Author.ID != "7" || post.Author.Handle != "unknown" {
		t.Errorf("got %q by %+v, %v, want the number that the code spells, and the author's", post.ID, post.Author, err)
	}
}

func TestLoginsAndChecksAreNotCountedAsFailures(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, body string
		status     int
		want       providers.Blame
	}{
		{"a login is wanted", `{"message":"Please wait","require_login":true,"status":"fail"}`, 401, providers.BlameNone},
		{"a check is wanted", `{"message":"challenge_required","status":"fail"}`, 400, providers.BlameNone},
		{"another browser is wanted", `{"message":"useragent mismatch","status":"fail"}`, 400, providers.BlameNone},
		{"a failure", `{"status":"fail"}`, 200, providers.BlameSubject},
		{"a limit", `{}`, 429, providers.BlameUpstream},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			p := instagram.New(instagram.Config{HTTP: &http.Client{Transport: providertest.Answers(func(*http.Request) (int, string) {
				return tt.status, tt.body
			})}})[1]
			_, err := p.Collections(t.Context(), providers.CollectionsQuery{Handle: "ann"}, "")
			if !errors.Is(err, providers.ErrUnavailable) || providers.BlameOf(err) != tt.want {
				t.Errorf("error %v counts as %v, want %v", err, providers.BlameOf(err), tt.want)
			}
		})
	}
}

func TestALimitIsAsLongAsInstagramSays(t *testing.T) {
	t.Parallel()
	p := official(&http.Client{Transport: providertest.Upstream(func(r *http.Request) (*http.Response, error) {
		res := providertest.Answer(r, http.StatusForbidden, `{"error":{"code":4}}`)
		res.Header.Set("X-Business-Use-Case-Usage", `{"1":[{"estimated_time_to_regain_access":7},{"estimated_time_to_regain_access":19}]}`)
		return res, nil
	})})[0]
	_, err := p.Profile(t.Context(), "ann")
	if e, ok := errors.AsType[*providers.Error](err); !ok || e.RetryAfter != 19*time.Minute {
		t.Errorf("got error %v, want a wait of 19 minutes", err)
	}
}

func TestAPassingFaultIsReadOnceMore(t *testing.T) {
	t.Parallel()
	reads := 0
	p := official(&http.Client{Transport: providertest.Answers(func(*http.Request) (int, string) {
		if reads++; reads == 1 {
			return http.StatusBadRequest, `{"error":{"code":2,"is_transient":true}}`
		}
		return http.StatusOK, `{"business_discovery":{"id":"1","username":"ann"}}`
	})})[0]
	if _, err := p.Profile(t.Context(), "ann"); err != nil || reads != 2 {
		t.Errorf("%d reads and error %v, want 2 and none", reads, err)
	}
}

func TestAReelIsKnownByNameOnly(t *testing.T) {
	t.Parallel()
	page, err := official(&http.Client{Transport: providertest.Answers(func(*http.Request) (int, string) {
		return http.StatusOK, `{"business_discovery":{"id":"1","media":{"data":[
			{"id":"18000000000000031","media_type":"VIDEO","permalink":"https://www.instagram.com/p/DZW0000000f/"},
			{"id":"18000000000000032","media_type":"IMAGE","permalink":"https://www.instagram.com/p/DZW0000000e/"},
			{"id":"18000000000000033","media_type":"VIDEO","permalink":"https://www.instagram.com/reel/DZW0000000d/"}]}}}`
	})})[0].Reels(t.Context(), "ann", "")
	if err != nil || len(page.Items) != 2 || page.Items[0].ID != "" || page.Items[1].ID == "" {
		t.Errorf("%+v and error %v, want an unknown row and a reel", page.Items, err)
	}
}

func TestPagesAreOpenedAsABrowserDoes(t *testing.T) {
	t.Parallel()
	var got []http.Header
	p := instagram.New(instagram.Config{HTTP: &http.Client{Transport: providertest.Answers(func(r *http.Request) (int, string) {
		got = append(got, r.Header)
		return http.StatusUnauthorized, ""
	})}})[1]
	_, _ = p.Profile(t.Context(), "ann") // there is no data to read
	if len(got) != 2 {
		t.Fatalf("%d requests, want 2", len(got))
	}
	if got[0].Get("X-IG-App-ID") != "936619743392459" || got[0].Get("Sec-Fetch-Mode") != "cors" {
		t.Errorf("asked as a script with %v", got[0])
	}
	if got[1].Get("X-IG-App-ID") != "" || got[1].Get("Sec-Fetch-Mode") != "navigate" {
		t.Errorf("opened a page with %v", got[1])
	}
	for _, h := range got {
		if h.Get("Authorization") != "" || h.Get("Cookie") != "" || !strings.HasPrefix(h.Get("User-Agent"), "Mozilla/") {
			t.Errorf("sent %v", h)
		}
	}
}

func TestAnAppProvesThatTheTokenIsItsOwn(t *testing.T) {
	t.Parallel()
	var got []url.Values
	p := instagram.New(instagram.Config{
		Token: "secret-token", AccountID: "17841400000000001", AppSecret: "app-secret", Version: "v26.0",
		HTTP: &http.Client{Transport: providertest.Answers(func(r *http.Request) (int, string) {
			if !strings.HasPrefix(r.URL.Path, "/v26.0/") || r.Header.Get("Authorization") != "Bearer secret-token" {
				t.Errorf("asked %s with %v", r.URL, r.Header)
			}
			got = append(got, r.URL.Query())
			return http.StatusOK, `{"data":[],"paging":{"next":"https:\/\/x.example\/?access_token=secret-token\u0026after=A"}}`
		})},
	})[0]
	_, _ = p.Profile(t.Context(), "ann") // this is another answer
	raw, err := p.Forward(t.Context(), "ig_hashtag_search", url.Values{"q": {"tea"}})
	if err != nil || strings.Contains(string(raw), "secret-token") || !strings.Contains(string(raw), "after=A") {
		t.Errorf("forwarded %s (%v)", raw, err)
	}
	// printf %s secret-token | openssl dgst -sha256 -hmac app-secret
	const proof = "680670804b36213ff387db204621f036443aeba22d7209a96acd0b4299fbd0e5"
	for _, q := range got {
		if q.Get("appsecret_proof") != proof {
			t.Errorf("sent %v, want the proof %s", q, proof)
		}
	}
	if len(got) != 2 || got[1].Get("user_id") != "17841400000000001" || got[1].Get("q") != "tea" {
		t.Errorf("sent %v", got)
	}
}

func TestTheVersionStandsInTheAddressOnce(t *testing.T) {
	t.Parallel()
	for _, base := range []string{"https://x.example", "https://x.example/v25.0", "https://x.example/v25.0/"} {
		var got string
		p := instagram.New(instagram.Config{
			Token: "secret-token", AccountID: "17841400000000001", BaseURL: base,
			HTTP: &http.Client{Transport: providertest.Answers(func(r *http.Request) (int, string) {
				got = r.URL.Path
				return http.StatusNotFound, ""
			})},
		})[0]
		_, _ = p.Profile(t.Context(), "ann") // there is no such account
		if got != "/v25.0/17841400000000001" {
			t.Errorf("%s: asked %s", base, got)
		}
	}
}

func TestSettings(t *testing.T) {
	t.Parallel()
	ps := instagram.New(instagram.Config{Token: "t"})
	if missing := ps[0].Missing[providers.OpProfile]; ps[0].Serves(providers.OpProfile) || len(missing) != 1 || missing[0] != "account_id" {
		t.Errorf("without the number of our account the official interface misses %v", missing)
	}
	if !ps[1].Serves(providers.OpProfile) {
		t.Error("the public pages are not served without settings")
	}
	providertest.Off(t, instagram.New(instagram.Config{Own: providers.OwnOff})[1])
}

func TestAWordIsNoHashtagToAnybody(t *testing.T) {
	t.Parallel()
	unreached := &http.Client{Transport: providertest.Upstream(func(r *http.Request) (*http.Response, error) {
		t.Errorf("asked %s", r.URL)
		return nil, io.EOF
	})}
	for _, query := range []string{"tea", "#", "# tea", "#a/b", "#a#b"} {
		if _, err := official(unreached)[0].Search(t.Context(), providers.SearchQuery{Query: query}, ""); err == nil {
			t.Errorf("%q was searched for", query)
		}
	}
}

func TestCommentsThatAreSwitchedOffAreNoEmptyList(t *testing.T) {
	t.Parallel()
	const page = `<script type="application/json" data-sjs>{"xig_polaris_media": {"comments_connection": {"edges": []},
		"if_not_gated_logged_out": {"pk": "2317006284167526179", "code": "CAnqPB-Jzcj", "comment_count": 0, "comments_disabled": %v}}}</script>`
	for off, want := range map[bool]error{true: providers.ErrNotFound, false: nil} {
		p := instagram.New(instagram.Config{HTTP: &http.Client{Transport: providertest.Answers(func(*http.Request) (int, string) {
			return http.StatusOK, fmt.Sprintf(page, off)
		})}})[1]
		if got, err := p.Comments(t.Context(), "2317006284167526179", ""); !errors.Is(err, want) || len(got.Items) > 0 {
			t.Errorf("comments_disabled %v: got %v, want %v", off, err, want)
		}
	}
}
