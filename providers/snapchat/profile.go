package snapchat

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/text"
	"github.com/socialdata/socialdata/providers/kit/wire"
	"github.com/socialdata/socialdata/schema"
)

// profile searches for the username: the official API looks accounts up only by an id of its own.
func (c client) profile(ctx context.Context, handle string) (schema.Profile, error) {
	a, err := c.search(ctx, handle, "")
	if err != nil {
		return schema.Profile{}, err
	}
	lost := a.Rows.Lost()
	for _, r := range a.Rows.All() {
		p := r.V.Profile
		switch here := r.V.isRead() && p.V.Username != ""; {
		case here && strings.EqualFold(p.V.Username, handle):
			return p.V.profile(p.Raw), nil
		case !here && !r.V.isMissing():
			lost++
		}
	}
	if err := wire.Need(ctx, "public_profiles[].public_profile.snap_user_name", lost == 0); err != nil {
		return schema.Profile{}, err
	}
	return schema.Profile{}, providers.NotHere("the official API has no public profile with that name")
}

// businessProfile is an account in the official API.
// https://developers.snap.com/api/marketing-api/Public-Profile-API/GetStarted
type businessProfile struct {
	ID          wire.ID    `json:"id"`
	Username    string     `json:"snap_user_name"`
	DisplayName string     `json:"display_name"`
	Description string     `json:"description"`
	Website     string     `json:"website"`
	Country     string     `json:"country"`
	Tier        string     `json:"profile_tier"`
	Subscribers wire.Count `json:"subscriber_count"`
	Logos       struct {
		Profile  string `json:"manage_profile_logo_url"`
		Original string `json:"original_logo_url"`
	} `json:"logo_urls"`
}

func (b businessProfile) profile(raw json.RawMessage) schema.Profile {
	handle := strings.ToLower(b.Username)
	p := schema.Profile{
		Common:      schema.Common{ID: string(b.ID), URL: profileURL(handle), Raw: raw},
		Handle:      handle,
		DisplayName: text.NonEmpty(b.DisplayName),
		Bio:         text.NonEmpty(b.Description),
		AvatarURL:   text.URL(b.Logos.Profile),
		Verified:    b.Tier == "TIER_PUBLIC_OFFICIAL",
		Followers:   b.Subscribers.V,
		Links:       text.URLs(b.Website),
	}
	if p.AvatarURL == nil {
		p.AvatarURL = text.URL(b.Logos.Original)
	}
	p.Country = &b.Country
	return p
}
