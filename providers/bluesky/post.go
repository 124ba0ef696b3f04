package bluesky

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/upstream"
	"github.com/socialdata/socialdata/providers/kit/wire"
	"github.com/socialdata/socialdata/schema"
)

const (
	pageSize   = "30" // posts of an account; the upstream's maximum is 100
	emptyPages = 3    // pages with nothing but reposts that one read skips
)

// posts reads the posts of an account without its reposts. A page of reposts only still has a cursor.
func (c *client) posts(ctx context.Context, handle, cursor string) (page providers.Page[schema.Post], err error) {
	for range emptyPages {
		page, err = c.feed(ctx, handle, cursor)
		if err != nil || len(page.Items) > 0 || page.Next == "" {
			break
		}
		cursor = page.Next
	}
	return page, err
}

// feed reads one page.
// https://docs.bsky.app/docs/api/app-bsky-feed-get-author-feed
func (c *client) feed(ctx context.Context, handle, cursor string) (providers.Page[schema.Post], error) {
	r := get("app.bsky.feed.getAuthorFeed").Says("actor", handle).With("limit", pageSize).
		With("filter", "posts_no_replies").With("cursor", cursor)
	once := unique()
	at := upstream.List{Rows: "feed", Next: "cursor"} // the last page has no cursor
	return upstream.Page(ctx, c.http, r, at, func(i feedItem, _ json.RawMessage) (schema.Post, bool) {
		p, belongs := i.post(handle)
		return p, belongs && once(p.ID)
	})
}

// unique returns a function that reports whether an id is new. An empty id counts as new: the schema rejects it.
func unique() func(id string) bool {
	seen := map[string]bool{}
	return func(id string) bool {
		first := id == "" || !seen[id]
		seen[id] = true
		return first
	}
}

// feedItem is a post in the list of an account, with the reason why it is listed.
// https://github.com/bluesky-social/atproto/blob/main/lexicons/app/bsky/feed/defs.json
type feedItem struct {
	Post   wire.Object[post] `json:"post"`
	Reason struct {
		Type string `json:"$type"`
	} `json:"reason"` // absent if the account wrote the post itself
}

// post returns false for a repost. A post by another account that is listed without a reason is malformed.
func (i feedItem) post(who string) (schema.Post, bool) {
	if i.Reason.Type == "app.bsky.feed.defs#reasonRepost" {
		return schema.Post{}, false
	}
	if !i.Post.V.Author.is(who) {
		return schema.Post{}, true
	}
	return i.Post.V.post(i.Post.Raw), true
}

// post reads one post. If it does not exist, or has been deleted, the list is empty.
// https://docs.bsky.app/docs/api/app-bsky-feed-get-posts
func (c *client) post(ctx context.Context, id string) (schema.Post, error) {
	at, err := c.resolve(ctx, id)
	if err != nil {
		return schema.Post{}, err
	}
	var answer struct {
		Posts wire.Rows[post] `json:"posts"`
	}
	if _, err := c.http.Read(ctx, get("app.bsky.feed.getPosts").Says("uris", at), &answer); err != nil {
		return schema.Post{}, err
	}
	if err := answer.Posts.Check(ctx, "posts"); err != nil {
		return schema.Post{}, err
	}
	for _, p := range answer.Posts.All() {
		if err := wire.Same(ctx, "post", at, p.V.URI); err != nil {
			return schema.Post{}, err
		}
		return p.V.post(p.Raw), nil
	}
	return schema.Post{}, providers.ErrNotFound
}

// postsByID reads posts, whose authors may be named by their handles.
func (c *client) postsByID(ctx context.Context, ids []string) (map[string]schema.Post, error) {
	at, err := c.resolveAll(ctx, ids)
	if err != nil {
		return providers.PerKey[schema.Post](ids, err, nil)
	}
	var found wire.Keyed[post]
	if uris := slices.Compact(slices.Sorted(maps.Values(at))); len(uris) > 0 {
		found, err = c.postsAt(ctx, uris)
	}
	return providers.PerKey(ids, err, func(id string) (schema.Post, error) {
		if at[id] == "" {
			return schema.Post{}, providers.Alone()
		}
		p, err := found.Of(at[id], providers.ErrNotFound)
		if err != nil {
			return schema.Post{}, err
		}
		return p.V.post(p.Raw), nil
	})
}

// postsAt reads at most 25 posts.
func (c *client) postsAt(ctx context.Context, uris []string) (found wire.Keyed[post], err error) {
	var answer struct {
		Posts wire.Rows[post] `json:"posts"`
	}
	r := get("app.bsky.feed.getPosts").Each("uris", uris)
	r.Input = true
	if _, err := c.http.Read(ctx, r, &answer); err != nil {
		return found, err
	}
	return wire.ByKey(ctx, "posts", answer.Posts, uris, func(p post) string { return p.URI })
}

// resolveAll returns the AT-URIs of ids with the DIDs of their authors. It leaves out ids whose author was not found.
func (c *client) resolveAll(ctx context.Context, ids []string) (map[string]string, error) {
	at := map[string]string{}
	parts := map[string][2]string{} // the handle of an author, and the rest of the id
	for _, id := range ids {
		who, rest, _ := strings.Cut(strings.TrimPrefix(id, "at://"), "/")
		if strings.HasPrefix(who, "did:") {
			at[id] = id
		} else {
			parts[id] = [2]string{who, rest}
		}
	}
	var handles []string
	for _, part := range parts {
		handles = append(handles, part[0])
	}
	slices.Sort(handles)
	found, err := c.actors(ctx, slices.Compact(handles))
	if err != nil {
		return nil, err
	}
	for id, part := range parts {
		if a, err := found.of(part[0]); err == nil && a.V.id() != "" {
			at[id] = "at://" + a.V.id() + "/" + part[1]
		}
	}
	return at, nil
}

// resolve returns the AT-URI id with the DID of its author, the form in which other posts refer to it.
// https://docs.bsky.app/docs/api/com-atproto-identity-resolve-handle
func (c *client) resolve(ctx context.Context, id string) (string, error) {
	who, rest, _ := strings.Cut(strings.TrimPrefix(id, "at://"), "/")
	if strings.HasPrefix(who, "did:") {
		return id, nil
	}
	var answer struct {
		DID string `json:"did"`
	}
	if _, err := c.http.Read(ctx, get("com.atproto.identity.resolveHandle").Says("handle", who), &answer); err != nil {
		return "", err
	}
	return "at://" + answer.DID + "/" + rest, wire.Need(ctx, "did", did.MatchString(answer.DID))
}

// post is a post as Bluesky shows it.
// https://github.com/bluesky-social/atproto/blob/main/lexicons/app/bsky/feed/defs.json
type post struct {
	URI       string     `json:"uri"`
	Author    actor      `json:"author"`
	Record    record     `json:"record"`
	Embed     embed      `json:"embed"` // absent from a text-only post
	Replies   wire.Count `json:"replyCount"`
	Reposts   wire.Count `json:"repostCount"`
	Likes     wire.Count `json:"likeCount"`
	Quotes    wire.Count `json:"quoteCount"`    // not included in repostCount; absent before 2024
	Bookmarks wire.Count `json:"bookmarkCount"` // absent before 2025
	IndexedAt wire.Time  `json:"indexedAt"`
}

// id returns the post's AT-URI, "" if the answer has none.
func (p post) id() string {
	if isPost(p.URI) {
		return p.URI
	}
	return ""
}

func (p post) common(raw json.RawMessage) schema.Common {
	return schema.Common{ID: p.id(), URL: p.Author.url() + "/post/" + p.URI[strings.LastIndexByte(p.URI, '/')+1:], Raw: raw}
}

func (p post) post(raw json.RawMessage) schema.Post {
	return schema.Post{
		Common:    p.common(raw),
		Author:    p.Author.actor(),
		Text:      p.Record.Text,
		Lang:      p.Record.lang(),
		CreatedAt: p.Record.createdAt(p.IndexedAt.V),
		Media:     p.Embed.media(),
		Engagement: schema.Engagement{
			Likes: p.Likes.V, Comments: p.Replies.V, Shares: sum(p.Reposts, p.Quotes), Saves: p.Bookmarks.V,
		},
		Hashtags: p.Record.hashtags(),
		Mentions: p.Record.mentions(),
	}
}

// sum returns a+b, where an absent count is zero. It is nil if both are absent or one cannot be read, because a part is
// not the sum.
func sum(a, b wire.Count) *int64 {
	switch {
	case a.Absent():
		return b.V
	case b.Absent() || a.V == nil:
		return a.V
	case b.V == nil:
		return nil
	}
	return new(*a.V + *b.V)
}

// ParsePost converts a post in the format of Bluesky's API, app.bsky.feed.defs#postView. The error wraps
// [providers.ErrUnavailable].
// https://github.com/bluesky-social/atproto/blob/main/lexicons/app/bsky/feed/defs.json
func ParsePost(ctx context.Context, raw json.RawMessage) (schema.Post, error) {
	var p post
	err := wire.Decode(ctx, raw, &p)
	return p.post(raw), err
}
