package scrapecreators

import (
	"context"
	"encoding/json"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/google"
	"github.com/socialdata/socialdata/providers/kit/ids"
	"github.com/socialdata/socialdata/providers/kit/pages"
	"github.com/socialdata/socialdata/providers/kit/text"
	"github.com/socialdata/socialdata/providers/kit/upstream"
	"github.com/socialdata/socialdata/providers/kit/wire"
	"github.com/socialdata/socialdata/schema"
)

// googleReads reads Google's results, and the Ads Transparency Center.
type googleReads struct{ *client }

func (c *client) google() providers.Provider {
	r := googleReads{c}
	return providers.Provider{
		Platform:    platform.Google,
		Search:      r.search,
		Ads:         list(c, googleAds, upstream.List{Rows: "ads", Next: "cursor"}, rows(googleAd.row), nil),
		Ad:          one(c, googleOne, "", alone(googleAd.row), googleSame),
		Advertisers: r.advertisers,
		Filters: map[providers.Op]providers.Filters{
			providers.OpSearch:      {"kind": {string(schema.WebResult)}, "since": nil, "region": nil},
			providers.OpAds:         {"country": nil, "since": nil, "until": nil},
			providers.OpAdvertisers: {"country": nil},
		},
		Notes: map[providers.Op]string{
			providers.OpSearch: "the reseller has at most eleven pages; since is rounded to an hour, a day, a week, a month or a year",
			providers.OpAds:    "by advertiser or domain, without their texts; since and until require the reseller",
			providers.OpAd:     "by its URL, as in lists: the id alone does not contain the advertiser",
		},
	}
}

// googleSame returns an error unless an ad and its advertiser are those of a key.
func googleSame(ctx context.Context, key string, a schema.Ad) error {
	of, id, _ := strings.Cut(key, "/")
	if a.Advertiser.ID == nil || *a.Advertiser.ID != of {
		return wire.Same(ctx, "ad", key, "")
	}
	return wire.Same(ctx, "ad", id, a.ID)
}

const googleRows = 10 // on a page, at most

// search reads a page of results. Positions are counted as if every page were full.
// https://docs.scrapecreators.com/v1/google/search
func (r googleReads) search(
	ctx context.Context, q providers.SearchQuery, cursor string,
) (page providers.Page[schema.SearchResult], err error) {
	n, err := pages.Number(cursor, indexedPages)
	if err != nil {
		return page, err
	}
	var a struct {
		Results wire.Rows[googleResult] `json:"results"`
	}
	ask := upstream.Get("v1/google/search").Says("query", q.Query).With("region", q.Region).
		With("date_posted", reaching(q.Since, indexed...)).With("page", strconv.Itoa(n))
	if _, err := r.http.Read(ctx, ask, &a); err != nil {
		return page, err
	}
	if err := a.Results.Check(ctx, "results"); err != nil {
		return page, err
	}
	for place, row := range a.Results.All() {
		page.Items = append(page.Items, row.V.result(int64((n-1)*googleRows+place+1), row.Raw))
	}
	if len(page.Items) > 0 && n < indexedPages {
		page.Next = strconv.Itoa(n + 1)
	}
	return page, nil
}

// googleAds asks for the ads of an advertiser, or for those that lead to a domain.
// https://docs.scrapecreators.com/v1/google/company/ads
func googleAds(_ context.Context, q providers.AdsQuery) (upstream.Request, error) {
	from, to := adDays(q.AdFilter)
	ask := upstream.Get("v1/google/company/ads").With("region", q.Country).With("start_date", from).With("end_date", to)
	parameter := "domain"
	if strings.HasPrefix(q.AdvertiserID, "AR") {
		parameter = "advertiser_id"
	}
	return ask.Says(parameter, q.AdvertiserID+q.Domain), nil
}

// googleOne asks for one ad by its key, such as AR1234/CR5678. The answer does not have the advertiser's name.
// https://docs.scrapecreators.com/v1/google/ad
func googleOne(_ context.Context, key string) (upstream.Request, error) {
	of, id, _ := strings.Cut(key, "/")
	return upstream.Get("v1/google/ad").Says("url", google.AdvertiserURL(of)+"/creative/"+id), nil
}

type googleResult struct {
	URL         string `json:"url"`
	Title       string `json:"title"`
	Description string `json:"description"` // with the date of the page, if Google shows it
}

// result converts g. It returns the zero result, which breaks the schema, when the address is missing.
func (g googleResult) result(position int64, raw json.RawMessage) schema.SearchResult {
	page := &schema.WebPage{
		Common:   schema.Common{Raw: raw},
		Title:    strings.Join(strings.Fields(g.Title), " "),
		Snippet:  text.NonEmpty(strings.Join(strings.Fields(g.Description), " ")),
		Position: &position,
	}
	if address := text.URL(g.URL); address != nil {
		page.ID, page.URL = ids.Of(*address), *address
		u, err := url.Parse(*address)
		if err != nil {
			return schema.Result(page)
		}
		page.Domain = strings.TrimPrefix(strings.ToLower(u.Hostname()), "www.")
	}
	return schema.Result(page)
}

// googleAd is an ad in a list, or a single one.
type googleAd struct {
	Advertiser string    `json:"advertiserId"`
	ID         string    `json:"creativeId"`
	Name       string    `json:"advertiserName"` // in a list
	Image      string    `json:"imageUrl"`       // in a list
	Format     string    `json:"format"`         // "text", "image" or "video"
	First      wire.Time `json:"firstShown"`
	Last       wire.Time `json:"lastShown"`
	Regions    []struct {
		Code string `json:"regionCode"` // a country's, or "anywhere"
	} `json:"creativeRegions"` // for a single ad
	Forms []googleForm `json:"variations"` // for a single ad
}

// googleForm is one of the forms in which an ad is shown.
type googleForm struct {
	Destination string `json:"destinationUrl"` // without a scheme
	Headline    string `json:"headline"`
	Description string `json:"description"`
	All         string `json:"allText"`
	Image       string `json:"imageUrl"`
}

// row converts a. It always reports true. The text of an ad is that of its first form.
func (a googleAd) row(raw json.RawMessage) (schema.Ad, bool) {
	out := google.Shown(a.Advertiser, a.ID, a.Last.V, time.Now())
	if out.ID == "" {
		return schema.Ad{}, true
	}
	out.Raw, out.Advertiser.Name, out.StartedAt, out.Formats = raw, a.Name, a.First.V, text.Each([]string{a.Format})
	pictures := []string{a.Image}
	for i, f := range a.Forms {
		pictures = append(pictures, f.Image)
		if i > 0 {
			continue
		}
		out.Headline, out.LandingURL = text.NonEmpty(f.Headline), text.URL(f.Destination)
		if out.Text = f.Description; out.Text == "" {
			out.Text = f.All
		}
	}
	for _, u := range text.URLs(pictures...) {
		out.Media = append(out.Media, schema.Media{Type: schema.Image, URL: u})
	}
	for _, region := range a.Regions {
		out.Countries = append(out.Countries, region.Code)
	}
	out.Countries = countryCodes(out.Countries...)
	return out, true
}

// advertisers searches advertisers by name, and then domains.
// https://docs.scrapecreators.com/v1/google/adLibrary/advertisers/search
func (r googleReads) advertisers(
	ctx context.Context, q providers.AdvertisersQuery, _ string,
) (page providers.Page[schema.Advertiser], err error) {
	var answer json.RawMessage
	ask := upstream.Get("v1/google/adLibrary/advertisers/search").Says("query", q.Query).With("region", q.Country)
	if _, err := r.http.Read(ctx, ask, &answer); err != nil {
		return page, err
	}
	if page.Items, err = upstream.Items(ctx, answer, "advertisers", googleAdvertiser.row); err != nil {
		return page, err
	}
	sites, err := upstream.Items(ctx, answer, "websites", func(s googleWebsite, raw json.RawMessage) (schema.Advertiser, bool) {
		return google.Website(s.Domain, raw), true
	})
	page.Items = append(page.Items, sites...)
	return page, err
}

type googleWebsite struct {
	Domain string `json:"domain"`
}

type googleAdvertiser struct {
	ID     string     `json:"advertiser_id"`
	Name   string     `json:"name"`
	Region string     `json:"region"`
	Ads    wire.Count `json:"number_of_ads_estimate"`
}

// row converts a. It always reports true.
func (a googleAdvertiser) row(raw json.RawMessage) (schema.Advertiser, bool) {
	return schema.Advertiser{
		Common: schema.Common{ID: a.ID, URL: google.AdvertiserURL(a.ID), Raw: raw},
		Name:   a.Name, Country: text.NonEmpty(a.Region), AdsCount: a.Ads.V,
	}, true
}
