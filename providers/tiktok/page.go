package tiktok

import (
	"context"
	"encoding/json"
	"strconv"

	"github.com/socialdata/socialdata/providers/kit/wire"
)

const pageSize = 100 // of every list of the official API, which may return fewer and still have more

// paging is beside each list of the official API.
type paging struct {
	Cursor  wire.Count `json:"cursor"` // a position in the list, or a time
	HasMore wire.Flag  `json:"has_more"`
}

// next returns the cursor of the next page, "" when there is none.
func (p paging) next(ctx context.Context) (string, error) {
	if err := wire.Need(ctx, "data.has_more", p.HasMore.V != nil); err != nil || !p.HasMore.Is() {
		return "", err
	}
	if err := wire.Need(ctx, "data.cursor", p.Cursor.V != nil); err != nil {
		return "", err
	}
	return strconv.FormatInt(*p.Cursor.V, 10), nil
}

// at converts a cursor of ours to a number for the official API; nil for the first page.
func at(cursor string) *json.Number {
	if cursor == "" {
		return nil
	}
	return new(json.Number(cursor))
}
