package applemusic

import (
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/internal/pages"
	"github.com/socialdata/socialdata/providers/internal/upstream"
	"github.com/socialdata/socialdata/schema"
)

// catalog reads the Apple Music interface.
type catalog struct {
	http       *upstream.Client
	storefront string // lower case
}

// newCatalog also tells whether there is a developer token, or what one is made of.
func newCatalog(cfg Config) (*catalog, bool) {
	config := upstream.Config{
		HTTP: cfg.HTTP, Base: cmp.Or(cfg.CatalogURL, "https://api.music.apple.com/v1"), Check: checkCatalog,
		Quota: upstream.NewQuota(0, 0), // Apple publishes no number
	}
	parts := cfg.TeamID != "" && cfg.KeyID != "" && cfg.PrivateKey != ""
	switch {
	case cfg.DeveloperToken != "":
		config.Header = http.Header{"Authorization": {"Bearer " + cfg.DeveloperToken}}
	case parts:
		config.Tokens = tokens(cfg.TeamID, cfg.KeyID, cfg.PrivateKey)
	}
	return &catalog{upstream.New(config), strings.ToLower(cmp.Or(cfg.Country, "us"))}, cfg.DeveloperToken != "" || parts
}

func (c *catalog) provider() providers.Provider {
	return providers.Provider{
		Name: "apple_music_catalog", Platform: platform.AppleMusic, Source: schema.Official,
		Profile:          c.profile,
		Posts:            c.posts,
		Post:             c.post,
		Search:           c.search,
		Suggestions:      c.suggestions,
		Collections:      c.collections,
		Collection:       c.collection,
		CollectionTracks: c.collectionTracks,
		Track:            c.track,

		Normalize: normalize,
		Filters: map[providers.Op]providers.Filters{
			providers.OpSearch:           {"kind": {"track", "collection", "profile"}, "region": nil},
			providers.OpSuggestions:      {"region": nil},
			providers.OpCollections:      {"kind": {"album"}},
			providers.OpCollection:       {"kind": {"album", "playlist"}},
			providers.OpCollectionTracks: {"kind": {"album", "playlist"}},
		},
		Routes: providers.Routes(platform.AppleMusic,
			"catalog/{storefront}/artists/{id}", "catalog/{storefront}/artists/{id}/albums",
			"catalog/{storefront}/albums/{id}", "catalog/{storefront}/albums/{id}/tracks",
			"catalog/{storefront}/songs/{id}", "catalog/{storefront}/playlists/{id}",
			"catalog/{storefront}/playlists/{id}/tracks", "catalog/{storefront}/search", "catalog/{storefront}/charts",
			"catalog/{storefront}/genres",
		),
		Forward: c.http.Forward,
	}
}

// checkCatalog names the parameter that Apple refuses.
// https://developer.apple.com/documentation/applemusicapi/handling-requests-and-responses
func checkCatalog(res *upstream.Response) error {
	if res.Status != http.StatusBadRequest {
		return nil
	}
	var answer struct {
		Errors []struct {
			Source struct {
				Parameter string `json:"parameter"`
			} `json:"source"`
		} `json:"errors"`
	}
	if json.Unmarshal(res.Body, &answer) == nil && len(answer.Errors) > 0 && answer.Errors[0].Source.Parameter != "" {
		return providers.Invalid("Apple Music refuses the value of its parameter %q", answer.Errors[0].Source.Parameter)
	}
	return providers.Invalid("Apple Music cannot read the query")
}

func (c *catalog) get(segments ...string) upstream.Request {
	return upstream.Get(append([]string{"catalog", c.storefront}, segments...)...)
}

// list is a page of objects.
// https://developer.apple.com/documentation/applemusicapi/fetching-resources-by-page
type list struct {
	Data []upstream.Object[resource] `json:"data"`
	Next string                      `json:"next"` // a path with an offset
}

// next returns the offset of the page behind, "" when there is none.
func (l *list) next() string {
	u, err := url.Parse(l.Next)
	if err != nil || len(l.Data) == 0 {
		return ""
	}
	if n, err := strconv.Atoi(u.Query().Get("offset")); err != nil || n < 1 {
		return ""
	}
	return u.Query().Get("offset")
}

// list reads a page; a cursor is an offset.
func (c *catalog) list(ctx context.Context, r upstream.Request, cursor string) (*list, error) {
	if _, err := pages.Offset(cursor); err != nil {
		return nil, err
	}
	var l list
	if _, err := c.http.JSON(ctx, r.With("offset", cursor), &l); err != nil {
		return nil, err
	}
	if l.Data == nil {
		return nil, providers.Unreadable(errNoList)
	}
	return &l, nil
}

// one reads a single object; one that is gone may come as an empty list.
func (c *catalog) one(ctx context.Context, r upstream.Request) (upstream.Object[resource], error) {
	l, err := c.list(ctx, r, "")
	if err != nil {
		return upstream.Object[resource]{}, err
	}
	if len(l.Data) == 0 {
		return upstream.Object[resource]{}, providers.NotFound("Apple Music has no such id in storefront %s", c.storefront)
	}
	return l.Data[0], nil
}
