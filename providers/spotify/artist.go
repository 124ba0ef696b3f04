package spotify

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/text"
	"github.com/socialdata/socialdata/providers/kit/upstream"
	"github.com/socialdata/socialdata/providers/kit/wire"
	"github.com/socialdata/socialdata/schema"
)

func (c *client) profile(ctx context.Context, handle string) (schema.Profile, error) {
	if id.MatchString(handle) {
		return upstream.One(ctx, c.http, upstream.Get("artists", handle), "", wire.As(artist.profile),
			upstream.About[schema.Profile]("artist", handle))
	}
	a, err := c.named(ctx, handle)
	if err != nil {
		return schema.Profile{}, err
	}
	return a.V.profile(a.Raw), nil
}

// named returns the artist with exactly that name, ignoring case; of several, the one that Spotify lists first.
func (c *client) named(ctx context.Context, name string) (wire.Object[artist], error) {
	var none wire.Object[artist]
	var found struct {
		Artists page[artist] `json:"artists"`
	}
	r := c.get("search").Says("q", name).With("type", "artist").With("limit", "5")
	if _, err := c.http.Read(ctx, r, &found); err != nil {
		return none, err
	}
	if err := found.Artists.Items.Check(ctx, "artists.items"); err != nil {
		return none, err
	}
	odd := found.Artists.Items.Lost() > 0
	for _, a := range found.Artists.Items.All() {
		if strings.EqualFold(strings.Join(strings.Fields(a.V.Name), " "), name) {
			return a, wire.Need(ctx, "id", a.V.ID != "")
		}
		odd = odd || a.V.Name == "" && string(a.Raw) != withheld
	}
	if odd { // it may be the requested one
		return none, providers.Unreadable(nil)
	}
	return none, providers.NotFound("Spotify has no artist of exactly that name")
}

// artistID returns handle if it is an id, else the id of the artist with that name.
func (c *client) artistID(ctx context.Context, handle string) (string, error) {
	if id.MatchString(handle) {
		return handle, nil
	}
	a, err := c.named(ctx, handle)
	return string(a.V.ID), err
}

// artist is the answer of GET /artists/{id}; within other objects images and followers are absent.
// https://developer.spotify.com/documentation/web-api/reference/get-an-artist
type artist struct {
	ID        key      `json:"id"`
	Name      string   `json:"name"`
	External  external `json:"external_urls"`
	Images    images   `json:"images"`
	Followers total    `json:"followers"` // absent for apps in development mode
}

func (a artist) profile(raw json.RawMessage) schema.Profile {
	return schema.Profile{
		Common:      schema.Common{ID: string(a.ID), URL: a.External.page("artist", a.ID), Raw: raw},
		Handle:      string(a.ID),
		DisplayName: text.NonEmpty(a.Name),
		AvatarURL:   a.Images.widest(),
		Followers:   a.Followers.Total.V,
	}
}

// actor returns the requested artist if it is among as, else the first, which is the main one.
func actor(as []artist, wanted string) schema.Actor {
	var main artist
	for _, a := range as {
		if a.ID != "" && (main.ID == "" || string(a.ID) == wanted) {
			main = a
		}
	}
	if main.ID == "" {
		return schema.UnknownActor()
	}
	return schema.Actor{ID: string(main.ID), Handle: string(main.ID), DisplayName: text.NonEmpty(main.Name)}
}
