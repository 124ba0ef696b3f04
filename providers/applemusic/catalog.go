package applemusic

import (
	"cmp"
	"context"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/links"
	"github.com/socialdata/socialdata/providers/kit/pages"
	"github.com/socialdata/socialdata/providers/kit/upstream"
	"github.com/socialdata/socialdata/providers/kit/wire"
	"github.com/socialdata/socialdata/schema"
)

// catalog reads the Apple Music API.
type catalog struct {
	http    *upstream.Client
	markets *links.Markets
}

// newCatalog also reports whether there is a developer token, or the credentials to create one.
func newCatalog(cfg Config) (*catalog, bool) {
	config := upstream.Config{
		HTTP: cfg.HTTP, Base: cmp.Or(cfg.CatalogURL, "https://api.music.apple.com/v1"), Check: checkCatalog, Absent: absent,
		Quota: upstream.NewQuota(0, 0), // Apple does not publish the limit
	}
	parts := cfg.TeamID != "" && cfg.KeyID != "" && cfg.PrivateKey != ""
	switch {
	case cfg.DeveloperToken != "":
		config.Header = http.Header{"Authorization": {"Bearer " + cfg.DeveloperToken}}
	case parts:
		config.Tokens = tokens(cfg.TeamID, cfg.KeyID, cfg.PrivateKey)
	}
	return &catalog{upstream.New(config), links.MarketsOf(cfg.Country)}, cfg.DeveloperToken != "" || parts
}

const (
	listLimit   = "100" // Apple's maximum for albums and tracks
	searchLimit = 25    // Apple's maximum for each type
	hintsLimit  = "10"
)

func (c *catalog) provider() providers.Provider {
	site := addresses(c.markets)
	return providers.Provider{
		Name: "apple_music_catalog", Platform: platform.AppleMusic, Source: schema.Official, Prompt: true,
		PageSizes: providers.PagesOf(strconv.Itoa(pageSize), providers.OpPosts, providers.OpCollections).
			And(listLimit, providers.OpCollectionTracks).And(hintsLimit, providers.OpSuggestions).
			And(strconv.Itoa(len(types[""])*searchLimit), providers.OpSearch), // all types are searched at once
		Profile:          c.profile,
		Posts:            c.posts,
		Post:             c.post,
		Search:           c.search,
		Suggestions:      c.suggestions,
		Collections:      c.collections,
		Collection:       c.collection,
		CollectionTracks: c.collectionTracks,
		Track:            c.track,

		Normalize: site.Normalize, Names: site.Names, Also: site.Also, Country: site.CountryOf, InCountry: site.InCountry,
		Filters: map[providers.Op]providers.Filters{
			providers.OpProfile:          {"region": nil},
			providers.OpPost:             {"region": nil},
			providers.OpTrack:            {"region": nil},
			providers.OpSearch:           {"kind": {"track", "collection", "profile"}, "region": nil},
			providers.OpSuggestions:      {"region": nil},
			providers.OpCollections:      {"kind": {"album"}},
			providers.OpCollection:       {"kind": {"album", "playlist"}, "region": nil},
			providers.OpCollectionTracks: {"kind": {"album", "playlist"}},
		},
		Notes: map[providers.Op]string{
			providers.OpPosts:       "an artist's albums, at most 500",
			providers.OpCollections: "an artist's albums, newest first, at most 500",
		},
		Routes: providers.Routes(platform.AppleMusic,
			"catalog/{storefront}/artists/{id}{?include,extend,l,views}",
			"catalog/{storefront}/artists/{id}/albums{?include,extend,l,limit,offset}",
			"catalog/{storefront}/albums/{id}{?include,extend,l,views}",
			"catalog/{storefront}/albums/{id}/tracks{?include,extend,l,limit,offset}",
			"catalog/{storefront}/songs/{id}{?include,extend,l}", "catalog/{storefront}/playlists/{id}{?include,extend,l,views}",
			"catalog/{storefront}/playlists/{id}/tracks{?include,extend,l,limit,offset}",
			"catalog/{storefront}/search{?term,types,include,extend,l,limit,offset,with}",
			"catalog/{storefront}/charts{?types,chart,genre,include,extend,l,limit,offset,with}",
			"catalog/{storefront}/genres{?ids,l,limit,offset}",
		),
		Forward: c.http.Forward,
	}
}

// get returns a request for something in the storefront of a country.
func get(country string, segments ...string) upstream.Request {
	return upstream.Get(append([]string{"catalog", strings.ToLower(country)}, segments...)...)
}

// list is a page of objects.
// https://developer.apple.com/documentation/applemusicapi/fetching-resources-by-page
type list struct {
	Data wire.Rows[resource] `json:"data"`
	Next wire.Token          `json:"next"` // a path with an offset; absent on the last page
}

// next returns the offset of the next page, "" if there is none.
func (l list) next(ctx context.Context) (string, error) {
	path, err := l.Next.Next(ctx, "next")
	if err != nil || path == "" {
		return "", err
	}
	u, err := url.Parse(path)
	if err != nil {
		return "", providers.Unreadable(err)
	}
	offset := u.Query().Get("offset")
	n, err := strconv.Atoi(offset)
	return offset, wire.Need(ctx, "next", err == nil && n > 0)
}

// list reads a page; a cursor is an offset.
func (c *catalog) list(ctx context.Context, r upstream.Request, cursor string) (list, error) {
	if _, err := pages.Offset(cursor); err != nil {
		return list{}, err
	}
	var l list
	if _, err := c.http.Read(ctx, r.With("offset", cursor), &l); err != nil {
		return list{}, err
	}
	return l, l.Data.Check(ctx, "data")
}

// one reads the object with an id in a storefront. Apple may answer with an empty list for a deleted one.
func (c *catalog) one(ctx context.Context, kind string, in store, id string) (wire.Object[resource], error) {
	r := get(in.country, kind, id)
	if kind == "artists" {
		r = r.With("include", "albums")
	}
	l, err := c.list(ctx, r, "")
	if err != nil {
		return wire.Object[resource]{}, err
	}
	for _, found := range l.Data.All() {
		return found, wire.Same(ctx, kind, id, string(found.V.ID))
	}
	return wire.Object[resource]{}, providers.NotFound("Apple Music has no such id in storefront %s", in.country)
}
