package scrapecreators

import (
	"context"
	"encoding/json"
	"time"

	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/internal/ids"
	"github.com/socialdata/socialdata/providers/kit/text"
	"github.com/socialdata/socialdata/providers/kit/upstream"
	"github.com/socialdata/socialdata/providers/kit/wire"
	"github.com/socialdata/socialdata/providers/snapchat"
	"github.com/socialdata/socialdata/schema"
)

type snapchatReads struct{ *client }

func (c *client) snapchat() providers.Provider {
	r := snapchatReads{c}
	return providers.Provider{
		Platform:    platform.Snapchat,
		Profile:     r.profile,
		Posts:       r.posts,
		Post:        r.post,
		Reels:       r.reels,
		Collections: r.collections,
		Comments:    r.comments,

		Filters: map[providers.Op]providers.Filters{providers.OpCollections: {"kind": {"highlight"}}},
		Notes: map[providers.Op]string{
			providers.OpPosts:       "Spotlight videos and the story of the day, limited to those on the page of the account",
			providers.OpReels:       "Spotlight videos, limited to those on the page of the account",
			providers.OpCollections: "highlights, limited to those on the page of the account",
			providers.OpComments:    "of Spotlight videos; the authors only have a name",
		},
	}
}

// page reads the page of an account, which has all its data.
// https://docs.scrapecreators.com/v1/snapchat/profile
func (r snapchatReads) page(ctx context.Context, handle string) (p snapchat.Page, err error) {
	var answer wire.Object[struct{}]
	if _, err = r.http.Read(ctx, upstream.Get("v1/snapchat/profile").Says("handle", handle), &answer); err == nil {
		p, err = snapchat.ParsePage(ctx, answer.Raw)
	}
	if err == nil {
		err = p.Is(ctx, handle)
	}
	return p, err
}

func (r snapchatReads) profile(ctx context.Context, handle string) (schema.Profile, error) {
	p, err := r.page(ctx, handle)
	return p.Profile(), err
}

func (r snapchatReads) posts(ctx context.Context, handle, _ string) (page providers.Page[schema.Post], err error) {
	p, err := r.page(ctx, handle)
	if err == nil {
		page.Items, err = p.Posts(ctx)
	}
	return page, err
}

func (r snapchatReads) reels(ctx context.Context, handle, _ string) (page providers.Page[schema.Post], err error) {
	p, err := r.page(ctx, handle)
	if err == nil {
		page.Items, err = p.Reels(ctx)
	}
	return page, err
}

func (r snapchatReads) collections(
	ctx context.Context, q providers.CollectionsQuery, _ string,
) (page providers.Page[schema.Collection], err error) {
	p, err := r.page(ctx, q.Handle)
	if err == nil {
		page.Items, err = p.Collections(ctx)
	}
	return page, err
}

func snapchatSpotlight(id string) string { return "https://www.snapchat.com/spotlight/" + id }

// https://docs.scrapecreators.com/v1/snapchat/spotlight
func (r snapchatReads) post(ctx context.Context, id string) (p schema.Post, err error) {
	var answer struct {
		Post sole[struct{}] `json:"spotlight"`
	}
	ask := upstream.Get("v1/snapchat/spotlight").Says("url", snapchatSpotlight(id))
	if _, err = r.http.Read(ctx, ask, &answer); err == nil {
		err = answer.Post.check(ctx, "spotlight")
	}
	if err == nil {
		p, err = snapchat.ParseSpotlight(ctx, answer.Post.Raw)
	}
	if err == nil {
		err = wire.Same(ctx, "post", id, p.ID)
	}
	return p, err
}

// https://docs.scrapecreators.com/v1/snapchat/spotlight/comments
func (r snapchatReads) comments(
	ctx context.Context, postID, cursor string,
) (page providers.Page[schema.Comment], err error) {
	var answer struct {
		ID       string                     `json:"snapId"`
		Comments wire.Rows[snapchatComment] `json:"comments"`
		HasMore  more                       `json:"hasMore"`
		Cursor   wire.Token                 `json:"cursor"`
	}
	ask := upstream.Get("v1/snapchat/spotlight/comments").Says("url", snapchatSpotlight(postID)).With("cursor", cursor)
	if _, err = r.http.Read(ctx, ask, &answer); err == nil && (answer.ID != "" || answer.Comments.Len() > 0) {
		err = wire.Same(ctx, "post", postID, answer.ID)
	}
	if err == nil {
		convert := func(c snapchatComment, raw json.RawMessage) (schema.Comment, bool) {
			return c.comment(postID, raw), true
		}
		page.Items, err = wire.Items(ctx, "comments", answer.Comments, convert)
	}
	if err == nil {
		page.Next, err = answer.HasMore.next(ctx, "cursor", answer.Cursor)
	}
	return page, err
}

// snapchatComment has no id, and only the name of its author.
type snapchatComment struct {
	Text   string    `json:"replyText"`
	Author string    `json:"replyPosterDisplayName"`
	At     wire.Time `json:"replyTimestampMs"`
	Reacts []struct {
		Count wire.Count `json:"reactCount"`
	} `json:"reactCounts"`
}

func (c snapchatComment) comment(postID string, raw json.RawMessage) schema.Comment {
	address := snapchatSpotlight(postID)
	if c.At.V == nil || c.Author == "" {
		return schema.Comment{} // it could not be distinguished from another
	}
	out := schema.Comment{
		Common: schema.Common{
			ID: ids.Of(address, c.At.V.Format(time.RFC3339Nano), c.Author, c.Text), URL: address, Raw: raw,
		},
		PostID:    postID,
		Author:    schema.UnknownActor(),
		Text:      c.Text,
		CreatedAt: c.At.V,
		Likes:     c.likes(),
	}
	out.Author.DisplayName = text.NonEmpty(c.Author)
	return out
}

// likes returns the reactions of all kinds; nil when one of them is unknown.
func (c snapchatComment) likes() *int64 {
	var sum *int64
	for _, r := range c.Reacts {
		switch {
		case r.Count.V == nil:
			return nil
		case sum == nil:
			sum = new(int64)
		}
		*sum += *r.Count.V
	}
	return sum
}
