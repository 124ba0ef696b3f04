package spotify

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/upstream"
	"github.com/socialdata/socialdata/providers/kit/wire"
	"github.com/socialdata/socialdata/schema"
)

// deepest is how many results of each type Spotify returns at most.
const deepest = 1000

// order is the order of the types on our pages.
var order = []string{"artist", "track", "album", "playlist", "show"}

// types maps a kind of result to Spotify's types.
var types = map[schema.ResultKind][]string{
	"":                      {"artist", "album", "track", "playlist", "show"},
	schema.ProfileResult:    {"artist"},
	schema.TrackResult:      {"track"},
	schema.CollectionResult: {"album", "playlist", "show"},
}

// search pages through all types at once. The cursor is the offset and the types that have not ended, such as
// 20:track,playlist.
// https://developer.spotify.com/documentation/web-api/reference/search
func (c *client) search(ctx context.Context, q providers.SearchQuery, cursor string) (page providers.Page[schema.SearchResult], err error) {
	kinds := types[q.Kind]
	offset := ""
	if cursor != "" {
		var list string
		offset, list, _ = strings.Cut(cursor, ":")
		remaining := strings.Split(list, ",")
		if !isOffset(offset) || slices.ContainsFunc(remaining, func(t string) bool { return !slices.Contains(kinds, t) }) {
			return page, providers.ErrCursor
		}
		kinds = remaining
	}
	r := upstream.Get("search").Says("q", q.Query).With("type", strings.Join(kinds, ",")).
		With("market", cmp.Or(q.Region, c.market)).With("offset", offset)
	var found results
	if err := c.limited(ctx, r, &found); err != nil {
		return page, err
	}
	if page, err = found.page(ctx, kinds, int64(c.limit)); err != nil {
		return page, err
	}
	return page, nil
}

// results is the answer of GET /search: a page of each requested type.
type results struct {
	Artists   part[artist]   `json:"artists"`
	Tracks    part[item]     `json:"tracks"`
	Albums    part[album]    `json:"albums"`
	Playlists part[playlist] `json:"playlists"` // with many null entries
	Shows     part[show]     `json:"shows"`
}

// part is the page of one type.
type part[T any] struct{ wire.Object[page[T]] }

// of is the content of a part.
type of struct {
	here  bool
	items []schema.SearchResult
	lost  int // rows that could not be decoded
	next  int64
}

// page combines the parts, at least one of which must be present.
func (r results) page(ctx context.Context, kinds []string, limit int64) (out providers.Page[schema.SearchResult], err error) {
	read := map[string]func() (of, error){
		"artist": func() (of, error) {
			return r.Artists.read(ctx, "artists", func(a artist, raw json.RawMessage) schema.Object { return new(a.profile(raw)) })
		},
		"track": func() (of, error) {
			return r.Tracks.read(ctx, "tracks", func(i item, raw json.RawMessage) schema.Object { return new(i.track(raw)) })
		},
		"album": func() (of, error) {
			return r.Albums.read(ctx, "albums", func(a album, raw json.RawMessage) schema.Object { return new(a.collection("", raw)) })
		},
		"playlist": func() (of, error) {
			return r.Playlists.read(ctx, "playlists", func(p playlist, raw json.RawMessage) schema.Object { return new(p.collection(raw)) })
		},
		"show": func() (of, error) {
			return r.Shows.read(ctx, "shows", func(s show, raw json.RawMessage) schema.Object { return new(s.collection(raw)) })
		},
	}
	var offset int64
	var remaining []string
	here, lost := false, 0
	for _, kind := range order {
		if !slices.Contains(kinds, kind) {
			continue
		}
		p, err := read[kind]()
		if err != nil {
			return out, err
		}
		here, lost = here || p.here, lost+p.lost
		out.Items = append(out.Items, p.items...)
		if p.next > 0 && p.next+limit <= deepest {
			remaining = append(remaining, kind)
			if offset == 0 || p.next < offset { // they differ only when a page is cut short: duplicates are better than gaps
				offset = p.next
			}
		}
	}
	if remaining != nil {
		out.Next = strconv.FormatInt(offset, 10) + ":" + strings.Join(remaining, ",")
	}
	if err := wire.Need(ctx, strings.Join(kinds, " or "), here); err != nil {
		return out, err
	}
	return out, wire.Understood("items", len(out.Items), lost)
}

func (p part[T]) read(ctx context.Context, name string, convert func(v T, raw json.RawMessage) schema.Object) (out of, err error) {
	if err := p.Optional(ctx, name); err != nil || !p.Here() {
		return out, err
	}
	if err := wire.Need(ctx, name+".items", p.V.Items.Here()); err != nil {
		return out, err
	}
	out.here, out.lost = true, p.V.Items.Lost()
	for _, row := range p.V.Items.All() {
		if string(row.Raw) != withheld {
			out.items = append(out.items, schema.Result(convert(row.V, row.Raw)))
		}
	}
	out.next, err = p.V.next(ctx)
	return out, err
}
