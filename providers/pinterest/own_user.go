package pinterest

import (
	"cmp"
	"context"
	"encoding/json"
	"strings"

	"github.com/socialdata/socialdata/providers/kit/links"
	"github.com/socialdata/socialdata/providers/kit/text"
	"github.com/socialdata/socialdata/providers/kit/wire"
	"github.com/socialdata/socialdata/schema"
)

// user is an account in the website's API and the widgets. The widgets have its handle only in the address of its page.
type user struct {
	ID         wire.Serial `json:"id"`
	Type       string      `json:"type"` // user
	Username   string      `json:"username"`
	ProfileURL string      `json:"profile_url"`
	FullName   string      `json:"full_name"`
	About      string      `json:"about"`
	XLarge     string      `json:"image_xlarge_url"`
	Large      string      `json:"image_large_url"`
	Medium     string      `json:"image_medium_url"`
	Small      string      `json:"image_small_url"`
	Merchant   bool        `json:"is_verified_merchant"`
	Identity   struct {
		Verified bool `json:"verified"`
	} `json:"verified_identity"` // an empty object for most; a verified website does not count
	Followers wire.Count `json:"follower_count"`
	Following wire.Count `json:"following_count"`
	Pins      wire.Count `json:"pin_count"`
	Boards    wire.Count `json:"board_count"`
	Website   string     `json:"website_url"`
	Domain    string     `json:"domain_url"`
	Locale    string     `json:"locale"`  // en-US
	Country   string     `json:"country"` // US
}

func (u user) id() string { return string(u.ID) }

func (u user) handle() string {
	if u.Username != "" {
		return u.Username
	}
	link, err := links.Parse(u.ProfileURL, hosts...)
	if err != nil || link == nil {
		return ""
	}
	return link.Last()
}

// avatar returns the largest picture. The small one is available in the larger size too.
func (u user) avatar() *string {
	small := strings.Replace(u.Small, "/30x30_RS/", "/280x280_RS/", 1)
	return text.URL(cmp.Or(u.XLarge, u.Large, u.Medium, small))
}

// actor leaves the id or the handle unknown when Pinterest withholds it.
func (u user) actor() schema.Actor {
	unknown := schema.UnknownActor()
	return schema.Actor{
		ID: cmp.Or(u.id(), unknown.ID), Handle: cmp.Or(u.handle(), unknown.Handle),
		DisplayName: text.NonEmpty(u.FullName), AvatarURL: u.avatar(),
	}
}

func (u user) profile(raw json.RawMessage) schema.Profile {
	p := schema.Profile{
		Common:      schema.Common{ID: u.id(), URL: page(u.handle()), Raw: raw},
		Handle:      u.handle(),
		DisplayName: text.NonEmpty(u.FullName),
		Bio:         text.NonEmpty(u.About),
		AvatarURL:   u.avatar(),
		Verified:    u.Identity.Verified || u.Merchant,
		Followers:   u.Followers.V,
		Following:   u.Following.V,
		PostsCount:  u.Pins.V,
		Links:       text.URLs(cmp.Or(u.Website, u.Domain)),
		Country:     text.NonEmpty(u.Country),
	}
	lang, _, _ := strings.Cut(strings.ReplaceAll(u.Locale, "_", "-"), "-")
	p.Lang = text.NonEmpty(lang)
	return p
}

func (u user) pins() *int64   { return u.Pins.V }
func (u user) boards() *int64 { return u.Boards.V }

func (o *own) profile(ctx context.Context, handle string) (schema.Profile, error) {
	u, err := o.user(ctx, handle)
	if err != nil {
		return schema.Profile{}, err
	}
	return u.V.profile(u.Raw), nil
}

func (o *own) user(ctx context.Context, handle string) (u wire.Object[user], err error) {
	u, err = single[user](ctx, o, "User", options{"username": handle, "field_set_key": "unauth_profile"})
	if err != nil {
		return u, err
	}
	return u, wire.SameFold(ctx, "account", handle, u.V.handle())
}

// counts returns a counter of an account's things of one kind.
func (o *own) counts(handle string, of func(user) *int64) counter {
	return func(ctx context.Context) (*int64, error) {
		u, err := o.user(ctx, handle)
		return of(u.V), err
	}
}
