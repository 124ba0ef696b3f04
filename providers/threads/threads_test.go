package threads_test

import (
	"errors"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/providertest"
	"github.com/socialdata/socialdata/providers/threads"
)

func TestOfficial(t *testing.T) {
	t.Parallel()
	providertest.Run(t, providertest.Suite{
		New: func(c *http.Client) providers.Chain {
			return threads.New(threads.Config{Token: "secret-token", HTTP: c})
		},
		Calls: []providertest.Call{
			providertest.Profile("profile", "ann.example"),
			providertest.Profile("profile-bare", "bare"),
			providertest.Posts("posts", "ann.example"),
			providertest.Post("post", "18000000000000008"),
			providertest.Comments("comments", "18"),
			providertest.Replies("replies", providers.RepliesQuery{CommentID: "77", PostID: "18"}),
			providertest.Replies("replies-of-unknown-post", providers.RepliesQuery{CommentID: "77"}),
			providertest.Search("search", providers.SearchQuery{Query: "tea"}),
			providertest.Search("search-nothing", providers.SearchQuery{Query: "nothing"}),
			providertest.Search("search-filtered", providers.SearchQuery{
				Query: "#tea", Sort: "recent", Handle: "ann.example",
				Since: time.Date(2026, 5, 2, 12, 0, 0, 0, time.UTC), Until: time.Date(2026, 5, 23, 0, 0, 0, 0, time.UTC),
			}),
		},
		Fails: []providertest.Fail{
			{Call: providertest.Profile("unknown account", "nobody"), Want: providers.ErrNotFound},
			{Call: providertest.Profile("a parameter that Threads refuses", "odd"), Want: providers.ErrNotFound},
			{Call: providertest.Profile("outside our permission", "small"), Want: providers.ErrUnsupported},
			{Call: providertest.Profile("outside our permission, with status 400", "small2"), Want: providers.ErrUnsupported},
			{Call: providertest.Profile("expired token", "expired"), Want: providers.ErrUnavailable},
			{Call: providertest.Profile("limit", "limited"), Want: providers.ErrUnavailable},
			{Call: providertest.Profile("limit, with status 429", "limited429"), Want: providers.ErrUnavailable},
			{Call: providertest.Profile("passing error", "broken"), Want: providers.ErrUnavailable},
			{Call: providertest.Post("unknown post", "404"), Want: providers.ErrNotFound},
			{Call: providertest.Post("a shortcode", "DMAIN000001"), Want: providers.ErrUnsupported},
			{Call: providertest.Comments("comments by shortcode", "DMAIN000001"), Want: providers.ErrUnsupported},
			{Call: providertest.Search("bad query", providers.SearchQuery{Query: "bad"}), Want: providers.ErrInvalid},
			{Call: providertest.Posts("dead cursor", "ann.example").From("stale"), Want: providers.ErrCursor},
		},
		Drift: &providertest.Drift{
			// The last page has no next, and any field of a reply may be missing: then it is not hidden.
			Absent: []string{"paging", "paging.next", "data[].hide_status"},
		},
		Inputs: []providertest.Input{
			{Subject: providers.Handle, In: "@Ann.Example", Want: "ann.example"},
			{Subject: providers.Handle, In: "https://www.threads.net/@Ann.Example/post/DUM"},
			{Subject: providers.Handle, In: "threads.com/@ann", Want: "ann"},
			{Subject: providers.Handle, In: "https://www.threads.com/search?q=tea"},
			{Subject: providers.Handle, In: "https://www.instagram.com/ann"},
			{Subject: providers.Handle, In: "ann example"},
			{Subject: providers.PostID, In: "https://www.threads.com/@ann/post/DEUxBnGRDtS?xmt=1", Want: "DEUxBnGRDtS"},
			{Subject: providers.PostID, In: "https://www.threads.net/t/DIU8naHS6q_/", Want: "DIU8naHS6q_"},
			{Subject: providers.PostID, In: "DIU8naHS6q_", Want: "DIU8naHS6q_"},
			{Subject: providers.PostID, In: "3536667222372268882", Want: "DEUxBnGRDtS"},
			{Subject: providers.CommentID, In: "3608775792320555711", Want: "DIU8naHS6q_"},
			{Subject: providers.PostID, In: "18000000000000008", Want: "18000000000000008"},
			{Subject: providers.PostID, In: "https://www.threads.com/@ann"},
			{Subject: providers.PostID, In: "no code"},
			{Subject: providers.PostID, In: strings.Repeat("9", 500)},
		},
	})
}

// data is the path of the site's own data in a script.
const data = "require[][][].__bbox.require[][][].__bbox.result.data."

// above returns a path and all paths above it.
func above(path string) []string {
	all := []string{"$", path}
	for i, c := range path {
		if c == '.' || c == '[' {
			all = append(all, path[:i])
		}
	}
	return all
}

func TestOwn(t *testing.T) {
	t.Parallel()
	providertest.Run(t, providertest.Suite{
		New: func(c *http.Client) providers.Chain { return threads.New(threads.Config{HTTP: c}) }, Upstream: "threads_own", Witness: true,
		Calls: []providertest.Call{
			providertest.Profile("own-profile", "ann.example"),
			providertest.Profile("own-profile-private", "shy"),
			providertest.Profile("own-profile-head-only", "head.only"),
			providertest.Posts("own-posts", "ann.example"),
			providertest.Post("own-post", "DMAIN000001"),
			providertest.Post("own-post-continued", "DOLD0000001"),
			providertest.Post("own-post-elsewhere-in-the-page", "DNODE000001"),
			providertest.Comments("own-comments", "DMAIN000001"),
			providertest.Comments("own-comments-older-layout", "DOLD0000001"),
			providertest.Replies("own-replies", providers.RepliesQuery{CommentID: "DMAIN000001"}),
			providertest.Search("own-search", providers.SearchQuery{Query: "tea"}),
			providertest.Search("own-search-recent", providers.SearchQuery{Query: "tea", Sort: "recent"}),
			providertest.Search("own-search-tag", providers.SearchQuery{Query: "#tea"}),
		},
		Fails: []providertest.Fail{
			{Call: providertest.Posts("an empty list without a count", "silent"), Want: providers.ErrUnavailable},
			{Call: providertest.Search("no hits without a word", providers.SearchQuery{Query: "nothing"}), Want: providers.ErrUnavailable},
			{Call: providertest.Profile("login page", "walled"), Want: providers.ErrUnavailable},
			{Call: providertest.Profile("redirect to the login", "redirected"), Want: providers.ErrUnavailable},
			{Call: providertest.Profile("an account without data", "exists"), Want: providers.ErrUnavailable},
			{Call: providertest.Profile("a page that names nothing", "nobody"), Want: providers.ErrNotFound},
			{Call: providertest.Profile("missing page", "gone"), Want: providers.ErrNotFound},
			{Call: providertest.Profile("limit", "limited"), Want: providers.ErrUnavailable},
			{Call: providertest.Posts("private account", "shy"), Want: providers.ErrNotFound},
			{Call: providertest.Posts("a page with the account alone", "half"), Want: providers.ErrUnavailable},
			{Call: providertest.Posts("a page with the head alone", "head.only"), Want: providers.ErrUnavailable},
			{Call: providertest.Posts("a cursor that was never given", "ann.example").From("2"), Want: providers.ErrCursor},
			{Call: providertest.Post("deleted post", "DGONE000003"), Want: providers.ErrNotFound},
			{Call: providertest.Post("unknown post", "DMISSING001"), Want: providers.ErrNotFound},
			{Call: providertest.Post("a media id", "18000000000000008"), Want: providers.ErrUnsupported},
		},
		Drift: &providertest.Drift{
			// A false flag may be missing: then the counts are shown.
			Absent: []string{
				data + "mediaData.edges[].node.thread_items[].post.like_and_view_counts_disabled",
				data + "data.direct_replies.edges[].node.posts.edges[].node.like_and_view_counts_disabled",
			},
			// If the scripts hold no account, the head of its page shows it with rounded counts.
			Sums: above(data + "user"),
		},
		Inputs: []providertest.Input{
			{Subject: providers.PostID, In: "DIU8naHS6q_", Want: "DIU8naHS6q_"},
		},
	})
}

func TestPagesAreRequestedLikeABrowser(t *testing.T) {
	t.Parallel()
	var got http.Header
	p := threads.New(threads.Config{HTTP: &http.Client{Transport: providertest.Answers(func(r *http.Request) (int, string) {
		got = r.Header
		return http.StatusOK, ""
	})}})[1]
	_, _ = p.Profile(t.Context(), "ann") // there is no data to read
	for name, want := range map[string]string{"Sec-Fetch-Dest": "document", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Site": "none", "Sec-Fetch-User": "?1"} {
		if got.Get(name) != want {
			t.Errorf("%s: %q, want %q", name, got.Get(name), want)
		}
	}
	if got.Get("Authorization") != "" || !strings.HasPrefix(got.Get("User-Agent"), "Mozilla/") {
		t.Errorf("sent %v", got)
	}
}

func TestForwardDoesNotShowTheToken(t *testing.T) {
	t.Parallel()
	p := threads.New(threads.Config{Token: "secret-token", HTTP: &http.Client{Transport: providertest.Answers(func(r *http.Request) (int, string) {
		return http.StatusOK, `{"data":[],"paging":{"next":"https:\/\/graph.threads.net\/v1.0\/x?access_token=secret-token\u0026after=A"}}`
	})}})[0]
	raw, err := p.Forward(t.Context(), "v1.0/profile_posts", url.Values{})
	if err != nil || strings.Contains(string(raw), "secret-token") || !strings.Contains(string(raw), "after=A") {
		t.Errorf("forwarded %s (%v)", raw, err)
	}
}

func TestPostsOfOtherAccountsAreLeftOut(t *testing.T) {
	t.Parallel()
	p := threads.New(threads.Config{Token: "t", HTTP: &http.Client{Transport: providertest.Answers(func(*http.Request) (int, string) {
		return http.StatusOK, `{"data":[{"id":"1","shortcode":"DONE0000001","username":"Ann.Example"},` +
			`{"id":"2","shortcode":"DTWO0000002","username":"bob"},{"id":"3","shortcode":"DTHREE00003"}]}`
	})}})[0]
	page, err := p.Posts(t.Context(), "ann.example", "")
	if err != nil || len(page.Items) != 3 {
		t.Fatal(page, err)
	}
	for i, want := range []string{"DONE0000001", "", "DTHREE00003"} { // a row without an id is left out
		if got := page.Items[i].ID; got != want {
			t.Errorf("post %d: got id %q, want %q", i+1, got, want)
		}
	}
}

func TestMentionsAreHandles(t *testing.T) {
	t.Parallel()
	p := threads.New(threads.Config{Token: "t", HTTP: &http.Client{Transport: providertest.Answers(func(*http.Request) (int, string) {
		return http.StatusOK, `{"id":"1","username":"ann","text":"@bob-approved, by @cat.example. and @dee_ (not eve@example.com)"}`
	})}})[0]
	got, err := p.Post(t.Context(), "1")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"bob", "cat.example", "dee_"}, got.Mentions); diff != "" {
		t.Errorf("mentions (-want +got):\n%s", diff)
	}
}

func TestSettings(t *testing.T) {
	t.Parallel()
	ps := threads.New(threads.Config{})
	if ps[0].Serves(providers.OpProfile) || ps[0].Missing[providers.OpProfile][0] != "token" || !ps[1].Serves(providers.OpProfile) {
		t.Error("without a token the public pages alone are served, and the setting is named")
	}
	providertest.Off(t, threads.New(threads.Config{Own: providers.OwnOff})[1])
}

// The official API and the pages have different posts: what one cannot look up, the other may.
func TestEachSourceAcceptsItsOwnIDsOnly(t *testing.T) {
	t.Parallel()
	unreached := &http.Client{Transport: providertest.Upstream(func(r *http.Request) (*http.Response, error) {
		t.Errorf("asked %s", r.URL)
		return nil, io.EOF
	})}
	ps := threads.New(threads.Config{Token: "t", HTTP: unreached})
	for i, id := range []string{"DMAIN000001", "18000000000000008"} {
		if _, err := ps[i].Post(t.Context(), id); !errors.Is(err, providers.ErrUnsupported) {
			t.Errorf("%s: got error %v, want ErrUnsupported", ps[i].Name, err)
		}
	}
}

func TestPageOfAnotherFormatIsAnError(t *testing.T) {
	t.Parallel()
	whole, err := os.ReadFile("testdata/page-ann.html")
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name, old, new string
		posts          int
		want           error
	}{
		{"as it is", "", "", 5, nil},
		{"every time is of another type", `"taken_at": `, `"taken_at": [], "was": `, 5, nil},
		{"every thread under another name", "thread_items", "items", 0, providers.ErrUnavailable},
		{"every author of another type", `"user": {"pk"`, `"user": [], "was": {"pk"`, 0, providers.ErrUnavailable},
		{"every thread of another type", `"thread_items": [`, `"thread_items": 3, "was": [`, 0, providers.ErrUnavailable},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			p := threads.New(threads.Config{HTTP: &http.Client{Transport: providertest.Answers(func(*http.Request) (int, string) {
				if tt.old == "" {
					return http.StatusOK, string(whole)
				}
				return http.StatusOK, strings.ReplaceAll(string(whole), tt.old, tt.new)
			})}})[1]
			page, err := p.Posts(t.Context(), "ann.example", "")
			if len(page.Items) != tt.posts || !errors.Is(err, tt.want) {
				t.Errorf("%d posts, error %v, want %d and %v", len(page.Items), err, tt.posts, tt.want)
			}
		})
	}
}

func TestUnreadableRowsAreAnError(t *testing.T) {
	t.Parallel()
	for _, rows := range []string{`[{"post":{"text_post_app_info":{}}}]`, `[{"post":{}}]`, `[{}]`} {
		own := threads.New(threads.Config{HTTP: &http.Client{Transport: providertest.Answers(func(*http.Request) (int, string) {
			return http.StatusOK, `<script data-sjs>{"mediaData":{"edges":[{"node":{"thread_items":` + rows + `}}]}}</script>`
		})}})
		got, err := own[len(own)-1].Posts(t.Context(), "ann", "")
		if !errors.Is(err, providers.ErrUnavailable) {
			t.Errorf("%s: got %+v, %v, want ErrUnavailable", rows, got, err)
		}
	}
}
