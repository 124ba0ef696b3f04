package scrapecreators

import (
	"context"
	"encoding/json"

	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/text"
	"github.com/socialdata/socialdata/providers/kit/upstream"
	"github.com/socialdata/socialdata/providers/kit/wire"
	"github.com/socialdata/socialdata/providers/x"
	"github.com/socialdata/socialdata/schema"
)

// xReads reads data that x.com itself reads.
type xReads struct{ *client }

func (c *client) x() providers.Provider {
	r := xReads{c}
	return providers.Provider{
		Platform:       platform.X,
		Profile:        one(c, by("v1/twitter/profile", "handle"), "", wire.Parsed(x.ParseProfile), sameAccount),
		Posts:          list(c, by("v1/twitter/user-tweets", "handle"), upstream.List{Rows: "tweets"}, parsed(x.ParsePost), wrote),
		Post:           one(c, byPost("v1/twitter/tweet", xURL), "", wire.Parsed(x.ParsePost), samePost),
		Transcript:     r.transcript,
		Community:      one(c, byURL("v1/twitter/community", xCommunityURL), "", wire.As(xCommunity.profile), sameCommunity),
		CommunityPosts: r.communityPosts,
		Notes: map[providers.Op]string{
			providers.OpPosts:          "the reseller has about a hundred of an account's most popular posts, not the newest",
			providers.OpCommunityPosts: "the reseller has one page",
		},
	}
}

func sameCommunity(ctx context.Context, id string, p schema.Profile) error {
	return wire.Same(ctx, "community", id, p.ID)
}

func xURL(id string) string { return "https://x.com/i/status/" + id }

func (r xReads) transcript(ctx context.Context, q providers.TranscriptQuery) (schema.Transcript, error) {
	ask := upstream.Get("v1/twitter/tweet/transcript").Says("url", providers.AddressOf(ctx, providers.PostID, xURL(q.PostID)))
	return r.words(ctx, ask, q.PostID, xURL(q.PostID))
}

func xCommunityURL(id string) string { return "https://x.com/i/communities/" + id }

func (r xReads) communityPosts(ctx context.Context, q providers.CommunityPostsQuery, _ string) (providers.Page[schema.Post], error) {
	ask := upstream.Get("v1/twitter/community/tweets").Says("url", xCommunityURL(q.ID))
	return upstream.Page(ctx, r.http, ask, upstream.List{Rows: "tweets"}, parsing(ctx, x.ParsePost))
}

type xCommunity struct {
	ID          wire.Serial `json:"rest_id"`
	Name        string      `json:"name"`
	Description string      `json:"description"`
	Members     wire.Count  `json:"member_count"`
}

func (c xCommunity) profile(raw json.RawMessage) schema.Profile {
	return schema.Profile{
		Common:      schema.Common{ID: string(c.ID), URL: xCommunityURL(string(c.ID)), Raw: raw},
		Handle:      string(c.ID),
		DisplayName: text.NonEmpty(c.Name),
		Bio:         text.NonEmpty(c.Description),
		Followers:   c.Members.V,
	}
}
