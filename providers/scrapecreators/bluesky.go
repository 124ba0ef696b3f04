package scrapecreators

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/bluesky"
	"github.com/socialdata/socialdata/providers/kit/upstream"
	"github.com/socialdata/socialdata/providers/kit/wire"
	"github.com/socialdata/socialdata/schema"
)

// blueskyReads reads answers of Bluesky's own API.
type blueskyReads struct{ *client }

func (c *client) bluesky() providers.Provider {
	r := blueskyReads{c}
	return providers.Provider{
		Platform: platform.Bluesky,
		Profile:  one(c, by("v1/bluesky/profile", "handle"), "", wire.Parsed(bluesky.ParseProfile), sameAccountOrID),
		Posts:    list(c, blueskyPosts, upstream.List{Rows: "feed"}, parsed(bluesky.ParsePost), nil),
		Post:     r.post,
		Comments: r.comments,
	}
}

func (r blueskyReads) post(ctx context.Context, id string) (schema.Post, error) {
	p, _, err := r.thread(ctx, id)
	return p, err
}

// blueskyPosts asks for the first page only: the answer has a cursor, but no parameter takes it.
func blueskyPosts(_ context.Context, handle string) (upstream.Request, error) {
	key := "handle"
	if strings.HasPrefix(handle, "did:") {
		key = "user_id"
	}
	return upstream.Get("v1/bluesky/user/posts").Says(key, handle), nil
}

// comments reads the replies to a post, and those to them, all at once.
func (r blueskyReads) comments(ctx context.Context, postID, _ string) (page providers.Page[schema.Comment], err error) {
	p, answer, err := r.thread(ctx, postID)
	if err != nil {
		return page, err
	}
	threads, err := upstream.Items(ctx, answer, "replies", func(reply blueskyReply, _ json.RawMessage) ([]schema.Comment, bool) {
		below := reply.comments(ctx, p.ID)
		return below, len(below) > 0
	})
	page.Items = slices.Concat(threads...)
	return page, err
}

// blueskyReply is a reply with those to it, or the placeholder of one that is deleted or withheld.
type blueskyReply struct {
	Type    string                  `json:"$type"`
	Post    json.RawMessage         `json:"post"`
	Replies wire.Rows[blueskyReply] `json:"replies"`
}

// comments returns the reply, and those to it. One that cannot be read has no id.
func (b blueskyReply) comments(ctx context.Context, postID string) (out []schema.Comment) {
	if !strings.HasSuffix(b.Type, "#notFoundPost") && !strings.HasSuffix(b.Type, "#blockedPost") {
		c, _ := bluesky.ParseComment(ctx, postID, b.Post)
		out = append(out, c)
	}
	for _, reply := range b.Replies.All() {
		out = append(out, reply.V.comments(ctx, postID)...)
	}
	return out
}

// thread reads the page of a post: the post, and the first replies to it. The id may have the author's handle and the
// answer the DID.
func (r blueskyReads) thread(ctx context.Context, id string) (p schema.Post, answer json.RawMessage, err error) {
	who, key, _ := strings.Cut(strings.TrimPrefix(id, "at://"), "/app.bsky.feed.post/")
	ask := upstream.Get("v1/bluesky/post").Says("url", "https://bsky.app/profile/"+who+"/post/"+key)
	if _, err := r.http.Read(ctx, ask, &answer); err != nil {
		return p, nil, err
	}
	post, err := upstream.At[struct{}](ctx, answer, "post")
	if err != nil {
		return p, nil, err
	}
	if p, err = bluesky.ParsePost(ctx, post.Raw); err != nil {
		return p, nil, err
	}
	return p, answer, wire.Same(ctx, "post", key, p.ID[strings.LastIndexByte(p.ID, '/')+1:])
}
