package x

import (
	"context"
	"encoding/json"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/text"
	"github.com/socialdata/socialdata/providers/kit/upstream"
	"github.com/socialdata/socialdata/providers/kit/wire"
	"github.com/socialdata/socialdata/schema"
)

func (c *client) profile(ctx context.Context, handle string) (schema.Profile, error) {
	u, err := c.account(ctx, handle)
	if err != nil {
		return schema.Profile{}, err
	}
	return u.V.profile(u.Raw), nil
}

// profilesByName reads accounts by their handles; numbers are read by profile.
// https://docs.x.com/x-api/users/get-users-by-usernames
func (c *client) profilesByName(ctx context.Context, handles []string) (map[string]schema.Profile, error) {
	var a list[user]
	found, err := look(ctx, &a, providers.Together(handles, isName), func(names string) error {
		r := upstream.Get("2", "users", "by").With("usernames", names).With("user.fields", userFields)
		_, err := c.http.Read(ctx, r.On(c.users), &a)
		return err
	}, func(u user) string { return strings.ToLower(u.Username) })
	return providers.PerKey(handles, err, func(handle string) (schema.Profile, error) {
		switch {
		case number(handle):
			return schema.Profile{}, providers.Alone()
		case !isName(handle):
			return schema.Profile{}, noName()
		}
		u, err := found.of(handle)
		if err != nil {
			return schema.Profile{}, err
		}
		if err := u.V.is(ctx, handle); err != nil {
			return schema.Profile{}, err
		}
		c.accounts.put(handle, u.V)
		return u.V.profile(u.Raw), nil
	})
}

// isName reports whether X looks up a handle by name.
func isName(handle string) bool { return !number(handle) && username.MatchString(handle) }

func noName() error {
	return providers.NotFound("an X handle has 1 to 15 letters, digits and underscores")
}

// account looks up a handle or a numeric id.
func (c *client) account(ctx context.Context, handle string) (wire.Object[user], error) {
	r := upstream.Get("2", "users", "by", "username", handle)
	switch {
	case number(handle):
		r = upstream.Get("2", "users", handle)
	case !isName(strings.ToLower(handle)):
		return wire.Object[user]{}, noName()
	}
	var a single[user]
	if _, err := c.http.Read(ctx, r.On(c.users).With("user.fields", userFields), &a); err != nil {
		return wire.Object[user]{}, err
	}
	if err := a.check(ctx); err != nil {
		return wire.Object[user]{}, err
	}
	if err := a.Data.V.is(ctx, handle); err != nil {
		return wire.Object[user]{}, err
	}
	c.accounts.put(handle, a.Data.V)
	return a.Data, nil
}

// is returns an error unless u is the account with that handle or number.
func (u user) is(ctx context.Context, handle string) error {
	if number(handle) {
		if err := wire.Need(ctx, "username", u.Username != ""); err != nil {
			return err
		}
		return wire.Same(ctx, "account", handle, string(u.ID))
	}
	if err := wire.Need(ctx, "id", u.ID != ""); err != nil {
		return err
	}
	return wire.SameFold(ctx, "account", handle, u.Username)
}

// user is an account.
// https://docs.x.com/x-api/fundamentals/data-dictionary#user
type user struct {
	ID              wire.Serial `json:"id"`
	Username        string      `json:"username"`
	Name            string      `json:"name"`
	Description     string      `json:"description"`
	ProfileImageURL string      `json:"profile_image_url"`
	URL             string      `json:"url"` // a t.co link, or ""
	Verified        bool        `json:"verified"`
	Protected       wire.Bool   `json:"protected"`
	PublicMetrics   struct {
		Followers wire.Count `json:"followers_count"`
		Following wire.Count `json:"following_count"`
		Tweets    wire.Count `json:"tweet_count"`
	} `json:"public_metrics"`
	Entities wire.Object[struct {
		URL         entities `json:"url"`
		Description entities `json:"description"`
	}] `json:"entities"` // absent if there are none
}

// small matches the size in profile_image_url.
var small = regexp.MustCompile(`_normal(\.[A-Za-z]+)?$`)

func (u user) profile(raw json.RawMessage) schema.Profile {
	p := schema.Profile{
		Common:      schema.Common{ID: string(u.ID), URL: "https://x.com/" + u.Username, Raw: raw},
		Handle:      u.Username,
		DisplayName: text.NonEmpty(u.Name),
		AvatarURL:   text.URL(small.ReplaceAllString(u.ProfileImageURL, "$1")), // the original size
		Verified:    u.Verified,
		Followers:   u.PublicMetrics.Followers.V,
		Following:   u.PublicMetrics.Following.V,
		PostsCount:  u.PublicMetrics.Tweets.V,
	}
	bio, urls, e := u.Description, []string{}, u.Entities
	if e.Raw == nil {
		urls = append(urls, u.URL)
	}
	for _, l := range e.V.URL.URLs {
		urls = append(urls, l.ExpandedURL)
	}
	for _, l := range e.V.Description.URLs {
		urls = append(urls, l.ExpandedURL)
		if l.URL != "" && l.ExpandedURL != "" {
			bio = strings.ReplaceAll(bio, l.URL, l.ExpandedURL)
		}
	}
	p.Bio = text.NonEmpty(bio)
	p.Links = text.URLs(urls...)
	return p
}

func (u user) actor() schema.Actor {
	return schema.Actor{ID: string(u.ID), Handle: u.Username, DisplayName: text.NonEmpty(u.Name), AvatarURL: text.URL(u.ProfileImageURL)}
}

// accounts caches the account of each handle: a timeline is requested by number, and each look-up is paid for. The zero
// value is ready for use.
type accounts struct {
	mu sync.Mutex
	m  map[string]known
}

type known struct {
	user  user
	until time.Time
}

const (
	rememberFor = time.Hour // a handle may move to another account
	mostKnown   = 10_000
)

func (a *accounts) put(handle string, u user) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.m == nil || len(a.m) >= mostKnown {
		a.m = map[string]known{}
	}
	a.m[handle] = known{u, time.Now().Add(rememberFor)}
}

func (a *accounts) get(handle string) (user, bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	k, ok := a.m[handle]
	return k.user, ok && time.Now().Before(k.until)
}

// who returns the account with a handle, from the cache if possible.
func (c *client) who(ctx context.Context, handle string) (user, error) {
	if u, ok := c.accounts.get(handle); ok {
		return u, nil
	}
	u, err := c.account(ctx, handle)
	if err != nil {
		return user{}, err
	}
	return u.V, nil
}
