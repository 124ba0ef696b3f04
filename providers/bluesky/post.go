package bluesky

import (
	"context"
	"fmt"
	"strings"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/internal/upstream"
	"github.com/socialdata/socialdata/schema"
)

const (
	pageSize   = "30" // of an account's posts; at most 100 upstream
	emptyPages = 3    // of nothing but reposts, that are passed over in one read
)

// posts reads what an account has written, without what it has passed on.
// https://docs.bsky.app/docs/api/app-bsky-feed-get-author-feed
func (c *client) posts(ctx context.Context, handle, cursor string) (providers.Page[schema.Post], error) {
	page := providers.Page[schema.Post]{Next: cursor}
	for range emptyPages {
		var answer struct {
			Feed *[]struct {
				Post   upstream.Object[post] `json:"post"`
				Reason *struct {
					Type string `json:"$type"`
				} `json:"reason"`
			} `json:"feed"`
			Cursor string `json:"cursor"`
		}
		r := get("app.bsky.feed.getAuthorFeed").With("actor", handle).With("limit", pageSize).
			With("filter", "posts_no_replies").With("cursor", page.Next)
		_, err := c.http.JSON(ctx, r, &answer)
		if err == nil && answer.Feed == nil {
			err = providers.Unavailable(nil, "the upstream's answer is no feed")
		}
		if err != nil {
			return page, fmt.Errorf("bluesky: posts of %q: %w", handle, err)
		}
		page.Next = answer.Cursor
		for _, item := range *answer.Feed {
			if item.Reason == nil || item.Reason.Type != "app.bsky.feed.defs#reasonRepost" {
				page.Items = append(page.Items, item.Post.V.post(item.Post.Raw))
			}
		}
		if len(page.Items) > 0 || page.Next == "" {
			break
		}
	}
	return page, nil
}

// post reads one post.
// https://docs.bsky.app/docs/api/app-bsky-feed-get-posts
func (c *client) post(ctx context.Context, id string) (schema.Post, error) {
	at, err := c.resolve(ctx, id)
	if err != nil {
		return schema.Post{}, fmt.Errorf("bluesky: post %q: %w", id, err)
	}
	var answer struct {
		Posts *[]upstream.Object[post] `json:"posts"`
	}
	_, err = c.http.JSON(ctx, get("app.bsky.feed.getPosts").With("uris", at), &answer)
	switch {
	case err != nil:
	case answer.Posts == nil:
		err = providers.Unavailable(nil, "the upstream's answer has no posts")
	case len(*answer.Posts) == 0: // unknown or deleted
		err = providers.ErrNotFound
	}
	if err != nil {
		return schema.Post{}, fmt.Errorf("bluesky: post %q: %w", id, err)
	}
	p := (*answer.Posts)[0]
	return p.V.post(p.Raw), nil
}

// resolve returns the AT-URI id with the DID of its author, which is what other posts refer to.
// https://docs.bsky.app/docs/api/com-atproto-identity-resolve-handle
func (c *client) resolve(ctx context.Context, id string) (string, error) {
	who, rest, _ := strings.Cut(strings.TrimPrefix(id, "at://"), "/")
	if strings.HasPrefix(who, "did:") {
		return id, nil
	}
	var answer struct {
		DID string `json:"did"`
	}
	if _, err := c.http.JSON(ctx, get("com.atproto.identity.resolveHandle").With("handle", who), &answer); err != nil {
		return "", err
	}
	if !did.MatchString(answer.DID) {
		return "", providers.Unavailable(nil, "the upstream's answer is no DID")
	}
	return "at://" + answer.DID + "/" + rest, nil
}

// post is a post as Bluesky shows it.
// https://github.com/bluesky-social/atproto/blob/main/lexicons/app/bsky/feed/defs.json
type post struct {
	URI       string        `json:"uri"`
	Author    actor         `json:"author"`
	Record    loose[record] `json:"record"`
	Embed     loose[embed]  `json:"embed"`
	Replies   *int64        `json:"replyCount"`
	Reposts   *int64        `json:"repostCount"`
	Likes     *int64        `json:"likeCount"`
	Quotes    *int64        `json:"quoteCount"`
	Bookmarks *int64        `json:"bookmarkCount"`
	IndexedAt string        `json:"indexedAt"`
}

func (p post) common(raw []byte) schema.Common {
	return schema.Common{ID: p.URI, URL: p.Author.url() + "/post/" + p.URI[strings.LastIndexByte(p.URI, '/')+1:], Raw: raw}
}

func (p post) post(raw []byte) schema.Post {
	return schema.Post{
		Common:    p.common(raw),
		Author:    p.Author.actor(),
		Text:      p.Record.V.Text.V,
		Lang:      p.Record.V.lang(),
		CreatedAt: p.Record.V.createdAt(p.IndexedAt),
		Media:     p.Embed.V.media(),
		Engagement: schema.Engagement{
			Likes: p.Likes, Comments: p.Replies, Shares: sum(p.Reposts, p.Quotes), Saves: p.Bookmarks,
		},
		Hashtags: p.Record.V.hashtags(),
		Mentions: p.Record.V.mentions(),
	}
}

// sum adds what is there.
func sum(a, b *int64) *int64 {
	switch {
	case a == nil:
		return b
	case b == nil:
		return a
	}
	return new(*a + *b)
}
