package bluesky_test

import (
	"errors"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/bluesky"
	"github.com/socialdata/socialdata/providers/providertest"
	"github.com/socialdata/socialdata/schema"
)

const (
	ann = "did:plc:annannannannannannannann"
	bob = "did:plc:bobbobbobbobbobbobbobbob"
)

func at(who, key string) string { return "at://" + who + "/app.bsky.feed.post/" + key }

func TestAppView(t *testing.T) {
	t.Parallel()
	providertest.Run(t, providertest.Suite{
		New: func(c *http.Client) providers.Chain { return bluesky.New(bluesky.Config{HTTP: c}) },
		Calls: []providertest.Call{
			providertest.Profile("profile", "ann.example.com"),
			providertest.Profile("profile-bare", bob),
			providertest.Live("live", "cat.example.com"),
			providertest.Live("live-bare", "livebare.example.com"),
			providertest.Live("live-over", "over.example.com"),
			providertest.Live("live-none", "ann.example.com"),
			providertest.Posts("posts", "ann.example.com"),
			providertest.Posts("posts-only-reposts", "bob.example.com"),
			providertest.Post("post", at(ann, "3rich")),
			providertest.Post("post-by-handle", at("ann.example.com", "3rich")),
			providertest.Post("post-of-a-wild-client", at(bob, "3wild")),
			providertest.Post("post-quote-with-video", at(ann, "3vid")),
			providertest.Comments("comments", at(ann, "3rich")),
			providertest.Comments("comments-none", at(ann, "3late")),
			providertest.Replies("replies", providers.RepliesQuery{CommentID: at(bob, "3r1")}),
			providertest.Search("search-profiles", providers.SearchQuery{Query: "tea", Kind: schema.ProfileResult}),
			providertest.Suggestions("suggestions", providers.SuggestionsQuery{Query: "te"}),
		},
		Fails: []providertest.Fail{
			{Call: providertest.Profile("unknown account", "nobody.example.com"), Want: providers.ErrNotFound},
			{Call: providertest.Profile("suspended account", "down.example.com"), Want: providers.ErrNotFound},
			{Call: providertest.Profile("deactivated account", "off.example.com"), Want: providers.ErrNotFound},
			{Call: providertest.Profile("input that Bluesky cannot read", "odd.example.com"), Want: providers.ErrInvalid},
			{Call: providertest.Profile("rate limit", "limit.example.com"), Want: providers.ErrUnavailable},
			{Call: providertest.Profile("upstream of the upstream is slow", "slow.example.com"), Want: providers.ErrTimeout},
			{Call: providertest.Profile("no session", "auth.example.com"), Want: providers.ErrUnavailable},
			{Call: providertest.Profile("an error that we do not know", "new.example.com"), Want: providers.ErrUnavailable},
			{Call: providertest.Profile("refused at the edge", "edge.example.com"), Want: providers.ErrUnavailable},
			{Call: providertest.Post("unknown post", at(ann, "3none")), Want: providers.ErrNotFound},
			{Call: providertest.Post("post of an unknown handle", at("nobody.example.com", "3rich")), Want: providers.ErrNotFound},
			{Call: providertest.Comments("comments of an unknown post", at(ann, "3none")), Want: providers.ErrNotFound},
			{Call: providertest.Comments("comments of a deleted post", at(ann, "3gone")), Want: providers.ErrNotFound},
			{Call: providertest.Comments("comments of a withheld post", at(ann, "3blk")), Want: providers.ErrNotFound},
			{Call: providertest.Posts("dead cursor", "ann.example.com").From("dead"), Want: providers.ErrCursor},
			{Call: providertest.Comments("cursor that is no place", at(ann, "3rich")).From("-1"), Want: providers.ErrCursor},
		},
		Lone: map[providers.Op][]string{
			// Bob's handle is not in the answer, so he may be the missing account.
			providers.OpProfile: {"nobody.example.com", "down.example.com", "off.example.com"},
			providers.OpPost:    {at("nobody.example.com", "3rich")},
		},
		Drift: &providertest.Drift{
			// The last page has no cursor, an account that is not live has no status, and there are no replies below
			// the requested depth.
			Absent: []string{"cursor", "status", "thread.replies", "thread.replies[].replies"},
			// A missing count of reposts or quotes counts as zero in the sum.
			Sums: []string{"posts[].repostCount", "posts[].quoteCount", "feed[].post.repostCount", "feed[].post.quoteCount"},
		},
		Inputs: []providertest.Input{
			{Subject: providers.Handle, In: "@Jay.BSKY.team", Want: "jay.bsky.team"},
			{Subject: providers.Handle, In: "\u2066@jay.bsky.team\u2069", Want: "jay.bsky.team"},
			{Subject: providers.Handle, In: ann, Want: ann},
			{Subject: providers.Handle, In: "at://" + ann, Want: ann},
			{Subject: providers.Handle, In: "https://bsky.app/profile/Jay.bsky.team", Want: "jay.bsky.team"},
			{Subject: providers.Handle, In: "bsky.app", Want: "bsky.app"},
			{Subject: providers.Handle, In: "bsky.app/profile/" + ann, Want: ann},
			{Subject: providers.Handle, In: "https://example.com/profile/jay.bsky.team"},
			{Subject: providers.Handle, In: "https://bsky.app/search"},
			{Subject: providers.Handle, In: "jay"},
			{Subject: providers.PostID, In: at(ann, "3rich"), Want: at(ann, "3rich")},
			{Subject: providers.PostID, In: at("Ann.Example.com", "3rich"), Want: at("ann.example.com", "3rich")},
			{Subject: providers.CommentID, In: "https://bsky.app/profile/ann.example.com/post/3rich", Want: at("ann.example.com", "3rich")},
			{Subject: providers.CommentID, In: "bsky.app/profile/" + ann + "/post/3rich", Want: at(ann, "3rich")},
			{Subject: providers.PostID, In: "https://bsky.app/profile/ann.example.com"},
			{Subject: providers.PostID, In: "https://bsky.app/profile/ann.example.com/lists/3rich"},
			{Subject: providers.PostID, In: "at://" + ann + "/app.bsky.feed.like/3rich"},
			{Subject: providers.PostID, In: "at://" + ann + "/app.bsky.feed.post/a b"},
			{Subject: providers.PostID, In: "3rich"},
		},
	})
}

func TestSession(t *testing.T) {
	t.Parallel()
	providertest.Run(t, providertest.Suite{
		New: func(c *http.Client) providers.Chain {
			return bluesky.New(bluesky.Config{HTTP: c, Identifier: "@ann.example.com", AppPassword: "app-pass"})
		},
		Upstream: "bluesky_session",
		Calls: []providertest.Call{
			providertest.Search("search-posts", providers.SearchQuery{Query: "tea", Kind: schema.PostResult}),
			providertest.Search("search-posts-narrowed", providers.SearchQuery{
				Query: "tea", Sort: "relevance", Lang: "ar", Handle: "ann.example.com",
				Since: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), Until: time.Date(2026, 2, 1, 0, 0, 0, 0, time.UTC),
			}),
		},
		Fails: []providertest.Fail{
			{Call: providertest.Search("a token that ends again and again", providers.SearchQuery{Query: "expired"}), Want: providers.ErrUnavailable},
			{Call: providertest.Search("a token that is refused", providers.SearchQuery{Query: "auth"}), Want: providers.ErrUnavailable},
			{Call: providertest.Search("a query that cannot be read", providers.SearchQuery{Query: "tea AND ("}), Want: providers.ErrInvalid},
		},
		Drift: &providertest.Drift{Absent: []string{"cursor"}, Sums: []string{"posts[].repostCount", "posts[].quoteCount"}},
	})
}

// named returns the provider of that name.
func named(name string, cfg bluesky.Config) providers.Provider {
	for _, p := range bluesky.New(cfg) {
		if p.Name == name {
			return p
		}
	}
	panic("no provider " + name)
}

// answering returns a client whose answers all have that body.
func answering(status int, body string) *http.Client {
	return &http.Client{Transport: providertest.Answers(func(*http.Request) (int, string) { return status, body })}
}

func TestAHandleThatIsLeftOutIsNotFound(t *testing.T) {
	t.Parallel()
	body := `{"profiles":[{"did":"` + bob + `","handle":"Bob.example.com"}]}`
	p := named("bluesky", bluesky.Config{HTTP: answering(http.StatusOK, body)})
	found, err := p.Batches.Profile.Read(t.Context(), []string{"cat.example.com", "bob.example.com", bob})
	single, whole := providers.Apart(err)
	if whole != nil || len(found) != 2 || !errors.Is(single["cat.example.com"], providers.ErrNotFound) {
		t.Errorf("found %v, got error %v", found, err)
	}
}

// TestAnAccountWithoutItsHandleIsNotAnothers: the answer about such an account does not show which handle was
// requested.
func TestAnAccountWithoutItsHandleIsNotAnothers(t *testing.T) {
	t.Parallel()
	body := `{"profiles":[{"did":"` + ann + `","handle":"handle.invalid"},{"did":"` + bob + `","handle":"bob.example.com"}]}`
	p := named("bluesky", bluesky.Config{HTTP: answering(http.StatusOK, body)})
	found, err := p.Batches.Profile.Read(t.Context(), []string{"ann.example.com", "bob.example.com", "cat.example.com", ann})
	single, whole := providers.Apart(err)
	if whole != nil || len(found) != 2 || found["bob.example.com"].ID != bob || found[ann].ID != ann {
		t.Fatalf("found %v, got error %v", found, err)
	}
	for _, handle := range []string{"ann.example.com", "cat.example.com"} {
		if err := single[handle]; err == nil || errors.Is(err, providers.ErrNotFound) {
			t.Errorf("%s: got error %v, want it left to a read of its own", handle, err)
		}
	}
}

func TestSharesAreRepostsAndQuotes(t *testing.T) {
	t.Parallel()
	uri := at(ann, "3rich")
	for counts, want := range map[string]*int64{
		`"repostCount":3,"quoteCount":4`:     new(int64(7)),
		`"repostCount":"3","quoteCount":4.0`: new(int64(7)),
		`"repostCount":null,"quoteCount":0`:  new(int64(0)), // an answer from before there were quotes, or reposts
		`"quoteCount":4`:                     new(int64(4)),
		`"repostCount":3`:                    new(int64(3)),
		`"replyCount":1`:                     nil,
		`"repostCount":3,"quoteCount":-1`:    nil,
		`"repostCount":{},"quoteCount":4`:    nil,
	} {
		body := `{"posts":[{"uri":"` + uri + `","author":{"did":"` + ann + `","handle":"ann.example.com"},"likeCount":-2,` + counts + `}]}`
		p, err := named("bluesky", bluesky.Config{HTTP: answering(http.StatusOK, body)}).Post(t.Context(), uri)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, p.Engagement.Shares); diff != "" || p.Engagement.Likes != nil {
			t.Errorf("%s: likes %v, shares (-want +got):\n%s", counts, p.Engagement.Likes, diff)
		}
	}
}

func TestARefusedInputIsTheCallers(t *testing.T) {
	t.Parallel()
	p := named("bluesky", bluesky.Config{HTTP: answering(http.StatusBadRequest, `{"error":"InvalidRequest","message":"q is too long"}`)})
	_, err := p.Search(t.Context(), providers.SearchQuery{Query: "tea"}, "")
	if e, ok := errors.AsType[*providers.Error](err); !ok || !errors.Is(err, providers.ErrInvalid) || !strings.Contains(e.Detail, "too long") {
		t.Errorf("got error %v, want ErrInvalid with Bluesky's reason", err)
	}
}

func TestWhetherSomebodyIsOnAirIsNotGuessed(t *testing.T) {
	t.Parallel()
	const live = `"status":"app.bsky.actor.status#live"`
	for body, want := range map[string]error{
		`{}`:                            nil,
		`{"status":null}`:               nil,
		`{"status":{"status":"other"}}`: nil,
		`{"status":{` + live + `,"isActive":false}}`:                   nil,
		`{"status":"live"}`:                                            providers.ErrUnavailable,
		`{"status":{}}`:                                                providers.ErrUnavailable,
		`{"status":{` + live + `}}`:                                    providers.ErrUnavailable,
		`{"status":{` + live + `,"isActive":true}}`:                    providers.ErrUnavailable,
		`{"status":{` + live + `,"expiresAt":"2999-01-01T00:00:00Z"}}`: providers.ErrUnavailable,
	} {
		whole := `{"did":"` + ann + `","handle":"ann.example.com",` + strings.TrimPrefix(body, "{")
		whole = strings.Replace(whole, ",}", "}", 1)
		l, err := named("bluesky", bluesky.Config{HTTP: answering(http.StatusOK, whole)}).Live(t.Context(), "ann.example.com")
		if !errors.Is(err, want) || l.IsLive {
			t.Errorf("%s: is live %v, error %v, want %v", body, l.IsLive, err, want)
		}
	}
}

func TestADeepThreadIsReadWhole(t *testing.T) {
	t.Parallel()
	reply := func(n int, below string) string {
		return `{"post":{"uri":"` + at(bob, "3d"+strconv.Itoa(n)) + `","author":{"did":"` + bob + `","handle":"bob.example.com"}},"replies":[` + below + `]}`
	}
	tree := reply(100, "")
	for n := 99; n > 0; n-- {
		tree = reply(n, tree)
	}
	root := `{"thread":{"post":{"uri":"` + at(ann, "3rich") + `"},"replies":[` + tree + `]}}`
	p := named("bluesky", bluesky.Config{HTTP: answering(http.StatusOK, root)})
	var got []string
	for cursor := "0"; cursor != ""; {
		page, err := p.Comments(t.Context(), at(ann, "3rich"), cursor)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range page.Items {
			got = append(got, c.ID)
		}
		cursor = page.Next
	}
	if len(got) != 100 || got[0] != at(bob, "3d1") || got[99] != at(bob, "3d100") {
		t.Errorf("%d comments, the first %q", len(got), got[0])
	}
}
