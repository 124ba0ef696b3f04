package scrapecreators

import (
	"context"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/links"
	"github.com/socialdata/socialdata/providers/kit/text"
	"github.com/socialdata/socialdata/providers/kit/upstream"
	"github.com/socialdata/socialdata/providers/kit/wire"
	"github.com/socialdata/socialdata/schema"
)

// facebookGroup adds a group's number or name to a request.
func facebookGroup(ask upstream.Request, id string) upstream.Request {
	if links.Digits(id) {
		return ask.Says("group_id", id)
	}
	return ask.Says("url", facebookSite+"groups/"+id)
}

// https://docs.scrapecreators.com/v1/facebook/group
func (r facebookReads) community(ctx context.Context, id string) (p schema.Profile, err error) {
	g, err := upstream.Object[struct {
		ID          wire.Serial `json:"id"`
		URL         string      `json:"url"`
		Name        string      `json:"name"`
		Description string      `json:"description"`
		Members     wire.Count  `json:"member_count"`
		Cover       string      `json:"cover_photo_url"`
	}](ctx, r.http, facebookGroup(upstream.Get("v1/facebook/group"), id), "")
	if err != nil {
		return p, err
	}
	number := string(g.V.ID)
	if links.Digits(id) {
		if err := wire.Same(ctx, "group", id, number); err != nil {
			return p, err
		}
	}
	if err := wire.Need(ctx, "id", number != ""); err != nil {
		return p, err
	}
	return schema.Profile{
		Common:      schema.Common{ID: number, URL: text.URLOr(g.V.URL, facebookSite+"groups/"+number), Raw: g.Raw},
		Handle:      number,
		DisplayName: text.NonEmpty(g.V.Name),
		Bio:         text.NonEmpty(g.V.Description),
		AvatarURL:   text.URL(g.V.Cover),
		Followers:   g.V.Members.V,
	}, nil
}

// https://docs.scrapecreators.com/v1/facebook/group/posts
func facebookGroupPosts(_ context.Context, q providers.CommunityPostsQuery) (upstream.Request, error) {
	sorts := map[string]string{"top": "TOP_POSTS", "recent": "CHRONOLOGICAL", "activity": "RECENT_ACTIVITY"}
	return facebookGroup(upstream.Get("v1/facebook/group/posts"), q.ID).With("sort_by", sorts[q.Sort]), nil
}
