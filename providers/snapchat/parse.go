package snapchat

import (
	"context"
	"encoding/json"

	"github.com/socialdata/socialdata/providers/kit/dates"
	"github.com/socialdata/socialdata/providers/kit/wire"
	"github.com/socialdata/socialdata/schema"
)

// Page is the subject of the page of an account with a public profile.
type Page struct{ props }

// ParsePage parses such a page, in which userProfile is the public profile itself, from any source. The error wraps
// [providers.ErrUnavailable].
func ParsePage(ctx context.Context, raw json.RawMessage) (Page, error) {
	var p Page
	var user struct {
		Public wire.Object[publicProfile] `json:"userProfile"`
	}
	err := wire.Decode(ctx, raw, &p.props)
	if err != nil {
		return p, err
	}
	if err := wire.Decode(ctx, raw, &user); err != nil {
		return p, err
	}
	err = wire.Need(ctx, "userProfile.username", user.Public.V.Username != "")
	p.User.V.Public, p.believed = user.Public.V, true
	return p, err
}

// Is returns nil if the account has, or had, the given name.
func (p Page) Is(ctx context.Context, handle string) error {
	u := p.User.V.Public
	if u.NewName == handle {
		return nil
	}
	return wire.SameFold(ctx, "account", handle, u.Username)
}

// Profile returns the account.
func (p Page) Profile() schema.Profile { return p.User.V.Public.profile(p.User.Raw) }

// Posts returns the Spotlight videos and the story of the day.
func (p Page) Posts(ctx context.Context) ([]schema.Post, error) {
	videos, err := p.spotlights(ctx)
	if err != nil {
		return nil, err
	}
	snaps, err := p.snaps(ctx, len(videos))
	return dates.NewestFirst(madeAt, videos, snaps), err
}

// Reels returns the Spotlight videos.
func (p Page) Reels(ctx context.Context) ([]schema.Post, error) { return p.spotlights(ctx) }

// Collections returns the highlights.
func (p Page) Collections(ctx context.Context) ([]schema.Collection, error) { return p.highlights(ctx) }

// ParseSpotlight converts a Spotlight video with its metadata in the same object, from any source. The error wraps
// [providers.ErrUnavailable].
func ParseSpotlight(ctx context.Context, raw json.RawMessage) (schema.Post, error) {
	var id struct {
		ID string `json:"snapId"`
	}
	m := wire.Object[metadata]{Raw: raw}
	err := wire.Decode(ctx, raw, &m.V)
	if err != nil {
		return schema.Post{}, err
	}
	if err := wire.Decode(ctx, raw, &m.V.Video); err != nil {
		return schema.Post{}, err
	}
	err = wire.Decode(ctx, raw, &id)
	v := spotlight{Metadata: m}
	v.Story.V.ID.V = id.ID
	return v.post(m.V.Video.Creator.actor(), raw), err
}
