package applemusic

import (
	"context"
	"net/url"
	"strings"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/internal/links"
	"github.com/socialdata/socialdata/providers/kit/text"
	"github.com/socialdata/socialdata/providers/kit/upstream"
	"github.com/socialdata/socialdata/providers/kit/wire"
	"github.com/socialdata/socialdata/schema"
)

const (
	longest       = "200" // maximum number of results; there is no second page
	longestAnswer = 200   // the same
	pageSize      = 50    // of our pages, which are parts of one answer
	// longestKeys is the maximum total length of the ids in a look-up, in bytes: the URL may have at most 2 KB, and
	// each comma takes three bytes.
	longestKeys = 1500
)

// row is one object in an answer: an artist, a collection or a track, which have one format.
// https://developer.apple.com/library/archive/documentation/AudioVideo/Conceptual/iTuneSearchAPI/UnderstandingSearchResults.html
type row struct {
	WrapperType    string      `json:"wrapperType"` // artist, collection or track
	Kind           string      `json:"kind"`        // of a track: song, music-video …
	ArtistID       wire.Serial `json:"artistId"`
	ArtistName     string      `json:"artistName"`
	ArtistURL      string      `json:"artistLinkUrl"`
	CollectionID   wire.Serial `json:"collectionId"`
	CollectionName string      `json:"collectionName"`
	CollectionURL  string      `json:"collectionViewUrl"`
	TrackCount     wire.Count  `json:"trackCount"`
	TrackID        wire.Serial `json:"trackId"`
	TrackName      string      `json:"trackName"`
	TrackURL       string      `json:"trackViewUrl"`
	TrackMillis    wire.Float  `json:"trackTimeMillis"`
	Explicitness   string      `json:"trackExplicitness"` // explicit, notExplicit or cleaned
	Preview        string      `json:"previewUrl"`        // absent if the song can only be streamed
	Artwork        string      `json:"artworkUrl100"`
	ReleaseDate    string      `json:"releaseDate"`
}

// rows reads an answer, which begins with blank lines and has the content type of JavaScript.
func (c *client) rows(ctx context.Context, r upstream.Request) (wire.Rows[row], error) {
	var answer struct {
		Results wire.Rows[row] `json:"results"`
	}
	if _, err := c.http.Read(ctx, r, &answer); err != nil {
		return answer.Results, err
	}
	return answer.Results, answer.Results.Check(ctx, "results")
}

// lookup reads the object with an id, which must have that wrapper type, and what belongs to it: its albums, its songs
// or, if entity is "", nothing. all includes the object itself.
func (c *client) lookup(ctx context.Context, id, wrapper, entity string) (head wire.Object[row], all wire.Rows[row], err error) {
	r := upstream.Get("lookup").With("id", id).With("country", c.country)
	if entity != "" {
		r = r.With("entity", entity).With("limit", longest)
	}
	if entity == "album" {
		r = r.With("sort", "recent")
	}
	if all, err = c.rows(ctx, r); err != nil {
		return head, all, err
	}
	if head, err = c.choose(ctx, all, map[string]bool{id: true}, id, wrapper); err != nil && entity != "" && belong(all, id, wrapper) {
		err = nil // the object itself is malformed, but what belongs to it is present
	}
	return head, all, err
}

// lookups are the objects with several ids.
type lookups struct {
	c     *client
	all   wire.Rows[row]
	asked map[string]bool
}

// lookups reads the objects with ids, of any type. It does not request invalid ids.
func (c *client) lookups(ctx context.Context, ids []string) (found lookups, err error) {
	found = lookups{c: c, asked: map[string]bool{}}
	known := providers.Together(ids, isID)
	for _, id := range known {
		found.asked[id] = true
	}
	if len(known) > 0 {
		found.all, err = c.rows(ctx, upstream.Get("lookup").With("id", strings.Join(known, ",")).With("country", c.country))
	}
	return found, err
}

// of returns the object with an id, which must have that wrapper type.
func (l lookups) of(ctx context.Context, id, wrapper string) (wire.Object[row], error) {
	if !l.asked[id] {
		return wire.Object[row]{}, providers.Alone()
	}
	return l.c.choose(ctx, l.all, l.asked, id, wrapper)
}

// isID reports whether an id may be requested together with others. Current ids have up to ten digits.
func isID(id string) bool { return links.Digits(id) && len(id) <= 15 }

// belong reports whether a row belongs to the artist or the collection with that id.
func belong(all wire.Rows[row], id, wrapper string) bool {
	for _, r := range all.All() {
		if wrapper == "artist" && string(r.V.ArtistID) == id || wrapper == "collection" && string(r.V.CollectionID) == id {
			return true
		}
	}
	return false
}

// choose returns the object with an id, which must have that wrapper type, from the answer to a look-up. All types
// share Apple's ids, so the id may be that of an app or a book instead of an artist, album or song.
func (c *client) choose(ctx context.Context, all wire.Rows[row], asked map[string]bool, id, wrapper string) (wire.Object[row], error) {
	odd, another := all.Lost() > 0, false
	for _, r := range all.All() {
		if r.V.WrapperType == wrapper && r.V.id() == id {
			return r, nil
		}
		odd = odd || r.V.unnamed() || r.V.WrapperType == wrapper && r.V.id() == ""
		another = another || r.V.WrapperType == wrapper && !asked[r.V.id()]
	}
	var none wire.Object[row]
	switch {
	case odd:
		return none, providers.Unreadable(nil)
	case another:
		return none, wire.Same(ctx, wrapper, id, "")
	}
	return none, providers.NotFound("Apple Music has no %s with that id in storefront %s", wrapper, c.country)
}

// id returns the id of the object that the row describes.
func (r row) id() string {
	switch r.WrapperType {
	case "artist":
		return string(r.ArtistID)
	case "collection":
		return string(r.CollectionID)
	}
	return string(r.TrackID)
}

// unnamed reports whether the row lacks the type that all rows except books have.
func (r row) unnamed() bool { return r.WrapperType == "" && r.Kind != "ebook" }

// odd reports whether the type of the row is unknown: it may belong, but cannot be converted.
func (r row) odd() bool { return r.unnamed() || r.WrapperType == "track" && r.Kind == "" }

func (r row) isArtist() bool { return r.WrapperType == "artist" }
func (r row) isAlbum() bool  { return r.WrapperType == "collection" }
func (r row) isSong() bool   { return r.WrapperType == "track" && r.Kind == "song" }

// isTrack reports whether the row counts as a track of an album: music videos do, booklets do not.
func (r row) isTrack() bool { return r.isSong() || r.WrapperType == "track" && r.Kind == "music-video" }

func (r row) actor() schema.Actor {
	a := schema.UnknownActor()
	if r.ArtistID != "" {
		a.ID, a.Handle = string(r.ArtistID), string(r.ArtistID)
	}
	a.DisplayName = text.NonEmpty(r.ArtistName)
	return a
}

// link removes tracking parameters from the address of a page in the store. It keeps the parameter that identifies a
// song on its album.
func link(s string) string {
	u, err := url.Parse(s)
	if err != nil {
		return ""
	}
	song := u.Query().Get("i")
	u.RawQuery = ""
	if song != "" {
		u.RawQuery = url.Values{"i": {song}}.Encode()
	}
	return text.URLOr(u.String(), "")
}

// cover returns the address of the artwork in a size: any size may replace the smallest one, which Apple writes.
func (r row) cover(size string) *string {
	art := strings.Replace(r.Artwork, "http://", "https://", 1)
	return text.URL(strings.Replace(art, "100x100bb", size, 1))
}
