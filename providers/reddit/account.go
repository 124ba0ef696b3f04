package reddit

import (
	"cmp"
	"context"
	"encoding/json"
	"strings"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/text"
	"github.com/socialdata/socialdata/providers/kit/wire"
	"github.com/socialdata/socialdata/schema"
)

func (c *client) profile(ctx context.Context, handle string) (schema.Profile, error) {
	if name, ok := strings.CutPrefix(handle, "r/"); ok {
		return c.community(ctx, name)
	}
	var t thing[account]
	if _, err := c.api.Read(ctx, get("user", handle, "about"), &t); err != nil {
		return schema.Profile{}, err
	}
	if err := isAccount(ctx, t, handle); err != nil {
		return schema.Profile{}, err
	}
	return t.Data.V.profile(t.Data.Raw), nil
}

// isAccount returns an error if t is not the requested account, or if the account is suspended.
func isAccount(ctx context.Context, t thing[account], handle string) error {
	if err := wire.Marker(ctx, "kind", t.Kind, "t2"); err != nil {
		return err
	}
	a := t.Data.V
	if a.Suspended.Is() && a.ID == "" {
		return providers.NotFound("this account is suspended")
	}
	if err := wire.Need(ctx, "data.id", a.ID != ""); err != nil {
		return err
	}
	return wire.SameFold(ctx, "account", handle, a.Name)
}

// account is the answer of GET /user/{username}/about. Its field verified is about the e-mail address, not the person.
// https://www.reddit.com/dev/api#GET_user_{username}_about
type account struct {
	ID        wire.ID   `json:"id"`
	Name      string    `json:"name"`
	Suspended wire.Bool `json:"is_suspended"` // if true, most other fields are missing
	Avatar    string    `json:"snoovatar_img"`
	Icon      string    `json:"icon_img"`
	Subreddit struct {
		Title       string     `json:"title"`
		Description string     `json:"public_description"`
		Subscribers wire.Count `json:"subscribers"`
	} `json:"subreddit"` // null for old accounts
}

func (a account) profile(raw json.RawMessage) schema.Profile {
	return schema.Profile{
		Common:      schema.Common{ID: string(a.ID), URL: permalink("/user/"+a.Name, "/"), Raw: raw},
		Handle:      a.Name,
		DisplayName: text.NonEmpty(unescape(a.Subreddit.Title)),
		Bio:         text.NonEmpty(unescape(a.Subreddit.Description)),
		AvatarURL:   address(cmp.Or(a.Avatar, a.Icon)),
		Followers:   a.Subreddit.Subscribers.V,
	}
}

func (a account) actor() schema.Actor {
	p := a.profile(nil)
	return schema.Actor{ID: p.ID, Handle: p.Handle, DisplayName: p.DisplayName, AvatarURL: p.AvatarURL}
}
