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
	longest       = "200" // results of one answer; there is no second page
	longestAnswer = 200   // the same
	pageSize      = 50    // of ours, cut out of that
	// longestKeys is how long the ids of a look-up may be together, in bytes: its address is of 2 KB at most, and each comma in it
	// takes three.
	longestKeys = 1500
)

// row is one object of an answer: an artist, a collection or a track, in one shape.
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
	Preview        string      `json:"previewUrl"`        // absent where the song is for streaming only
	Artwork        string      `json:"artworkUrl100"`
	ReleaseDate    string      `json:"releaseDate"`
}

// rows reads an answer, which begins with blank lines and calls itself JavaScript.
func (c *client) rows(ctx context.Context, r upstream.Request) (wire.Rows[row], error) {
	var answer struct {
		Results wire.Rows[row] `json:"results"`
	}
	if _, err := c.http.Read(ctx, r, &answer); err != nil {
		return answer.Results, err
	}
	return answer.Results, answer.Results.Check(ctx, "results")
}

// lookup reads the object with an id, which must be of that wrapper type, and what belongs to it: its albums, its songs
// or, when entity is "", nothing. All holds the object too.
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
		err = nil // the object itself is odd, and what belongs to it is there
	}
	return head, all, err
}

// lookups are the objects with several ids.
type lookups struct {
	c     *client
	all   wire.Rows[row]
	asked map[string]bool
}

// lookups reads the objects with ids, which are of any type. What is no id of Apple's is not asked for.
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

// of returns the object with an id, which must be of that wrapper type.
func (l lookups) of(ctx context.Context, id, wrapper string) (wire.Object[row], error) {
	if !l.asked[id] {
		return wire.Object[row]{}, providers.Alone()
	}
	return l.c.choose(ctx, l.all, l.asked, id, wrapper)
}

// isID tells whether an id may be asked for beside others. Those of today have up to ten digits.
func isID(id string) bool { return links.Digits(id) && len(id) <= 15 }

// belong tells whether a row names the artist or the collection with that id as what it belongs to.
func belong(all wire.Rows[row], id, wrapper string) bool {
	for _, r := range all.All() {
		if wrapper == "artist" && string(r.V.ArtistID) == id || wrapper == "collection" && string(r.V.CollectionID) == id {
			return true
		}
	}
	return false
}

// choose takes the object with an id, which must be of that wrapper type, out of the answer to those that were asked for. Apple's
// ids are of one kind: that of an app or a book is known too, and is no artist's, album's or song's.
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

// id is the one of the object that the row is about.
func (r row) id() string {
	switch r.WrapperType {
	case "artist":
		return string(r.ArtistID)
	case "collection":
		return string(r.CollectionID)
	}
	return string(r.TrackID)
}

// unnamed tells whether the row lacks the type that all have but books.
func (r row) unnamed() bool { return r.WrapperType == "" && r.Kind != "ebook" }

// odd tells whether the row does not say what it is: it may belong, and nothing can be made of it.
func (r row) odd() bool { return r.unnamed() || r.WrapperType == "track" && r.Kind == "" }

func (r row) isArtist() bool { return r.WrapperType == "artist" }
func (r row) isAlbum() bool  { return r.WrapperType == "collection" }
func (r row) isSong() bool   { return r.WrapperType == "track" && r.Kind == "song" }

// isTrack is for what stands on an album: its films count among its tracks, its booklets do not.
func (r row) isTrack() bool { return r.isSong() || r.WrapperType == "track" && r.Kind == "music-video" }

func (r row) actor() schema.Actor {
	a := schema.UnknownActor()
	if r.ArtistID != "" {
		a.ID, a.Handle = string(r.ArtistID), string(r.ArtistID)
	}
	a.DisplayName = text.NonEmpty(r.ArtistName)
	return a
}

// link returns a page of the store without what only says where the link was found; of a song's it keeps which song of
// the album.
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

// cover returns the artwork in a size: any may be put where Apple writes the smallest.
func (r row) cover(size string) *string {
	art := strings.Replace(r.Artwork, "http://", "https://", 1)
	return text.URL(strings.Replace(art, "100x100bb", size, 1))
}
