package twitch

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/text"
	"github.com/socialdata/socialdata/providers/kit/upstream"
	"github.com/socialdata/socialdata/providers/kit/wire"
	"github.com/socialdata/socialdata/schema"
)

// patience is how long to wait for what an object can do without.
const patience = 3 * time.Second

func (c *client) profile(ctx context.Context, handle string) (schema.Profile, error) {
	u, err := c.named(ctx, handle)
	if err != nil {
		return schema.Profile{}, err
	}
	p := u.V.profile(u.Raw)
	brief, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	var both sync.WaitGroup
	both.Go(func() { p.Followers = c.followers(brief, u.V.ID) })
	both.Go(func() { p.Lang = c.language(brief, u.V.ID) })
	both.Wait()
	return p, nil
}

// named looks up a login.
func (c *client) named(ctx context.Context, handle string) (wire.Object[user], error) {
	if !login.MatchString(handle) {
		return wire.Object[user]{}, providers.NotFound("a Twitch login has 1 to 25 letters, digits and underscores")
	}
	r := upstream.Get("users").Says("login", handle)
	return c.user(ctx, r, func(u user) bool { return u.ID != "" && strings.EqualFold(u.Login, handle) })
}

// numbered looks up the account with an id.
func (c *client) numbered(ctx context.Context, id wire.Serial) (wire.Object[user], error) {
	r := upstream.Get("users").With("id", string(id))
	return c.user(ctx, r, func(u user) bool { return u.ID == id && u.Login != "" })
}

// user reads one account. One that is suspended, renamed or unknown comes as an empty list.
func (c *client) user(ctx context.Context, r upstream.Request, is func(user) bool) (wire.Object[user], error) {
	u, err := one(ctx, c, r, "account", is)
	if errors.Is(err, providers.ErrNotFound) {
		return u, providers.NotFound("Twitch has no such account, or has suspended it")
	}
	return u, err
}

// followers counts those of a channel, nil when Twitch does not tell. It has told apps, though the documentation asks
// for the owner's token: a refusal here speaks of this read alone, so it costs no new token.
// https://dev.twitch.tv/docs/api/reference/#get-channel-followers
func (c *client) followers(ctx context.Context, id wire.Serial) *int64 {
	token, err := c.tokens.Get(ctx)
	if err != nil {
		return nil
	}
	r := upstream.Get("channels", "followers").With("broadcaster_id", string(id)).With("first", "1")
	r.Header = http.Header{"Authorization": {"Bearer " + token}}
	var a struct {
		Total wire.Count `json:"total"`
	}
	if _, err := c.extras.Read(ctx, r, &a); err != nil {
		return nil
	}
	return a.Total.V
}

// language is the one that a channel says it broadcasts in, nil when it says none or Twitch does not tell.
// https://dev.twitch.tv/docs/api/reference/#get-channel-information
func (c *client) language(ctx context.Context, id wire.Serial) *string {
	info, err := one(ctx, c, upstream.Get("channels").With("broadcaster_id", string(id)), "channel", func(i information) bool {
		return i.ID == id
	})
	if err != nil {
		return nil
	}
	return lang(info.V.Language)
}

// information is one of GET /channels, as far as it says more than [user].
type information struct {
	ID       wire.Serial `json:"broadcaster_id"`
	Language string      `json:"broadcaster_language"`
}

// lang returns a language code, nil for "other".
func lang(code string) *string {
	if code == "other" {
		return nil
	}
	return text.NonEmpty(code)
}

// user is one of GET /users.
// https://dev.twitch.tv/docs/api/reference/#get-users
type user struct {
	ID              wire.Serial `json:"id"`
	Login           string      `json:"login"`
	DisplayName     string      `json:"display_name"`
	BroadcasterType string      `json:"broadcaster_type"` // "partner", "affiliate" or ""
	Description     string      `json:"description"`
	ProfileImageURL string      `json:"profile_image_url"`
}

func (u user) profile(raw []byte) schema.Profile {
	return schema.Profile{
		Common:      schema.Common{ID: string(u.ID), URL: site + u.Login, Raw: raw},
		Handle:      u.Login,
		DisplayName: text.NonEmpty(u.DisplayName),
		Bio:         text.NonEmpty(u.Description),
		AvatarURL:   text.URL(u.ProfileImageURL),
		Verified:    u.BroadcasterType == "partner",
		Links:       text.Addresses(u.Description),
	}
}

func (u user) actor() schema.Actor {
	return schema.Actor{
		ID: string(u.ID), Handle: u.Login, DisplayName: text.NonEmpty(u.DisplayName), AvatarURL: text.URL(u.ProfileImageURL),
	}
}

const site = "https://www.twitch.tv/"

// owner returns the account behind an id for an object that names it, but not by its login. Where it cannot be looked
// up, the name that is shown stands in: it differs from the login in case only, unless it is in another script.
func (c *client) owner(ctx context.Context, id wire.Serial, shown string) (schema.Actor, error) {
	if id == "" {
		return stranger(id, shown), nil
	}
	brief, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	u, err := c.numbered(brief, id)
	if err == nil {
		return u.V.actor(), nil
	}
	if ctx.Err() != nil {
		return schema.Actor{}, err
	}
	return stranger(id, shown), nil
}

// stranger is an account of which only the id and the name that is shown are known.
func stranger(id wire.Serial, shown string) schema.Actor {
	a := schema.Actor{ID: cmp.Or(string(id), schema.UnknownActor().ID), Handle: strings.ToLower(shown), DisplayName: text.NonEmpty(shown)}
	if !login.MatchString(a.Handle) {
		a.Handle = schema.UnknownActor().Handle
	}
	return a
}
