package reddit_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/providertest"
	"github.com/socialdata/socialdata/providers/reddit"
	"github.com/socialdata/socialdata/schema"
)

const (
	ann   = "annexample"
	selfP = "se1f"

	answer = "[].data.children[].data.replies.data.children[].data." // a reply to a comment
)

func TestProvider(t *testing.T) {
	t.Parallel()
	providertest.Run(t, providertest.Suite{
		New: func(c *http.Client) providers.Chain {
			return reddit.New(reddit.Config{ClientID: "id", ClientSecret: "secret", HTTP: c})
		},
		Calls: []providertest.Call{
			providertest.Profile("profile", ann),
			providertest.Profile("profile-bare", "bare_one"),
			providertest.Profile("profile-of-community", "r/tea"),
			providertest.Posts("posts", ann),
			providertest.Posts("posts-of-community", "r/tea"),
			providertest.Post("post", selfP),
			providertest.Post("post-gallery", "ga11ery"),
			providertest.Post("post-shared", "r/tea/s/Sh4re"),
			providertest.Comments("comments", selfP),
			providertest.Replies("replies", providers.RepliesQuery{CommentID: "c1", PostID: selfP}),
			providertest.Replies("replies-of-unknown-post", providers.RepliesQuery{CommentID: "c1"}),
			providertest.Search("search", providers.SearchQuery{Query: "tea"}),
			providertest.Search("search-in-community", providers.SearchQuery{Query: "pots", Sort: "top", Handle: "r/tea"}),
			providertest.Search("search-in-account", providers.SearchQuery{Query: "pots", Sort: "relevance", Handle: ann}),
			providertest.Search("search-profiles", providers.SearchQuery{Query: "ann", Kind: schema.ProfileResult}),
			providertest.Suggestions("suggestions", providers.SuggestionsQuery{Query: "te"}),
			providertest.Community("community", "tea"),
			providertest.Community("community-bare", "old_tea"),
			providertest.CommunityPosts("community-posts", providers.CommunityPostsQuery{ID: "tea"}),
			providertest.CommunityPosts("community-posts-top", providers.CommunityPostsQuery{ID: "tea", Sort: "top"}),
		},
		Fails: []providertest.Fail{
			{Call: providertest.Profile("unknown account", "nobody"), Want: providers.ErrNotFound},
			{Call: providertest.Profile("suspended account", "suspended"), Want: providers.ErrNotFound},
			{Call: providertest.Profile("plain 403", "forbidden"), Want: providers.ErrUnavailable},
			{Call: providertest.Profile("blocked", "blocked"), Want: providers.ErrUnavailable},
			{Call: providertest.Profile("insufficient scope", "scope"), Want: providers.ErrUnavailable},
			{Call: providertest.Profile("rate limit", "paced"), Want: providers.ErrUnavailable},
			{Call: providertest.Profile("refused token", "token"), Want: providers.ErrUnavailable},
			{Call: providertest.Profile("a redirect to a login", "login"), Want: providers.ErrUnavailable},
			{Call: providertest.Posts("posts of an unknown account", "nobody"), Want: providers.ErrNotFound},
			{Call: providertest.Post("unknown post", "none"), Want: providers.ErrNotFound},
			{Call: providertest.Post("share link to a community", "r/tea/s/Astray"), Want: providers.ErrNotFound},
			{Call: providertest.Post("share link to another site", "r/tea/s/Away"), Want: providers.ErrNotFound},
			{Call: providertest.Post("share link that is gone", "r/tea/s/Gone"), Want: providers.ErrNotFound},
			{Call: providertest.Comments("comments of an unknown post", "none"), Want: providers.ErrNotFound},
			{Call: providertest.Replies("replies to an unknown comment", providers.RepliesQuery{CommentID: "none"}), Want: providers.ErrNotFound},
			{Call: providertest.Replies("replies to a comment of another post", providers.RepliesQuery{CommentID: "gone", PostID: selfP}), Want: providers.ErrNotFound},
			{Call: providertest.Community("private community", "private_tea"), Want: providers.ErrNotFound},
			{Call: providertest.Community("community of a hidden type", "hidden_tea"), Want: providers.ErrNotFound},
			{Call: providertest.Community("gated community", "gated_tea"), Want: providers.ErrNotFound},
			{Call: providertest.Community("banned community", "banned_tea"), Want: providers.ErrNotFound},
			{Call: providertest.Community("unknown community, redirected", "no_tea"), Want: providers.ErrNotFound},
			{Call: providertest.Community("unknown community, searched for", "list_tea"), Want: providers.ErrNotFound},
			{Call: providertest.Search("accounts in a community", providers.SearchQuery{Query: "x", Kind: schema.ProfileResult, Handle: "r/tea"}), Want: providers.ErrInvalid},
			{Call: providertest.Suggestions("too long a beginning", providers.SuggestionsQuery{Query: strings.Repeat("x", 26)}), Want: providers.ErrInvalid},
			{Call: providertest.Posts("garbage for a cursor", ann).From("garbage"), Want: providers.ErrCursor},
			{Call: providertest.Comments("garbage for a cursor of comments", selfP).From(`{"p":"se1f"}`), Want: providers.ErrCursor},
		},
		Lone: map[providers.Op][]string{
			providers.OpPost:      {"r/tea/s/Sh4re", "r/tea/s/Astray", "r/tea/s/Away", "r/tea/s/Gone"},
			providers.OpCommunity: {"private_tea", "gated_tea", "banned_tea", "no_tea", "list_tea"},
		},
		Drift: &providertest.Drift{
			// The last page has no token. A missing flag is false: then the score is shown.
			Absent: []string{
				"data.after", "data.children[].data.hide_score", "[].data.children[].data.score_hidden",
				answer + "replies.data.children[].data.score_hidden",
			},
			Scores: []string{
				"data.children[].data.score", "[].data.children[].data.score", answer + "score", answer + "replies.data.children[].data.score",
				"json.data.things[].data.score",
			},
			Tuples: []string{"$"}, // the post and its comments
			Trees: []string{
				"[].data.children[]", "[].data.children[].data", "[].data.children[].data.replies.data.children[]",
				"[].data.children[].data.replies.data.children[].data",
			},
		},
		Inputs: []providertest.Input{
			{Subject: providers.Handle, In: "AnnExample", Want: ann},
			{Subject: providers.Handle, In: "@AnnExample", Want: ann},
			{Subject: providers.Handle, In: "u/AnnExample", Want: ann},
			{Subject: providers.Handle, In: "/u/AnnExample/", Want: ann},
			{Subject: providers.Handle, In: "https://old.reddit.com/user/AnnExample/submitted", Want: ann},
			{Subject: providers.Handle, In: "r/Golang", Want: "r/golang"},
			{Subject: providers.Handle, In: "https://www.reddit.com/r/Golang/", Want: "r/golang"},
			{Subject: providers.Handle, In: "user-doesnt_exist", Want: "user-doesnt_exist"},
			{Subject: providers.Handle, In: "https://www.reddit.com/login"},
			{Subject: providers.Handle, In: "https://www.reddit.com/"},
			{Subject: providers.Handle, In: "https://example.org/user/ann"},
			{Subject: providers.Handle, In: "two words"},
			{Subject: providers.Handle, In: "[deleted]"},
			{Subject: providers.CommunityID, In: "/r/Golang/", Want: "golang"},
			{Subject: providers.CommunityID, In: "Golang", Want: "golang"},
			{Subject: providers.CommunityID, In: "reddit.com/r/Golang/top/?t=week", Want: "golang"},
			{Subject: providers.CommunityID, In: "https://www.reddit.com/user/ann"},
			{Subject: providers.CommunityID, In: "a/b"},
			{Subject: providers.PostID, In: "t3_1skjxta", Want: "1skjxta"},
			{Subject: providers.PostID, In: "1SKJXTA", Want: "1skjxta"},
			{Subject: providers.PostID, In: "https://www.reddit.com/r/tea/comments/1skjxta/slug/c0mm3nt/", Want: "1skjxta"},
			{Subject: providers.PostID, In: "https://redd.it/1skjxta", Want: "1skjxta"},
			{Subject: providers.PostID, In: "https://www.reddit.com/gallery/1skjxta", Want: "1skjxta"},
			{Subject: providers.PostID, In: "https://www.reddit.com/r/tea/s/Sh4re", Want: "r/tea/s/Sh4re"},
			{Subject: providers.PostID, In: "https://www.reddit.com/r/tea/"},
			{Subject: providers.PostID, In: "https://www.reddit.com/r/tea/comments/"},
			{Subject: providers.PostID, In: "t1_c0mm3nt"},
			{Subject: providers.CommentID, In: "t1_c0mm3nt", Want: "c0mm3nt"},
			{Subject: providers.CommentID, In: "https://www.reddit.com/r/tea/comments/1skjxta/comment/c0mm3nt/", Want: "c0mm3nt"},
			{Subject: providers.CommentID, In: "https://www.reddit.com/r/tea/comments/1skjxta/slug/"},
			{Subject: providers.CommentID, In: "https://redd.it/1skjxta"},
		},
	})
}

func TestOwnProvider(t *testing.T) {
	t.Parallel()
	providertest.Run(t, providertest.Suite{
		New: func(c *http.Client) providers.Chain { return reddit.New(reddit.Config{HTTP: c}) }, Upstream: "reddit_own", Witness: true,
		Calls: []providertest.Call{
			providertest.Posts("own-posts", ann),
			providertest.Comments("own-comments", selfP),
			providertest.Search("own-search", providers.SearchQuery{Query: "tea"}),
			providertest.Search("own-search-in-community", providers.SearchQuery{Query: "pots", Handle: "r/tea"}),
			providertest.CommunityPosts("own-community-posts-top", providers.CommunityPostsQuery{ID: "tea", Sort: "top"}),
		},
		Fails: []providertest.Fail{
			{Call: providertest.CommunityPosts("unknown community", providers.CommunityPostsQuery{ID: "no_tea"}), Want: providers.ErrNotFound},
			{Call: providertest.CommunityPosts("private community", providers.CommunityPostsQuery{ID: "private_tea"}), Want: providers.ErrNotFound},
			{Call: providertest.CommunityPosts("blocked", providers.CommunityPostsQuery{ID: "blocked"}), Want: providers.ErrUnavailable},
			{Call: providertest.CommunityPosts("login", providers.CommunityPostsQuery{ID: "login"}), Want: providers.ErrUnavailable},
			{Call: providertest.Posts("garbage for a cursor", ann).From("garbage"), Want: providers.ErrCursor},
		},
		Drift: &providertest.Drift{}, // only checks the files: feeds are XML
	})
}

func TestFullFeedContinuesAfterItsLastEntry(t *testing.T) {
	t.Parallel()
	entries := func(n int) string {
		var b strings.Builder
		b.WriteString(`<feed xmlns="http://www.w3.org/2005/Atom">`)
		for i := range n {
			fmt.Fprintf(&b, "<entry><id>t3_p%d</id><title>Post %d</title></entry>", i, i)
		}
		b.WriteString("</feed>")
		return b.String()
	}
	p := reddit.New(reddit.Config{HTTP: &http.Client{Transport: providertest.Answers(func(r *http.Request) (int, string) {
		if r.URL.Query().Get("after") == "t3_p99" {
			return http.StatusOK, entries(99)
		}
		return http.StatusOK, entries(100)
	})}})[1]
	first, err := p.CommunityPosts(t.Context(), providers.CommunityPostsQuery{ID: "tea"}, "")
	if err != nil || len(first.Items) != 100 || first.Next != "t3_p99" {
		t.Fatalf("got %d items, next %q (%v)", len(first.Items), first.Next, err)
	}
	last, err := p.CommunityPosts(t.Context(), providers.CommunityPostsQuery{ID: "tea"}, first.Next)
	if err != nil || len(last.Items) != 99 || last.Next != "" {
		t.Errorf("got %d items, next %q (%v)", len(last.Items), last.Next, err)
	}
}

// A large thread has thousands of ids in its stubs: more than fit into a cursor.
func TestALargeThreadIsReadToItsEnd(t *testing.T) {
	t.Parallel()
	const total = 450
	threads := 0
	p := reddit.New(reddit.Config{ClientID: "id", HTTP: &http.Client{Transport: providertest.Answers(func(r *http.Request) (int, string) {
		switch r.URL.Path {
		case "/api/v1/access_token":
			return http.StatusOK, `{"access_token":"t"}`
		case "/api/morechildren":
			var things []string
			for id := range strings.SplitSeq(form(t, r).Get("children"), ",") {
				things = append(things, fmt.Sprintf(`{"kind":"t1","data":{"id":%q,"link_id":"t3_se1f","parent_id":"t3_se1f","author":"a","body":"b","replies":""}}`, id))
			}
			return http.StatusOK, `{"json":{"data":{"things":[` + strings.Join(things, ",") + `]}}}`
		}
		threads++
		var ids []string
		if threads > 1 {
			ids = append(ids, `"new1"`) // a new comment
		}
		for i := range total {
			ids = append(ids, fmt.Sprintf(`"c%d"`, i))
		}
		return http.StatusOK, `[{"data":{"children":[]}},{"data":{"children":[{"kind":"more","data":{"parent_id":"t3_se1f","children":[` +
			strings.Join(ids, ",") + `]}}]}}]`
	})}})[0]
	seen, cursor := map[string]bool{}, ""
	for range 20 {
		page, err := p.Comments(t.Context(), selfP, cursor)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range page.Items {
			if seen[c.ID] {
				t.Errorf("%s came twice", c.ID)
			}
			seen[c.ID] = true
		}
		if len(page.Next) > 5000 {
			t.Errorf("a cursor of %d bytes", len(page.Next))
		}
		if cursor = page.Next; cursor == "" {
			break
		}
	}
	if len(seen) != total || cursor != "" {
		t.Errorf("%d comments, next %q; want %d and the end", len(seen), cursor, total)
	}
}

func TestCredentialsGoToTheTokenEndpointOnly(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, secret, wantGrant, wantBasic string
	}{
		{"an app with a secret", "s3cret", "client_credentials", "s3cret"},
		{"an installed app", "", "https://oauth.reddit.com/grants/installed_client", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			p := reddit.New(reddit.Config{ClientID: "id", ClientSecret: tt.secret, HTTP: &http.Client{Transport: providertest.Answers(func(r *http.Request) (int, string) {
				if !strings.Contains(r.UserAgent(), "id:") {
					t.Errorf("User-Agent %q does not name the app", r.UserAgent())
				}
				if r.URL.Host == "www.reddit.com" {
					id, secret, _ := r.BasicAuth()
					f := form(t, r)
					if id != "id" || secret != tt.wantBasic || f.Get("grant_type") != tt.wantGrant || (secret == "") != f.Has("device_id") {
						t.Errorf("token asked for as %q:%q with %v", id, secret, f)
					}
					return http.StatusOK, `{"access_token":"t0ken","expires_in":3600}`
				}
				if got := r.Header.Get("Authorization"); got != "Bearer t0ken" {
					t.Errorf("Authorization %q", got)
				}
				return http.StatusOK, `{"kind":"t2","data":{"id":"4nn3x","name":"AnnExample"}}`
			})}})[0]
			if _, err := p.Profile(t.Context(), ann); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestTokenRefusedWithStatus200(t *testing.T) {
	t.Parallel()
	for _, body := range []string{
		`{"error":"invalid_grant"}`, `{"error_description":"bad device_id","error":"invalid_request"}`,
		`{"error":"unauthorized_client","access_token":"x"}`,
	} {
		calls := 0
		p := reddit.New(reddit.Config{ClientID: "id", ClientSecret: "s3cret", HTTP: &http.Client{Transport: providertest.Answers(func(r *http.Request) (int, string) {
			if r.URL.Host != "www.reddit.com" {
				calls++
			}
			return http.StatusOK, body
		})}})[0]
		_, err := p.Profile(t.Context(), ann)
		if err == nil || calls != 0 || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%s: %d reads and error %v", body, calls, err)
		}
	}
}

func TestWithoutCredentialsOnlyTheFeedsServe(t *testing.T) {
	t.Parallel()
	chain := reddit.New(reddit.Config{})
	official, own := chain[0], chain[1]
	if official.Serves(providers.OpProfile) || len(official.Missing[providers.OpProfile]) != 2 {
		t.Errorf("profile lacks %v, want both settings", official.Missing[providers.OpProfile])
	}
	if official.Notes[providers.OpComments] != "" || official.Notes[providers.OpFollowers] == "" {
		t.Errorf("notes %v, want those of reads that no setting switches on", official.Notes)
	}
	if !own.Serves(providers.OpPosts) || own.Serves(providers.OpProfile) {
		t.Error("the feeds serve posts and no profiles")
	}
	off := reddit.New(reddit.Config{Own: providers.OwnOff})[1]
	for _, op := range providers.Ops() {
		if off.Serves(op) {
			t.Errorf("%s is served although feeds are switched off", op)
		}
	}
}

func form(t *testing.T, r *http.Request) url.Values {
	t.Helper()
	b, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	v, err := url.ParseQuery(string(b))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func TestUnreadableThreadDoesNotEnd(t *testing.T) {
	t.Parallel()
	const c1 = `{"kind":"t1","data":{"id":"c1","parent_id":"t3_se1f","author":"a","body":"b","replies":`
	tests := []struct{ name, children, next string }{
		{"a stub without its ids", c1 + `""}},{"kind":"more","data":{"parent_id":"t3_se1f","children":"c2,c3"}}`, `{"p":"se1f","o":"?"}`},
		{"a stub with an odd id", c1 + `""}},{"kind":"more","data":{"parent_id":"t3_se1f","children":["c2",{}]}}`, `{"p":"se1f","o":"c2,?"}`},
		{"a malformed stub", c1 + `""}},{"kind":"more","data":"c2"}`, `{"p":"se1f","o":"?"}`},
		{"answers under another name", c1 + `{"kind":"Listing","data":{"items":[]}}}}`, `{"p":"se1f","o":"_c1"}`},
		{"answers of another type", c1 + `7}}`, `{"p":"se1f","o":"_c1"}`},
		{"no answers", c1 + `""}}`, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			p := reddit.New(reddit.Config{ClientID: "id", HTTP: &http.Client{Transport: providertest.Answers(func(r *http.Request) (int, string) {
				if r.URL.Path == "/api/v1/access_token" {
					return http.StatusOK, `{"access_token":"t"}`
				}
				return http.StatusOK, `[{"data":{"children":[]}},{"data":{"children":[` + tt.children + `]}}]`
			})}})[0]
			page, err := p.Comments(t.Context(), selfP, "")
			if err != nil || len(page.Items) != 1 || page.Next != tt.next {
				t.Fatalf("%d comments, next %q, %v, want one and %q", len(page.Items), page.Next, err, tt.next)
			}
			if strings.HasSuffix(tt.next, `"?"}`) {
				if _, err := p.Comments(t.Context(), selfP, tt.next); !errors.Is(err, providers.ErrUnavailable) {
					t.Errorf("behind it: got error %v, want ErrUnavailable", err)
				}
			}
		})
	}
}

// TestTheYearOneOfAFeedIsUnknown reads entries with the zero times of other systems.
func TestTheYearOneOfAFeedIsUnknown(t *testing.T) {
	t.Parallel()
	const none, known = "0001-01-01T00:00:00Z", "2026-05-04T03:02:01+00:00"
	for name, tt := range map[string]struct {
		published, updated string
		known              bool
	}{
		"both":      {none, none, false},
		"published": {none, known, true},
		"updated":   {known, none, true},
	} {
		p := reddit.New(reddit.Config{HTTP: &http.Client{Transport: providertest.Answers(func(*http.Request) (int, string) {
			return http.StatusOK, `<feed xmlns="http://www.w3.org/2005/Atom"><entry><id>t3_se1f</id><title>A</title><published>` +
				tt.published + `</published><updated>` + tt.updated + `</updated></entry></feed>`
		})}})[1]
		page, err := p.Posts(t.Context(), ann, "")
		if err != nil || len(page.Items) != 1 {
			t.Fatalf("%s: %+v, %v", name, page, err)
		}
		if at := page.Items[0].CreatedAt; (at != nil) != tt.known || at != nil && at.Year() != 2026 {
			t.Errorf("%s: the post was made at %v", name, at)
		}
	}
}

func TestMalformedFeedIsAnError(t *testing.T) {
	t.Parallel()
	const head = `<feed xmlns="http://www.w3.org/2005/Atom">`
	const post, comment, odd = `<entry><id>t3_se1f</id><title>A</title></entry>`, `<entry><id>t1_c1</id><title>B</title></entry>`, `<entry><title>C</title></entry>`
	tests := []struct {
		name, feed      string
		posts, comments error // nil for success
	}{
		{"as it should be", head + post + comment + `</feed>`, nil, nil},
		{"nothing", head + `</feed>`, providers.ErrUnavailable, providers.ErrUnavailable},
		{"an odd entry", head + post + comment + odd + `</feed>`, nil, nil},
		{"odd entries alone", head + odd + odd + `</feed>`, providers.ErrUnavailable, providers.ErrUnavailable},
		{"comments of another post", head + `<entry><id>t3_other</id></entry>` + comment + `</feed>`, nil, providers.ErrUnavailable},
		{"no feed", `<rss/>`, providers.ErrUnavailable, providers.ErrUnavailable},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			p := reddit.New(reddit.Config{HTTP: &http.Client{Transport: providertest.Answers(func(*http.Request) (int, string) {
				return http.StatusOK, tt.feed
			})}})[1]
			if _, err := p.Posts(t.Context(), ann, ""); !errors.Is(err, tt.posts) {
				t.Errorf("posts: got error %v, want %v", err, tt.posts)
			}
			if _, err := p.Comments(t.Context(), selfP, ""); !errors.Is(err, tt.comments) {
				t.Errorf("comments: got error %v, want %v", err, tt.comments)
			}
		})
	}
}
