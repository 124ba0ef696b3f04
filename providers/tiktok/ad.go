package tiktok

import (
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/dates"
	"github.com/socialdata/socialdata/providers/kit/links"
	"github.com/socialdata/socialdata/providers/kit/text"
	"github.com/socialdata/socialdata/providers/kit/wire"
	"github.com/socialdata/socialdata/schema"
)

const (
	adFields = "ad.id,ad.first_shown_date,ad.last_shown_date,ad.status,ad.videos,ad.image_urls,ad.reach," +
		"advertiser.business_id,advertiser.business_name,advertiser.paid_for_by"
	adDetailFields   = adFields + ",ad.title,ad.external_url,ad.call_to_action"
	advertiserFields = "business_id,business_name,country_code"
	adPage           = 10         // allowed by every version of the documentation
	firstAds         = "20221001" // the library begins here
	longestTerm      = 50         // characters
)

// adQuery is the request body of adlib/ad/query.
// https://developers.tiktok.com/doc/commercial-content-api-query-ads
type adQuery struct {
	Filters  adFilters `json:"filters"`
	Term     string    `json:"search_term,omitempty"`
	MaxCount int       `json:"max_count"`
	SearchID string    `json:"search_id,omitempty"`
}

type adFilters struct {
	Published   dayRange      `json:"ad_published_date_range"`
	Country     string        `json:"country_code,omitempty"`
	Advertisers []json.Number `json:"advertiser_business_ids,omitempty"`
}

type dayRange struct {
	Min string `json:"min"`
	Max string `json:"max"`
}

// filtersOf limits a search to the days of the library, which ends yesterday.
func filtersOf(f providers.AdFilter) adFilters {
	yesterday := time.Now().UTC().AddDate(0, 0, -1).Format(day)
	out := adFilters{Published: dayRange{firstAds, yesterday}, Country: f.Country}
	if !f.Since.IsZero() {
		out.Published.Min = max(firstAds, f.Since.UTC().Format(day))
	}
	if !f.Until.IsZero() {
		out.Published.Max = f.Until.UTC().Add(-1).Format(day)
	}
	return out
}

func (c *client) searchAds(ctx context.Context, q providers.AdsSearchQuery, cursor string) (providers.Page[schema.Ad], error) {
	var page providers.Page[schema.Ad]
	if err := shortEnough(q.Query); err != nil {
		return page, err
	}
	return c.adsPage(ctx, adQuery{Filters: filtersOf(q.AdFilter), Term: q.Query}, cursor)
}

func shortEnough(term string) error {
	if len([]rune(term)) > longestTerm {
		return providers.Invalid("a search for ads on TikTok has at most %d characters", longestTerm)
	}
	return nil
}

// adsOf reads the ads of an advertiser, by its number or its exact name.
func (c *client) adsOf(ctx context.Context, q providers.AdsQuery, cursor string) (page providers.Page[schema.Ad], err error) {
	if q.Domain != "" {
		return page, providers.Unsupported("TikTok does not list ads by domain")
	}
	id := q.AdvertiserID
	if !links.Digits(id) {
		id, err = c.advertiserNamed(ctx, id)
	}
	if err != nil {
		return page, err
	}
	query := adQuery{Filters: filtersOf(q.AdFilter)}
	query.Filters.Advertisers = []json.Number{json.Number(id)}
	return c.adsPage(ctx, query, cursor)
}

func (c *client) advertiserNamed(ctx context.Context, name string) (string, error) {
	rows, err := c.findAdvertisers(ctx, name)
	if err != nil {
		return "", err
	}
	nameless := rows.Lost()
	for _, a := range rows.All() {
		switch {
		case a.V.Name == "" || a.V.id() == "":
			nameless++
		case strings.EqualFold(a.V.Name, name):
			return a.V.id(), nil
		}
	}
	if err := wire.Need(ctx, "advertisers[].business_name", nameless == 0); err != nil {
		return "", err
	}
	return "", providers.NotFound("TikTok's ad library has no advertiser with this name")
}

// adsPage reads a page. TikTok keeps the position of a search under its id, which stays the same. The cursor is that id
// and the first ad of the previous page, which comes again when there are no more.
func (c *client) adsPage(ctx context.Context, q adQuery, cursor string) (page providers.Page[schema.Ad], err error) {
	var answer struct {
		Data struct {
			Ads      wire.Rows[adRow] `json:"ads"`
			HasMore  wire.Flag        `json:"has_more"` // a boolean or a word
			SearchID wire.ID          `json:"search_id"`
		} `json:"data"`
	}
	search, before, _ := strings.Cut(cursor, ".")
	q.MaxCount, q.SearchID = adPage, search
	r := ask("adlib/ad/query/", adFields, q).On(c.ads)
	r.Input = cursor == ""
	if _, err = c.http.Read(ctx, r, &answer); err != nil {
		return page, blameCursor(err, cursor)
	}
	if page.Items, err = wire.Items(ctx, "data.ads", answer.Data.Ads, adRow.ad); err != nil {
		return page, err
	}
	begins := ""
	if len(page.Items) > 0 {
		begins = page.Items[0].ID
	}
	if cursor != "" && begins == before {
		return providers.Page[schema.Ad]{}, nil
	}
	if err := wire.Need(ctx, "data.has_more", answer.Data.HasMore.V != nil); err != nil {
		return page, err
	}
	if answer.Data.HasMore.Is() {
		page.Next = string(answer.Data.SearchID) + "." + begins
		if err := wire.Need(ctx, "data.search_id", answer.Data.SearchID != ""); err != nil {
			return page, err
		}
	}
	return page, nil
}

// ad reads one ad.
// https://developers.tiktok.com/doc/commercial-content-api-get-ad-details
func (c *client) ad(ctx context.Context, id string) (schema.Ad, error) {
	var answer struct {
		Data wire.Object[adRow] `json:"data"`
	}
	body := map[string]json.Number{"ad_id": json.Number(id)}
	r := ask("adlib/ad/detail/", adDetailFields, body).On(c.ads)
	r.Input = true
	if _, err := c.http.Read(ctx, r, &answer); err != nil {
		return schema.Ad{}, err
	}
	if err := wire.Same(ctx, "ad", id, string(answer.Data.V.Ad.ID)); err != nil {
		return schema.Ad{}, err
	}
	ad, _ := answer.Data.V.ad(answer.Data.Raw)
	return ad, nil
}

// adRow is an ad and its advertiser.
type adRow struct {
	Ad struct {
		ID         wire.Serial `json:"id"`
		FirstShown date        `json:"first_shown_date"`
		LastShown  date        `json:"last_shown_date"`
		Status     string      `json:"status"` // "active" or "inactive"
		Videos     []struct {
			URL   string `json:"url"`
			Cover string `json:"cover_image_url"`
		} `json:"videos"`
		ImageURLs []string `json:"image_urls"`
		Reach     struct {
			Countries map[string]json.RawMessage `json:"unique_users_seen_by_country"` // how many people, as in "18K"
		} `json:"reach"`
		Title        string `json:"title"` // this and the following fields are only in the details of an ad
		ExternalURL  string `json:"external_url"`
		CallToAction string `json:"call_to_action"`
	} `json:"ad"`
	Advertiser advertiser `json:"advertiser"`
}

// date is a day written as a number such as 20221001.
type date struct{ V *time.Time }

// UnmarshalJSON never fails.
func (d *date) UnmarshalJSON(b []byte) error {
	d.V = dates.Parse(strings.Trim(string(b), `"`), day)
	return nil
}

// ad converts r. It always reports true.
func (r adRow) ad(raw json.RawMessage) (schema.Ad, bool) {
	id := string(r.Ad.ID)
	out := schema.Ad{
		Common:       schema.Common{ID: id, URL: "https://library.tiktok.com/ads/detail/?ad_id=" + id, Raw: raw},
		Advertiser:   schema.AdvertiserSummary{ID: text.NonEmpty(r.Advertiser.id()), Name: r.Advertiser.name()},
		Text:         r.Ad.Title,
		CallToAction: text.NonEmpty(r.Ad.CallToAction),
		LandingURL:   text.URL(r.Ad.ExternalURL),
		StartedAt:    r.Ad.FirstShown.V,
		Countries:    r.countries(),
	}
	switch strings.ToLower(r.Ad.Status) {
	case "active": // it may be shown again
		out.IsActive = new(true)
	case "inactive":
		out.IsActive, out.EndedAt = new(false), r.Ad.LastShown.V
	}
	for _, v := range r.Ad.Videos {
		if u := text.URL(v.URL); u != nil {
			out.Media = append(out.Media, schema.Media{Type: schema.Video, URL: *u, ThumbnailURL: text.URL(v.Cover)})
		}
	}
	for _, u := range text.URLs(r.Ad.ImageURLs...) {
		out.Media = append(out.Media, schema.Media{Type: schema.Image, URL: u})
	}
	for _, m := range out.Media {
		out.Formats = append(out.Formats, string(m.Type))
	}
	slices.Sort(out.Formats)
	out.Formats = slices.Compact(out.Formats)
	return out, true
}

// countries are the countries in which the ad has been seen.
func (r adRow) countries() []string {
	codes := slices.Sorted(maps.Keys(r.Ad.Reach.Countries))
	return slices.DeleteFunc(codes, func(code string) bool { return len(code) != len("GB") })
}

// advertiser is the advertiser of an ad. The documentation's examples spell its number in two ways.
type advertiser struct {
	ID       wire.Serial `json:"business_id"`
	Misspelt wire.Serial `json:"buisness_id"` //nolint:misspell // it is TikTok's own spelling
	Name     string      `json:"business_name"`
	PaidBy   string      `json:"paid_by"`
	PaidFor  string      `json:"paid_for_by"`
	Country  string      `json:"country_code"`
}

func (a advertiser) id() string   { return string(cmp.Or(a.ID, a.Misspelt)) }
func (a advertiser) name() string { return cmp.Or(a.Name, a.PaidFor, a.PaidBy) }

func advertiserURL(id string) string {
	return "https://library.tiktok.com/ads?" + url.Values{"region": {"all"}, "adv_biz_ids": {id}}.Encode()
}

func (c *client) advertisers(
	ctx context.Context, q providers.AdvertisersQuery, _ string,
) (page providers.Page[schema.Advertiser], err error) {
	rows, err := c.findAdvertisers(ctx, q.Query)
	if err != nil {
		return page, err
	}
	page.Items, err = wire.Items(ctx, "data.advertisers", rows, advertiser.advertiser)
	return page, err
}

// findAdvertisers searches by name. The answer has one page.
// https://developers.tiktok.com/doc/commercial-content-api-query-advertisers
func (c *client) findAdvertisers(ctx context.Context, term string) (wire.Rows[advertiser], error) {
	var answer struct {
		Data struct {
			Advertisers wire.Rows[advertiser] `json:"advertisers"`
		} `json:"data"`
	}
	if err := shortEnough(term); err != nil {
		return answer.Data.Advertisers, err
	}
	r := ask("adlib/advertiser/query/", advertiserFields, map[string]any{"search_term": term, "max_count": adPage}).On(c.ads)
	r.Input = true
	_, err := c.http.Read(ctx, r, &answer)
	if err != nil {
		return wire.Rows[advertiser]{}, err
	}
	err = answer.Data.Advertisers.Check(ctx, "data.advertisers")
	return answer.Data.Advertisers, err
}

// advertiser converts a. It always reports true.
func (a advertiser) advertiser(raw json.RawMessage) (schema.Advertiser, bool) {
	return schema.Advertiser{
		Common:  schema.Common{ID: a.id(), URL: advertiserURL(a.id()), Raw: raw},
		Name:    a.name(),
		Country: text.NonEmpty(a.Country),
	}, true
}
