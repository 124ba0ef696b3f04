package instagram

import (
	"context"
	"encoding/json"

	"github.com/socialdata/socialdata/providers/kit/text"
	"github.com/socialdata/socialdata/providers/kit/wire"
	"github.com/socialdata/socialdata/schema"
)

// ParseProfile converts an account as the scripts of its page get it, the user of web_profile_info, from any source.
// The error wraps [providers.ErrUnavailable].
func ParseProfile(ctx context.Context, raw json.RawMessage) (schema.Profile, error) {
	var u webUser
	err := wire.Decode(ctx, raw, &u)
	return u.profile(raw), err
}

// ParsePost converts a post as the site's apps get it, with pk and code, from any source. The error wraps
// [providers.ErrUnavailable].
func ParsePost(ctx context.Context, raw json.RawMessage) (schema.Post, error) {
	var n node
	err := wire.Decode(ctx, raw, &n)
	return n.post(schema.UnknownActor(), raw), err
}

// ParseWebPost is [ParsePost] for the format of the older of the site's queries, xdt_shortcode_media.
func ParseWebPost(ctx context.Context, raw json.RawMessage) (schema.Post, error) {
	var i item
	err := wire.Decode(ctx, raw, &i)
	return i.post(raw), err
}

// Named returns the hashtags in a caption, without #, and the handles, without @.
func Named(caption string) (hashtags, mentions []string) {
	return text.GluedHashtags(caption), mentionsOf(caption)
}

// PostKey returns the number of a post and its shortcode, which is in its page's address. It returns
// [providers.ErrUnsupported] for an id of the official API.
func PostKey(id string) (number, shortcode string, err error) {
	k, err := keyOf(id)
	return k.number, k.code, err
}
