package scrapecreators

import (
	"cmp"
	"context"
	"encoding/json"
	"time"

	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/links"
	"github.com/socialdata/socialdata/providers/kit/upstream"
	"github.com/socialdata/socialdata/providers/kit/wire"
	"github.com/socialdata/socialdata/providers/threads"
	"github.com/socialdata/socialdata/schema"
)

// threadsReads reads data of the site's own code. No list has a second page.
type threadsReads struct{ *client }

func (c *client) threads() providers.Provider {
	r := threadsReads{c}
	return providers.Provider{
		Platform: platform.Threads,
		Profile:  one(c, by("v1/threads/profile", "handle"), "", wire.Parsed(threads.ParseProfile), sameAccount),
		Posts:    r.posts,
		Post:     r.post,
		Comments: r.comments,
		Replies:  r.replies,
		Search:   r.search,

		Filters: map[providers.Op]providers.Filters{
			providers.OpSearch: {"kind": {"post", "profile"}, "since": nil, "until": nil},
		},
		Notes: map[providers.Op]string{
			providers.OpPosts:    "the newest 20 to 30",
			providers.OpComments: "the first ones",
			providers.OpReplies:  "the first ones",
			providers.OpSearch:   "posts unless a kind is given, on one page; since and until only apply to posts",
		},
	}
}

// https://docs.scrapecreators.com/v1/threads/user/posts
func (r threadsReads) posts(ctx context.Context, handle, _ string) (providers.Page[schema.Post], error) {
	ask := upstream.Get("v1/threads/user/posts").Says("handle", handle)
	return upstream.Page(ctx, r.http, ask, upstream.List{Rows: "posts"}, func(_ struct{}, raw json.RawMessage) (schema.Post, bool) {
		p, belongs := parsed(threads.ParsePost)(ctx, struct{}{}, raw)
		if p.Author == schema.UnknownActor() {
			return schema.Post{}, belongs // its author is unknown
		}
		return p, belongs && (p.ID == "" || wrote(handle, p))
	})
}

// threadsThread is a post and the first replies to it.
type threadsThread struct {
	answer json.RawMessage // with the post and its comments
	post   schema.Post
}

// thread reads the page of a post, whose address needs no handle.
// https://docs.scrapecreators.com/v1/threads/post
func (r threadsReads) thread(ctx context.Context, code string) (t threadsThread, err error) {
	if links.Digits(code) {
		return t, providers.Unsupported("this source finds posts by shortcode, not by media id")
	}
	ask := upstream.Get("v1/threads/post").Says("url", "https://www.threads.com/@_/post/"+code)
	if _, err := r.http.Read(ctx, ask, &t.answer); err != nil {
		return t, err
	}
	post, err := upstream.At[struct{}](ctx, t.answer, "post")
	if err != nil {
		return t, err
	}
	if t.post, err = threads.ParsePost(ctx, post.Raw); err != nil {
		return t, err
	}
	return t, samePost(ctx, code, t.post)
}

func (r threadsReads) post(ctx context.Context, id string) (schema.Post, error) {
	t, err := r.thread(ctx, id)
	return t.post, err
}

func (r threadsReads) comments(ctx context.Context, postID, _ string) (providers.Page[schema.Comment], error) {
	return r.answers(ctx, postID, postID, nil)
}

// replies reads the page of a comment: to Threads a comment is a post like any other. If the post at the top is
// unknown, the comment is used as the nearest known one.
func (r threadsReads) replies(
	ctx context.Context, q providers.RepliesQuery, _ string,
) (providers.Page[schema.Comment], error) {
	return r.answers(ctx, q.CommentID, cmp.Or(q.PostID, q.CommentID), &q.CommentID)
}

// answers reads the replies to the post or comment with a code, below parent unless that is the post itself.
func (r threadsReads) answers(
	ctx context.Context, code, postID string, parent *string,
) (page providers.Page[schema.Comment], err error) {
	t, err := r.thread(ctx, code)
	if err != nil {
		return page, err
	}
	parse := func(ctx context.Context, raw json.RawMessage) (schema.Comment, error) {
		return threads.ParseComment(ctx, postID, parent, raw)
	}
	page.Items, err = upstream.Items(ctx, t.answer, "comments", parsing(ctx, parse))
	return page, err
}

func (r threadsReads) search(
	ctx context.Context, q providers.SearchQuery, _ string,
) (page providers.Page[schema.SearchResult], err error) {
	switch bounded := !q.Since.IsZero() || !q.Until.IsZero(); {
	case q.Kind != schema.ProfileResult:
		return asResults(r.searchPosts(ctx, q))
	case bounded:
		return page, providers.Unsupported("since and until only apply to posts")
	}
	return asResults(r.searchUsers(ctx, q.Query))
}

// searchPosts searches whole days; the first and the last may begin and end in another time zone.
// https://docs.scrapecreators.com/v1/threads/search
func (r threadsReads) searchPosts(ctx context.Context, q providers.SearchQuery) (providers.Page[schema.Post], error) {
	ask := upstream.Get("v1/threads/search").Says("query", q.Query)
	if !q.Since.IsZero() {
		ask = ask.With("start_date", q.Since.UTC().Format(time.DateOnly))
	}
	if !q.Until.IsZero() {
		ask = ask.With("end_date", q.Until.UTC().Format(time.DateOnly))
	}
	return upstream.Page(ctx, r.http, ask, upstream.List{Rows: "posts"}, func(_ struct{}, raw json.RawMessage) (schema.Post, bool) {
		p, belongs := parsed(threads.ParsePost)(ctx, struct{}{}, raw)
		if !belongs {
			return p, false
		}
		return within(q.Since, q.Until, p)
	})
}

// https://docs.scrapecreators.com/v1/threads/search/users
func (r threadsReads) searchUsers(ctx context.Context, query string) (providers.Page[schema.Profile], error) {
	ask := upstream.Get("v1/threads/search/users").Says("query", query)
	return upstream.Page(ctx, r.http, ask, upstream.List{Rows: "users"}, parsing(ctx, threads.ParseProfile))
}
