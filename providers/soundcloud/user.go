package soundcloud

import (
	"context"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/internal/links"
	"github.com/socialdata/socialdata/providers/internal/text"
	"github.com/socialdata/socialdata/providers/internal/upstream"
	"github.com/socialdata/socialdata/schema"
)

// object reads the object of one kind, users, tracks or playlists, by its number, its URN or its public page.
// https://developers.soundcloud.com/docs/api/guide#resolving
func object[T interface{ is() string }](ctx context.Context, c *client, kind, key string) (upstream.Object[T], error) {
	r := upstream.Get("resolve").With("url", site(key)) // answers with a redirect to the object
	if n := tail(key); links.Digits(n) && (n != key || kind != "users") {
		r = upstream.Get(kind, "soundcloud:"+kind+":"+n)
	}
	var o upstream.Object[T]
	if _, err := c.http.JSON(ctx, r, &o); err != nil {
		return o, err
	}
	return o, expect(o.V, kind)
}

// expect makes sure that a page, which may lead to anything, led to an object of the kind.
func expect[T interface{ is() string }](v T, kind string) error {
	if is := v.is(); is != "" && is+"s" != kind {
		return providers.NotFound("that page of SoundCloud shows a %s", is)
	}
	return nil
}

// account reads an account. All of its lists need its number, and for one that does not exist they would be empty.
func (c *client) account(ctx context.Context, handle string) (upstream.Object[user], error) {
	return object[user](ctx, c, "users", handle)
}

// patience is how long to wait for what a profile can do without.
const patience = 3 * time.Second

func (c *client) profile(ctx context.Context, handle string) (schema.Profile, error) {
	u, err := c.account(ctx, handle)
	if err != nil {
		return schema.Profile{}, fmt.Errorf("soundcloud: profile %q: %w", handle, err)
	}
	p := u.V.profile(u.Raw)
	// The links below the name are a list of their own; without it the profile is still worth having.
	brief, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	if sites, err := c.webProfiles(brief, u.V); err == nil {
		urls := p.Links
		for _, w := range sites {
			urls = append(urls, w.V.URL)
		}
		p.Links = text.URLs(urls...)
	}
	return p, nil
}

func (c *client) webProfiles(ctx context.Context, u user) ([]upstream.Object[webProfile], error) {
	sites, _, err := read[webProfile](ctx, c.http, upstream.Get("users", u.urn(), "web-profiles"), "")
	return sites, err
}

// linked reads the accounts elsewhere that the owner has entered.
// https://developers.soundcloud.com/docs/api/explorer/open-api#/users/get_users__user_urn__web_profiles
func (c *client) linked(ctx context.Context, handle, _ string) (providers.Page[schema.LinkedProfile], error) {
	var page providers.Page[schema.LinkedProfile]
	u, err := c.account(ctx, handle)
	var sites []upstream.Object[webProfile]
	if err == nil {
		sites, err = c.webProfiles(ctx, u.V)
	}
	if err != nil {
		return page, fmt.Errorf("soundcloud: linked profiles of %q: %w", handle, err)
	}
	for _, w := range sites {
		if p, ok := w.V.linked(w.Raw); ok {
			page.Items = append(page.Items, p)
		}
	}
	return page, nil
}

// user is the answer of GET /users/{urn}; inside other objects the counts are absent.
// https://developers.soundcloud.com/docs/api/explorer/open-api#/users/get_users__user_urn_
type user struct {
	Kind        string       `json:"kind"`
	ID          upstream.ID  `json:"id"`  // may be absent beside a URN
	URN         string       `json:"urn"` // absent of old
	Permalink   string       `json:"permalink"`
	Page        string       `json:"permalink_url"` // of old with http
	Username    string       `json:"username"`
	Description string       `json:"description"`
	Avatar      string       `json:"avatar_url"`
	Followers   upstream.Int `json:"followers_count"`
	Followings  upstream.Int `json:"followings_count"`
	Tracks      upstream.Int `json:"track_count"`
	Country     string       `json:"country"` // an English name
	Website     string       `json:"website"`

	// Of the website's interface.
	CountryCode string `json:"country_code"`
	Verified    bool   `json:"verified"`
	Badges      struct {
		Verified bool `json:"verified"`
	} `json:"badges"`
}

func (u user) is() string  { return u.Kind }
func (u user) id() string  { return id(u.URN, u.ID) }
func (u user) urn() string { return "soundcloud:users:" + u.id() }

// id prefers the URN, which replaces the number.
func id(urn string, number upstream.ID) string {
	if n := tail(urn); n != "" {
		return n
	}
	return string(number)
}

func (u user) profile(raw []byte) schema.Profile {
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
		Country:     country(u.Country),
		Links:       text.URLs(u.Website),
	}
	if p.URL == "" {
		p.URL = site(u.Permalink)
	}
	if len(u.CountryCode) == 2 {
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

// avatar is nil for the picture that stands where there is none.
func (u user) avatar() *string {
	if strings.Contains(u.Avatar, "/default_avatar") {
		return nil
	}
	return text.URL(u.Avatar)
}

// public returns the public page of an object, "" when there is none: with https, and without a query, which only says
// where the link was found.
func public(page string) string {
	page, _, _ = strings.Cut(page, "?")
	if rest, ok := strings.CutPrefix(page, "http://"); ok {
		page = "https://" + rest
	}
	if u := text.URL(page); u != nil {
		return *u
	}
	return ""
}

type webProfile struct {
	Service  string `json:"service"` // facebook, twitter … or personal
	URL      string `json:"url"`
	Username string `json:"username"`
}

// linked leaves out sites that are no platform of ours.
func (w webProfile) linked(raw []byte) (schema.LinkedProfile, bool) {
	on := platform.ID(strings.ToLower(w.Service))
	if on == "twitter" {
		on = platform.X
	}
	page, handle := text.URL(w.URL), strings.TrimPrefix(w.Username, "@")
	if page != nil && handle == "" {
		if u, err := url.Parse(*page); err == nil {
			handle = strings.TrimPrefix(strings.Trim(u.Path, "/"), "@")
		}
	}
	if !on.Valid() || page == nil || handle == "" || strings.Contains(handle, "/") {
		return schema.LinkedProfile{}, false
	}
	return schema.LinkedProfile{
		Common:     schema.Common{Platform: on, ID: w.Service + ":" + *page, URL: *page, Raw: raw},
		Handle:     handle,
		Confidence: 1,
		Evidence:   []string{"web-profiles"},
	}, true
}
