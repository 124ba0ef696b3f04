package linkedin

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/links"
	"github.com/socialdata/socialdata/providers/kit/pages"
	"github.com/socialdata/socialdata/providers/kit/text"
	"github.com/socialdata/socialdata/providers/kit/upstream"
	"github.com/socialdata/socialdata/providers/kit/wire"
	"github.com/socialdata/socialdata/schema"
)

const adsPage = "25" // LinkedIn's maximum

// ad is an entry of the ad library, which does not have the text of the ad.
// https://learn.microsoft.com/en-us/linkedin/ad-library/ad-library-api
type ad struct {
	URL     string `json:"adUrl"`
	Details struct {
		Advertiser struct {
			Name string `json:"advertiserName"`
			URL  string `json:"advertiserUrl"`
		} `json:"advertiser"`
		Type       string     `json:"type"`
		Older      string     `json:"adType"` // the same, in older answers
		Stats      statistics `json:"adStatistics"`
		OlderStats statistics `json:"statistics"`
	} `json:"details"`
}

// statistics are present for ads that were shown in the European Union.
type statistics struct {
	First      wire.Time `json:"firstImpressionAt"`
	OlderFirst wire.Time `json:"firstImpressionDate"`
	Last       wire.Time `json:"latestImpressionAt"`
	OlderLast  wire.Time `json:"latestImpressionDate"`
	Countries  []struct {
		Country string `json:"country"` // urn:li:country:DE
	} `json:"impressionsDistributionByCountry"`
}

// adsOf reads the ads of the advertisers with the given name.
func (c *client) adsOf(ctx context.Context, q providers.AdsQuery, cursor string) (providers.Page[schema.Ad], error) {
	if q.Domain != "" {
		return providers.Page[schema.Ad]{}, providers.Unsupported("LinkedIn does not list ads by domain")
	}
	if links.Digits(q.AdvertiserID) { // as a name it would match no advertiser, which is not the same as no ads
		return providers.Page[schema.Ad]{}, providers.Unsupported(
			"LinkedIn's API lists ads by the advertiser's name, not by its number")
	}
	return c.library(ctx, library().With("advertiser", q.AdvertiserID), q.AdFilter, cursor)
}

func (c *client) searchAds(ctx context.Context, q providers.AdsSearchQuery, cursor string) (providers.Page[schema.Ad], error) {
	return c.library(ctx, library().With("keyword", q.Query), q.AdFilter, cursor)
}

func library() upstream.Request {
	return upstream.Get("rest", "adLibrary").With("q", "criteria").With("count", adsPage)
}

func (c *client) library(
	ctx context.Context, r upstream.Request, f providers.AdFilter, cursor string,
) (out providers.Page[schema.Ad], err error) {
	start, err := pages.Offset(cursor)
	if err != nil {
		return out, err
	}
	r = r.With("start", strconv.Itoa(start)).With("dateRange", dateRange(f))
	if f.Country != "" {
		r = r.With("countries", "(value:List("+url.QueryEscape(urn+"country:"+f.Country)+"))")
	}
	var found struct {
		Elements wire.Rows[ad] `json:"elements"`
		Paging   paging        `json:"paging"`
	}
	if _, err := c.http.Read(ctx, r, &found); err != nil {
		return out, err
	}
	out.Items, err = wire.Items(ctx, "elements", found.Elements, func(a ad, raw json.RawMessage) (schema.Ad, bool) {
		return a.ad(raw), true
	})
	if err != nil {
		return out, err
	}
	out.Next, err = found.Paging.next(ctx, start)
	return out, err
}

// dateRange formats the days between which an ad was shown; "" for any.
func dateRange(f providers.AdFilter) string {
	day := func(name string, t time.Time) []string {
		if t.IsZero() {
			return nil
		}
		t = t.UTC()
		return []string{fmt.Sprintf("%s:(year:%d,month:%d,day:%d)", name, t.Year(), t.Month(), t.Day())}
	}
	until := f.Until
	if !until.IsZero() {
		until = until.Add(-1) // until is exclusive, and end is not
	}
	days := append(day("start", f.Since), day("end", until)...)
	if len(days) == 0 {
		return ""
	}
	return "(" + strings.Join(days, ",") + ")"
}

// paging leads to the next page by its address.
// https://learn.microsoft.com/en-us/linkedin/shared/api-guide/concepts/pagination
type paging struct {
	Links wire.Rows[struct {
		Rel  string `json:"rel"`
		Href string `json:"href"`
	}] `json:"links"`
}

func (p paging) next(ctx context.Context, start int) (string, error) {
	if err := p.Links.Check(ctx, "paging.links"); err != nil { // the last page has an empty list
		return "", err
	}
	if err := wire.Need(ctx, "paging.links[]", p.Links.Lost() == 0); err != nil {
		return "", err // the lost link may have been the next one
	}
	for _, l := range p.Links.All() {
		if err := wire.Need(ctx, "paging.links[].rel", l.V.Rel != ""); err != nil {
			return "", err
		}
		if l.V.Rel != "next" {
			continue
		}
		u, err := url.Parse(l.V.Href)
		if err != nil {
			return "", providers.Unreadable(err)
		}
		at, err := strconv.Atoi(u.Query().Get("start"))
		return strconv.Itoa(at), wire.Need(ctx, "paging.links[].href", err == nil && at > start)
	}
	return "", nil
}

func (a ad) ad(raw json.RawMessage) schema.Ad {
	d := a.Details
	out := schema.Ad{
		Common:     schema.Common{ID: behind(a.URL, "detail"), URL: text.URLOr(a.URL, siteURL+"/ad-library"), Raw: raw},
		Advertiser: schema.AdvertiserSummary{Name: d.Advertiser.Name, URL: text.URL(d.Advertiser.URL)},
		StartedAt:  cmp.Or(d.Stats.First.V, d.Stats.OlderFirst.V, d.OlderStats.First.V, d.OlderStats.OlderFirst.V),
		EndedAt:    cmp.Or(d.Stats.Last.V, d.Stats.OlderLast.V, d.OlderStats.Last.V, d.OlderStats.OlderLast.V),
	}
	if id := behind(d.Advertiser.URL, "company"); id != "" {
		out.Advertiser.ID = &id
	}
	for _, c := range slices.Concat(d.Stats.Countries, d.OlderStats.Countries) {
		if code, ok := strings.CutPrefix(c.Country, urn+"country:"); ok {
			out.Countries = append(out.Countries, strings.ToUpper(code))
		}
	}
	out.Countries = text.Each(out.Countries)
	if kind := cmp.Or(d.Type, olderFormat(d.Older)); kind != "" && kind != "$UNKNOWN" {
		out.Formats = []string{kind}
	}
	return out
}

// olderFormat returns the word for a kind of ad in an older answer.
func olderFormat(kind string) string {
	switch kind {
	case "TEXT_AD":
		return "text"
	case "SPONSORED_VIDEO":
		return "video"
	}
	return strings.ToLower(kind)
}

// behind returns the number that follows a word in the path of an address; "" when there is none.
func behind(address, word string) string {
	_, rest, _ := strings.Cut(address, "/"+word+"/")
	id, _, _ := strings.Cut(rest, "?")
	if id = strings.Trim(id, "/"); !links.Digits(id) {
		return ""
	}
	return id
}
