package spotify

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/internal/upstream"
	"github.com/socialdata/socialdata/schema"
)

// deepest is how many results of each type Spotify shows.
const deepest = 1000

// types are what a kind of result is called at Spotify, in the order of our pages.
var types = map[schema.ResultKind][]string{
	"":                      {"artist", "album", "track", "playlist", "show"},
	schema.ProfileResult:    {"artist"},
	schema.TrackResult:      {"track"},
	schema.CollectionResult: {"album", "playlist", "show"},
}

// search pages through all types at once. The cursor is the offset and the types that have not ended, such as
// 20:track,playlist.
// https://developer.spotify.com/documentation/web-api/reference/search
func (c *client) search(ctx context.Context, q providers.SearchQuery, cursor string) (providers.Page[schema.SearchResult], error) {
	kinds := types[q.Kind]
	offset := ""
	if cursor != "" {
		var list string
		offset, list, _ = strings.Cut(cursor, ":")
		left := strings.Split(list, ",")
		if !isOffset(offset) || slices.ContainsFunc(left, func(t string) bool { return !slices.Contains(kinds, t) }) {
			return providers.Page[schema.SearchResult]{}, providers.ErrCursor
		}
		kinds = left
	}
	r := upstream.Get("search").With("q", q.Query).With("type", strings.Join(kinds, ",")).With("market", cmp.Or(q.Region, c.market)).With("offset", offset)
	var found results
	err := c.limited(ctx, r, &found)
	if err == nil && !found.any() {
		err = providers.Unreadable(errNoList)
	}
	if err != nil {
		return providers.Page[schema.SearchResult]{}, fmt.Errorf("spotify: search %q: %w", q.Query, err)
	}
	return providers.Page[schema.SearchResult]{Items: found.results(), Next: found.next(int64(c.limit))}, nil
}

// results is the answer of GET /search: a page of each type that was asked for.
type results struct {
	Artists   *page[artist]   `json:"artists"`
	Tracks    *page[item]     `json:"tracks"`
	Albums    *page[album]    `json:"albums"`
	Playlists *page[playlist] `json:"playlists"` // with many an entry that is null
	Shows     *page[show]     `json:"shows"`
}

func (r results) any() bool {
	return r.Artists != nil || r.Tracks != nil || r.Albums != nil || r.Playlists != nil || r.Shows != nil
}

func (r results) results() []schema.SearchResult {
	var out []schema.SearchResult
	add(&out, r.Artists, func(a artist, raw []byte) (string, schema.Object) { p := a.profile(raw); return a.ID, &p })
	add(&out, r.Tracks, func(i item, raw []byte) (string, schema.Object) { t := i.track(raw); return i.ID, &t })
	add(&out, r.Albums, func(a album, raw []byte) (string, schema.Object) { c := a.collection("", raw); return a.ID, &c })
	add(&out, r.Playlists, func(p playlist, raw []byte) (string, schema.Object) { c := p.collection(raw); return p.ID, &c })
	add(&out, r.Shows, func(s show, raw []byte) (string, schema.Object) { c := s.collection(raw); return s.ID, &c })
	return out
}

func add[T any](out *[]schema.SearchResult, p *page[T], convert func(v T, raw []byte) (id string, o schema.Object)) {
	if p == nil {
		return
	}
	for _, i := range p.Items {
		if id, o := convert(i.V, i.Raw); id != "" {
			*out = append(*out, schema.Result(o))
		}
	}
}

// next returns the cursor behind r: types that have more go on together.
func (r results) next(limit int64) string {
	var offset int64
	var left []string
	more := func(kind string, next int64) {
		if next > 0 && next+limit <= deepest {
			left = append(left, kind)
			if offset == 0 || next < offset { // they differ only when a page is cut short: better twice than never
				offset = next
			}
		}
	}
	if r.Artists != nil {
		more("artist", r.Artists.next())
	}
	if r.Tracks != nil {
		more("track", r.Tracks.next())
	}
	if r.Albums != nil {
		more("album", r.Albums.next())
	}
	if r.Playlists != nil {
		more("playlist", r.Playlists.next())
	}
	if r.Shows != nil {
		more("show", r.Shows.next())
	}
	if left == nil {
		return ""
	}
	return strconv.FormatInt(offset, 10) + ":" + strings.Join(left, ",")
}
