package x

import (
	"context"
	"encoding/json"

	"github.com/socialdata/socialdata/providers/kit/text"
	"github.com/socialdata/socialdata/providers/kit/upstream"
	"github.com/socialdata/socialdata/providers/kit/wire"
	"github.com/socialdata/socialdata/schema"
)

func (c *client) community(ctx context.Context, id string) (schema.Profile, error) {
	var a single[group]
	r := upstream.Get("2", "communities", id).With("community.fields", communityFields)
	if _, err := c.http.Read(ctx, r.On(c.communities), &a); err != nil {
		return schema.Profile{}, err
	}
	if err := a.check(ctx); err != nil {
		return schema.Profile{}, err
	}
	if err := wire.Same(ctx, "community", id, communityID(a.Data.V.ID)); err != nil {
		return schema.Profile{}, err
	}
	return a.Data.V.profile(a.Data.Raw), nil
}

// group is a community.
// https://docs.x.com/x-api/communities/communities-lookup-by-community-id
type group struct {
	ID          string     `json:"id"` // digits, or "Community:" and digits in base64
	Name        string     `json:"name"`
	Description string     `json:"description"`
	Members     wire.Count `json:"member_count"`
}

func (g group) profile(raw json.RawMessage) schema.Profile {
	id := communityID(g.ID)
	return schema.Profile{
		Common:      schema.Common{ID: id, URL: "https://x.com/i/communities/" + id, Raw: raw},
		Handle:      id,
		DisplayName: text.NonEmpty(g.Name),
		Bio:         text.NonEmpty(g.Description),
		Followers:   g.Members.V,
	}
}
