package pinterest

import (
	"context"
	"encoding/json"

	"github.com/socialdata/socialdata/providers/kit/wire"
	"github.com/socialdata/socialdata/schema"
)

// ParsePin converts a pin as the website's API lists it, from any source. It reports false for rows that are not pins;
// an incomplete pin becomes the zero post. The error wraps [providers.ErrUnavailable].
func ParsePin(ctx context.Context, raw json.RawMessage) (schema.Post, bool, error) {
	var p pin
	if err := wire.Decode(ctx, raw, &p); err != nil {
		return schema.Post{}, true, err
	}
	post, belongs := p.post(raw)
	return post, belongs, nil
}

// ParseBoard is [ParsePin] for a board. It also reports false for a board that is not public.
func ParseBoard(ctx context.Context, raw json.RawMessage) (schema.Collection, bool, error) {
	var b board
	if err := wire.Decode(ctx, raw, &b); err != nil {
		return schema.Collection{}, true, err
	}
	collection, belongs := b.collection(raw)
	return collection, belongs, nil
}
