package pinterest

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/text"
	"github.com/socialdata/socialdata/providers/kit/upstream"
	"github.com/socialdata/socialdata/providers/kit/wire"
	"github.com/socialdata/socialdata/schema"
)

// ownedBoard is the answer of GET /boards/{board_id}. It does not have the address of the board's page.
// https://developers.pinterest.com/docs/api/v5/boards-get
type ownedBoard struct {
	ID          wire.Serial `json:"id"`
	Name        string      `json:"name"`
	Description string      `json:"description"`
	CreatedAt   wire.Time   `json:"created_at"` // in UTC, without a zone
	Pins        wire.Count  `json:"pin_count"`
	Owner       owner       `json:"owner"`
	Privacy     string      `json:"privacy"` // PUBLIC, PROTECTED or SECRET
	Media       struct {
		Cover string `json:"image_cover_url"`
	} `json:"media"`
}

// collection converts b; it reports false for a board that is not public. A board with unknown privacy has no id,
// because the owner's token may see more than others.
func (b ownedBoard) collection(raw json.RawMessage) (schema.Collection, bool) {
	if b.Privacy == "" {
		return schema.Collection{}, true
	}
	out := schema.Collection{
		Common:      schema.Common{ID: string(b.ID), URL: page(b.Owner.Username), Raw: raw},
		Kind:        schema.Board,
		Title:       b.Name,
		Description: text.NonEmpty(b.Description),
		ItemsCount:  b.Pins.V,
		CoverURL:    text.URL(b.Media.Cover),
		CreatedAt:   b.CreatedAt.V,
	}
	if b.Owner.Username == "" {
		out.URL = site
	} else {
		out.Owner = new(b.Owner.actor())
	}
	return out, isPublic(b.Privacy)
}

// isPublic reports whether a board is public: boards that are not have a privacy.
func isPublic(privacy string) bool { return privacy == "" || strings.EqualFold(privacy, "public") }

// https://developers.pinterest.com/docs/api/v5/boards-list
func (c *official) collections(
	ctx context.Context, q providers.CollectionsQuery, cursor string,
) (page providers.Page[schema.Collection], err error) {
	if err := c.owns(ctx, q.Handle); err != nil {
		return page, err
	}
	return list(ctx, c, upstream.Get("v5", "boards"), cursor, ownedBoard.collection)
}

func (c *official) collection(ctx context.Context, q providers.CollectionQuery) (schema.Collection, error) {
	id, err := c.board(ctx, q.ID)
	if err != nil {
		return schema.Collection{}, err
	}
	b, err := upstream.Object[ownedBoard](ctx, c.http, upstream.Get("v5", "boards", id), "")
	if err != nil {
		return schema.Collection{}, err
	}
	if err := wire.Same(ctx, "board", id, string(b.V.ID)); err != nil {
		return schema.Collection{}, err
	}
	if err := wire.Need(ctx, "privacy", b.V.Privacy != ""); err != nil {
		return schema.Collection{}, err
	}
	out, public := b.V.collection(b.Raw)
	if !public {
		return schema.Collection{}, absent(noBoard)
	}
	return out, nil
}

// https://developers.pinterest.com/docs/api/v5/boards-list_pins
func (c *official) collectionPosts(
	ctx context.Context, q providers.CollectionQuery, cursor string,
) (page providers.Page[schema.Post], err error) {
	id, err := c.board(ctx, q.ID)
	if err != nil {
		return page, err
	}
	return list(ctx, c, upstream.Get("v5", "boards", id, "pins"), cursor, ownedPin.post)
}

// board returns the number of a board.
func (c *official) board(ctx context.Context, id string) (string, error) {
	id, err := c.short.resolve(ctx, providers.CollectionID, id)
	if err != nil {
		return id, err
	}
	if !isNumber(id) {
		return id, providers.Unsupported("Pinterest's official API only finds a board by its number")
	}
	return id, nil
}
