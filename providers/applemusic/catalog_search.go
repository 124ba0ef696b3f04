package applemusic

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/internal/links"
	"github.com/socialdata/socialdata/providers/internal/upstream"
	"github.com/socialdata/socialdata/schema"
)

// types are what a kind of result is called here, in the order of our pages.
var types = map[schema.ResultKind][]string{
	"":                      {"artists", "albums", "songs", "playlists"},
	schema.ProfileResult:    {"artists"},
	schema.TrackResult:      {"songs"},
	schema.CollectionResult: {"albums", "playlists"},
}

// search pages through all types at once. The cursor is the offset and the types that have not ended, such as
// 25:albums,songs.
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
	storefront := strings.ToLower(cmp.Or(q.Region, c.storefront))
	r := upstream.Get("catalog", storefront, "search").With("term", q.Query).With("types", strings.Join(kinds, ",")).
		With("limit", "25").With("offset", offset)
	found, err := c.find(ctx, r)
	if err != nil {
		return page, fmt.Errorf("apple_music_catalog: search %q: %w", q.Query, err)
	}
	page.Items, page.Next = found.results(storefront), found.next()
	return page, nil
}

// found is what a search finds; a type without results is absent.
type found struct {
	Artists   *list `json:"artists"`
	Albums    *list `json:"albums"`
	Songs     *list `json:"songs"`
	Playlists *list `json:"playlists"`
}

func (c *catalog) find(ctx context.Context, r upstream.Request) (*found, error) {
	var answer struct {
		Results *found `json:"results"`
	}
	if _, err := c.http.JSON(ctx, r, &answer); err != nil {
		return nil, err
	}
	if answer.Results == nil {
		return nil, providers.Unreadable(errNoList)
	}
	return answer.Results, nil
}

func (f *found) results(storefront string) []schema.SearchResult {
	var out []schema.SearchResult
	for _, l := range []*list{f.Artists, f.Albums, f.Songs, f.Playlists} {
		if l == nil {
			continue
		}
		for _, o := range l.Data {
			switch o.V.Type {
			case "artists":
				p := o.V.profile(storefront, o.Raw)
				out = append(out, schema.Result(&p))
			case "albums", "playlists":
				a := o.V.collection(storefront, o.Raw)
				out = append(out, schema.Result(&a))
			case "songs":
				t := o.V.track(storefront, o.Raw)
				out = append(out, schema.Result(&t))
			}
		}
	}
	return out
}

// next returns the cursor behind f: types that have more go on together, from the place of the one that is least far.
func (f *found) next() string {
	least, left := 0, []string{}
	for _, t := range []struct {
		name string
		page *list
	}{{"artists", f.Artists}, {"albums", f.Albums}, {"songs", f.Songs}, {"playlists", f.Playlists}} {
		if t.page == nil || t.page.next() == "" {
			continue
		}
		left = append(left, t.name)
		if n, _ := strconv.Atoi(t.page.next()); least == 0 || n < least {
			least = n
		}
	}
	if least == 0 {
		return ""
	}
	return strconv.Itoa(least) + ":" + strings.Join(left, ",")
}

// suggestions reads search hints, which are words only.
// https://developer.apple.com/documentation/applemusicapi/get-catalog-search-hints
func (c *catalog) suggestions(ctx context.Context, q providers.SuggestionsQuery, _ string) (providers.Page[schema.Suggestion], error) {
	var page providers.Page[schema.Suggestion]
	storefront := strings.ToLower(cmp.Or(q.Region, c.storefront))
	var answer struct {
		Results struct {
			Terms []string `json:"terms"`
		} `json:"results"`
	}
	r := upstream.Get("catalog", storefront, "search", "hints").With("term", q.Query).With("limit", "10")
	res, err := c.http.JSON(ctx, r, &answer)
	if err == nil && answer.Results.Terms == nil {
		err = providers.Unreadable(errNoList)
	}
	if err != nil {
		return page, fmt.Errorf("apple_music_catalog: suggestions for %q: %w", q.Query, err)
	}
	page.Raw = res.Body
	for i, term := range answer.Results.Terms {
		page.Items = append(page.Items, suggestion(storefront, term, int64(i)))
	}
	return page, nil
}

func suggestion(storefront, term string, position int64) schema.Suggestion {
	return schema.Suggestion{
		Common: schema.Common{
			ID:  "query:" + term,
			URL: "https://music.apple.com/" + storefront + "/search?" + url.Values{"term": {term}}.Encode(),
		},
		Text: term, Kind: schema.SuggestQuery, Position: &position,
	}
}
