package reddit

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/internal/text"
	"github.com/socialdata/socialdata/providers/internal/upstream"
	"github.com/socialdata/socialdata/schema"
)

func (c *client) profile(ctx context.Context, handle string) (schema.Profile, error) {
	if name, ok := strings.CutPrefix(handle, "r/"); ok {
		return c.community(ctx, name)
	}
	var t thing[account]
	if _, err := c.api.JSON(ctx, get("user", handle, "about"), &t); err != nil {
		return schema.Profile{}, fmt.Errorf("reddit: profile %q: %w", handle, err)
	}
	switch a := t.Data.V; {
	case a.Suspended:
		return schema.Profile{}, fmt.Errorf("reddit: profile %q: %w", handle, providers.NotFound("this account is suspended"))
	case a.ID == "":
		return schema.Profile{}, fmt.Errorf("reddit: profile %q: %w", handle, providers.Unreadable(nil))
	}
	return t.Data.V.profile(t.Data.Raw), nil
}

// account is the answer of GET /user/{username}/about. Its verified is about an e-mail address, not about the person.
// https://www.reddit.com/dev/api#GET_user_{username}_about
type account struct {
	ID        string `json:"id"`
	Name      string `json:"name"`
	Suspended bool   `json:"is_suspended"` // then there is little else
	Avatar    string `json:"snoovatar_img"`
	Icon      string `json:"icon_img"`
	Subreddit *struct {
		Title       string       `json:"title"`
		Description string       `json:"public_description"`
		Subscribers upstream.Int `json:"subscribers"`
	} `json:"subreddit"`
}

func (a account) profile(raw []byte) schema.Profile {
	p := schema.Profile{
		Common:    schema.Common{ID: a.ID, URL: permalink("/user/"+a.Name, "/"), Raw: raw},
		Handle:    a.Name,
		AvatarURL: address(cmp.Or(a.Avatar, a.Icon)),
	}
	if s := a.Subreddit; s != nil {
		p.DisplayName, p.Bio = text.NonEmpty(unescape(s.Title)), text.NonEmpty(unescape(s.Description))
		p.Followers = count(s.Subscribers, false)
	}
	return p
}

func (a account) actor() schema.Actor {
	p := a.profile(nil)
	return schema.Actor{ID: p.ID, Handle: p.Handle, DisplayName: p.DisplayName, AvatarURL: p.AvatarURL}
}
