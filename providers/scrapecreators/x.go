package scrapecreators

import (
	"context"
	"encoding/json"
	"strings"

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
		Profile:        r.profile,
		Posts:          r.posts,
		Post:           r.post,
		Transcript:     r.transcript,
		Community:      r.community,
		CommunityPosts: r.communityPosts,
		Notes: map[providers.Op]string{
			providers.OpPosts:          "the reseller has about a hundred of an account's most popular posts, not the newest",
			providers.OpCommunityPosts: "the reseller has one page",
		},
	}
}

func (r xReads) profile(ctx context.Context, handle string) (schema.Profile, error) {
	p, err := one(ctx, r.client, upstream.Get("v1/twitter/profile").Says("handle", handle), x.ParseProfile)
	if err == nil {
		err = wire.SameFold(ctx, "account", handle, p.Handle)
	}
	return p, err
}

// posts reads posts, which are on one page. Reposts are under the account's own name.
func (r xReads) posts(ctx context.Context, handle, _ string) (providers.Page[schema.Post], error) {
	ask := upstream.Get("v1/twitter/user-tweets").Says("handle", handle)
	convert := func(ctx context.Context, raw json.RawMessage) (schema.Post, error) {
		p, err := x.ParsePost(ctx, raw)
		if err == nil && !strings.EqualFold(p.Author.Handle, handle) {
			return schema.Post{}, nil
		}
		return p, err
	}
	return list(ctx, r.client, ask, "tweets", "", parsed(ctx, convert))
}

func xURL(id string) string { return "https://x.com/i/status/" + id }

func (r xReads) post(ctx context.Context, id string) (schema.Post, error) {
	ask := upstream.Get("v1/twitter/tweet").Says("url", providers.AddressOf(ctx, providers.PostID, xURL(id)))
	p, err := one(ctx, r.client, ask, x.ParsePost)
	if err == nil {
		err = wire.Same(ctx, "post", id, p.ID)
	}
	return p, err
}

func (r xReads) transcript(ctx context.Context, q providers.TranscriptQuery) (schema.Transcript, error) {
	ask := upstream.Get("v1/twitter/tweet/transcript").Says("url", providers.AddressOf(ctx, providers.PostID, xURL(q.PostID)))
	return r.words(ctx, ask, q.PostID, xURL(q.PostID))
}

func (r xReads) community(ctx context.Context, id string) (p schema.Profile, err error) {
	var c wire.Object[xCommunity]
	if _, err = r.http.Read(ctx, upstream.Get("v1/twitter/community").Says("url", xCommunityURL(id)), &c); err == nil {
		p = c.V.profile(c.Raw)
		err = wire.Same(ctx, "community", id, p.ID)
	}
	return p, err
}

func xCommunityURL(id string) string { return "https://x.com/i/communities/" + id }

func (r xReads) communityPosts(ctx context.Context, q providers.CommunityPostsQuery, _ string) (providers.Page[schema.Post], error) {
	ask := upstream.Get("v1/twitter/community/tweets").Says("url", xCommunityURL(q.ID))
	return list(ctx, r.client, ask, "tweets", "", parsed(ctx, x.ParsePost))
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
