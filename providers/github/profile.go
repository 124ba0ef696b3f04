package github

import (
	"context"
	"encoding/json"
	"time"

	"github.com/socialdata/socialdata/callctx"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/text"
	"github.com/socialdata/socialdata/providers/kit/upstream"
	"github.com/socialdata/socialdata/providers/kit/wire"
	"github.com/socialdata/socialdata/schema"
)

// bonus is the time limit for optional parts of a profile.
const bonus = 3 * time.Second

func (c *client) profile(ctx context.Context, handle string) (schema.Profile, error) {
	u, err := upstream.Object[user](ctx, c.http, upstream.Get("users", handle), "")
	if err != nil {
		return schema.Profile{}, err
	}
	if err := wire.SameFold(ctx, "account", handle, u.V.Login); err != nil {
		return schema.Profile{}, err
	}
	p, _ := u.V.profile(u.Raw)
	if u.V.Type == "Organization" {
		c.complete(ctx, &p)
	}
	return p, nil
}

// complete adds what only the page of an organisation has. It is optional: the profile is valid without it.
func (c *client) complete(ctx context.Context, p *schema.Profile) {
	ctx, cancel := context.WithTimeout(ctx, bonus)
	defer cancel()
	var o organization
	if _, err := c.http.Read(ctx, upstream.Get("orgs", p.Handle), &o); err != nil {
		callctx.Of(ctx).Trace.Unknown("verified")
		if p.Bio == nil {
			callctx.Of(ctx).Trace.Unknown("bio")
		}
		return
	}
	p.Verified = o.Verified
	if p.Bio == nil {
		p.Bio = text.NonEmpty(o.Description)
	}
}

// organization is the answer of GET /orgs/{org}, with the fields that [user] does not have.
// https://docs.github.com/rest/orgs/orgs#get-an-organization
type organization struct {
	Description string `json:"description"` // null or "" when never set
	Verified    bool   `json:"is_verified"` // of its domain
}

func (c *client) followers(ctx context.Context, handle, cursor string) (providers.Page[schema.Profile], error) {
	return list(ctx, c, upstream.Get("users", handle, "followers"), cursor, "followers", user.profile)
}

func (c *client) following(ctx context.Context, handle, cursor string) (providers.Page[schema.Profile], error) {
	return list(ctx, c, upstream.Get("users", handle, "following"), cursor, "following", user.profile)
}

// user is the answer of GET /users/{username}; in lists only the first five fields are set.
// https://docs.github.com/rest/users/users#get-a-user
type user struct {
	ID          wire.Serial `json:"id"`
	Login       string      `json:"login"`
	Type        string      `json:"type"` // "User", "Organization" or "Bot"
	HTMLURL     string      `json:"html_url"`
	AvatarURL   string      `json:"avatar_url"`
	Name        string      `json:"name"` // null or "" when never set, as are bio, blog and twitter_username
	Bio         string      `json:"bio"`
	Blog        string      `json:"blog"` // often without a scheme
	XHandle     string      `json:"twitter_username"`
	Followers   wire.Count  `json:"followers"`
	Following   wire.Count  `json:"following"`
	PublicRepos wire.Count  `json:"public_repos"`
}

// profile converts u. It always reports true.
func (u user) profile(raw json.RawMessage) (schema.Profile, bool) {
	p := schema.Profile{
		Common:      schema.Common{ID: string(u.ID), URL: text.URLOr(u.HTMLURL, site+u.Login), Raw: raw},
		Handle:      u.Login,
		DisplayName: text.NonEmpty(u.Name),
		Bio:         text.NonEmpty(u.Bio),
		AvatarURL:   text.URL(u.AvatarURL),
		Followers:   u.Followers.V,
		Following:   u.Following.V,
		PostsCount:  u.PublicRepos.V,
	}
	urls := []string{u.Blog}
	if u.XHandle != "" {
		urls = append(urls, "https://x.com/"+u.XHandle)
	}
	p.Links = text.URLs(urls...)
	return p, true
}

// actor converts a user within another object, which has no display name.
func (u *user) actor() schema.Actor {
	if u == nil { // the account was deleted; GitHub shows its ghost user instead
		return schema.Actor{ID: "10137", Handle: "ghost"}
	}
	return schema.Actor{ID: string(u.ID), Handle: u.Login, AvatarURL: text.URL(u.AvatarURL)}
}
