package scrapecreators

import (
	"context"
	"encoding/json"
	"time"

	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/ids"
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
		Posts:       snapchatPart(r, snapchat.Page.Posts),
		Post:        one(c, byURL("v1/snapchat/spotlight", snapchatSpotlight), "spotlight", wire.Parsed(snapchat.ParseSpotlight), samePost),
		Reels:       snapchatPart(r, snapchat.Page.Reels),
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

// snapchatPart is the read of a list on the page of an account.
func snapchatPart[O any](
	r snapchatReads, part func(snapchat.Page, context.Context) ([]O, error),
) func(context.Context, string, string) (providers.Page[O], error) {
	return func(ctx context.Context, handle, _ string) (page providers.Page[O], err error) {
		p, err := r.page(ctx, handle)
		if err != nil {
			return page, err
		}
		page.Items, err = part(p, ctx)
		return page, err
	}
}

// page reads the page of an account, which has all its data.
// https://docs.scrapecreators.com/v1/snapchat/profile
func (r snapchatReads) page(ctx context.Context, handle string) (p snapchat.Page, err error) {
	answer, err := upstream.Object[struct{}](ctx, r.http, upstream.Get("v1/snapchat/profile").Says("handle", handle), "")
	if err != nil {
		return p, err
	}
	if p, err = snapchat.ParsePage(ctx, answer.Raw); err != nil {
		return p, err
	}
	return p, p.Is(ctx, handle)
}

func (r snapchatReads) profile(ctx context.Context, handle string) (schema.Profile, error) {
	p, err := r.page(ctx, handle)
	if err != nil {
		return schema.Profile{}, err
	}
	return p.Profile(), nil
}

func (r snapchatReads) collections(
	ctx context.Context, q providers.CollectionsQuery, cursor string,
) (providers.Page[schema.Collection], error) {
	return snapchatPart(r, snapchat.Page.Collections)(ctx, q.Handle, cursor)
}

func snapchatSpotlight(id string) string { return "https://www.snapchat.com/spotlight/" + id }

// https://docs.scrapecreators.com/v1/snapchat/spotlight/comments
func (r snapchatReads) comments(
	ctx context.Context, postID, cursor string,
) (page providers.Page[schema.Comment], err error) {
	var answer struct {
		ID       string                     `json:"snapId"`
		Comments wire.Rows[snapchatComment] `json:"comments"`
		HasMore  wire.Flag                  `json:"hasMore"`
		Cursor   wire.Token                 `json:"cursor"`
	}
	ask := upstream.Get("v1/snapchat/spotlight/comments").Says("url", snapchatSpotlight(postID)).With("cursor", cursor)
	if _, err := r.http.Read(ctx, ask, &answer); err != nil {
		return page, err
	}
	if answer.ID != "" || answer.Comments.Len() > 0 {
		if err := wire.Same(ctx, "post", postID, answer.ID); err != nil {
			return page, err
		}
	}
	page.Items, err = wire.Items(ctx, "comments", answer.Comments, func(c snapchatComment, raw json.RawMessage) (schema.Comment, bool) {
		return c.comment(postID, raw), true
	})
	if err != nil {
		return page, err
	}
	page.Next, err = wire.NextIf(ctx, answer.HasMore, "cursor", answer.Cursor)
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
