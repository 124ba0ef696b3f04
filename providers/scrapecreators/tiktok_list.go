package scrapecreators

import (
	"context"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/upstream"
	"github.com/socialdata/socialdata/providers/kit/wire"
)

// tiktokPaging is beside a list in TikTok's app, which writes null for an empty one. Lists made by the vendor have no
// status.
type tiktokPaging struct {
	Status     wire.Count  `json:"status_code"` // 0 means that nothing failed
	Total      wire.Count  `json:"total"`
	HasMore    wire.Flag   `json:"has_more"`
	Collection wire.Serial `json:"collection_id"` // if it is the list of one
}

// empty reports whether TikTok itself says that the list is empty: only then is null a list.
func (p tiktokPaging) empty() bool {
	fine := p.Status.V != nil && *p.Status.V == 0
	return fine && p.HasMore.V != nil && !p.HasMore.Is() && (p.Total.V == nil || *p.Total.V == 0)
}

// tiktokRead reads a page of a list in TikTok's app. A refusal by TikTok is not an empty list.
func tiktokRead[T, O any](
	ctx context.Context, c *client, r upstream.Request, at upstream.List, convert method[T, O],
) (page providers.Page[O], err error) {
	answer, err := upstream.Object[tiktokPaging](ctx, c.http, r, "")
	if err != nil {
		return page, err
	}
	return tiktokPart(ctx, answer, at, convert)
}

// tiktokPart converts the page in an answer.
func tiktokPart[T, O any](
	ctx context.Context, answer wire.Object[tiktokPaging], at upstream.List, convert method[T, O],
) (page providers.Page[O], err error) {
	p := answer.V
	if p.Status.V != nil && *p.Status.V != 0 {
		return page, providers.Unavailable(nil, "TikTok answers with the code %d", *p.Status.V)
	}
	if string(wire.Find(answer.Raw, at.Rows)) == "null" && p.empty() {
		return page, nil
	}
	if page.Items, err = upstream.Items(ctx, answer.Raw, at.Rows, convert); err != nil {
		return page, err
	}
	page.Next, err = at.Token(ctx, answer.Raw)
	return page, err
}

// tiktokList is [list] for a list in TikTok's app.
func tiktokList[Q, T, O any](
	c *client, request ask[Q], at upstream.List, convert method[T, O], about func(Q, O) bool,
) func(context.Context, Q, string) (providers.Page[O], error) {
	return func(ctx context.Context, q Q, cursor string) (page providers.Page[O], err error) {
		r, err := request(ctx, q)
		if err != nil {
			return page, err
		}
		return tiktokRead(ctx, c, from(r, at, cursor), at, only(ctx, q, rows(convert), about))
	}
}
