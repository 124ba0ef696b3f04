package twitch

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/internal/text"
	"github.com/socialdata/socialdata/providers/internal/upstream"
	"github.com/socialdata/socialdata/schema"
)

// patience is how long to wait for what an object can do without.
const patience = 3 * time.Second

func (c *client) profile(ctx context.Context, handle string) (schema.Profile, error) {
	u, err := c.named(ctx, handle)
	if err != nil {
		return schema.Profile{}, fmt.Errorf("twitch: profile %q: %w", handle, err)
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
func (c *client) named(ctx context.Context, handle string) (upstream.Object[user], error) {
	if !login.MatchString(handle) {
		return upstream.Object[user]{}, providers.NotFound("a Twitch login has 1 to 25 letters, digits and underscores")
	}
	return c.user(ctx, "login", handle, func(u user) bool { return strings.EqualFold(u.Login, handle) })
}

// numbered looks up the account with an id.
func (c *client) numbered(ctx context.Context, id string) (upstream.Object[user], error) {
	return c.user(ctx, "id", id, func(u user) bool { return u.ID == id })
}

// user reads one account. One that is suspended, renamed or unknown comes as an empty list.
func (c *client) user(ctx context.Context, by, value string, is func(user) bool) (upstream.Object[user], error) {
	rows, err := get[user](ctx, c, upstream.Get("users").With(by, value))
	if err != nil {
		return upstream.Object[user]{}, err
	}
	for _, u := range rows {
		if u.V.ID != "" && u.V.Login != "" && is(u.V) {
			return u, nil
		}
	}
	return upstream.Object[user]{}, providers.NotFound("Twitch has no such account, or has suspended it")
}

// followers counts those of a channel, nil when Twitch does not tell. It has told apps, though the documentation asks
// for the owner's token: a refusal here speaks of this read alone, so it costs no new token.
// https://dev.twitch.tv/docs/api/reference/#get-channel-followers
func (c *client) followers(ctx context.Context, id string) *int64 {
	token, err := c.tokens.Get(ctx)
	if err != nil {
		return nil
	}
	r := upstream.Get("channels", "followers").With("broadcaster_id", id).With("first", "1")
	r.Header = http.Header{"Authorization": {"Bearer " + token}}
	var a struct {
		Total upstream.Int `json:"total"`
	}
	if _, err := c.extras.JSON(ctx, r, &a); err != nil {
		return nil
	}
	return a.Total.V
}

// language is the one that a channel says it broadcasts in, nil when it says none or Twitch does not tell.
// https://dev.twitch.tv/docs/api/reference/#get-channel-information
func (c *client) language(ctx context.Context, id string) *string {
	rows, err := get[struct {
		ID       string `json:"broadcaster_id"`
		Language string `json:"broadcaster_language"`
	}](ctx, c, upstream.Get("channels").With("broadcaster_id", id))
	if err != nil {
		return nil
	}
	for _, r := range rows {
		if r.V.ID == id {
			return lang(r.V.Language)
		}
	}
	return nil
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
	ID              string `json:"id"`
	Login           string `json:"login"`
	DisplayName     string `json:"display_name"`
	BroadcasterType string `json:"broadcaster_type"` // "partner", "affiliate" or ""
	Description     string `json:"description"`
	ProfileImageURL string `json:"profile_image_url"`
}

func (u user) profile(raw []byte) schema.Profile {
	return schema.Profile{
		Common:      schema.Common{ID: u.ID, URL: site + u.Login, Raw: raw},
		Handle:      u.Login,
		DisplayName: text.NonEmpty(u.DisplayName),
		Bio:         text.NonEmpty(u.Description),
		AvatarURL:   text.URL(u.ProfileImageURL),
		Verified:    u.BroadcasterType == "partner",
		Links:       text.Addresses(u.Description),
	}
}

func (u user) actor() schema.Actor {
	return schema.Actor{ID: u.ID, Handle: u.Login, DisplayName: text.NonEmpty(u.DisplayName), AvatarURL: text.URL(u.ProfileImageURL)}
}

const site = "https://www.twitch.tv/"

// owner returns the account behind an id for an object that names it, but not by its login. Where it cannot be looked
// up, the name that is shown stands in: it differs from the login in case only, unless it is in another script.
func (c *client) owner(ctx context.Context, id, shown string) (schema.Actor, error) {
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
func stranger(id, shown string) schema.Actor {
	a := schema.Actor{ID: cmp.Or(id, schema.UnknownActor().ID), Handle: strings.ToLower(shown), DisplayName: text.NonEmpty(shown)}
	if !login.MatchString(a.Handle) {
		a.Handle = schema.UnknownActor().Handle
	}
	return a
}
