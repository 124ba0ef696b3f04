package scrapecreators

import (
	"context"
	"encoding/json"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/wire"
)

// tiktokRows is a list in TikTok's app, which writes null for an empty one.
type tiktokRows[T any] struct {
	wire.Rows[T]
	null bool
}

// UnmarshalJSON never fails.
func (r *tiktokRows[T]) UnmarshalJSON(b []byte) error {
	r.null = string(b) == "null"
	return r.Rows.UnmarshalJSON(b)
}

// tiktokPaging is beside such a list. Lists made by the vendor have no status.
type tiktokPaging struct {
	Status  wire.Count `json:"status_code"` // 0 means that nothing failed
	Total   wire.Count `json:"total"`
	HasMore more       `json:"has_more"`
}

// empty reports whether TikTok itself says that the list is empty: only then is null a list.
func (p tiktokPaging) empty() bool {
	fine := p.Status.V != nil && *p.Status.V == 0
	return fine && p.HasMore.V != nil && !p.HasMore.Is() && (p.Total.V == nil || *p.Total.V == 0)
}

// tiktokItems is [wire.Items] for a list in TikTok's app. A refusal by TikTok is not an empty list.
func tiktokItems[T, O any](
	ctx context.Context, name string, rows tiktokRows[T], p tiktokPaging, convert func(T, json.RawMessage) (O, bool),
) ([]O, error) {
	switch {
	case p.Status.V != nil && *p.Status.V != 0:
		return nil, providers.Unavailable(nil, "TikTok answers with the code %d", *p.Status.V)
	case rows.null && p.empty():
		return nil, nil
	}
	return wire.Items(ctx, name, rows.Rows, convert)
}
