package truthsocial

import (
	"cmp"
	"context"
	"encoding/json"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/text"
	"github.com/socialdata/socialdata/providers/kit/upstream"
	"github.com/socialdata/socialdata/providers/kit/wire"
	"github.com/socialdata/socialdata/schema"
)

func (c *client) community(ctx context.Context, id string) (schema.Profile, error) {
	g, err := c.group(ctx, id)
	if err != nil {
		return schema.Profile{}, err
	}
	return g.V.profile(g.Raw), nil
}

func (c *client) communityPosts(
	ctx context.Context, q providers.CommunityPostsQuery, cursor string,
) (providers.Page[schema.Post], error) {
	return c.timeline(ctx, cursor,
		func(id string) upstream.Request {
			return upstream.Get("v1/timelines/group", id).With("limit", pageSize)
		}, anyAuthor,
		func() (string, *int64, error) { // there is no count of a group's posts
			if isNumber(q.ID) {
				return q.ID, nil, nil
			}
			g, err := c.group(ctx, q.ID)
			return string(g.V.ID), nil, err
		})
}

// group looks a group up by its number or by the name in its URL.
func (c *client) group(ctx context.Context, id string) (wire.Object[group], error) {
	r := upstream.Get("v1/groups/lookup").Says("slug", id)
	if isNumber(id) {
		r = upstream.Get("v1/groups", id)
	}
	var g wire.Object[group]
	if _, err := c.http.Read(ctx, r, &g); err != nil {
		return g, err
	}
	switch {
	case g.V.ID == "" && g.V.Slug == "":
		return g, errNothing
	case g.V.DeletedAt != "":
		return g, providers.NotFound("the group is deleted")
	case isNumber(id):
		return g, wire.Same(ctx, "group", id, string(g.V.ID))
	}
	if err := wire.Need(ctx, "id", g.V.ID != ""); err != nil {
		return g, err
	}
	return g, wire.SameFold(ctx, "group", id, g.V.Slug)
}

// group is the answer of GET /v1/groups/{id}, which only Truth Social has.
// https://github.com/milesmcc/truthsocial
type group struct {
	ID          wire.Serial `json:"id"`
	Slug        string      `json:"slug"`
	DisplayName string      `json:"display_name"`
	Note        string      `json:"note"` // HTML
	URL         string      `json:"url"`
	Avatar      string      `json:"avatar"`
	Members     wire.Count  `json:"members_count"`
	DeletedAt   string      `json:"deleted_at"` // null unless it was deleted
}

func (g group) profile(raw json.RawMessage) schema.Profile {
	handle := cmp.Or(g.Slug, string(g.ID))
	return schema.Profile{
		Common:      schema.Common{ID: string(g.ID), URL: text.URLOr(g.URL, site+"group/"+handle), Raw: raw},
		Handle:      handle,
		DisplayName: text.NonEmpty(g.DisplayName),
		Bio:         text.NonEmpty(text.FromHTML(g.Note)),
		AvatarURL:   picture(g.Avatar),
		Followers:   g.Members.V,
	}
}
