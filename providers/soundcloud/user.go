package soundcloud

import (
	"context"
	"encoding/json"
	"net/url"
	"regexp"
	"strings"
	"time"

	"github.com/socialdata/socialdata/callctx"
	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/countries"
	"github.com/socialdata/socialdata/providers/kit/links"
	"github.com/socialdata/socialdata/providers/kit/text"
	"github.com/socialdata/socialdata/providers/kit/upstream"
	"github.com/socialdata/socialdata/providers/kit/wire"
	"github.com/socialdata/socialdata/schema"
)

// thing is a user, a track or a playlist.
type thing interface {
	is() string // the name of its kind; "" when it has none
	id() string
	page() string // its public page, "" when it is unknown
}

// object reads the object of one kind, users, tracks or playlists, by its number, its URN or its public page.
// https://developers.soundcloud.com/docs/api/guide#resolving
func object[T thing](ctx context.Context, c *client, kind, key string) (wire.Object[T], error) {
	r := upstream.Get("resolve").With("url", site(key)) // answers with a redirect to the object
	if n, ok := number(kind, key); ok {
		r = upstream.Get(kind, "soundcloud:"+kind+":"+n)
	}
	var o wire.Object[T]
	res, err := c.http.Read(ctx, r, &o)
	if err != nil {
		return o, err
	}
	return o, expect(ctx, o.V, kind, key, res.Moved)
}

// number returns the number that key is or contains. An account's number is never bare, since its permalink may consist
// of digits.
func number(kind, key string) (string, bool) {
	n := tail(key)
	return n, links.Digits(n) && (n != key || kind != "users")
}

// expect returns an error unless v is of the given kind and is what the key names. Wherever the page redirects to, an
// account keeps its permalink.
func expect(ctx context.Context, v thing, kind, key string, moved bool) error {
	what := strings.TrimSuffix(kind, "s")
	if is := v.is(); is != "" && is != what {
		return providers.NotFound("that page of SoundCloud shows a %s", is)
	}
	if n, ok := number(kind, key); ok {
		return wire.Same(ctx, what, n, v.id())
	}
	if err := wire.Need(ctx, "id", v.id() != ""); err != nil || strings.HasPrefix(key, "https://") {
		return err
	}
	if u, ok := v.(user); ok {
		return wire.SameFold(ctx, what, key, u.Permalink)
	}
	if page := v.page(); page != "" && !moved {
		return wire.SameFold(ctx, what, site(key), page)
	}
	return nil
}

// account reads an account. All of its lists require its number, and would be empty for one that does not exist.
func (c *client) account(ctx context.Context, handle string) (wire.Object[user], error) {
	return object[user](ctx, c, "users", handle)
}

// patience is the time limit for optional parts of a profile.
const patience = 3 * time.Second

func (c *client) profile(ctx context.Context, handle string) (schema.Profile, error) {
	u, err := c.account(ctx, handle)
	if err != nil {
		return schema.Profile{}, err
	}
	p := u.V.profile(u.Raw)
	// The links below the name are a separate list; the profile is useful without it.
	brief, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	sites, err := c.webProfiles(brief, u.V)
	if err != nil {
		callctx.Of(ctx).Trace.Unknown("links")
		return p, nil //nolint:nilerr // see above
	}
	urls := p.Links
	for _, w := range sites.All() {
		urls = append(urls, w.V.URL)
	}
	p.Links = text.URLs(urls...)
	return p, nil
}

func (c *client) webProfiles(ctx context.Context, u user) (sites wire.Rows[webProfile], err error) {
	if _, err = c.http.Read(ctx, upstream.Get("users", u.urn(), "web-profiles"), &sites); err != nil {
		return sites, err
	}
	return sites, sites.Check(ctx, "web-profiles")
}

// linked reads the accounts on other sites that the owner has entered.
// https://developers.soundcloud.com/docs/api/explorer/open-api#/users/get_users__user_urn__web_profiles
func (c *client) linked(ctx context.Context, handle, _ string) (page providers.Page[schema.LinkedProfile], err error) {
	u, err := c.account(ctx, handle)
	if err != nil {
		return page, err
	}
	sites, err := c.webProfiles(ctx, u.V)
	if err != nil {
		return page, err
	}
	page.Items, err = wire.Items(ctx, "web-profiles", sites, webProfile.linked)
	return page, err
}

// user is the answer of GET /users/{urn}; inside other objects the counts are absent.
// https://developers.soundcloud.com/docs/api/explorer/open-api#/users/get_users__user_urn_
type user struct {
	Kind        string      `json:"kind"`
	ID          wire.Serial `json:"id"`  // may be absent when there is a URN
	URN         string      `json:"urn"` // absent in older answers
	Permalink   string      `json:"permalink"`
	Page        string      `json:"permalink_url"` // with http in older answers
	Username    string      `json:"username"`
	Description string      `json:"description"`
	Avatar      string      `json:"avatar_url"`
	Followers   wire.Count  `json:"followers_count"`
	Followings  wire.Count  `json:"followings_count"`
	Tracks      wire.Count  `json:"track_count"`
	Playlists   wire.Count  `json:"playlist_count"`
	Country     string      `json:"country"` // an English name
	Website     string      `json:"website"`

	// In the website's API:
	CountryCode string `json:"country_code"`
	Verified    bool   `json:"verified"`
	Badges      struct {
		Verified bool `json:"verified"`
	} `json:"badges"`
}

func (u user) is() string   { return u.Kind }
func (u user) id() string   { return id(u.URN, u.ID) }
func (u user) page() string { return public(u.Page) }
func (u user) urn() string  { return "soundcloud:users:" + u.id() }

// id prefers the URN, which replaces the number.
func id(urn string, number wire.Serial) string {
	if n := tail(urn); links.Digits(n) {
		return n
	}
	return string(number)
}

var code = regexp.MustCompile(`^[A-Za-z]{2}$`)

func (u user) tracks() *int64    { return u.Tracks.V }
func (u user) playlists() *int64 { return u.Playlists.V }

func (u user) profile(raw json.RawMessage) schema.Profile {
	p := schema.Profile{
		Common:      schema.Common{ID: u.id(), URL: public(u.Page), Raw: raw},
		Handle:      u.Permalink,
		DisplayName: text.NonEmpty(u.Username),
		Bio:         text.NonEmpty(u.Description),
		AvatarURL:   u.avatar(),
		Verified:    u.Verified || u.Badges.Verified,
		Followers:   u.Followers.V,
		Following:   u.Followings.V,
		PostsCount:  u.Tracks.V,
		Country:     countries.Code(u.Country),
		Links:       text.URLs(u.Website),
	}
	if p.URL == "" {
		p.URL = site(u.Permalink)
	}
	if code.MatchString(u.CountryCode) {
		p.Country = new(strings.ToUpper(u.CountryCode))
	}
	return p
}

func (u user) actor() schema.Actor {
	a := schema.UnknownActor()
	if u.id() == "" {
		return a
	}
	a.ID, a.Handle = u.id(), u.id()
	if u.Permalink != "" {
		a.Handle = u.Permalink
	}
	a.DisplayName, a.AvatarURL = text.NonEmpty(u.Username), u.avatar()
	return a
}

// avatar returns nil for the default picture.
func (u user) avatar() *string {
	if strings.Contains(u.Avatar, "/default_avatar") {
		return nil
	}
	return text.URL(u.Avatar)
}

// public returns the public page of an object, "" when there is none: with https, and without the query, which only
// says where the link was found.
func public(page string) string {
	page, _, _ = strings.Cut(page, "?")
	if rest, ok := strings.CutPrefix(page, "http://"); ok {
		page = "https://" + rest
	}
	return text.URLOr(page, "")
}

type webProfile struct {
	Service  string `json:"service"` // facebook, twitter … or personal
	URL      string `json:"url"`
	Username string `json:"username"`
}

// linked reports false for sites that are not supported platforms. A row without site and address is malformed, and
// becomes the zero profile, which breaks the schema.
func (w webProfile) linked(raw json.RawMessage) (schema.LinkedProfile, bool) {
	page, handle := text.URL(w.URL), strings.TrimPrefix(w.Username, "@")
	if w.Service == "" || page == nil {
		return schema.LinkedProfile{}, true
	}
	on := platform.ID(strings.ToLower(w.Service))
	if on == "twitter" {
		on = platform.X
	}
	if handle == "" {
		if u, err := url.Parse(*page); err == nil {
			handle = strings.TrimPrefix(strings.Trim(u.Path, "/"), "@")
		}
	}
	if !on.Valid() || handle == "" || strings.Contains(handle, "/") {
		return schema.LinkedProfile{}, false
	}
	return schema.LinkedProfile{
		Common:     schema.Common{Platform: on, ID: w.Service + ":" + *page, URL: *page, Raw: raw},
		Handle:     handle,
		Confidence: 0.95,
		Evidence:   []string{"official:web-profiles"},
	}, true
}

// ParseProfile converts a user as SoundCloud's APIs return it, from any source. The error wraps
// [providers.ErrUnavailable].
// https://developers.soundcloud.com/docs/api/explorer/open-api#/users/get_users__user_urn_
func ParseProfile(ctx context.Context, raw json.RawMessage) (schema.Profile, error) {
	var u user
	err := wire.Decode(ctx, raw, &u)
	return u.profile(raw), err
}
