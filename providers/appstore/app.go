package appstore

import (
	"context"
	"math"
	"strings"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/internal/links"
	"github.com/socialdata/socialdata/providers/kit/text"
	"github.com/socialdata/socialdata/providers/kit/upstream"
	"github.com/socialdata/socialdata/providers/kit/wire"
	"github.com/socialdata/socialdata/schema"
)

func (c *client) profile(ctx context.Context, handle string) (schema.Profile, error) {
	a, err := c.app(ctx, handle, c.country)
	if err != nil {
		return schema.Profile{}, err
	}
	return a.V.profile(a.Raw), nil
}

// profiles reads apps by their numbers. Bundle ids are read by profile, because Apple documents several numbers in one
// request only.
func (c *client) profiles(ctx context.Context, handles []string) (map[string]schema.Profile, error) {
	found, err := c.apps(ctx, handles, c.country)
	return providers.PerKey(handles, err, func(handle string) (schema.Profile, error) {
		a, err := found.of(ctx, handle)
		if err != nil {
			return schema.Profile{}, err
		}
		return a.V.profile(a.Raw), nil
	})
}

func (c *client) product(ctx context.Context, q providers.ProductQuery) (schema.Product, error) {
	a, err := c.app(ctx, q.ID, c.storefront(q.Region))
	return sold(ctx, a, err)
}

// productsByID is profiles for products.
func (c *client) productsByID(ctx context.Context, ids []string, q providers.ProductQuery) (map[string]schema.Product, error) {
	found, err := c.apps(ctx, ids, c.storefront(q.Region))
	return providers.PerKey(ids, err, func(id string) (schema.Product, error) {
		a, err := found.of(ctx, id)
		return sold(ctx, a, err)
	})
}

// sold converts an app that has a price. It returns err if it is not nil.
func sold(ctx context.Context, a wire.Object[app], err error) (schema.Product, error) {
	if err == nil && a.V.Price.Absent() {
		err = providers.NotFound("this app has no price in this storefront")
	}
	if err == nil {
		err = wire.Need(ctx, "price", a.V.Price.V != nil)
	}
	if err != nil {
		return schema.Product{}, err
	}
	return a.V.product(a.Raw), nil
}

// storefront returns the requested country, or the default one.
func (c *client) storefront(region string) string {
	if region == "" {
		return c.country
	}
	return strings.ToLower(region)
}

// results reads the answer of GET /lookup and GET /search.
func (c *client) results(ctx context.Context, r upstream.Request) (wire.Rows[app], error) {
	var found struct {
		Results wire.Rows[app] `json:"results"`
	}
	if _, err := c.itunes.Read(ctx, r.With("entity", "software"), &found); err != nil {
		return found.Results, err
	}
	return found.Results, found.Results.Check(ctx, "results")
}

// app looks up one app by number or bundle id.
func (c *client) app(ctx context.Context, id, country string) (wire.Object[app], error) {
	by := "bundleId"
	if links.Digits(id) {
		by = "id"
	}
	r := upstream.Get("lookup").With(by, id).With("country", country)
	r.Input = country != c.country
	found, err := c.results(ctx, r)
	if err != nil {
		return wire.Object[app]{}, err
	}
	return choose(ctx, found, map[string]bool{id: true}, id)
}

// apps are apps by their numbers.
type apps struct {
	all   wire.Rows[app]
	asked map[string]bool
}

// apps looks up apps by their numbers. It does not request anything else.
func (c *client) apps(ctx context.Context, ids []string, country string) (found apps, err error) {
	found.asked = map[string]bool{}
	// Current numbers have ten digits.
	known := providers.Together(ids, func(id string) bool { return links.Digits(id) && len(id) <= 15 })
	for _, id := range known {
		found.asked[id] = true
	}
	if len(known) > 0 {
		r := upstream.Get("lookup").With("id", strings.Join(known, ",")).With("country", country)
		r.Input = country != c.country
		found.all, err = c.results(ctx, r)
	}
	return found, err
}

// of returns the app with a number.
func (f apps) of(ctx context.Context, id string) (wire.Object[app], error) {
	if !f.asked[id] {
		return wire.Object[app]{}, providers.Alone()
	}
	return choose(ctx, f.all, f.asked, id)
}

// choose returns the app with that number or bundle id from the answer to a look-up. The versions for iOS and macOS may
// share a number; then it is the one for iOS. If the number is that of a song or a developer, Apple answers with the
// song, or with the developer and its apps, and there is no such app.
func choose(ctx context.Context, found wire.Rows[app], asked map[string]bool, id string) (best wire.Object[app], err error) {
	another, odd := false, found.Lost() > 0
	for _, a := range found.All() {
		switch {
		case !a.V.isApp() || string(a.V.ArtistID) == id:
		case string(a.V.TrackID) == id || strings.EqualFold(a.V.BundleID, id):
			if best.Raw == nil || best.V.Kind != "software" && a.V.Kind == "software" {
				best = a
			}
		case a.V.TrackID == "" || a.V.BundleID == "":
			odd = true
		default:
			another = another || !asked[string(a.V.TrackID)]
		}
	}
	switch {
	case best.Raw != nil:
		return best, nil
	case odd:
		return best, providers.Unreadable(nil)
	case another:
		return best, wire.Same(ctx, "app", id, "")
	}
	return best, providers.ErrNotFound
}

// app is one of the results of a look-up or a search.
// https://developer.apple.com/library/archive/documentation/AudioVideo/Conceptual/iTuneSearchAPI/UnderstandingSearchResults.html
type app struct {
	WrapperType  string      `json:"wrapperType"` // "software"; absent in very old rows
	Kind         string      `json:"kind"`        // "software" or "mac-software"
	TrackID      wire.Serial `json:"trackId"`
	BundleID     string      `json:"bundleId"`
	TrackName    string      `json:"trackName"`
	TrackViewURL string      `json:"trackViewUrl"`
	Description  string      `json:"description"` // plain text
	Artwork512   string      `json:"artworkUrl512"`
	Artwork100   string      `json:"artworkUrl100"`
	Artwork60    string      `json:"artworkUrl60"`
	SellerURL    string      `json:"sellerUrl"` // often absent
	ArtistID     wire.Serial `json:"artistId"`
	ArtistName   string      `json:"artistName"`
	ArtistURL    string      `json:"artistViewUrl"`
	Price        wire.Float  `json:"price"` // absent if the app is no longer sold
	Currency     string      `json:"currency"`
	Screenshots  []string    `json:"screenshotUrls"`
	Rating       wire.Float  `json:"averageUserRating"` // 0 without ratings
	Ratings      wire.Count  `json:"userRatingCount"`   // in the requested storefront
	Genres       []string    `json:"genres"`
}

// isApp is false for songs, for books, which have no type, and for developers: their numbers are valid in a look-up
// too.
func (a app) isApp() bool {
	return a.WrapperType == "software" || a.WrapperType == "" && a.Kind != "ebook"
}

func (a app) common(raw []byte) schema.Common {
	page, _, _ := strings.Cut(a.TrackViewURL, "?")
	return schema.Common{
		ID: string(a.TrackID), URL: text.URLOr(page, "https://apps.apple.com/app/id"+string(a.TrackID)), Raw: raw,
	}
}

// profile does not set followers: people who rate an app do not follow it.
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

// product converts an app. Without a developer the result has no store, and violates the schema.
func (a app) product(raw []byte) schema.Product {
	p := schema.Product{
		Common: a.common(raw),
		Store: schema.StoreSummary{
			ID: string(a.ArtistID), Name: a.ArtistName,
			URL: text.URLOr(a.ArtistURL, "https://apps.apple.com/developer/id"+string(a.ArtistID)),
		},
		Title:        a.TrackName,
		Description:  text.NonEmpty(a.Description),
		Price:        schema.Price{Amount: *a.Price.V, Currency: a.Currency},
		Images:       text.URLs(a.Screenshots...),
		InStock:      true,
		ReviewsCount: a.Ratings.V,
		Categories:   text.Each(a.Genres),
	}
	if r := a.Rating.V; r != nil && *r > 0 && *r <= 5 {
		p.Rating = new(math.Round(*r*100) / 100)
	}
	return p
}
