package salla

import (
	"context"
	"encoding/json"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/dates"
	"github.com/socialdata/socialdata/providers/kit/text"
	"github.com/socialdata/socialdata/providers/kit/upstream"
	"github.com/socialdata/socialdata/providers/kit/wire"
	"github.com/socialdata/socialdata/schema"
)

func (m *merchant) reviews(ctx context.Context, productID, cursor string) (providers.Page[schema.Review], error) {
	var page providers.Page[schema.Review]
	ours, err := m.ours(ctx)
	if err != nil {
		return page, err
	}
	address := productURL(ours.URL, productID)
	r := upstream.Get("reviews").With("type", "rating").With("is_published", "true").With("products[]", productID)
	return listPage(ctx, m.http, r, pageSize, cursor, true, func(r review, raw json.RawMessage) (schema.Review, bool) {
		return r.review(productID, address, raw), r.belongs(productID)
	})
}

// review is an element of GET /reviews.
// https://docs.salla.dev
type review struct {
	ID          wire.Serial `json:"id"`
	Type        string      `json:"type"` // "rating", "ask", "shipping" or "store"
	Rating      wire.Float  `json:"rating"`
	Content     string      `json:"content"`
	IsPublished wire.Bool   `json:"is_published"`
	CreatedAt   string      `json:"created_at"` // in Riyadh's time
	Customer    struct {
		ID     wire.Serial `json:"id"`
		Name   string      `json:"name"`
		Avatar string      `json:"avatar"`
	} `json:"customer"`
	Product struct {
		ID wire.Serial `json:"id"`
	} `json:"product"`
}

// belongs reports false for anything but a published rating of the product: Salla does not always honour the filters of
// a request.
func (r review) belongs(productID string) bool {
	kind := r.Type == "rating" || r.Type == ""
	about := r.Product.ID == "" || string(r.Product.ID) == productID
	published := r.IsPublished.V == nil || *r.IsPublished.V
	return kind && about && published && !r.Rating.Absent()
}

// review returns the zero review, which breaks the schema, when it is unknown whether it is a rating, or its stars are.
func (r review) review(productID, address string, raw json.RawMessage) schema.Review {
	if r.Type == "" || r.Rating.V == nil || r.ID == "" {
		return schema.Review{}
	}
	author := schema.UnknownActor()
	if r.Customer.ID != "" {
		author.ID, author.Handle = string(r.Customer.ID), string(r.Customer.ID)
	}
	author.DisplayName, author.AvatarURL = text.NonEmpty(r.Customer.Name), text.URL(r.Customer.Avatar)
	return schema.Review{
		Common:    schema.Common{ID: string(r.ID), URL: address + "#review-" + string(r.ID), Raw: public(raw)},
		ProductID: productID,
		Author:    author,
		Rating:    *r.Rating.V,
		Text:      text.FromHTML(r.Content),
		CreatedAt: dates.Parse(r.CreatedAt+" "+riyadh, moment),
	}
}

const (
	moment = "2006-01-02 15:04:05 -0700"
	riyadh = "+0300" // all year round
)
