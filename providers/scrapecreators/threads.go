package scrapecreators

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/internal/ids"
	"github.com/socialdata/socialdata/providers/internal/links"
	"github.com/socialdata/socialdata/providers/internal/meta"
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
		Profile:  r.profile,
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

// https://docs.scrapecreators.com/v1/threads/profile
func (r threadsReads) profile(ctx context.Context, handle string) (p schema.Profile, err error) {
	var answer wire.Object[struct{}]
	if _, err = r.http.Read(ctx, upstream.Get("v1/threads/profile").Says("handle", handle), &answer); err == nil {
		p, err = threads.ParseProfile(ctx, answer.Raw)
	}
	if err == nil {
		err = wire.SameFold(ctx, "account", handle, p.Handle)
	}
	return p, err
}

// threadsPosts is a list of posts, which may include posts of others.
type threadsPosts struct {
	Posts wire.Rows[struct{}] `json:"posts"`
}

// posts sorts pinned posts, which come first, into their place: a shortcode is a number, and a higher one a newer post.
// https://docs.scrapecreators.com/v1/threads/user/posts
func (r threadsReads) posts(ctx context.Context, handle, _ string) (page providers.Page[schema.Post], err error) {
	var answer threadsPosts
	if _, err = r.http.Read(ctx, upstream.Get("v1/threads/user/posts").Says("handle", handle), &answer); err == nil {
		page.Items, err = wire.Items(ctx, "posts", answer.Posts, func(_ struct{}, raw json.RawMessage) (schema.Post, bool) {
			p, belongs := threadsPost(ctx, raw)
			if p.Author == schema.UnknownActor() {
				return schema.Post{}, belongs // its author is unknown
			}
			return p, belongs && (p.ID == "" || strings.EqualFold(p.Author.Handle, handle))
		})
	}
	if err != nil {
		return page, err
	}
	slices.SortStableFunc(page.Items, func(a, b schema.Post) int {
		return ids.Newest(meta.Number(a.ID), meta.Number(b.ID))
	})
	return page, nil
}

// threadsPost converts a row of a list. Deleted posts do not belong.
func threadsPost(ctx context.Context, raw json.RawMessage) (schema.Post, bool) {
	p, err := threads.ParsePost(ctx, raw)
	if err != nil {
		return schema.Post{}, !errors.Is(err, providers.ErrNotFound)
	}
	return p, true
}

// threadsThread is a post and the first replies to it.
type threadsThread struct {
	Post     sole[struct{}]      `json:"post"`
	Comments wire.Rows[struct{}] `json:"comments"`

	post schema.Post
}

// thread reads the page of a post, whose address needs no handle.
// https://docs.scrapecreators.com/v1/threads/post
func (r threadsReads) thread(ctx context.Context, code string) (t threadsThread, err error) {
	if links.Digits(code) {
		return t, providers.Unsupported("this source finds posts by shortcode, not by media id")
	}
	ask := upstream.Get("v1/threads/post").Says("url", "https://www.threads.com/@_/post/"+code)
	if _, err = r.http.Read(ctx, ask, &t); err == nil {
		err = t.Post.check(ctx, "post")
	}
	if err == nil {
		t.post, err = threads.ParsePost(ctx, t.Post.Raw)
	}
	if err == nil {
		err = wire.Same(ctx, "post", code, t.post.ID)
	}
	return t, err
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
	if err == nil {
		convert := func(_ struct{}, raw json.RawMessage) (schema.Comment, bool) {
			c, err := threads.ParseComment(ctx, postID, parent, raw)
			if err != nil {
				return schema.Comment{}, !errors.Is(err, providers.ErrNotFound)
			}
			return c, true
		}
		page.Items, err = wire.Items(ctx, "comments", t.Comments, convert)
	}
	return page, err
}

func (r threadsReads) search(
	ctx context.Context, q providers.SearchQuery, _ string,
) (page providers.Page[schema.SearchResult], err error) {
	switch bounded := !q.Since.IsZero() || !q.Until.IsZero(); {
	case q.Kind != schema.ProfileResult:
		var found providers.Page[schema.Post]
		found, err = r.searchPosts(ctx, q)
		page = results(found)
	case bounded:
		err = providers.Unsupported("since and until only apply to posts")
	default:
		var found providers.Page[schema.Profile]
		found, err = r.searchUsers(ctx, q.Query)
		page = results(found)
	}
	return page, err
}

// searchPosts searches whole days; the first and the last may begin and end in another time zone.
// https://docs.scrapecreators.com/v1/threads/search
func (r threadsReads) searchPosts(
	ctx context.Context, q providers.SearchQuery,
) (page providers.Page[schema.Post], err error) {
	var answer threadsPosts
	ask := upstream.Get("v1/threads/search").Says("query", q.Query)
	if !q.Since.IsZero() {
		ask = ask.With("start_date", q.Since.UTC().Format(time.DateOnly))
	}
	if !q.Until.IsZero() {
		ask = ask.With("end_date", q.Until.UTC().Format(time.DateOnly))
	}
	if _, err = r.http.Read(ctx, ask, &answer); err != nil {
		return page, err
	}
	page.Items, err = wire.Items(ctx, "posts", answer.Posts, func(_ struct{}, raw json.RawMessage) (schema.Post, bool) {
		p, belongs := threadsPost(ctx, raw)
		if belongs {
			p, belongs = within(q.Since, q.Until, p)
		}
		return p, belongs
	})
	return page, err
}

// https://docs.scrapecreators.com/v1/threads/search/users
func (r threadsReads) searchUsers(ctx context.Context, query string) (page providers.Page[schema.Profile], err error) {
	var answer struct {
		Users wire.Rows[struct{}] `json:"users"`
	}
	if _, err = r.http.Read(ctx, upstream.Get("v1/threads/search/users").Says("query", query), &answer); err == nil {
		page.Items, err = rowsOf(ctx, "users", answer.Users, threads.ParseProfile)
	}
	return page, err
}
