package scrapecreators

import (
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strings"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/links"
	"github.com/socialdata/socialdata/providers/kit/meta"
	"github.com/socialdata/socialdata/providers/kit/text"
	"github.com/socialdata/socialdata/providers/kit/upstream"
	"github.com/socialdata/socialdata/providers/kit/wire"
	"github.com/socialdata/socialdata/schema"
)

// adsOf reads the ads of a Page, given by its number or by the company's name.
// https://docs.scrapecreators.com/v1/facebook/adLibrary/company/ads
func (r facebookReads) adsOf(
	ctx context.Context, q providers.AdsQuery, cursor string,
) (page providers.Page[schema.Ad], err error) {
	if q.Domain != "" {
		return page, providers.Unsupported("Facebook does not list ads by domain")
	}
	parameter := "companyName"
	if links.Digits(q.AdvertiserID) {
		parameter = "pageId"
	}
	ask := upstream.Get("v1/facebook/adLibrary/company/ads").Says(parameter, q.AdvertiserID)
	return r.library(ctx, ask, "results", q.AdFilter, cursor)
}

// https://docs.scrapecreators.com/v1/facebook/adLibrary/search/ads
func (r facebookReads) searchAds(
	ctx context.Context, q providers.AdsSearchQuery, cursor string,
) (providers.Page[schema.Ad], error) {
	ask := upstream.Get("v1/facebook/adLibrary/search/ads").Says("query", q.Query)
	return r.library(ctx, ask, "searchResults", q.AdFilter, cursor)
}

// library reads a page of the Ad Library. The tokens for the next page are too long for an address, so they are sent
// with POST.
func (r facebookReads) library(
	ctx context.Context, ask upstream.Request, rows string, f providers.AdFilter, cursor string,
) (providers.Page[schema.Ad], error) {
	from, to := adDays(f)
	ask = ask.With("country", f.Country).With("status", strings.ToUpper(f.Status)).With("start_date", from).With("end_date", to)
	if cursor != "" {
		body := map[string]string{"cursor": cursor}
		for name := range ask.Query {
			body[name] = ask.Query.Get(name)
		}
		ask = upstream.Request{Method: http.MethodPost, Path: ask.Path, JSON: body, Retry: true, Input: true}
	}
	return upstream.Page(ctx, r.http, ask, upstream.List{Rows: rows, Next: "cursor"}, facebookAd.ad)
}

// facebookCompanies searches Pages. There is only one page of results.
// https://docs.scrapecreators.com/v1/facebook/adLibrary/search/companies
func facebookCompanies(_ context.Context, q providers.AdvertisersQuery) (upstream.Request, error) {
	return upstream.Get("v1/facebook/adLibrary/search/companies").Says("query", q.Query), nil
}

// ad converts an ad that is read alone.
func (a facebookAdAlone) ad(raw json.RawMessage) schema.Ad {
	return facebookAd(a).saying(facebookWords(a.Snapshot.Body), raw)
}

// facebookAd is an ad in a list. It may show content of another Page that it promotes.
type facebookAd struct {
	ID        wire.Serial      `json:"ad_archive_id"`
	PageID    wire.Serial      `json:"page_id"`
	PageName  string           `json:"page_name"`
	Active    wire.Bool        `json:"is_active"`
	Start     wire.Time        `json:"start_date"`
	End       wire.Time        `json:"end_date"` // for a running ad, when it was last seen
	Countries []string         `json:"targeted_or_reached_countries"`
	Political []string         `json:"political_countries"`
	Snapshot  facebookSnapshot `json:"snapshot"`
}

// facebookAdAlone is the same with other field names.
type facebookAdAlone struct {
	ID        wire.Serial      `json:"adArchiveID"`
	PageID    wire.Serial      `json:"pageID"`
	PageName  string           `json:"pageName"`
	Active    wire.Bool        `json:"isActive"`
	Start     wire.Time        `json:"startDate"`
	End       wire.Time        `json:"endDate"`
	Countries []string         `json:"targetedOrReachedCountries"`
	Political []string         `json:"politicalCountries"`
	Snapshot  facebookSnapshot `json:"snapshot"`
}

type facebookSnapshot struct {
	Body       json.RawMessage `json:"body"` // an object with the text; for a single ad also the text with tags
	Title      string          `json:"title"`
	CallToDo   string          `json:"cta_text"`
	CallType   string          `json:"cta_type"`
	Link       string          `json:"link_url"`
	Format     string          `json:"display_format"`
	PageURI    string          `json:"page_profile_uri"`
	PageID     wire.Serial     `json:"page_id"` // the Page that owns the content
	PageName   string          `json:"page_name"`
	Images     []facebookShot  `json:"images"`
	Videos     []facebookShot  `json:"videos"`
	MoreImages []facebookShot  `json:"extra_images"`
	MoreVideos []facebookShot  `json:"extra_videos"`
	Cards      []facebookShot  `json:"cards"`
}

// facebookShot is a picture or a video, and on a card has a text of its own.
type facebookShot struct {
	Image   string `json:"original_image_url"`
	HD      string `json:"video_hd_url"`
	SD      string `json:"video_sd_url"`
	Preview string `json:"video_preview_image_url"`
	Body    string `json:"body"`
	Title   string `json:"title"`
	Link    string `json:"link_url"`
}

func (s facebookShot) media() []schema.Media {
	if video := facebookVideo(s.Preview, nil, s.HD, s.SD); video != nil {
		return video
	}
	if u := text.URL(s.Image); u != nil {
		return []schema.Media{{Type: schema.Image, URL: *u}}
	}
	return nil
}

// ad converts a. It always reports true.
func (a facebookAd) ad(raw json.RawMessage) (schema.Ad, bool) {
	return a.saying(facebookText(a.Snapshot.Body), raw), true
}

// saying converts an ad with the given text.
func (a facebookAd) saying(words string, raw json.RawMessage) schema.Ad {
	s := a.Snapshot
	var card facebookShot // the first one, which is used for all
	if len(s.Cards) > 0 {
		card = s.Cards[0]
	}
	out := schema.Ad{
		Common:     schema.Common{ID: string(a.ID), URL: facebookSite + "ads/library/?id=" + string(a.ID), Raw: raw},
		Advertiser: schema.AdvertiserSummary{ID: text.NonEmpty(string(a.PageID)), Name: a.PageName},
		Text:       words,
		Headline:   text.NonEmpty(cmp.Or(s.Title, card.Title)),
		LandingURL: text.URL(meta.Unwrap(cmp.Or(s.Link, card.Link))),
		StartedAt:  a.Start.V,
		EndedAt:    a.End.V,
		IsActive:   a.Active.V,
		Countries:  countryCodes(slices.Concat(a.Countries, a.Political)...),
	}
	own := s.PageID == "" || s.PageID == a.PageID
	if own {
		out.Advertiser.Name = cmp.Or(a.PageName, s.PageName)
	}
	if a.PageID != "" {
		out.Advertiser.URL = new(facebookSite + string(a.PageID))
		if own {
			out.Advertiser.URL = new(text.URLOr(s.PageURI, facebookSite+string(a.PageID)))
		}
	}
	if len(s.Cards) > 0 && (out.Text == "" || strings.Contains(out.Text, "{{")) { // a template
		out.Text = cmp.Or(text.FromHTML(card.Body), out.Text)
	}
	if s.CallType != "NO_BUTTON" && !strings.EqualFold(s.CallToDo, "No button") {
		out.CallToAction = text.NonEmpty(s.CallToDo)
	}
	if a.Active.V == nil || *a.Active.V {
		out.EndedAt = nil
	}
	for _, list := range [][]facebookShot{s.Images, s.Videos, s.Cards, s.MoreImages, s.MoreVideos} {
		for _, shot := range list {
			out.Media = append(out.Media, shot.media()...)
		}
	}
	formats := map[string]string{"multi_images": "image", "dco": "dynamic", "dpa": "dynamic"}
	if format := strings.ToLower(s.Format); format != "" {
		out.Formats = []string{cmp.Or(formats[format], format)}
	}
	return out
}

// facebookText returns the text in an object, "" when there is none.
func facebookText(body json.RawMessage) string {
	var object struct {
		Text string `json:"text"`
	}
	if json.Unmarshal(body, &object) != nil {
		return ""
	}
	return text.FromHTML(object.Text)
}

// facebookWords returns a text, which may be within an object.
func facebookWords(body json.RawMessage) string {
	var words string
	if json.Unmarshal(body, &words) != nil {
		return facebookText(body)
	}
	return text.FromHTML(words)
}

type facebookCompany struct {
	ID      wire.Serial `json:"page_id"`
	Name    string      `json:"name"`
	Alias   string      `json:"page_alias"`
	Image   string      `json:"image_uri"`
	Country string      `json:"country"`
}

// advertiser converts c. It always reports true.
func (c facebookCompany) advertiser(raw json.RawMessage) (schema.Advertiser, bool) {
	return schema.Advertiser{
		Common:    schema.Common{ID: string(c.ID), URL: facebookSite + cmp.Or(c.Alias, string(c.ID)), Raw: raw},
		Name:      c.Name,
		AvatarURL: text.URL(c.Image),
		Country:   text.NonEmpty(c.Country),
	}, true
}
