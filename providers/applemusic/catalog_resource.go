package applemusic

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"github.com/socialdata/socialdata/providers/kit/dates"
	"github.com/socialdata/socialdata/providers/kit/text"
	"github.com/socialdata/socialdata/providers/kit/wire"
	"github.com/socialdata/socialdata/schema"
)

// resource is an artist, an album, a song or a playlist, which have one format.
// https://developer.apple.com/documentation/applemusicapi/resource
type resource struct {
	ID            wire.ID    `json:"id"`
	Type          string     `json:"type"` // artists, albums, songs, playlists …
	Attributes    attributes `json:"attributes"`
	Relationships struct {
		Artists list `json:"artists"` // ids only
	} `json:"relationships"`
}

// may reports whether r can be of one of these types: it has that type, or no type.
func (r resource) may(types ...string) bool { return r.Type == "" || slices.Contains(types, r.Type) }

type attributes struct {
	Name        string     `json:"name"`
	URL         string     `json:"url"`
	Artwork     *artwork   `json:"artwork"`
	ArtistName  string     `json:"artistName"`
	AlbumName   string     `json:"albumName"`
	CuratorName string     `json:"curatorName"` // the name of the playlist's owner; there is no id
	TrackCount  wire.Count `json:"trackCount"`
	ReleaseDate string     `json:"releaseDate"` // 1991-01-01 or 1991
	Millis      wire.Float `json:"durationInMillis"`
	Rating      string     `json:"contentRating"` // explicit or clean; may be absent
	Previews    []struct {
		URL string `json:"url"`
	} `json:"previews"`
	ArtistBio   string `json:"artistBio"`
	Notes       *notes `json:"editorialNotes"`
	Description *notes `json:"description"`
}

// notes contain HTML.
type notes struct {
	Standard string `json:"standard"`
	Short    string `json:"short"`
}

func (n *notes) text() *string {
	if n == nil {
		return nil
	}
	return text.NonEmpty(text.FromHTML(cmp.Or(n.Standard, n.Short)))
}

func (a attributes) bio() *string {
	if bio := text.NonEmpty(text.FromHTML(a.ArtistBio)); bio != nil {
		return bio
	}
	return a.Notes.text()
}

type artwork struct {
	URL string `json:"url"` // a template with {w} and {h}
}

func (a *artwork) url() *string { return a.sized("600") }

func (a *artwork) sized(px string) *string {
	if a == nil {
		return nil
	}
	return text.URL(strings.NewReplacer("{w}", px, "{h}", px, "{f}", "jpg", "{c}", "bb").Replace(a.URL))
}

func (r resource) url(in store, kind string) string {
	return text.URLOr(r.Attributes.URL, in.page(kind+"/"+string(r.ID)))
}

func (r resource) profile(in store, raw json.RawMessage) schema.Profile {
	return schema.Profile{
		Common:      schema.Common{ID: in.id(string(r.ID)), URL: r.url(in, "artist"), Raw: raw},
		Handle:      in.id(string(r.ID)),
		DisplayName: text.NonEmpty(r.Attributes.Name),
		Bio:         r.Attributes.bio(),
		AvatarURL:   r.Attributes.Artwork.url(),
	}
}

// actor returns the album's artist, whose id may be missing.
func (r resource) actor(in store) schema.Actor {
	a := schema.UnknownActor()
	for _, artist := range r.Relationships.Artists.Data.All() {
		if id := in.id(string(artist.V.ID)); id != "" {
			a.ID, a.Handle = id, id
			break
		}
	}
	a.DisplayName = text.NonEmpty(r.Attributes.ArtistName)
	return a
}

func (r resource) post(in store, raw json.RawMessage) schema.Post {
	p := schema.Post{
		Common:    schema.Common{ID: in.id(string(r.ID)), URL: r.url(in, "album"), Raw: raw},
		Author:    r.actor(in),
		Text:      r.Attributes.Name,
		CreatedAt: dates.Release(r.Attributes.ReleaseDate),
	}
	if cover := r.Attributes.Artwork.url(); cover != nil {
		p.Media = []schema.Media{{Type: schema.Image, URL: *cover, ThumbnailURL: r.Attributes.Artwork.sized("100")}}
	}
	return p
}

func (r resource) album(in store, raw json.RawMessage) schema.Collection {
	return schema.Collection{
		Common:     schema.Common{ID: in.id(string(r.ID)), URL: r.url(in, "album"), Raw: raw},
		Kind:       schema.Album,
		Title:      r.Attributes.Name,
		Owner:      new(r.actor(in)),
		ItemsCount: r.Attributes.TrackCount.V,
		CoverURL:   r.Attributes.Artwork.url(),
		CreatedAt:  dates.Release(r.Attributes.ReleaseDate),
	}
}

// playlist returns no owner: Apple names a person without an id.
func (r resource) playlist(in store, raw json.RawMessage) schema.Collection {
	return schema.Collection{
		Common:      schema.Common{ID: in.id(string(r.ID)), URL: r.url(in, "playlist"), Raw: raw},
		Kind:        schema.Playlist,
		Title:       r.Attributes.Name,
		Description: r.Attributes.Description.text(),
		ItemsCount:  r.Attributes.TrackCount.V,
		CoverURL:    r.Attributes.Artwork.url(),
	}
}

func (r resource) track(in store, raw json.RawMessage) schema.Track {
	a := r.Attributes
	t := schema.Track{
		Common:     schema.Common{ID: in.id(string(r.ID)), URL: r.url(in, "song"), Raw: raw},
		Title:      a.Name,
		Album:      text.NonEmpty(a.AlbumName),
		CoverURL:   a.Artwork.url(),
		DurationS:  a.Millis.Seconds(),
		ReleasedAt: dates.Release(a.ReleaseDate),
	}
	if a.ArtistName != "" {
		t.Artists = []string{a.ArtistName}
	}
	if len(a.Previews) > 0 {
		t.AudioURL = text.URL(a.Previews[0].URL)
	}
	switch a.Rating {
	case "explicit":
		t.Explicit = new(true)
	case "clean":
		t.Explicit = new(false)
	}
	return t
}
