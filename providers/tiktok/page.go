package tiktok

import (
	"bytes"
	"context"
	"encoding/json"
	"strconv"

	"github.com/socialdata/socialdata/providers/kit/wire"
)

const pageSize = 100 // of every list of the official interface, which may give fewer and still have more

// paging stands beside each list of the official interface.
type paging struct {
	Cursor  wire.Count `json:"cursor"` // a place in the list, or a time
	HasMore flag       `json:"has_more"`
}

// next returns the cursor of what follows, "" when nothing does.
func (p paging) next(ctx context.Context) (string, error) {
	if err := wire.Need(ctx, "data.has_more", p.HasMore.known); err != nil || !p.HasMore.is {
		return "", err
	}
	if err := wire.Need(ctx, "data.cursor", p.Cursor.V != nil); err != nil {
		return "", err
	}
	return strconv.FormatInt(*p.Cursor.V, 10), nil
}

// flag is true or false, also as a word.
type flag struct{ is, known bool }

// UnmarshalJSON never fails.
func (f *flag) UnmarshalJSON(b []byte) error {
	word := string(bytes.Trim(b, `"`))
	*f = flag{word == "true", word == "true" || word == "false"}
	return nil
}

// at is a cursor of ours as the official interface takes it: a number; nil at the beginning.
func at(cursor string) *json.Number {
	if cursor == "" {
		return nil
	}
	return new(json.Number(cursor))
}
