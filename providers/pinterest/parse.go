package pinterest

import (
	"context"
	"encoding/json"

	"github.com/socialdata/socialdata/providers/kit/wire"
	"github.com/socialdata/socialdata/schema"
)

// ParsePin converts a pin as the website's interface lists it, wherever it was read. It is false for what stands among
// pins and is none; a pin that is not told whole is the zero post. The error wraps [providers.ErrUnavailable].
func ParsePin(ctx context.Context, raw json.RawMessage) (schema.Post, bool, error) {
	var p pin
	if err := wire.Decode(ctx, raw, &p); err != nil {
		return schema.Post{}, true, err
	}
	post, belongs := p.post(raw)
	return post, belongs, nil
}

// ParseBoard is [ParsePin] for a board. It is false for one that is not for everybody, too.
func ParseBoard(ctx context.Context, raw json.RawMessage) (schema.Collection, bool, error) {
	var b board
	if err := wire.Decode(ctx, raw, &b); err != nil {
		return schema.Collection{}, true, err
	}
	collection, belongs := b.collection(raw)
	return collection, belongs, nil
}
