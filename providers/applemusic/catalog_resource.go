package applemusic

import (
	"cmp"
	"strings"

	"github.com/socialdata/socialdata/providers/internal/dates"
	"github.com/socialdata/socialdata/providers/internal/text"
	"github.com/socialdata/socialdata/schema"
)

// resource is an artist, an album, a song or a playlist, in one shape.
// https://developer.apple.com/documentation/applemusicapi/resource
type resource struct {
	ID            string     `json:"id"`
	Type          string     `json:"type"` // artists, albums, songs, playlists …
	Attributes    attributes `json:"attributes"`
	Relationships struct {
		Artists list `json:"artists"` // ids only
	} `json:"relationships"`
}

type attributes struct {
	Name        string   `json:"name"`
	URL         string   `json:"url"`
	Artwork     *artwork `json:"artwork"`
	ArtistName  string   `json:"artistName"`
	AlbumName   string   `json:"albumName"`
	CuratorName string   `json:"curatorName"` // whose playlist it is; without an id
	TrackCount  *int64   `json:"trackCount"`
	ReleaseDate string   `json:"releaseDate"` // 1991-01-01 or 1991
	Millis      *float64 `json:"durationInMillis"`
	Rating      string   `json:"contentRating"` // explicit, clean or absent
	Previews    []struct {
		URL string `json:"url"`
	} `json:"previews"`
	ArtistBio   string `json:"artistBio"`
	Notes       *notes `json:"editorialNotes"`
	Description *notes `json:"description"`
}

// notes are HTML.
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

func (r resource) url(storefront, kind string) string {
	if u := text.URL(r.Attributes.URL); u != nil {
		return *u
	}
	return "https://music.apple.com/" + storefront + "/" + kind + "/" + r.ID
}

func (r resource) profile(storefront string, raw []byte) schema.Profile {
	return schema.Profile{
		Common:      schema.Common{ID: r.ID, URL: r.url(storefront, "artist"), Raw: raw},
		Handle:      r.ID,
		DisplayName: text.NonEmpty(r.Attributes.Name),
		Bio:         r.Attributes.bio(),
		AvatarURL:   r.Attributes.Artwork.url(),
	}
}

// actor is the album's artist, whose id is not always there.
func (r resource) actor() schema.Actor {
	a := schema.UnknownActor()
	if artists := r.Relationships.Artists.Data; len(artists) > 0 && artists[0].V.ID != "" {
		a.ID, a.Handle = artists[0].V.ID, artists[0].V.ID
	}
	a.DisplayName = text.NonEmpty(r.Attributes.ArtistName)
	return a
}

func (r resource) post(storefront string, raw []byte) schema.Post {
	p := schema.Post{
		Common:    schema.Common{ID: r.ID, URL: r.url(storefront, "album"), Raw: raw},
		Author:    r.actor(),
		Text:      r.Attributes.Name,
		CreatedAt: dates.Release(r.Attributes.ReleaseDate),
	}
	if cover := r.Attributes.Artwork.url(); cover != nil {
		p.Media = []schema.Media{{Type: schema.Image, URL: *cover, ThumbnailURL: r.Attributes.Artwork.sized("100")}}
	}
	return p
}

// collection is an album or, of a person without an id, a playlist.
func (r resource) collection(storefront string, raw []byte) schema.Collection {
	a := r.Attributes
	out := schema.Collection{
		Common:     schema.Common{ID: r.ID, Raw: raw},
		Title:      a.Name,
		ItemsCount: a.TrackCount,
		CoverURL:   a.Artwork.url(),
	}
	if r.Type == "playlists" {
		out.Kind, out.URL, out.Description = schema.Playlist, r.url(storefront, "playlist"), a.Description.text()
		return out
	}
	out.Kind, out.URL, out.CreatedAt = schema.Album, r.url(storefront, "album"), dates.Release(a.ReleaseDate)
	out.Owner = new(r.actor())
	return out
}

func (r resource) track(storefront string, raw []byte) schema.Track {
	a := r.Attributes
	t := schema.Track{
		Common:     schema.Common{ID: r.ID, URL: r.url(storefront, "song"), Raw: raw},
		Title:      a.Name,
		Album:      text.NonEmpty(a.AlbumName),
		CoverURL:   a.Artwork.url(),
		ReleasedAt: dates.Release(a.ReleaseDate),
	}
	if a.ArtistName != "" {
		t.Artists = []string{a.ArtistName}
	}
	if a.Millis != nil {
		t.DurationS = new(*a.Millis / 1000)
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
