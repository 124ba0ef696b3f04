package applemusic

import (
	"context"
	"errors"
	"net/url"
	"strings"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/internal/text"
	"github.com/socialdata/socialdata/providers/internal/upstream"
	"github.com/socialdata/socialdata/schema"
)

const (
	longest  = "200" // results of one answer; there is no second page
	pageSize = 50    // of ours, cut out of that
)

// row is one object of an answer: an artist, a collection or a track, in one shape.
// https://developer.apple.com/library/archive/documentation/AudioVideo/Conceptual/iTuneSearchAPI/UnderstandingSearchResults.html
type row struct {
	WrapperType    string      `json:"wrapperType"` // artist, collection or track
	Kind           string      `json:"kind"`        // of a track: song, music-video …
	ArtistID       upstream.ID `json:"artistId"`
	ArtistName     string      `json:"artistName"`
	ArtistURL      string      `json:"artistLinkUrl"`
	CollectionID   upstream.ID `json:"collectionId"`
	CollectionName string      `json:"collectionName"`
	CollectionURL  string      `json:"collectionViewUrl"`
	TrackCount     *int64      `json:"trackCount"`
	TrackID        upstream.ID `json:"trackId"`
	TrackName      string      `json:"trackName"`
	TrackURL       string      `json:"trackViewUrl"`
	TrackMillis    *float64    `json:"trackTimeMillis"`
	Explicitness   string      `json:"trackExplicitness"` // explicit, notExplicit or cleaned
	Preview        string      `json:"previewUrl"`        // absent where the song is for streaming only
	Artwork        string      `json:"artworkUrl100"`
	ReleaseDate    string      `json:"releaseDate"`
}

// rows reads an answer, which begins with blank lines and calls itself JavaScript.
func (c *client) rows(ctx context.Context, r upstream.Request) ([]upstream.Object[row], error) {
	var answer struct {
		Results []upstream.Object[row] `json:"results"`
	}
	if _, err := c.http.JSON(ctx, r, &answer); err != nil {
		return nil, err
	}
	if answer.Results == nil {
		return nil, providers.Unreadable(errNoList)
	}
	return answer.Results, nil
}

// errNoList says that an answer, though JSON, holds no list: to pass it on as an empty one would be a lie.
var errNoList = errors.New("applemusic: the answer holds no list")

// lookup reads the object with an id, which must be of that wrapper type, and what belongs to it: its albums, its songs
// or, when entity is "", nothing.
func (c *client) lookup(ctx context.Context, id, wrapper, entity string) (head upstream.Object[row], rest []upstream.Object[row], err error) {
	r := upstream.Get("lookup").With("id", id).With("country", c.country)
	if entity != "" {
		r = r.With("entity", entity).With("limit", longest)
	}
	if entity == "album" {
		r = r.With("sort", "recent")
	}
	all, err := c.rows(ctx, r)
	if err != nil {
		return head, nil, err
	}
	if len(all) == 0 || all[0].V.WrapperType != wrapper {
		return head, nil, providers.NotFound("Apple Music has no %s with that id in storefront %s", wrapper, c.country)
	}
	return all[0], all[1:], nil
}

// keep returns the rows that pass.
func keep(rows []upstream.Object[row], pass func(row) bool) []upstream.Object[row] {
	var out []upstream.Object[row]
	for _, r := range rows {
		if pass(r.V) {
			out = append(out, r)
		}
	}
	return out
}

func (r row) isArtist() bool { return r.WrapperType == "artist" && r.ArtistID != "" }
func (r row) isAlbum() bool  { return r.WrapperType == "collection" && r.CollectionID != "" }
func (r row) isSong() bool   { return r.WrapperType == "track" && r.Kind == "song" && r.TrackID != "" }

// isTrack is for what stands on an album: its films count among its tracks, its booklets do not.
func (r row) isTrack() bool {
	return r.isSong() || r.WrapperType == "track" && r.Kind == "music-video" && r.TrackID != ""
}

func (r row) actor() schema.Actor {
	if r.ArtistID == "" {
		return schema.Actor{ID: "unknown", Handle: "unknown", DisplayName: text.NonEmpty(r.ArtistName)}
	}
	return schema.Actor{ID: string(r.ArtistID), Handle: string(r.ArtistID), DisplayName: text.NonEmpty(r.ArtistName)}
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
	if out := text.URL(u.String()); out != nil {
		return *out
	}
	return ""
}

// cover returns the artwork in a size: any may be put where Apple writes the smallest.
func (r row) cover(size string) *string {
	art := strings.Replace(r.Artwork, "http://", "https://", 1)
	return text.URL(strings.Replace(art, "100x100bb", size, 1))
}
