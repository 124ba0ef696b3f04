package kwai

import (
	"cmp"
	"context"
	"encoding/json"

	"github.com/socialdata/socialdata/providers/kit/text"
	"github.com/socialdata/socialdata/providers/kit/wire"
	"github.com/socialdata/socialdata/schema"
)

// profile reads the page of an account. The account's number and badge come only with its posts, so an account without
// visible posts has neither.
func (s site) profile(ctx context.Context, handle string) (schema.Profile, error) {
	page, err := s.account(ctx, handle)
	if err != nil {
		return schema.Profile{}, err
	}
	p := page.V.Person.profile(page.Raw)
	f, err := s.feed(ctx, handle, "")
	if err != nil {
		return schema.Profile{}, err
	}
	if err := f.check(ctx); err != nil {
		return schema.Profile{}, err
	}
	for _, row := range f.Feeds.All() {
		if row.V.isBy(handle) && row.V.UserID != "" {
			p.ID, p.Verified = string(row.V.UserID), row.V.Verified
			break
		}
	}
	return p, nil
}

// account reads the page of an account, and checks that it is about that account.
func (s site) account(ctx context.Context, handle string) (wire.Object[profilePage], error) {
	page, err := look[profilePage](ctx, s, "ProfilePage", "@"+handle)
	if err != nil {
		return page, err
	}
	if err := wire.Need(ctx, "mainEntity.alternateName", page.V.Person.Handle != ""); err != nil {
		return page, err
	}
	return page, wire.SameFold(ctx, "account", handle, page.V.Person.Handle)
}

// profilePage is the search engine metadata of an account's page.
// https://schema.org/ProfilePage
type profilePage struct {
	Person person `json:"mainEntity"`
}

type person struct {
	Handle      string             `json:"alternateName"`
	Name        string             `json:"name"`
	Description string             `json:"description"`
	Image       oneOrMore[string]  `json:"image"`
	Elsewhere   oneOrMore[string]  `json:"sameAs"`
	Stats       oneOrMore[counter] `json:"interactionStatistic"`
	Own         oneOrMore[counter] `json:"agentInteractionStatistic"` // counts of what the account itself did
}

func (p person) profile(raw json.RawMessage) schema.Profile {
	return schema.Profile{
		Common:      schema.Common{ID: p.Handle, URL: profileURL(p.Handle), Raw: raw},
		Handle:      p.Handle,
		DisplayName: text.NonEmpty(p.Name),
		Bio:         text.NonEmpty(p.Description),
		AvatarURL:   text.URL(p.Image.first()),
		Followers:   times("FollowAction", p.Stats),
		PostsCount:  p.posts(),
		Links:       text.URLs(p.Elsewhere...),
	}
}

// posts returns the number of posts, nil when it is unknown.
func (p person) posts() *int64 { return cmp.Or(times("WriteAction", p.Own), times("", p.Own)) }

func (p person) actor() schema.Actor {
	if p.Handle == "" {
		return schema.UnknownActor()
	}
	return schema.Actor{ID: p.Handle, Handle: p.Handle, DisplayName: text.NonEmpty(p.Name), AvatarURL: text.URL(p.Image.first())}
}
