package threads

import (
	"context"
	"encoding/json"

	"github.com/socialdata/socialdata/providers/kit/text"
	"github.com/socialdata/socialdata/providers/kit/upstream"
	"github.com/socialdata/socialdata/providers/kit/wire"
	"github.com/socialdata/socialdata/schema"
)

const profileFields = "username,name,profile_picture_url,biography,is_verified,follower_count,likes_count,quotes_count," +
	"replies_count,reposts_count,views_count"

func (c *client) profile(ctx context.Context, handle string) (schema.Profile, error) {
	r := upstream.Get(version, "profile_lookup").With("username", handle).With("fields", profileFields).On(c.lookups)
	return upstream.One(ctx, c.http, r, "", wire.As(account.profile), upstream.AboutAccount(handle))
}

// account is the answer of GET /profile_lookup, which gives no id. Its other counts are those of the last seven days.
// https://developers.facebook.com/docs/threads/threads-profiles
type account struct {
	Username  string     `json:"username"`
	Name      string     `json:"name"`
	Picture   string     `json:"profile_picture_url"`
	Biography string     `json:"biography"`
	Verified  bool       `json:"is_verified"`
	Followers wire.Count `json:"follower_count"`
}

func (a account) profile(raw json.RawMessage) schema.Profile {
	return schema.Profile{
		Common:      schema.Common{ID: a.Username, URL: siteURL + "@" + a.Username, Raw: raw},
		Handle:      a.Username,
		DisplayName: text.NonEmpty(a.Name),
		Bio:         text.NonEmpty(a.Biography),
		AvatarURL:   text.URL(a.Picture),
		Verified:    a.Verified,
		Followers:   a.Followers.V,
	}
}
