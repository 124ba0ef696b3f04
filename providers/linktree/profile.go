package linktree

import (
	"cmp"
	"context"
	"strings"

	"github.com/socialdata/socialdata/providers/kit/text"
	"github.com/socialdata/socialdata/providers/kit/wire"
	"github.com/socialdata/socialdata/schema"
)

func (c *client) profile(ctx context.Context, handle string) (schema.Profile, error) {
	p, err := c.open(ctx, handle)
	if err != nil {
		return schema.Profile{}, err
	}
	return p.profile(), nil
}

// account is the owner of a page.
type account struct {
	ID             wire.Serial     `json:"id"`
	Username       string          `json:"username"`
	Name           string          `json:"name"` // these two are absent from most pages
	DisplayName    string          `json:"displayName"`
	PageTitle      string          `json:"pageTitle"` // "@username" until the owner has set one
	Description    string          `json:"description"`
	ProfilePicture string          `json:"profilePictureUrl"` // null or a data: URI if there is none; so are the next two
	CustomAvatar   string          `json:"customAvatar"`
	Avatar         string          `json:"avatarUrl"`
	Verified       bool            `json:"isVerified"` // the page's isProfileVerified is about the e-mail address
	Active         wire.Bool       `json:"isActive"`
	Status         string          `json:"status"` // "ACTIVE"; absent from old pages
	Links          wire.Rows[link] `json:"links"`
	SocialLinks    wire.Rows[link] `json:"socialLinks"`
}

// gone reports whether Linktree says that the page is not public.
func (a account) gone() bool {
	return a.Active.V != nil && !*a.Active.V || a.Status != "" && !strings.EqualFold(a.Status, "ACTIVE")
}

// complete sets what a lacks to what the page has beside it.
func (a *account) complete(p props) {
	a.Username = cmp.Or(a.Username, p.Username)
	a.PageTitle = cmp.Or(a.PageTitle, p.PageTitle)
	a.Description = cmp.Or(a.Description, p.Description)
	if a.picture() == nil {
		a.ProfilePicture = p.ProfilePicture
	}
}

func (p *page) profile() schema.Profile {
	a := p.account
	return schema.Profile{
		Common:      schema.Common{ID: string(a.ID), URL: site + a.Username, Raw: p.raw},
		Handle:      a.Username,
		DisplayName: a.title(),
		Bio:         text.NonEmpty(a.Description),
		AvatarURL:   a.picture(),
		Verified:    a.Verified,
		Links:       p.destinations(),
	}
}

// title returns the owner's name, or the title that the owner has set.
func (a account) title() *string {
	if name := text.NonEmpty(cmp.Or(a.Name, a.DisplayName)); name != nil {
		return name
	}
	title := text.NonEmpty(a.PageTitle)
	if title != nil && strings.EqualFold(*title, "@"+a.Username) {
		return nil
	}
	return title
}

func (a account) picture() *string {
	for _, u := range []string{a.ProfilePicture, a.CustomAvatar, a.Avatar} {
		if u := text.URL(u); u != nil {
			return u
		}
	}
	return nil
}
