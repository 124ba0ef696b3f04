package facebook

import (
	"context"
	"encoding/json"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/text"
	"github.com/socialdata/socialdata/providers/kit/upstream"
	"github.com/socialdata/socialdata/providers/kit/wire"
	"github.com/socialdata/socialdata/schema"
)

const albumFields = "id,name,description,count,cover_photo{source},created_time,link"

// albums reads the albums of a Page.
func (c *client) albums(
	ctx context.Context, q providers.CollectionsQuery, cursor string,
) (out providers.Page[schema.Collection], err error) {
	owner, err := c.owner(ctx, q.Handle)
	if err != nil {
		return out, err
	}
	r := upstream.Get(owner.ID, "albums").With("fields", albumFields)
	return pageOf(ctx, c.pages, r, cursor, func(a album, raw json.RawMessage) (schema.Collection, bool) {
		return a.collection(owner, raw), true
	})
}

// album is an album of photos.
type album struct {
	ID          wire.Serial `json:"id"`
	Name        string      `json:"name"`
	Description string      `json:"description"`
	Count       wire.Count  `json:"count"`
	Created     wire.Time   `json:"created_time"`
	Link        string      `json:"link"`
	Cover       struct {
		Source string `json:"source"`
	} `json:"cover_photo"`
}

func (a album) collection(owner schema.Actor, raw json.RawMessage) schema.Collection {
	return schema.Collection{
		Common:      schema.Common{ID: string(a.ID), URL: siteAddress(a.Link, siteURL+owner.ID+"/photos_albums"), Raw: raw},
		Kind:        schema.Album,
		Title:       a.Name,
		Description: text.NonEmpty(a.Description),
		Owner:       &owner,
		ItemsCount:  a.Count.V,
		CoverURL:    text.URL(a.Cover.Source),
		CreatedAt:   a.Created.V,
	}
}
