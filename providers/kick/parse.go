package kick

import (
	"context"
	"encoding/json"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/wire"
	"github.com/socialdata/socialdata/schema"
)

// ParseClip converts a clip in the format of the website's API, from any source. The error wraps
// [providers.ErrUnavailable], or [providers.ErrNotFound] for a private clip.
func ParseClip(ctx context.Context, raw json.RawMessage) (schema.Post, error) {
	var c clipping
	if err := wire.Decode(ctx, raw, &c); err != nil {
		return schema.Post{}, err
	}
	if err := wire.Need(ctx, "clip.privacy", c.told()); err != nil {
		return schema.Post{}, err
	}
	if c.private() {
		return schema.Post{}, providers.NotFound("this clip is private")
	}
	return c.post(c.Channel.channel().actor(), raw), nil
}
