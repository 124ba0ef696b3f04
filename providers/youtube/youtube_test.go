package youtube_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/providertest"
	"github.com/socialdata/socialdata/providers/youtube"
	"github.com/socialdata/socialdata/schema"
)

const (
	ann      = "annexample"
	bare     = "UCbareexample00000000000"
	tea      = "tea-video-1"
	threadID = "UgxThread1-AaABAg"
)

func TestProvider(t *testing.T) {
	t.Parallel()
	providertest.Run(t, providertest.Suite{
		New: func(c *http.Client) providers.Provider { return youtube.New(youtube.Config{APIKey: "k", HTTP: c}) },
		Calls: []providertest.Call{
			profile("profile", ann),
			profile("profile-bare", bare),
			profile("profile-of-old-name", "user/oldname"),
			profile("profile-arabic", "قناة_مثال"),
			posts("posts", ann),
			posts("posts-none", bare),
			post("post", tea),
			post("post-without-snippet", "no-snippet1"),
			reels("reels", ann),
			reels("reels-none", bare),
			providertest.List("trending", func(ctx context.Context, p providers.Provider, cursor string) (providers.Page[schema.Post], error) {
				return p.Trending(ctx, providers.TrendingQuery{Region: "SA"}, cursor)
			}),
			comments("comments", tea),
			replies("replies", providers.RepliesQuery{CommentID: threadID}),
			replies("replies-of-known-post", providers.RepliesQuery{CommentID: threadID, PostID: tea}),
			replies("replies-of-unknown-post", providers.RepliesQuery{CommentID: "UgxThread2-AaABAg"}),
			search("search", providers.SearchQuery{Query: "tea"}),
			search("search-narrow", providers.SearchQuery{
				Query: "tea", Kind: schema.PostResult, Sort: "recent", Region: "SA",
				Since: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), Until: time.Date(2026, 7, 1, 0, 0, 0, 0, time.UTC),
			}),
			collections("collections", providers.CollectionsQuery{Handle: ann}),
			collections("collections-podcasts", providers.CollectionsQuery{Handle: ann, Kind: schema.Podcast}),
			collection("collection", "PLteaexample"),
			collectionPosts("collection-posts", "PLteaexample"),
			live("live", "UCliveexample00000000000"),
			live("live-found-by-search", "UClongexample00000000000"),
			live("live-off-air", bare),
		},
		Fails: []providertest.Fail{
			{Call: profile("unknown channel", "nobody"), Want: providers.ErrNotFound},
			{Call: posts("posts of an unknown channel", "nobody"), Want: providers.ErrNotFound},
			{Call: post("unknown video", "gone-video1"), Want: providers.ErrNotFound},
			{Call: post("malformed video", "abc"), Want: providers.ErrNotFound},
			{Call: post("quota", "quota-used1"), Want: providers.ErrUnavailable},
			{Call: post("pace", "pace-limit1"), Want: providers.ErrUnavailable},
			{Call: post("key", "key-invalid"), Want: providers.ErrUnavailable},
			{Call: post("key, told in details", "key-invali2"), Want: providers.ErrUnavailable},
			{Call: post("interface not switched on", "key-unknown"), Want: providers.ErrUnavailable},
			{Call: post("forbidden", "forbidden01"), Want: providers.ErrUnavailable},
			{Call: post("our bug", "badargument"), Want: providers.ErrUnavailable},
			{Call: post("backend", "backend-err"), Want: providers.ErrUnavailable},
			{Call: comments("comments switched off", "comments-no"), Want: providers.ErrNotFound},
			{Call: comments("comments of an unknown video", "gone-video1"), Want: providers.ErrNotFound},
			{Call: comments("comments of what YouTube calls malformed", "bad-videoid"), Want: providers.ErrNotFound},
			{Call: comments("comments of what we call malformed", "x"), Want: providers.ErrNotFound},
			{Call: comments("dead page token", "bad-token01"), Want: providers.ErrCursor},
			{Call: replies("unknown comment", providers.RepliesQuery{CommentID: "UgxGone000-AaABAg"}), Want: providers.ErrNotFound},
			{Call: replies("malformed comment", providers.RepliesQuery{CommentID: "?"}), Want: providers.ErrNotFound},
			{Call: collection("unknown playlist", "PLgone"), Want: providers.ErrNotFound},
			{Call: collection("malformed playlist", "?"), Want: providers.ErrNotFound},
			{Call: collectionPosts("videos of an unknown playlist", "PLgone"), Want: providers.ErrNotFound},
			{Call: collectionPosts("videos of a private playlist", "PLprivate"), Want: providers.ErrNotFound},
			{Call: collectionPosts("videos that we may not see", "PLdenied"), Want: providers.ErrNotFound},
			{Call: collectionPosts("videos of a malformed playlist", "?"), Want: providers.ErrNotFound},
			{Call: live("live of an unknown channel", "nobody"), Want: providers.ErrNotFound},
			{Call: search("search quota", providers.SearchQuery{Query: "quota"}), Want: providers.ErrUnavailable},
			{Call: providertest.List("unknown region", func(ctx context.Context, p providers.Provider, cursor string) (providers.Page[schema.Post], error) {
				return p.Trending(ctx, providers.TrendingQuery{Region: "ZZ"}, cursor)
			}), Want: providers.ErrInvalid},
			{Call: providertest.List("cursor of another list", func(ctx context.Context, p providers.Provider, _ string) (providers.Page[schema.Post], error) {
				return p.Posts(ctx, ann, "PAGE2")
			}), Want: providers.ErrCursor},
		},
		Inputs: []providertest.Input{
			{Subject: providers.Handle, In: "@AnnExample", Want: ann},
			{Subject: providers.Handle, In: "AnnExample", Want: ann},
			{Subject: providers.Handle, In: bare, Want: bare},
			{Subject: providers.Handle, In: "https://www.youtube.com/@AnnExample/videos", Want: ann},
			{Subject: providers.Handle, In: "m.youtube.com/channel/" + bare, Want: bare},
			{Subject: providers.Handle, In: "https://www.youtube.com/user/OldName", Want: "user/OldName"},
			{Subject: providers.Handle, In: "https://www.youtube.com/c/AnnExample", Want: ann},
			{Subject: providers.Handle, In: "https://www.youtube.com/@%D9%82%D9%86%D8%A7%D8%A9_%D9%85%D8%AB%D8%A7%D9%84", Want: "قناة_مثال"},
			{Subject: providers.Handle, In: "https://www.youtube.com/watch?v=" + tea},
			{Subject: providers.Handle, In: "https://www.youtube.com/channel/short"},
			{Subject: providers.Handle, In: "https://vimeo.com/annexample"},
			{Subject: providers.Handle, In: "two words"},
			{Subject: providers.PostID, In: tea, Want: tea},
			{Subject: providers.PostID, In: "https://www.youtube.com/watch?t=10s&v=" + tea, Want: tea},
			{Subject: providers.PostID, In: "https://youtu.be/" + tea + "?si=x", Want: tea},
			{Subject: providers.PostID, In: "youtube.com/shorts/" + tea, Want: tea},
			{Subject: providers.PostID, In: "https://www.youtube.com/live/" + tea, Want: tea},
			{Subject: providers.PostID, In: "https://www.youtube-nocookie.com/embed/" + tea, Want: tea},
			{Subject: providers.PostID, In: "https://www.youtube.com/feed/trending"},
			{Subject: providers.PostID, In: "https://example.org/watch?v=" + tea},
			{Subject: providers.CollectionID, In: "https://www.youtube.com/playlist?list=PLteaexample", Want: "PLteaexample"},
			{Subject: providers.CollectionID, In: "https://www.youtube.com/@annexample"},
			{Subject: providers.CommentID, In: "https://www.youtube.com/watch?v=" + tea + "&lc=" + threadID, Want: threadID},
			{Subject: providers.CommentID, In: threadID, Want: threadID},
		},
	})
}

func TestWithoutAKeyEverythingNamesTheSetting(t *testing.T) {
	t.Parallel()
	p := youtube.New(youtube.Config{})
	for _, op := range providers.Ops() {
		if p.Serves(op) {
			t.Errorf("%s is served without a key", op)
		}
	}
	if got := p.Missing[providers.OpSearch]; len(got) != 1 || got[0] != "api_key" {
		t.Errorf("search misses %v, want api_key", got)
	}
}

func TestASpentQuotaClosesItsBucketOnly(t *testing.T) {
	t.Parallel()
	searches, reads := 0, 0
	p := youtube.New(youtube.Config{APIKey: "k", HTTP: &http.Client{Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
		if strings.HasSuffix(r.URL.Path, "/search") {
			searches++
			return reply(r, http.StatusForbidden, `{"error":{"code":403,"errors":[{"reason":"quotaExceeded"}]}}`), nil
		}
		reads++
		return reply(r, http.StatusOK, `{"items":[{"id":"UCbareexample00000000000"}]}`), nil
	})}})
	for range 3 {
		_, err := p.Search(t.Context(), providers.SearchQuery{Query: "tea"}, "")
		var e *providers.Error
		if !errors.As(err, &e) || e.RetryAfter <= 0 || e.RetryAfter > 25*time.Hour {
			t.Errorf("got %v, want an error that says when the quota starts anew", err)
		}
		if _, err := p.Profile(t.Context(), bare); err != nil {
			t.Errorf("profile: %v", err)
		}
	}
	if searches != 1 || reads != 3 {
		t.Errorf("%d searches and %d reads went out, want 1 and 3", searches, reads)
	}
}

func TestTheKeyStaysOutOfURLsAndErrors(t *testing.T) {
	t.Parallel()
	const key = "AIza-secret"
	p := youtube.New(youtube.Config{APIKey: key, HTTP: &http.Client{Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
		if strings.Contains(r.URL.String(), key) || r.Header.Get("X-Goog-Api-Key") != key {
			t.Errorf("the key is not where it belongs: %s", r.URL)
		}
		return reply(r, http.StatusBadRequest, `{"error":{"errors":[{"reason":"keyInvalid"}]}}`), nil
	})}})
	if _, err := p.Post(t.Context(), tea); err == nil || strings.Contains(err.Error(), key) {
		t.Errorf("got error %v, want one without the key", err)
	}
}

func TestForwardCountsSearchesApart(t *testing.T) {
	t.Parallel()
	p := youtube.New(youtube.Config{APIKey: "k", HTTP: &http.Client{Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
		return reply(r, http.StatusOK, `{"path":"`+r.URL.Path+`"}`), nil
	})}})
	for range 100 {
		if _, err := p.Forward(t.Context(), "search", nil); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := p.Forward(t.Context(), "search", nil); !errors.Is(err, providers.ErrUnavailable) {
		t.Errorf("the 101st search gave %v, want it refused", err)
	}
	if raw, err := p.Forward(t.Context(), "videos", nil); err != nil || string(raw) != `{"path":"/youtube/v3/videos"}` {
		t.Errorf("got %s, %v", raw, err)
	}
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func reply(r *http.Request, status int, body string) *http.Response {
	return &http.Response{StatusCode: status, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(body)), Request: r}
}

func profile(name, handle string) providertest.Call {
	return providertest.One(name, func(ctx context.Context, p providers.Provider) (schema.Profile, error) {
		return p.Profile(ctx, handle)
	})
}

func live(name, handle string) providertest.Call {
	return providertest.One(name, func(ctx context.Context, p providers.Provider) (schema.LiveStream, error) {
		return p.Live(ctx, handle)
	})
}

func post(name, id string) providertest.Call {
	return providertest.One(name, func(ctx context.Context, p providers.Provider) (schema.Post, error) {
		return p.Post(ctx, id)
	})
}

func posts(name, handle string) providertest.Call {
	return providertest.List(name, func(ctx context.Context, p providers.Provider, cursor string) (providers.Page[schema.Post], error) {
		return p.Posts(ctx, handle, cursor)
	})
}

func reels(name, handle string) providertest.Call {
	return providertest.List(name, func(ctx context.Context, p providers.Provider, cursor string) (providers.Page[schema.Post], error) {
		return p.Reels(ctx, handle, cursor)
	})
}

func comments(name, id string) providertest.Call {
	return providertest.List(name, func(ctx context.Context, p providers.Provider, cursor string) (providers.Page[schema.Comment], error) {
		return p.Comments(ctx, id, cursor)
	})
}

func replies(name string, q providers.RepliesQuery) providertest.Call {
	return providertest.List(name, func(ctx context.Context, p providers.Provider, cursor string) (providers.Page[schema.Comment], error) {
		return p.Replies(ctx, q, cursor)
	})
}

func search(name string, q providers.SearchQuery) providertest.Call {
	return providertest.List(name, func(ctx context.Context, p providers.Provider, cursor string) (providers.Page[schema.SearchResult], error) {
		return p.Search(ctx, q, cursor)
	})
}

func collections(name string, q providers.CollectionsQuery) providertest.Call {
	return providertest.List(name, func(ctx context.Context, p providers.Provider, cursor string) (providers.Page[schema.Collection], error) {
		return p.Collections(ctx, q, cursor)
	})
}

func collection(name, id string) providertest.Call {
	return providertest.One(name, func(ctx context.Context, p providers.Provider) (schema.Collection, error) {
		return p.Collection(ctx, providers.CollectionQuery{ID: id})
	})
}

func collectionPosts(name, id string) providertest.Call {
	return providertest.List(name, func(ctx context.Context, p providers.Provider, cursor string) (providers.Page[schema.Post], error) {
		return p.CollectionPosts(ctx, providers.CollectionQuery{ID: id}, cursor)
	})
}
