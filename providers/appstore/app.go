package appstore

import (
	"context"
	"encoding/json"
	"math"
	"strings"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/links"
	"github.com/socialdata/socialdata/providers/kit/text"
	"github.com/socialdata/socialdata/providers/kit/upstream"
	"github.com/socialdata/socialdata/providers/kit/wire"
	"github.com/socialdata/socialdata/schema"
)

func (c *client) profile(ctx context.Context, handle string) (schema.Profile, error) {
	in, id := c.markets.Cut(handle)
	a, err := c.app(ctx, id, in)
	if err != nil {
		return schema.Profile{}, err
	}
	return a.V.profile(c.markets, in, a.Raw), nil
}

// profiles reads apps by their numbers. Bundle ids are read by profile, because Apple documents several numbers in one
// request only.
func (c *client) profiles(ctx context.Context, handles []string) (map[string]schema.Profile, error) {
	found, err := c.apps(ctx, handles)
	return providers.PerKey(handles, err, func(handle string) (schema.Profile, error) {
		in, a, err := found.of(ctx, handle)
		if err != nil {
			return schema.Profile{}, err
		}
		return a.V.profile(c.markets, in, a.Raw), nil
	})
}

func (c *client) product(ctx context.Context, q providers.ProductQuery) (schema.Product, error) {
	in, id := c.markets.Cut(q.ID)
	a, err := c.app(ctx, id, in)
	if err != nil {
		return schema.Product{}, err
	}
	return c.sold(ctx, in, a)
}

// productsByID is profiles for products.
func (c *client) productsByID(ctx context.Context, ids []string, _ providers.ProductQuery) (map[string]schema.Product, error) {
	found, err := c.apps(ctx, ids)
	return providers.PerKey(ids, err, func(id string) (schema.Product, error) {
		in, a, err := found.of(ctx, id)
		if err != nil {
			return schema.Product{}, err
		}
		return c.sold(ctx, in, a)
	})
}

// sold converts an app that has a price in a storefront.
func (c *client) sold(ctx context.Context, in string, a wire.Object[app]) (schema.Product, error) {
	if a.V.Price.Absent() {
		return schema.Product{}, providers.NotFound("this app has no price in the storefront %s", in)
	}
	if err := wire.Need(ctx, "price", a.V.Price.V != nil); err != nil {
		return schema.Product{}, err
	}
	return a.V.product(c.markets, in, a.Raw), nil
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

// app looks up one app by number or bundle id in a storefront.
func (c *client) app(ctx context.Context, id, in string) (wire.Object[app], error) {
	by := "bundleId"
	if links.Digits(id) {
		by = "id"
	}
	found, err := c.lookup(ctx, by, id, in)
	if err != nil {
		return wire.Object[app]{}, err
	}
	return choose(ctx, found, map[string]bool{id: true}, id, in)
}

func (c *client) lookup(ctx context.Context, by, ids, in string) (wire.Rows[app], error) {
	r := upstream.Get("lookup").With(by, ids).With("country", strings.ToLower(in))
	r.Input = in != c.markets.Home
	return c.results(ctx, r)
}

// apps are apps by their numbers.
type apps struct {
	markets *links.Markets
	all     map[string]wire.Rows[app] // by storefront
	asked   map[string]bool
}

// apps looks up apps by their numbers, with one request for each storefront. It does not request anything else.
func (c *client) apps(ctx context.Context, ids []string) (apps, error) {
	found := apps{markets: c.markets, all: map[string]wire.Rows[app]{}, asked: map[string]bool{}}
	for in, ids := range c.markets.ByCountry(ids) {
		// Current numbers have ten digits.
		known := providers.Together(ids, func(id string) bool { return links.Digits(id) && len(id) <= 15 })
		if len(known) == 0 {
			continue
		}
		for _, id := range known {
			found.asked[id] = true
		}
		rows, err := c.lookup(ctx, "id", strings.Join(known, ","), in)
		if err != nil {
			return found, err
		}
		found.all[in] = rows
	}
	return found, nil
}

// of returns the app with an identifier, and its storefront.
func (f apps) of(ctx context.Context, id string) (in string, a wire.Object[app], err error) {
	in, number := f.markets.Cut(id)
	if !f.asked[number] {
		return in, a, providers.Alone()
	}
	a, err = choose(ctx, f.all[in], f.asked, number, in)
	return in, a, err
}

// choose returns the app with that number or bundle id from the answer to a look-up. The versions for iOS and macOS may
// share a number; then it is the one for iOS. If the number is that of a song or a developer, Apple answers with the
// song, or with the developer and its apps, and there is no such app.
func choose(
	ctx context.Context, found wire.Rows[app], asked map[string]bool, id, in string,
) (best wire.Object[app], err error) {
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
	return best, providers.NotFound("the App Store has no such app in storefront %s", in)
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

func (a app) common(markets *links.Markets, in string, raw json.RawMessage) schema.Common {
	page, _, _ := strings.Cut(a.TrackViewURL, "?")
	return schema.Common{
		ID:  markets.ID(in, string(a.TrackID)),
		URL: text.URLOr(page, "https://apps.apple.com/"+strings.ToLower(in)+"/app/id"+string(a.TrackID)),
		Raw: raw,
	}
}

// profile does not set followers: people who rate an app do not follow it.
func (a app) profile(markets *links.Markets, in string, raw json.RawMessage) schema.Profile {
	p := schema.Profile{
		Common:      a.common(markets, in, raw),
		Handle:      markets.ID(in, a.BundleID),
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
func (a app) product(markets *links.Markets, in string, raw json.RawMessage) schema.Product {
	p := schema.Product{
		Common: a.common(markets, in, raw),
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
