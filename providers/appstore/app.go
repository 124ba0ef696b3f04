package appstore

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/internal/links"
	"github.com/socialdata/socialdata/providers/internal/text"
	"github.com/socialdata/socialdata/providers/internal/upstream"
	"github.com/socialdata/socialdata/schema"
)

func (c *client) profile(ctx context.Context, handle string) (schema.Profile, error) {
	a, err := c.app(ctx, handle, c.country)
	if err != nil {
		return schema.Profile{}, fmt.Errorf("appstore: profile %q: %w", handle, err)
	}
	return a.V.profile(a.Raw), nil
}

func (c *client) product(ctx context.Context, q providers.ProductQuery) (schema.Product, error) {
	a, err := c.app(ctx, q.ID, c.storefront(q.Region))
	if err == nil && (a.V.Price == nil || *a.V.Price < 0 || len(a.V.Currency) != 3) {
		err = providers.NotFound("this app has no price in this storefront")
	}
	if err != nil {
		return schema.Product{}, fmt.Errorf("appstore: product %q: %w", q.ID, err)
	}
	return a.V.product(a.Raw), nil
}

// storefront returns the country that the caller asks for, or our own.
func (c *client) storefront(region string) string {
	if region == "" {
		return c.country
	}
	return strings.ToLower(region)
}

// results is the answer of GET /lookup and GET /search.
type results struct {
	Results []upstream.Object[app] `json:"results"`
}

func (c *client) results(ctx context.Context, r upstream.Request) ([]upstream.Object[app], error) {
	var found results
	if _, err := c.itunes.JSON(ctx, r.With("entity", "software"), &found); err != nil {
		return nil, err
	}
	if found.Results == nil {
		return nil, providers.Unavailable(nil, "the upstream's answer has no results")
	}
	return found.Results, nil
}

// app looks up one app by number or bundle id. The versions for iOS and macOS may share a number: the one for iOS is
// meant, where it is there.
func (c *client) app(ctx context.Context, id, country string) (upstream.Object[app], error) {
	r := upstream.Get("lookup").With("bundleId", id).With("country", country)
	if links.Digits(id) {
		r = upstream.Get("lookup").With("id", id).With("country", country)
	}
	found, err := c.results(ctx, r)
	if err != nil {
		return upstream.Object[app]{}, err
	}
	var best upstream.Object[app]
	for _, a := range found {
		if a.V.isApp() && (a.V.id() == id || strings.EqualFold(a.V.BundleID, id)) && (best.Raw == nil || best.V.Kind != "software" && a.V.Kind == "software") {
			best = a
		}
	}
	if best.Raw == nil {
		return best, providers.ErrNotFound
	}
	return best, nil
}

// app is one of the results of a look-up or a search.
// https://developer.apple.com/library/archive/documentation/AudioVideo/Conceptual/iTuneSearchAPI/UnderstandingSearchResults.html
type app struct {
	WrapperType  string   `json:"wrapperType"` // "software"; absent in very old rows
	Kind         string   `json:"kind"`        // "software" or "mac-software"
	TrackID      int64    `json:"trackId"`
	BundleID     string   `json:"bundleId"`
	TrackName    string   `json:"trackName"`
	TrackViewURL string   `json:"trackViewUrl"`
	Description  string   `json:"description"` // plain text
	Artwork512   string   `json:"artworkUrl512"`
	Artwork100   string   `json:"artworkUrl100"`
	Artwork60    string   `json:"artworkUrl60"`
	SellerURL    string   `json:"sellerUrl"` // often absent
	ArtistID     int64    `json:"artistId"`
	ArtistName   string   `json:"artistName"`
	ArtistURL    string   `json:"artistViewUrl"`
	Price        *float64 `json:"price"`
	Currency     string   `json:"currency"`
	Screenshots  []string `json:"screenshotUrls"`
	Rating       *float64 `json:"averageUserRating"` // 0 without ratings
	Ratings      *int64   `json:"userRatingCount"`   // in the storefront asked
	Genres       []string `json:"genres"`
}

func (a app) isApp() bool {
	return (a.WrapperType == "software" || a.WrapperType == "") && a.TrackID > 0 && a.BundleID != ""
}

func (a app) id() string { return strconv.FormatInt(a.TrackID, 10) }

func (a app) common(raw []byte) schema.Common {
	page, _, _ := strings.Cut(a.TrackViewURL, "?")
	u := text.URL(page)
	if u == nil {
		u = new("https://apps.apple.com/app/id" + a.id())
	}
	return schema.Common{ID: a.id(), URL: *u, Raw: raw}
}

// profile leaves followers alone: those who rate an app do not follow it.
func (a app) profile(raw []byte) schema.Profile {
	p := schema.Profile{
		Common:      a.common(raw),
		Handle:      a.BundleID,
		DisplayName: text.NonEmpty(a.TrackName),
		Bio:         text.NonEmpty(a.Description),
		Links:       text.URLs(a.SellerURL),
	}
	for _, artwork := range []string{a.Artwork512, a.Artwork100, a.Artwork60} {
		if p.AvatarURL == nil {
			p.AvatarURL = text.URL(artwork)
		}
	}
	return p
}

func (a app) product(raw []byte) schema.Product {
	p := schema.Product{
		Common:       a.common(raw),
		Store:        schema.StoreSummary{ID: strconv.FormatInt(a.ArtistID, 10), Name: a.ArtistName},
		Title:        a.TrackName,
		Description:  text.NonEmpty(a.Description),
		Price:        schema.Price{Amount: *a.Price, Currency: a.Currency},
		Images:       text.URLs(a.Screenshots...),
		InStock:      true,
		ReviewsCount: a.Ratings,
		Categories:   a.Genres,
	}
	p.Store.URL = "https://apps.apple.com/developer/id" + p.Store.ID
	if page := text.URL(a.ArtistURL); page != nil {
		p.Store.URL = *page
	}
	if a.Rating != nil && *a.Rating > 0 {
		p.Rating = new(math.Round(*a.Rating*100) / 100)
	}
	return p
}
