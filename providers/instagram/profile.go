package instagram

import (
	"cmp"
	"context"
	"encoding/json"

	"github.com/socialdata/socialdata/providers/kit/text"
	"github.com/socialdata/socialdata/providers/kit/upstream"
	"github.com/socialdata/socialdata/providers/kit/wire"
	"github.com/socialdata/socialdata/schema"
)

const profileFields = "{id,ig_id,username,name,biography,website,profile_picture_url,followers_count,follows_count," +
	"media_count}"

// discover returns the request for the public data of a professional account, which is a field of our own account. The
// handle contains no characters with a meaning in field lists.
// https://developers.facebook.com/docs/instagram-platform/instagram-api-with-facebook-login/business-discovery
func (c *client) discover(handle, fields string) upstream.Request {
	return upstream.Get(c.account).With("fields", "business_discovery.username("+handle+")"+fields).On(c.lookups)
}

func (c *client) profile(ctx context.Context, handle string) (schema.Profile, error) {
	var a struct {
		Account wire.Object[account] `json:"business_discovery"`
	}
	if err := c.read(ctx, c.discover(handle, profileFields), &a); err != nil {
		return schema.Profile{}, err
	}
	if err := wire.Need(ctx, "business_discovery", a.Account.Raw != nil); err != nil {
		return schema.Profile{}, err
	}
	if err := wire.SameFold(ctx, "account", handle, a.Account.V.Username); err != nil {
		return schema.Profile{}, err
	}
	return a.Account.V.profile(a.Account.Raw), nil
}

// account is a professional account. Fields that its owner has not set are absent.
// https://developers.facebook.com/docs/instagram-platform/reference/ig-user
type account struct {
	ID        wire.Serial `json:"id"`    // of the official API
	PK        wire.Serial `json:"ig_id"` // of the site
	Username  string      `json:"username"`
	Name      string      `json:"name"`
	Biography string      `json:"biography"`
	Website   string      `json:"website"`
	Picture   string      `json:"profile_picture_url"`
	Followers wire.Count  `json:"followers_count"`
	Follows   wire.Count  `json:"follows_count"`
	Media     wire.Count  `json:"media_count"`
}

func (a account) profile(raw json.RawMessage) schema.Profile {
	return schema.Profile{
		Common:      schema.Common{ID: string(cmp.Or(a.PK, a.ID)), URL: profileURL(a.Username), Raw: raw},
		Handle:      a.Username,
		DisplayName: text.NonEmpty(a.Name),
		Bio:         text.NonEmpty(a.Biography),
		AvatarURL:   text.URL(a.Picture),
		Followers:   a.Followers.V,
		Following:   a.Follows.V,
		PostsCount:  a.Media.V,
		Links:       text.URLs(a.Website),
	}
}
