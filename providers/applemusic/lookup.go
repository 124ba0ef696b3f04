package applemusic

import (
	"cmp"
	"context"
	"encoding/json"
	"net/url"
	"strings"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/links"
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

// lookup reads the object with an id in a storefront, which must have that wrapper type, and what belongs to it: its albums, its songs
// or, if entity is "", nothing. all includes the object itself.
func (c *client) lookup(
	ctx context.Context, in store, id, wrapper, entity string,
) (head wire.Object[row], all wire.Rows[row], err error) {
	r := c.byID(in, id)
	if entity != "" {
		r = r.With("entity", entity).With("limit", longest)
	}
	if entity == "album" {
		r = r.With("sort", "recent")
	}
	if all, err = c.rows(ctx, r); err != nil {
		return head, all, err
	}
	if head, err = choose(ctx, all, map[string]bool{id: true}, in, id, wrapper); err != nil && entity != "" && belong(all, id, wrapper) {
		err = nil // the object itself is malformed, but what belongs to it is present
	}
	return head, all, err
}

// byID returns a request for the objects with some ids.
func (c *client) byID(in store, ids string) upstream.Request {
	r := upstream.Get("lookup").With("id", ids).With("country", strings.ToLower(in.country))
	r.Input = in.country != c.markets.Home
	return r
}

// lookups are the objects with several ids.
type lookups struct {
	markets *links.Markets
	all     map[string]wire.Rows[row] // by storefront
	asked   map[string]bool
}

// lookups reads the objects with ids, of any type, with one request for each storefront. It does not request invalid
// ids.
func (c *client) lookups(ctx context.Context, ids []string) (lookups, error) {
	found := lookups{c.markets, map[string]wire.Rows[row]{}, map[string]bool{}}
	for country, ids := range c.markets.ByCountry(ids) {
		known := providers.Together(ids, isID)
		if len(known) == 0 {
			continue
		}
		for _, id := range known {
			found.asked[id] = true
		}
		rows, err := c.rows(ctx, c.byID(store{c.markets, country}, strings.Join(known, ",")))
		if err != nil {
			return found, err
		}
		found.all[country] = rows
	}
	return found, nil
}

// of returns the object with an id, which must have that wrapper type, and its storefront.
func (l lookups) of(ctx context.Context, id, wrapper string) (in store, r wire.Object[row], err error) {
	in, id = storeOf(l.markets, id)
	if !l.asked[id] {
		return in, r, providers.Alone()
	}
	r, err = choose(ctx, l.all[in.country], l.asked, in, id, wrapper)
	return in, r, err
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
func choose(
	ctx context.Context, all wire.Rows[row], asked map[string]bool, in store, id, wrapper string,
) (wire.Object[row], error) {
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
	return none, providers.NotFound("Apple Music has no %s with that id in storefront %s", wrapper, in.country)
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

func (r row) actor(in store) schema.Actor {
	a := schema.UnknownActor()
	if id := in.id(string(r.ArtistID)); id != "" {
		a.ID, a.Handle = id, id
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

// search finds songs, albums or artists, depending on the kind: one answer has only one of the three. Songs are the
// default.
func (c *client) search(ctx context.Context, q providers.SearchQuery, cursor string) (page providers.Page[schema.SearchResult], err error) {
	in := store{c.markets, cmp.Or(q.Region, c.markets.Home)}
	entity, belongs, object := "song", row.isSong, func(r row, raw json.RawMessage) schema.Object { t := r.track(in, raw); return &t }
	switch q.Kind { //nolint:exhaustive // the other kinds are not accepted
	case schema.ProfileResult:
		entity, belongs, object = "musicArtist", row.isArtist, func(r row, raw json.RawMessage) schema.Object { p := r.profile(in, raw); return &p }
	case schema.CollectionResult:
		entity, belongs, object = "album", row.isAlbum, func(r row, raw json.RawMessage) schema.Object { a := r.collection(in, raw); return &a }
	}
	rows, err := c.rows(ctx, c.term(q.Query, entity, in).With("limit", longest))
	if err != nil {
		return page, err
	}
	return cut(ctx, rows, cursor, belongs, func(r row, raw json.RawMessage) schema.SearchResult {
		return schema.Result(object(r, raw))
	}, nil)
}

// term returns a request for the objects of one entity that match a text.
// https://developer.apple.com/library/archive/documentation/AudioVideo/Conceptual/iTuneSearchAPI/Searching.html
func (c *client) term(term, entity string, in store) upstream.Request {
	return upstream.Get("search").Says("term", term).With("media", "music").With("entity", entity).
		With("country", strings.ToLower(in.country))
}
