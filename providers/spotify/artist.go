package spotify

import (
	"context"
	"fmt"
	"strings"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/internal/text"
	"github.com/socialdata/socialdata/providers/internal/upstream"
	"github.com/socialdata/socialdata/schema"
)

func (c *client) profile(ctx context.Context, handle string) (schema.Profile, error) {
	var a upstream.Object[artist]
	var err error
	if id.MatchString(handle) {
		_, err = c.http.JSON(ctx, upstream.Get("artists", handle), &a)
	} else {
		a, err = c.named(ctx, handle)
	}
	if err != nil {
		return schema.Profile{}, fmt.Errorf("spotify: profile %q: %w", handle, err)
	}
	return a.V.profile(a.Raw), nil
}

// named finds the artist with exactly that name, but for its case; of namesakes the one that Spotify puts first.
func (c *client) named(ctx context.Context, name string) (upstream.Object[artist], error) {
	var found results
	r := c.get("search").With("q", name).With("type", "artist").With("limit", "5")
	if _, err := c.http.JSON(ctx, r, &found); err != nil {
		return upstream.Object[artist]{}, err
	}
	if found.Artists == nil || found.Artists.Items == nil {
		return upstream.Object[artist]{}, providers.Unreadable(errNoList)
	}
	for _, a := range found.Artists.Items {
		if a.V.ID != "" && strings.EqualFold(strings.Join(strings.Fields(a.V.Name), " "), name) {
			return a, nil
		}
	}
	return upstream.Object[artist]{}, providers.NotFound("Spotify has no artist of exactly that name")
}

// artistID returns the id that handle is, or that the artist of that name has.
func (c *client) artistID(ctx context.Context, handle string) (string, error) {
	if id.MatchString(handle) {
		return handle, nil
	}
	a, err := c.named(ctx, handle)
	return a.V.ID, err
}

// artist is the answer of GET /artists/{id}; inside other objects images and followers are absent.
// https://developer.spotify.com/documentation/web-api/reference/get-an-artist
type artist struct {
	ID        string   `json:"id"`
	Name      string   `json:"name"`
	External  external `json:"external_urls"`
	Images    images   `json:"images"`
	Followers *struct {
		Total upstream.Int `json:"total"`
	} `json:"followers"` // absent for apps in development mode
}

func (a artist) profile(raw []byte) schema.Profile {
	p := schema.Profile{
		Common:      schema.Common{ID: a.ID, URL: a.External.page("artist", a.ID), Raw: raw},
		Handle:      a.ID,
		DisplayName: text.NonEmpty(a.Name),
		AvatarURL:   a.Images.widest(),
	}
	if a.Followers != nil {
		p.Followers = a.Followers.Total.V
	}
	return p
}

// actor is the artist asked for when it is among as, else the first, who is the main one.
func actor(as []artist, wanted string) schema.Actor {
	var main artist
	for _, a := range as {
		if a.ID != "" && (main.ID == "" || a.ID == wanted) {
			main = a
		}
	}
	if main.ID == "" {
		return schema.UnknownActor()
	}
	return schema.Actor{ID: main.ID, Handle: main.ID, DisplayName: text.NonEmpty(main.Name)}
}
