package scrapecreators

import (
	"context"
	"encoding/json"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/links"
	"github.com/socialdata/socialdata/providers/kit/text"
	"github.com/socialdata/socialdata/providers/kit/upstream"
	"github.com/socialdata/socialdata/providers/kit/wire"
	"github.com/socialdata/socialdata/schema"
)

// adsOf reads the ads of an advertiser, given by its name.
func (r tiktokReads) adsOf(
	ctx context.Context, q providers.AdsQuery, cursor string,
) (page providers.Page[schema.Ad], err error) {
	if q.Domain != "" {
		return page, providers.Unsupported("TikTok does not list ads by domain")
	}
	if links.Digits(q.AdvertiserID) {
		return page, providers.Unsupported("this source finds an advertiser by its name")
	}
	return r.ads(ctx, "advertiser_name", q.AdvertiserID, cursor)
}

func (r tiktokReads) searchAds(
	ctx context.Context, q providers.AdsSearchQuery, cursor string,
) (providers.Page[schema.Ad], error) {
	return r.ads(ctx, "query", q.Query, cursor)
}

// ads reads a page of TikTok's ad library.
// https://docs.scrapecreators.com/v1/tiktok/ad-library/search
func (r tiktokReads) ads(ctx context.Context, by, words, cursor string) (providers.Page[schema.Ad], error) {
	ask := upstream.Get("v1/tiktok/ad-library/search").Says(by, words).With("cursor", cursor)
	return upstream.Page(ctx, r.http, ask, upstream.List{Rows: "ads", Next: "cursor", More: "has_more"}, tiktokAd.ad)
}

// tiktokAd is an entry of the ad library. It does not say whether the ad is shown now.
type tiktokAd struct {
	ID     wire.Serial `json:"id"`
	URL    string      `json:"url"`
	Name   string      `json:"name"` // of the advertiser
	First  wire.Time   `json:"first_shown_date"`
	Last   wire.Time   `json:"last_shown_date"`
	Videos []struct {
		URL   string `json:"video_url"`
		Cover string `json:"cover_img"`
	} `json:"videos"`
	Images []string `json:"image_urls"`
}

// ad converts a. It always reports true. An entry with neither an advertiser nor media, such as a row of the Creative
// Center, becomes the zero ad, which breaks the schema.
func (a tiktokAd) ad(raw json.RawMessage) (schema.Ad, bool) {
	if a.Name == "" && len(a.Videos) == 0 && len(a.Images) == 0 {
		return schema.Ad{}, true
	}
	out := schema.Ad{
		Common: schema.Common{
			ID: string(a.ID), URL: text.URLOr(a.URL, "https://library.tiktok.com/ads/detail/?ad_id="+string(a.ID)), Raw: raw,
		},
		Advertiser: schema.AdvertiserSummary{Name: a.Name},
		StartedAt:  a.First.V,
		EndedAt:    a.Last.V,
	}
	for _, v := range a.Videos {
		if u := text.URL(v.URL); u != nil {
			out.Media = append(out.Media, schema.Media{Type: schema.Video, URL: *u, ThumbnailURL: text.URL(v.Cover)})
		}
	}
	for _, u := range text.URLs(a.Images...) {
		out.Media = append(out.Media, schema.Media{Type: schema.Image, URL: u})
	}
	for _, m := range out.Media {
		out.Formats = append(out.Formats, string(m.Type))
	}
	out.Formats = text.Each(out.Formats)
	return out, true
}

type tiktokTopAd struct {
	ID        wire.Serial `json:"id"`
	Title     string      `json:"ad_title"`
	Brand     string      `json:"brand_name"`
	Countries []string    `json:"country_code"`
	Landing   string      `json:"landing_page"`
	Page      string      `json:"creative_center_url"`
	Video     struct {
		Duration wire.Float `json:"duration"` // seconds
		Cover    string     `json:"cover"`
		Files    struct {
			P1080 string `json:"1080p"`
			P720  string `json:"720p"`
			P540  string `json:"540p"`
			P480  string `json:"480p"`
			P360  string `json:"360p"`
		} `json:"video_url"`
	} `json:"video_info"`
}

func (a tiktokTopAd) ad(raw json.RawMessage) schema.Ad {
	address := "https://ads.tiktok.com/business/creativecenter/topads/" + string(a.ID)
	out := schema.Ad{
		Common:     schema.Common{ID: string(a.ID), URL: text.URLOr(a.Page, address), Raw: raw},
		Advertiser: schema.AdvertiserSummary{Name: a.Brand},
		Text:       a.Title,
		LandingURL: text.URL(a.Landing),
		Countries:  countryCodes(a.Countries...),
	}
	f := a.Video.Files
	if files := text.URLs(f.P1080, f.P720, f.P540, f.P480, f.P360); files != nil {
		m := schema.Media{Type: schema.Video, URL: files[0], ThumbnailURL: text.URL(a.Video.Cover)}
		if d := a.Video.Duration.V; d != nil && *d > 0 {
			m.DurationS = d
		}
		out.Media, out.Formats = []schema.Media{m}, []string{string(schema.Video)}
	}
	return out
}
