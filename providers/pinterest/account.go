package pinterest

import (
	"cmp"
	"context"
	"strings"
	"time"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/text"
	"github.com/socialdata/socialdata/providers/kit/upstream"
	"github.com/socialdata/socialdata/providers/kit/wire"
	"github.com/socialdata/socialdata/schema"
)

// remembered is how long the handle of the token's account is cached.
const remembered = time.Hour

// tokenAccount is the answer of GET /user_account.
// https://developers.pinterest.com/docs/api/v5/user_account-get
type tokenAccount struct {
	ID        wire.Serial `json:"id"`
	Username  string      `json:"username"`
	Business  string      `json:"business_name"`
	About     string      `json:"about"`
	Image     string      `json:"profile_image"`
	Website   string      `json:"website_url"`
	Followers wire.Count  `json:"follower_count"`
	Following wire.Count  `json:"following_count"`
	Pins      wire.Count  `json:"pin_count"`
}

func (c *official) profile(ctx context.Context, handle string) (schema.Profile, error) {
	a, err := c.account(ctx, handle)
	if err != nil {
		return schema.Profile{}, err
	}
	return schema.Profile{
		Common:      schema.Common{ID: string(a.V.ID), URL: page(a.V.Username), Raw: a.Raw},
		Handle:      a.V.Username,
		DisplayName: text.NonEmpty(cmp.Or(a.V.Business, a.V.Username)),
		Bio:         text.NonEmpty(a.V.About),
		AvatarURL:   text.URL(a.V.Image),
		Followers:   a.V.Followers.V,
		Following:   a.V.Following.V,
		PostsCount:  a.V.Pins.V,
		Links:       text.URLs(a.V.Website),
	}, nil
}

// account reads the account of the token, and returns [providers.ErrNotHere] if handle is another account.
func (c *official) account(ctx context.Context, handle string) (a wire.Object[tokenAccount], err error) {
	if owner := c.known(); owner != "" && !strings.EqualFold(owner, handle) {
		return a, notOwner(handle)
	}
	if _, err := c.http.Read(ctx, upstream.Get("v5", "user_account"), &a); err != nil {
		return a, err
	}
	if err := wire.Need(ctx, "username", a.V.Username != ""); err != nil {
		return a, err
	}
	c.mu.Lock()
	c.owner, c.until = a.V.Username, time.Now().Add(remembered)
	c.mu.Unlock()
	if !strings.EqualFold(a.V.Username, handle) {
		return a, notOwner(handle)
	}
	return a, nil
}

// owns returns nil if the token belongs to the account with that handle.
func (c *official) owns(ctx context.Context, handle string) error {
	if strings.EqualFold(c.known(), handle) {
		return nil
	}
	_, err := c.account(ctx, handle)
	return err
}

// known returns the cached handle of the token's account, "" when it has expired or was never read.
func (c *official) known() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if time.Now().After(c.until) {
		return ""
	}
	return c.owner
}

func notOwner(handle string) error {
	return providers.NotHere("Pinterest's official API only shows the token's own account, which is not %s", handle)
}
