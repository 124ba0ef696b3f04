package truthsocial

import (
	"cmp"
	"context"
	"fmt"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/internal/text"
	"github.com/socialdata/socialdata/providers/internal/upstream"
	"github.com/socialdata/socialdata/schema"
)

func (c *client) community(ctx context.Context, id string) (schema.Profile, error) {
	g, err := c.group(ctx, id)
	if err != nil {
		return schema.Profile{}, fmt.Errorf("truthsocial: group %q: %w", id, err)
	}
	return g.V.profile(g.Raw), nil
}

func (c *client) communityPosts(ctx context.Context, q providers.CommunityPostsQuery, cursor string) (providers.Page[schema.Post], error) {
	page, err := c.timeline(ctx, cursor,
		func(id string) upstream.Request {
			return upstream.Get("v1/timelines/group", id).With("limit", pageSize)
		},
		func() (string, error) {
			if isNumber(q.ID) {
				return q.ID, nil
			}
			g, err := c.group(ctx, q.ID)
			return g.V.ID, err
		})
	if err != nil {
		return page, fmt.Errorf("truthsocial: posts in group %q: %w", q.ID, err)
	}
	return page, nil
}

// group looks a group up by its number or by the name in its URL.
func (c *client) group(ctx context.Context, id string) (upstream.Object[group], error) {
	r := upstream.Get("v1/groups/lookup").With("slug", id)
	if isNumber(id) {
		r = upstream.Get("v1/groups", id)
	}
	var g upstream.Object[group]
	_, err := c.http.JSON(ctx, r, &g)
	switch {
	case err != nil:
	case g.V.ID == "":
		err = errNothing
	case g.V.DeletedAt != nil:
		err = providers.NotFound("the group is deleted")
	}
	return g, err
}

// group is the answer of GET /v1/groups/{id}, which only Truth Social has.
// https://github.com/milesmcc/truthsocial
type group struct {
	ID          string       `json:"id"`
	Slug        string       `json:"slug"`
	DisplayName string       `json:"display_name"`
	Note        string       `json:"note"` // HTML
	URL         string       `json:"url"`
	Avatar      string       `json:"avatar"`
	Members     upstream.Int `json:"members_count"`
	DeletedAt   *string      `json:"deleted_at"`
}

func (g group) profile(raw []byte) schema.Profile {
	handle := cmp.Or(g.Slug, g.ID)
	return schema.Profile{
		Common:      schema.Common{ID: g.ID, URL: cmp.Or(g.URL, site+"group/"+handle), Raw: raw},
		Handle:      handle,
		DisplayName: text.NonEmpty(g.DisplayName),
		Bio:         text.NonEmpty(text.FromHTML(g.Note)),
		AvatarURL:   picture(g.Avatar),
		Followers:   count(g.Members),
	}
}
