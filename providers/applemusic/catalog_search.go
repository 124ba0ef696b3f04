package applemusic

import (
	"cmp"
	"context"
	"encoding/json"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/links"
	"github.com/socialdata/socialdata/providers/kit/upstream"
	"github.com/socialdata/socialdata/providers/kit/wire"
	"github.com/socialdata/socialdata/schema"
)

// types are Apple's names for kinds of results, in the order of our pages.
var types = map[schema.ResultKind][]string{
	"":                      {"artists", "albums", "songs", "playlists"},
	schema.ProfileResult:    {"artists"},
	schema.TrackResult:      {"songs"},
	schema.CollectionResult: {"albums", "playlists"},
}

// search pages through all types at once. The cursor consists of the offset and the types that have more results, such
// as 25:albums,songs.
// https://developer.apple.com/documentation/applemusicapi/search-for-catalog-resources
func (c *catalog) search(ctx context.Context, q providers.SearchQuery, cursor string) (providers.Page[schema.SearchResult], error) {
	var page providers.Page[schema.SearchResult]
	kinds, offset := types[q.Kind], ""
	if cursor != "" {
		var list string
		offset, list, _ = strings.Cut(cursor, ":")
		left := strings.Split(list, ",")
		if !links.Digits(offset) || slices.ContainsFunc(left, func(t string) bool { return !slices.Contains(kinds, t) }) {
			return page, providers.ErrCursor
		}
		kinds = left
	}
	in := store{c.markets, cmp.Or(q.Region, c.markets.Home)}
	r := get(in.country, "search").Says("term", q.Query).With("types", strings.Join(kinds, ",")).
		With("limit", strconv.Itoa(searchLimit)).With("offset", offset)
	found, err := c.find(ctx, r, kinds)
	if err != nil {
		return page, err
	}
	page.Items, err = found.results(in)
	if err != nil {
		return page, err
	}
	page.Next, err = found.next(ctx)
	return page, err
}

// found are the results of a search; a type without results is absent.
type found struct {
	Artists   wire.Object[list] `json:"artists"`
	Albums    wire.Object[list] `json:"albums"`
	Songs     wire.Object[list] `json:"songs"`
	Playlists wire.Object[list] `json:"playlists"`
}

// lists returns the lists of results by type, in the order of our pages.
func (f *found) lists() map[string]wire.Object[list] {
	return map[string]wire.Object[list]{
		"artists": f.Artists, "albums": f.Albums, "songs": f.Songs, "playlists": f.Playlists,
	}
}

// find searches for objects of those types.
func (c *catalog) find(ctx context.Context, r upstream.Request, kinds []string) (*found, error) {
	var answer struct {
		Results *found `json:"results"`
	}
	if _, err := c.http.Read(ctx, r, &answer); err != nil {
		return nil, err
	}
	if err := wire.Need(ctx, "results", answer.Results != nil); err != nil {
		return nil, err
	}
	lists := answer.Results.lists()
	for _, kind := range kinds {
		l := lists[kind]
		if err := l.Optional(ctx, "results."+kind); err != nil {
			return nil, err
		}
		if err := wire.Need(ctx, "results."+kind+".data", !l.Here() || l.V.Data.Here()); err != nil {
			return nil, err
		}
	}
	return answer.Results, nil
}

// results returns the results of all types. It ignores that all rows of one type are unreadable if other types have
// readable ones.
func (f *found) results(in store) (out []schema.SearchResult, err error) {
	lost := 0
	for _, kind := range types[""] {
		rows := f.lists()[kind].V.Data
		lost += rows.Lost()
		for _, row := range rows.All() {
			if row.V.may(kind) {
				out = append(out, row.V.result(kind, in, row.Raw))
			}
		}
	}
	return out, wire.Understood("results", len(out), lost)
}

func (r resource) result(kind string, in store, raw json.RawMessage) schema.SearchResult {
	switch kind {
	case "artists":
		return schema.Result(new(r.profile(in, raw)))
	case "albums":
		return schema.Result(new(r.album(in, raw)))
	case "playlists":
		return schema.Result(new(r.playlist(in, raw)))
	default:
		return schema.Result(new(r.track(in, raw)))
	}
}

// next returns the cursor of the next page: all types that have more continue together, from the smallest of their
// offsets.
func (f *found) next(ctx context.Context) (string, error) {
	least, left := 0, []string{}
	for _, kind := range types[""] {
		offset, err := f.lists()[kind].V.next(ctx)
		if err != nil {
			return "", err
		}
		if offset == "" {
			continue
		}
		left = append(left, kind)
		if n, _ := strconv.Atoi(offset); least == 0 || n < least {
			least = n
		}
	}
	if least == 0 {
		return "", nil
	}
	return strconv.Itoa(least) + ":" + strings.Join(left, ","), nil
}

// suggestions reads search hints, which are terms only.
// https://developer.apple.com/documentation/applemusicapi/get-catalog-search-hints
func (c *catalog) suggestions(ctx context.Context, q providers.SuggestionsQuery, _ string) (providers.Page[schema.Suggestion], error) {
	var page providers.Page[schema.Suggestion]
	in := store{c.markets, cmp.Or(q.Region, c.markets.Home)}
	var answer struct {
		Results struct {
			Terms wire.Rows[string] `json:"terms"`
		} `json:"results"`
	}
	r := get(in.country, "search", "hints").Says("term", q.Query).With("limit", hintsLimit)
	res, err := c.http.Read(ctx, r, &answer)
	if err != nil {
		return page, err
	}
	if err := answer.Results.Terms.Check(ctx, "results.terms"); err != nil {
		return page, err
	}
	page.Raw = res.Body
	for place, term := range answer.Results.Terms.All() {
		page.Items = append(page.Items, suggestion(in, term.V, int64(place)))
	}
	return page, nil
}

func suggestion(in store, term string, position int64) schema.Suggestion {
	return schema.Suggestion{
		Common: schema.Common{
			ID:  "query:" + term,
			URL: in.page("search?" + url.Values{"term": {term}}.Encode()),
		},
		Text: term, Kind: schema.SuggestQuery, Position: &position,
	}
}
