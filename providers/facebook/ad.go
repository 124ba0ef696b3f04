package facebook

import (
	"cmp"
	"context"
	"encoding/json"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/text"
	"github.com/socialdata/socialdata/providers/kit/upstream"
	"github.com/socialdata/socialdata/providers/kit/wire"
	"github.com/socialdata/socialdata/schema"
)

// adFilters are the filters of lists in the Ad Library.
var adFilters = providers.Filters{"country": nil, "status": {"active", "inactive", "all"}, "since": nil, "until": nil}

const adFields = "id,page_id,page_name,ad_creation_time,ad_creative_bodies,ad_creative_link_titles," +
	"ad_creative_link_captions,ad_creative_link_descriptions,ad_delivery_start_time,ad_delivery_stop_time," +
	"ad_snapshot_url,age_country_gender_reach_breakdown,publisher_platforms,languages,eu_total_reach"

// advertiserAds reads the ads of a Page, given by name or number.
func (c *client) advertiserAds(
	ctx context.Context, q providers.AdsQuery, cursor string,
) (out providers.Page[schema.Ad], err error) {
	if q.AdvertiserID == "" {
		return out, providers.Invalid("Facebook lists the ads of a Page: it must be given in the parameter advertiser_id")
	}
	owner, err := c.owner(ctx, q.AdvertiserID)
	if err != nil {
		return out, err
	}
	return c.library(ctx, upstream.Get("ads_archive").With("search_page_ids", owner.ID), q.AdFilter, cursor)
}

func (c *client) searchAds(
	ctx context.Context, q providers.AdsSearchQuery, cursor string,
) (providers.Page[schema.Ad], error) {
	return c.library(ctx, upstream.Get("ads_archive").Says("search_terms", q.Query), q.AdFilter, cursor)
}

// library reads the Ad Library, which requires a country.
func (c *client) library(
	ctx context.Context, r upstream.Request, f providers.AdFilter, cursor string,
) (providers.Page[schema.Ad], error) {
	r = r.Says("ad_reached_countries", `["`+cmp.Or(f.Country, "US")+`"]`).With("ad_type", "ALL").
		With("ad_active_status", strings.ToUpper(cmp.Or(f.Status, "all"))).With("fields", adFields)
	if !f.Since.IsZero() {
		r = r.With("ad_delivery_date_min", f.Since.UTC().Format(time.DateOnly))
	}
	if !f.Until.IsZero() { // our bound is exclusive, Facebook's day inclusive
		r = r.With("ad_delivery_date_max", f.Until.UTC().Add(-time.Nanosecond).Format(time.DateOnly))
	}
	now := time.Now()
	return pageOf(ctx, c.ads, r, cursor, func(a archived, raw json.RawMessage) (schema.Ad, bool) {
		return a.ad(now, withoutTokens(raw)), true
	})
}

// archived is an ad in the library. In older ads some fields are in the singular.
type archived struct {
	ID       wire.Serial `json:"id"`
	PageID   wire.Serial `json:"page_id"`
	PageName string      `json:"page_name"`
	Bodies   []string    `json:"ad_creative_bodies"`
	Body     string      `json:"ad_creative_body"`
	Titles   []string    `json:"ad_creative_link_titles"`
	Title    string      `json:"ad_creative_link_title"`
	Start    wire.Time   `json:"ad_delivery_start_time"`
	Stop     wire.Time   `json:"ad_delivery_stop_time"` // may be in the future
	Snapshot string      `json:"ad_snapshot_url"`       // contains the token
	Reach    []struct {
		Country string `json:"country"`
	} `json:"age_country_gender_reach_breakdown"`
}

func (a archived) ad(now time.Time, raw json.RawMessage) schema.Ad {
	id := a.id()
	out := schema.Ad{
		Common:     schema.Common{ID: id, URL: siteURL + "ads/library/?id=" + id, Raw: raw},
		Advertiser: schema.AdvertiserSummary{Name: a.PageName},
		Text:       cmp.Or(text.First(a.Bodies), a.Body),
		Headline:   text.NonEmpty(cmp.Or(text.First(a.Titles), a.Title)),
		StartedAt:  a.Start.V,
		Countries:  a.countries(),
	}
	if a.PageID != "" {
		out.Advertiser.ID = new(string(a.PageID))
		out.Advertiser.URL = new(siteURL + string(a.PageID))
	}
	if a.Stop.V != nil && !a.Stop.V.After(now) {
		out.EndedAt = a.Stop.V
	}
	if a.Start.V != nil {
		out.IsActive = new(!a.Start.V.After(now) && out.EndedAt == nil)
	}
	return out
}

// id returns the ad's number, which older answers have only in an address.
func (a archived) id() string {
	if u, err := url.Parse(a.Snapshot); a.ID == "" && err == nil {
		return u.Query().Get("id")
	}
	return string(a.ID)
}

func (a archived) countries() []string {
	var out []string
	for _, r := range a.Reach {
		out = append(out, strings.ToUpper(r.Country))
	}
	out = text.Each(out)
	slices.Sort(out)
	return out
}
