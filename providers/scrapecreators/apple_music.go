package scrapecreators

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/dates"
	"github.com/socialdata/socialdata/providers/kit/links"
	"github.com/socialdata/socialdata/providers/kit/text"
	"github.com/socialdata/socialdata/providers/kit/upstream"
	"github.com/socialdata/socialdata/providers/kit/wire"
	"github.com/socialdata/socialdata/schema"
)

type appleMusicReads struct{ *client }

func (c *client) appleMusic() providers.Provider {
	r := appleMusicReads{c}
	return providers.Provider{
		Platform:         platform.AppleMusic,
		Profile:          one(c, appleArtists, "data", wire.As(appleArtist.profile), sameAccount),
		Posts:            r.posts,
		Post:             one(c, by("v1/apple-music/album", "id"), "data", wire.As(appleAlbum.alone), samePost),
		Search:           r.search,
		Collection:       one(c, appleAlbums, "data", wire.As(appleAlbum.collection), sameAlbum),
		CollectionTracks: r.tracks,
		Track:            one(c, by("v1/apple-music/track", "id"), "data", wire.As(appleTrack.track), sameTrack),
		Filters:          map[providers.Op]providers.Filters{providers.OpSearch: {"kind": {"track"}}},
	}
}

func appleArtists(_ context.Context, handle string) (upstream.Request, error) {
	if !links.Digits(handle) {
		return upstream.Request{}, providers.Unsupported("ScrapeCreators only finds artists by their id")
	}
	return upstream.Get("v1/apple-music/artist").Says("id", handle), nil
}

func appleAlbums(_ context.Context, q providers.CollectionQuery) (upstream.Request, error) {
	if !links.Digits(q.ID) {
		return upstream.Request{}, providers.Unsupported("ScrapeCreators only has albums")
	}
	return upstream.Get("v1/apple-music/album").Says("id", q.ID), nil
}

func sameAlbum(ctx context.Context, q providers.CollectionQuery, c schema.Collection) error {
	return wire.Same(ctx, "album", q.ID, c.ID)
}

// posts reads the albums that the artist's page shows.
func (r appleMusicReads) posts(ctx context.Context, handle, _ string) (page providers.Page[schema.Post], err error) {
	ask, err := appleArtists(ctx, handle)
	if err != nil {
		return page, err
	}
	a, err := upstream.Object[appleArtist](ctx, r.http, ask, "data")
	if err != nil {
		return page, err
	}
	if err := wire.Same(ctx, "artist", handle, string(a.V.ID)); err != nil {
		return page, err
	}
	page.Items, err = wire.Items(ctx, "data.albums", a.V.Albums, func(album appleAlbum, raw json.RawMessage) (schema.Post, bool) {
		return album.post(a.V.actor(), raw), true
	})
	return page, err
}

// tracks reads all tracks of an album.
func (r appleMusicReads) tracks(
	ctx context.Context, q providers.CollectionQuery, _ string,
) (page providers.Page[schema.Track], err error) {
	ask, err := appleAlbums(ctx, q)
	if err != nil {
		return page, err
	}
	a, err := upstream.Object[appleAlbum](ctx, r.http, ask, "data")
	if err != nil {
		return page, err
	}
	if err := wire.Same(ctx, "album", q.ID, string(a.V.ID)); err != nil {
		return page, err
	}
	page.Items, err = wire.Items(ctx, "data.tracks", a.V.Tracks, func(t appleTrack, raw json.RawMessage) (schema.Track, bool) {
		t.Album, t.Artist = a.V.Title, a.V.Artist
		return t.track(raw), true
	})
	return page, err
}

// search searches songs.
func (r appleMusicReads) search(
	ctx context.Context, q providers.SearchQuery, _ string,
) (providers.Page[schema.SearchResult], error) {
	ask := upstream.Get("v1/apple-music/search").Says("query", q.Query).With("type", "song")
	return upstream.Page(ctx, r.http, ask, upstream.List{Rows: "data.results"}, func(t appleTrack, raw json.RawMessage) (schema.SearchResult, bool) {
		return schema.Result(new(t.track(raw))), t.Kind == "" || t.Kind == "song"
	})
}

// alone is [appleAlbum.post] for an album that is read alone, which names its artist.
func (a appleAlbum) alone(raw json.RawMessage) schema.Post { return a.post(a.artist(), raw) }

type appleArtwork struct {
	URL string `json:"url"` // with placeholders {w}, {h} and {f}
}

var applePicture = strings.NewReplacer("{w}", "600", "{h}", "600", "{f}", "jpg", "{c}", "bb")

func (a appleArtwork) url() *string { return text.URL(applePicture.Replace(a.URL)) }

type appleArtist struct {
	ID      wire.Serial           `json:"id"`
	Name    string                `json:"name"`
	URL     string                `json:"url"`
	Notes   string                `json:"editorial_notes"`
	Artwork appleArtwork          `json:"artwork"`
	Albums  wire.Rows[appleAlbum] `json:"albums"`
}

func (a appleArtist) actor() schema.Actor {
	if a.ID == "" {
		return schema.UnknownActor()
	}
	return schema.Actor{ID: string(a.ID), Handle: string(a.ID), DisplayName: text.NonEmpty(a.Name), AvatarURL: a.Artwork.url()}
}

func (a appleArtist) profile(raw json.RawMessage) schema.Profile {
	return schema.Profile{
		Common:      schema.Common{ID: string(a.ID), URL: text.URLOr(a.URL, "https://music.apple.com/artist/"+string(a.ID)), Raw: raw},
		Handle:      string(a.ID),
		DisplayName: text.NonEmpty(a.Name),
		Bio:         text.NonEmpty(text.FromHTML(a.Notes)),
		AvatarURL:   a.Artwork.url(),
	}
}

type appleAlbum struct {
	ID        wire.Serial           `json:"id"`
	Title     string                `json:"title"`
	Artist    string                `json:"artist_name"`
	ArtistURL string                `json:"artist_url"` // ends in the artist's id
	URL       string                `json:"url"`
	Tracks    wire.Rows[appleTrack] `json:"tracks"`
	Count     wire.Count            `json:"track_count"`
	Release   string                `json:"release_info"` // the first line has the date, as in "August 23, 2019"
	Artwork   appleArtwork          `json:"artwork"`
}

// artist returns the artist of the album, as far as it is known.
func (a appleAlbum) artist() schema.Actor {
	id := a.ArtistURL[strings.LastIndexByte(a.ArtistURL, '/')+1:]
	if !links.Digits(id) {
		return schema.UnknownActor()
	}
	return schema.Actor{ID: id, Handle: id, DisplayName: text.NonEmpty(a.Artist)}
}

func (a appleAlbum) common(raw json.RawMessage) schema.Common {
	return schema.Common{ID: string(a.ID), URL: text.URLOr(a.URL, "https://music.apple.com/album/"+string(a.ID)), Raw: raw}
}

func (a appleAlbum) post(author schema.Actor, raw json.RawMessage) schema.Post {
	day, _, _ := strings.Cut(a.Release, "\n")
	p := schema.Post{
		Common: a.common(raw), Author: author, Text: a.Title, CreatedAt: dates.Parse(strings.TrimSpace(day), "January 2, 2006"),
	}
	if cover := a.Artwork.url(); cover != nil {
		p.Media = []schema.Media{{Type: schema.Image, URL: *cover}}
	}
	return p
}

func (a appleAlbum) collection(raw json.RawMessage) schema.Collection {
	p := a.post(a.artist(), nil)
	return schema.Collection{
		Common: a.common(raw), Kind: schema.Album, Title: a.Title, Owner: &p.Author,
		ItemsCount: a.Count.V, CoverURL: a.Artwork.url(), CreatedAt: p.CreatedAt,
	}
}

type appleTrack struct {
	ID       wire.Serial  `json:"id"`
	Kind     string       `json:"kind"`
	Title    string       `json:"title"`
	Artist   string       `json:"artist_name"`
	Album    string       `json:"album"`
	URL      string       `json:"url"`
	Millis   wire.Float   `json:"duration_ms"`
	Explicit wire.Bool    `json:"explicit"`
	Artwork  appleArtwork `json:"artwork"`
}

func (t appleTrack) track(raw json.RawMessage) schema.Track {
	out := schema.Track{
		Common: schema.Common{ID: string(t.ID), URL: text.URLOr(t.URL, "https://music.apple.com/song/"+string(t.ID)), Raw: raw},
		Title:  t.Title, Album: text.NonEmpty(t.Album), DurationS: t.Millis.Seconds(), CoverURL: t.Artwork.url(), Explicit: t.Explicit.V,
	}
	if t.Artist != "" {
		out.Artists = []string{t.Artist}
	}
	return out
}
