package truthsocial

import (
	"cmp"
	"context"
	"encoding/json"
	"regexp"
	"strings"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/text"
	"github.com/socialdata/socialdata/providers/kit/upstream"
	"github.com/socialdata/socialdata/providers/kit/wire"
	"github.com/socialdata/socialdata/schema"
)

func (c *client) profile(ctx context.Context, handle string) (schema.Profile, error) {
	a, err := c.account(ctx, handle)
	if err != nil {
		return schema.Profile{}, err
	}
	return a.V.profile(a.Raw), nil
}

// account looks an account up by its handle or its number.
func (c *client) account(ctx context.Context, handle string) (wire.Object[account], error) {
	r := upstream.Get("v1/accounts/lookup").Says("acct", handle)
	if isNumber(handle) {
		r = upstream.Get("v1/accounts", handle)
	}
	var a wire.Object[account]
	if _, err := c.http.Read(ctx, r, &a); err != nil {
		return a, err
	}
	switch {
	case a.V.ID == "" && a.V.Acct == "":
		return a, errNothing
	case a.V.Suspended.Is():
		return a, providers.NotFound("the account is suspended")
	case isNumber(handle):
		return a, wire.Same(ctx, "account", handle, string(a.V.ID))
	}
	if err := wire.Need(ctx, "id", a.V.ID != ""); err != nil {
		return a, err
	}
	return a, wire.SameFold(ctx, "account", handle, a.V.Acct)
}

// account is the answer of GET /v1/accounts/lookup; within a status some fields are missing.
// https://docs.joinmastodon.org/entities/Account/
type account struct {
	ID          wire.Serial `json:"id"`
	Username    string      `json:"username"`
	Acct        string      `json:"acct"`
	DisplayName string      `json:"display_name"`
	Note        string      `json:"note"` // HTML; "<p></p>" when never written
	URL         string      `json:"url"`  // "" when suspended
	Avatar      string      `json:"avatar"`
	Website     string      `json:"website"` // whatever was typed
	Verified    bool        `json:"verified"`
	Suspended   wire.Bool   `json:"suspended"`       // absent when it is not
	Followers   wire.Count  `json:"followers_count"` // -1 when it was not counted; so are the two below
	Following   wire.Count  `json:"following_count"`
	Statuses    wire.Count  `json:"statuses_count"`
	Fields      []struct {
		Value string `json:"value"` // HTML
	} `json:"fields"`
}

func (a account) profile(raw json.RawMessage) schema.Profile {
	return schema.Profile{
		Common:      schema.Common{ID: string(a.ID), URL: text.URLOr(a.URL, site+"@"+cmp.Or(a.Username, a.Acct)), Raw: raw},
		Handle:      a.Acct,
		DisplayName: text.NonEmpty(a.DisplayName),
		Bio:         text.NonEmpty(text.FromHTML(a.Note)),
		AvatarURL:   picture(a.Avatar),
		Verified:    a.Verified,
		Followers:   a.Followers.V,
		Following:   a.Following.V,
		PostsCount:  a.Statuses.V,
		Links:       a.links(),
	}
}

var host = regexp.MustCompile(`(?i)^(?:https?://)?(?:[\pL\pM\pN_-]+\.)+(?:\pL[\pL\pM]+|xn--[a-z0-9-]+)(?::[0-9]+)?(?:[/?#]\S*)?$`)

// links returns the website, if it is one, and the links in the bio and the fields that leave Truth Social.
func (a account) links() []string {
	var found []string
	if w := strings.TrimSpace(a.Website); host.MatchString(w) {
		found = append(found, w)
	}
	found = append(found, external(a.Note)...)
	for _, f := range a.Fields {
		found = append(found, external(f.Value)...)
	}
	return text.URLs(found...)
}

func (a *account) actor() schema.Actor {
	if a == nil || a.ID == "" || a.Acct == "" {
		return schema.UnknownActor()
	}
	return schema.Actor{ID: string(a.ID), Handle: a.Acct, DisplayName: text.NonEmpty(a.DisplayName), AvatarURL: picture(a.Avatar)}
}

// picture returns the address of an image, nil for the default image.
func picture(u string) *string {
	if strings.HasSuffix(u, "/missing.png") {
		return nil
	}
	return text.URL(u)
}

// ParseProfile converts an account as Truth Social's own API returns it, from any source. The error wraps
// [providers.ErrUnavailable], or [providers.ErrNotFound] for an account that is suspended.
// https://docs.joinmastodon.org/entities/Account/
func ParseProfile(ctx context.Context, raw json.RawMessage) (schema.Profile, error) {
	var a account
	if err := wire.Decode(ctx, raw, &a); err != nil {
		return schema.Profile{}, err
	}
	if a.Suspended.Is() {
		return schema.Profile{}, providers.NotFound("the account is suspended")
	}
	return a.profile(raw), wire.Need(ctx, "id", a.ID != "")
}
