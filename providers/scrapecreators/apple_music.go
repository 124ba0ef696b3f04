package scrapecreators

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/internal/dates"
	"github.com/socialdata/socialdata/providers/internal/links"
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
		Profile:          r.profile,
		Posts:            r.posts,
		Post:             r.post,
		Search:           r.search,
		Collection:       r.collection,
		CollectionTracks: r.tracks,
		Track:            r.track,
		Filters:          map[providers.Op]providers.Filters{providers.OpSearch: {"kind": {"track"}}},
	}
}

// appleData is the wrapper of the object in every answer.
type appleData[T any] struct {
	Data sole[T] `json:"data"`
}

func readApple[T any](ctx context.Context, c *client, r upstream.Request) (wire.Object[T], error) {
	var a appleData[T]
	if _, err := c.http.Read(ctx, r, &a); err != nil {
		return a.Data.Object, err
	}
	return a.Data.Object, a.Data.check(ctx, "data")
}

// artist reads an artist, with some of the albums.
func (r appleMusicReads) artist(ctx context.Context, handle string) (wire.Object[appleArtist], error) {
	if !links.Digits(handle) {
		return wire.Object[appleArtist]{}, providers.Unsupported("ScrapeCreators only finds artists by their id")
	}
	a, err := readApple[appleArtist](ctx, r.client, upstream.Get("v1/apple-music/artist").Says("id", handle))
	if err == nil {
		err = wire.Same(ctx, "artist", handle, string(a.V.ID))
	}
	return a, err
}

func (r appleMusicReads) profile(ctx context.Context, handle string) (schema.Profile, error) {
	a, err := r.artist(ctx, handle)
	return a.V.profile(a.Raw), err
}

// posts reads the albums that the artist's page shows.
func (r appleMusicReads) posts(ctx context.Context, handle, _ string) (page providers.Page[schema.Post], err error) {
	a, err := r.artist(ctx, handle)
	if err == nil {
		page.Items, err = wire.Items(ctx, "data.albums", a.V.Albums, func(album appleAlbum, raw json.RawMessage) (schema.Post, bool) {
			return album.post(a.V.actor(), raw), true
		})
	}
	return page, err
}

func (r appleMusicReads) album(ctx context.Context, id string) (wire.Object[appleAlbum], error) {
	a, err := readApple[appleAlbum](ctx, r.client, upstream.Get("v1/apple-music/album").Says("id", id))
	if err == nil {
		err = wire.Same(ctx, "album", id, string(a.V.ID))
	}
	return a, err
}

func (r appleMusicReads) post(ctx context.Context, id string) (schema.Post, error) {
	a, err := r.album(ctx, id)
	return a.V.post(a.V.artist(), a.Raw), err
}

func (r appleMusicReads) collection(ctx context.Context, q providers.CollectionQuery) (schema.Collection, error) {
	if !links.Digits(q.ID) {
		return schema.Collection{}, providers.Unsupported("ScrapeCreators only has albums")
	}
	a, err := r.album(ctx, q.ID)
	return a.V.collection(a.Raw), err
}

// tracks reads all tracks of an album.
func (r appleMusicReads) tracks(ctx context.Context, q providers.CollectionQuery, _ string) (page providers.Page[schema.Track], err error) {
	if !links.Digits(q.ID) {
		return page, providers.Unsupported("ScrapeCreators only has albums")
	}
	a, err := r.album(ctx, q.ID)
	if err == nil {
		page.Items, err = wire.Items(ctx, "data.tracks", a.V.Tracks, func(t appleTrack, raw json.RawMessage) (schema.Track, bool) {
			t.Album, t.Artist = a.V.Title, a.V.Artist
			return t.track(raw), true
		})
	}
	return page, err
}

func (r appleMusicReads) track(ctx context.Context, id string) (schema.Track, error) {
	t, err := readApple[appleTrack](ctx, r.client, upstream.Get("v1/apple-music/track").Says("id", id))
	if err == nil {
		err = wire.Same(ctx, "track", id, string(t.V.ID))
	}
	return t.V.track(t.Raw), err
}

// search searches songs.
func (r appleMusicReads) search(ctx context.Context, q providers.SearchQuery, _ string) (page providers.Page[schema.SearchResult], err error) {
	ask := upstream.Get("v1/apple-music/search").Says("query", q.Query).With("type", "song")
	var a struct {
		Data struct {
			Results wire.Rows[appleTrack] `json:"results"`
		} `json:"data"`
	}
	if _, err = r.http.Read(ctx, ask, &a); err == nil {
		page.Items, err = wire.Items(ctx, "data.results", a.Data.Results, func(t appleTrack, raw json.RawMessage) (schema.SearchResult, bool) {
			return schema.Result(new(t.track(raw))), t.Kind == "" || t.Kind == "song"
		})
	}
	return page, err
}

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
