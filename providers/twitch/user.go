package twitch

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/socialdata/socialdata/callctx"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/text"
	"github.com/socialdata/socialdata/providers/kit/upstream"
	"github.com/socialdata/socialdata/providers/kit/wire"
	"github.com/socialdata/socialdata/schema"
)

const (
	patience = 3 * time.Second // maximum wait for optional parts of an object
	// patienceForAll is the maximum wait for optional parts of all objects in a batch.
	patienceForAll = 2 * patience
)

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

// profiles reads the profiles of logins: their accounts and languages in one request each, and the followers of each in
// one of its own.
func (c *client) profiles(ctx context.Context, handles []string) (map[string]schema.Profile, error) {
	found, err := c.accounts(ctx, handles)
	var ids []string
	for _, handle := range handles {
		if u, err := found.of(handle); err == nil {
			ids = append(ids, string(u.V.ID))
		}
	}
	followers, languages := c.besides(ctx, ids)
	return providers.PerKey(handles, err, func(handle string) (schema.Profile, error) {
		u, err := found.of(handle)
		if err != nil {
			return schema.Profile{}, err
		}
		p := u.V.profile(u.Raw)
		p.Followers, p.Lang = followers[u.V.ID], languages[u.V.ID]
		return p, nil
	})
}

// besides reads the parts of profiles that are not in the accounts.
func (c *client) besides(ctx context.Context, ids []string) (followers map[wire.Serial]*int64, languages map[wire.Serial]*string) {
	ctx, cancel := context.WithTimeout(ctx, patienceForAll)
	defer cancel()
	followers, languages = map[wire.Serial]*int64{}, map[wire.Serial]*string{}
	if len(ids) == 0 {
		return followers, languages
	}
	var mu sync.Mutex
	upstream.ForEach(ctx, len(ids)+1, func(i int) {
		brief, cancel := context.WithTimeout(ctx, patience)
		defer cancel()
		if i == len(ids) {
			languages = c.languages(brief, ids)
			return
		}
		id := wire.Serial(ids[i])
		n := c.followers(brief, id)
		mu.Lock()
		defer mu.Unlock()
		followers[id] = n
	})
	if ctx.Err() != nil { // some were not requested
		callctx.Of(ctx).Trace.Unknown("followers", "lang")
	}
	return followers, languages
}

// accounts are the results for some logins.
type accounts struct{ rows wire.Keyed[user] }

// together matches logins that may be looked up with others: Helix refuses the whole request if one login is malformed.
var together = regexp.MustCompile(`^[a-z0-9][a-z0-9_]{0,24}$`)

// accounts looks up at most 100 logins.
// https://dev.twitch.tv/docs/api/reference/#get-users
func (c *client) accounts(ctx context.Context, handles []string) (found accounts, err error) {
	known := providers.Together(handles, together.MatchString)
	found.rows, err = several(ctx, c, upstream.Get("users"), "login", known, func(u user) string { return strings.ToLower(u.Login) })
	return found, err
}

// of returns the account of a login. A login that was not looked up must be read alone.
func (a accounts) of(handle string) (wire.Object[user], error) {
	switch {
	case !login.MatchString(handle):
		return wire.Object[user]{}, noLogin()
	case !together.MatchString(handle):
		return wire.Object[user]{}, providers.Alone()
	}
	u, err := a.rows.Of(handle, noAccount())
	if err != nil {
		return u, err
	}
	if u.V.ID == "" {
		return u, providers.Unreadable(nil)
	}
	return u, nil
}

func noLogin() error {
	return providers.NotFound("a Twitch login has 1 to 25 letters, digits and underscores")
}

func noAccount() error { return providers.NotFound("Twitch has no such account, or has suspended it") }

// named looks up a login.
func (c *client) named(ctx context.Context, handle string) (wire.Object[user], error) {
	if !login.MatchString(handle) {
		return wire.Object[user]{}, noLogin()
	}
	r := upstream.Get("users").Says("login", handle)
	return c.user(ctx, r, func(u user) bool { return u.ID != "" && strings.EqualFold(u.Login, handle) })
}

// numbered looks up the account with an id.
func (c *client) numbered(ctx context.Context, id wire.Serial) (wire.Object[user], error) {
	r := upstream.Get("users").With("id", string(id))
	return c.user(ctx, r, func(u user) bool { return u.ID == id && u.Login != "" })
}

// user reads one account. For one that is suspended, renamed or unknown, the answer is an empty list.
func (c *client) user(ctx context.Context, r upstream.Request, is func(user) bool) (wire.Object[user], error) {
	u, err := one(ctx, c, r, "account", is)
	if errors.Is(err, providers.ErrNotFound) {
		return u, noAccount()
	}
	return u, err
}

// followers returns the number of a channel's followers, nil if Twitch does not return it. Apps have received it,
// although the documentation requires the owner's token: a refusal only affects this read, so it does not discard the
// token.
// https://dev.twitch.tv/docs/api/reference/#get-channel-followers
func (c *client) followers(ctx context.Context, id wire.Serial) *int64 {
	token, err := c.tokens.Get(ctx)
	if err != nil {
		callctx.Of(ctx).Trace.Unknown("followers")
		return nil
	}
	r := upstream.Get("channels", "followers").With("broadcaster_id", string(id)).With("first", "1")
	r.Header = http.Header{"Authorization": {"Bearer " + token}}
	var a struct {
		Total wire.Count `json:"total"`
	}
	if _, err := c.extras.Read(ctx, r, &a); err != nil {
		callctx.Of(ctx).Trace.Unknown("followers")
		return nil
	}
	return a.Total.V
}

// language returns the language that a channel states for its broadcasts, nil if it states none or Twitch does not
// return it.
// https://dev.twitch.tv/docs/api/reference/#get-channel-information
func (c *client) language(ctx context.Context, id wire.Serial) *string {
	info, err := one(ctx, c, upstream.Get("channels").With("broadcaster_id", string(id)), "channel", func(i information) bool {
		return i.ID == id
	})
	if err != nil {
		callctx.Of(ctx).Trace.Unknown("lang")
		return nil
	}
	return &info.V.Language
}

// languages is [client.language] for several channels.
func (c *client) languages(ctx context.Context, ids []string) map[wire.Serial]*string {
	out := map[wire.Serial]*string{}
	found, err := several(ctx, c, upstream.Get("channels"), "broadcaster_id", ids, func(i information) string { return string(i.ID) })
	for _, id := range ids {
		info, absent := found.Of(id, providers.ErrNotFound)
		if err != nil || absent != nil {
			callctx.Of(ctx).Trace.Unknown("lang")
			continue
		}
		out[info.V.ID] = &info.V.Language
	}
	return out
}

// information is an element of GET /channels, with the fields that [user] lacks.
type information struct {
	ID       wire.Serial `json:"broadcaster_id"`
	Language string      `json:"broadcaster_language"`
}

// user is an element of GET /users.
// https://dev.twitch.tv/docs/api/reference/#get-users
type user struct {
	ID              wire.Serial `json:"id"`
	Login           string      `json:"login"`
	DisplayName     string      `json:"display_name"`
	BroadcasterType string      `json:"broadcaster_type"` // "partner", "affiliate" or ""
	Description     string      `json:"description"`
	ProfileImageURL string      `json:"profile_image_url"`
}

func (u user) profile(raw json.RawMessage) schema.Profile {
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

// owner returns the account with an id, for an object that does not have its login. If the look-up fails, the display
// name is used as the login: they only differ in case, unless the display name is in another script.
func (c *client) owner(ctx context.Context, id wire.Serial, shown string) (schema.Actor, error) {
	if id == "" {
		return stranger(id, shown), nil
	}
	brief, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	u, err := c.numbered(brief, id)
	switch {
	case err != nil && ctx.Err() != nil:
		return schema.Actor{}, err
	case err != nil:
		return unnamed(ctx, id, shown), nil
	}
	return u.V.actor(), nil
}

// owners is [client.owner] for several accounts: the display name replaces the login of each that cannot be looked up.
func (c *client) owners(ctx context.Context, ids []string) lookUp {
	brief, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	slices.Sort(ids)
	found, err := several(brief, c, upstream.Get("users"), "id", slices.Compact(ids), func(u user) string { return string(u.ID) })
	return func(ctx context.Context, id wire.Serial, shown string) (schema.Actor, error) {
		u, absent := found.Of(string(id), providers.ErrNotFound)
		switch {
		case ctx.Err() != nil:
			return schema.Actor{}, cmp.Or(err, ctx.Err())
		case err != nil, absent != nil, u.V.Login == "":
			return unnamed(ctx, id, shown), nil
		}
		return u.V.actor(), nil
	}
}

// unnamed is [stranger] for the author of a post whose look-up has failed.
func unnamed(ctx context.Context, id wire.Serial, shown string) schema.Actor {
	callctx.Of(ctx).Trace.Unknown("author.handle", "author.display_name", "author.avatar_url")
	return stranger(id, shown)
}

// stranger returns an account of which only the id and the display name are known.
func stranger(id wire.Serial, shown string) schema.Actor {
	a := schema.Actor{ID: cmp.Or(string(id), schema.UnknownActor().ID), Handle: strings.ToLower(shown), DisplayName: text.NonEmpty(shown)}
	if !login.MatchString(a.Handle) {
		a.Handle = schema.UnknownActor().Handle
	}
	return a
}
