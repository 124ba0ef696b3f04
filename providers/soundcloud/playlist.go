package soundcloud

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/links"
	"github.com/socialdata/socialdata/providers/kit/text"
	"github.com/socialdata/socialdata/providers/kit/wire"
	"github.com/socialdata/socialdata/schema"
)

// collections reads an account's playlists and albums.
// https://developers.soundcloud.com/docs/api/explorer/open-api#/users/get_users__user_urn__playlists
func (c *client) collections(ctx context.Context, q providers.CollectionsQuery, cursor string) (providers.Page[schema.Collection], error) {
	u, err := c.account(ctx, q.Handle)
	if err != nil {
		return providers.Page[schema.Collection]{}, err
	}
	ps, err := read[playlist](ctx, c.http, pages("users", u.V.urn(), "playlists").With("show_tracks", "false"), cursor)
	return made(ctx, ps, err, playlist.collection)
}

func (c *client) collection(ctx context.Context, q providers.CollectionQuery) (schema.Collection, error) {
	p, err := object[playlist](ctx, c, "playlists", q.ID)
	if err != nil {
		return schema.Collection{}, err
	}
	out, _ := p.V.collection(p.Raw)
	return out, nil
}

// collectionTracks reads the tracks of a playlist.
// https://developers.soundcloud.com/docs/api/explorer/open-api#/playlists/get_playlists__playlist_urn__tracks
func (c *client) collectionTracks(ctx context.Context, q providers.CollectionQuery, cursor string) (providers.Page[schema.Track], error) {
	number := q.ID
	if !links.Digits(number) {
		p, err := object[playlist](ctx, c, "playlists", q.ID)
		if err != nil {
			return providers.Page[schema.Track]{}, err
		}
		number = p.V.id()
	}
	ts, err := read[track](ctx, c.http, pages("playlists", "soundcloud:playlists:"+number, "tracks").With("access", everything), cursor)
	return made(ctx, ts, err, track.track)
}

// playlist is the answer of GET /playlists/{urn}; its tracks are read separately.
// https://developers.soundcloud.com/docs/api/explorer/open-api#/playlists/get_playlists__playlist_urn_
type playlist struct {
	Kind        string      `json:"kind"`
	ID          wire.Serial `json:"id"`
	URN         string      `json:"urn"`
	Page        string      `json:"permalink_url"`
	Title       string      `json:"title"`
	Description string      `json:"description"`
	Type        string      `json:"playlist_type"` // album, ep … or ""
	SetType     string      `json:"set_type"`      // the same, in the website's API
	User        *user       `json:"user"`
	TrackCount  wire.Count  `json:"track_count"`
	Artwork     string      `json:"artwork_url"`
	CreatedAt   wire.Time   `json:"created_at"`
}

func (p playlist) is() string   { return p.Kind }
func (p playlist) id() string   { return id(p.URN, p.ID) }
func (p playlist) page() string { return public(p.Page) }

// collection converts p. It always reports true.
func (p playlist) collection(raw json.RawMessage) (schema.Collection, bool) {
	out := schema.Collection{
		Common:      schema.Common{ID: p.id(), URL: text.URLOr(p.page(), "https://api.soundcloud.com/playlists/"+p.id()), Raw: raw},
		Kind:        schema.Playlist,
		Title:       p.Title,
		Description: text.NonEmpty(p.Description),
		ItemsCount:  p.TrackCount.V,
		CoverURL:    text.URL(p.Artwork),
		CreatedAt:   p.CreatedAt.V,
	}
	for _, t := range []string{p.Type, p.SetType} {
		switch strings.ToLower(t) {
		case "album", "ep", "single", "compilation":
			out.Kind = schema.Album
		}
	}
	if p.User != nil && p.User.id() != "" {
		out.Owner = new(p.User.actor())
	}
	return out, true
}
