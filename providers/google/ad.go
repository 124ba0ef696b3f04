package google

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"golang.org/x/text/language"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/dom"
	"github.com/socialdata/socialdata/providers/kit/text"
	"github.com/socialdata/socialdata/providers/kit/upstream"
	"github.com/socialdata/socialdata/providers/kit/wire"
	"github.com/socialdata/socialdata/schema"
)

// In the Ads Transparency Center's requests and responses, fields have numbers instead of names.
type (
	creativesQuery struct {
		Size   int             `json:"2"` // 100 at most
		Filter creativesFilter `json:"3"`
		Token  string          `json:"4,omitempty"`
		View   view            `json:"7"`
	}
	creativesFilter struct {
		Regions    []int       `json:"8,omitempty"`
		Words      words       `json:"12"`
		Advertiser *advertiser `json:"13,omitempty"`
	}
	words struct {
		Domain string `json:"1"`
		Exact  bool   `json:"2"`
	}
	advertiser struct {
		IDs []string `json:"1"`
	}
	view struct {
		Kind   int `json:"1"`
		From   int `json:"2"`
		Region int `json:"3"` // of the reader
	}
	creativeQuery struct {
		Advertiser string `json:"1"`
		ID         string `json:"2"`
		View       struct {
			Kind int `json:"1"`
		} `json:"5"`
	}
)

const (
	adsPage = 40
	reader  = 2840 // the United States
)

// region converts a country to Google's geographical target: 2000 plus its number in ISO 3166-1.
// https://developers.google.com/google-ads/api/data/geotargets
func region(country string) ([]int, error) {
	if country == "" {
		return nil, nil
	}
	r, err := language.ParseRegion(country)
	if err != nil || !r.IsCountry() || r.M49() == 0 {
		return nil, providers.Invalid("Google lists no ads for the country %s", country)
	}
	return []int{2000 + r.M49()}, nil
}

// countryOf returns the country of a region, "" for what is not one.
func countryOf(region *int64) string {
	if region == nil || *region < 2000 || *region > 2999 {
		return ""
	}
	r, err := language.EncodeM49(int(*region - 2000))
	if err != nil || !r.IsCountry() {
		return ""
	}
	return r.String()
}

// call sends a query to the center, and decodes the response into dst. It reports whether the response is empty: Google
// writes an empty list, and an ad that does not exist, as an empty object.
func (s *site) call(ctx context.Context, service, method string, query, dst any) (nothing bool, err error) {
	q, err := json.Marshal(query)
	if err != nil {
		return false, err
	}
	res, err := s.ads.Do(ctx, upstream.Request{
		Method: http.MethodPost, Retry: true, Input: true,
		Path: []string{"anji/_/rpc", service, method}, Query: url.Values{"authuser": {""}},
		Form: url.Values{"f.req": {string(q)}},
	})
	if err != nil {
		return false, err
	}
	body := bytes.TrimSpace(bytes.TrimPrefix(res.Body, []byte(")]}'")))
	var refused struct {
		Words string     `json:"2"`
		Code  wire.Count `json:"5"`
	}
	// If the body is not an answer, decoding it into dst fails.
	if json.Unmarshal(body, &refused) == nil && strings.Contains(refused.Words, "Exception") {
		if refused.Code.V != nil && *refused.Code.V == http.StatusBadRequest {
			return false, providers.Invalid("Google rejects this query for ads")
		}
		return false, providers.Unavailable(nil, "Google's ads service answered with an error")
	}
	return string(body) == "{}", wire.Decode(ctx, body, dst)
}

// adsOf reads the ads of an advertiser, or those that lead to a domain. The cursor is Google's.
func (s *site) adsOf(
	ctx context.Context, q providers.AdsQuery, cursor string,
) (page providers.Page[schema.Ad], err error) {
	query := creativesQuery{Size: adsPage, Token: cursor, View: view{Kind: 1, Region: reader}}
	query.Filter.Words = words{Domain: domainOf(q.AdvertiserID + q.Domain), Exact: true}
	if advertiserID.MatchString(q.AdvertiserID) {
		query.Filter.Advertiser = &advertiser{IDs: []string{q.AdvertiserID}}
	} else if query.Filter.Words.Domain == "" {
		err = providers.Invalid("the domain must be one such as example.com")
	}
	if err != nil {
		return page, err
	}
	query.Filter.Regions, err = region(q.Country)
	if err != nil {
		return page, err
	}
	return s.creatives(ctx, query)
}

func (s *site) creatives(ctx context.Context, query creativesQuery) (page providers.Page[schema.Ad], err error) {
	var found struct {
		Ads   wire.Rows[creative] `json:"1"`
		Token wire.Token          `json:"2"` // absent on the last page
	}
	nothing, err := s.call(ctx, "SearchService", "SearchCreatives", query, &found)
	if query.Token != "" && errors.Is(err, providers.ErrInvalid) {
		return page, providers.ErrCursor
	}
	if err != nil || nothing {
		return page, err
	}
	now := time.Now()
	page.Items, err = wire.Items(ctx, "1", found.Ads, func(c creative, raw json.RawMessage) (schema.Ad, bool) {
		return c.ad(now, raw), true
	})
	if err != nil {
		return page, err
	}
	page.Next, err = found.Token.Next(ctx, "2")
	if err != nil {
		return page, err
	}
	// an empty answer is how Google says that there are none
	err = wire.Witness{Rows: found.Ads.Len(), Cursor: query.Token, More: page.Next != ""}.Check(ctx, "1")
	return page, err
}

// creative is an ad in a list.
type creative struct {
	Advertiser string     `json:"1"`
	ID         string     `json:"2"`
	Shows      content    `json:"3"`
	Format     wire.Count `json:"4"`
	First      moment     `json:"6"`
	Last       moment     `json:"7"`
	Name       string     `json:"12"` // of the advertiser
}

// content is the content of an ad: a picture, or a script that draws it.
type content struct {
	Picture struct {
		Image string `json:"2"` // an HTML element
	} `json:"3"`
}

type moment struct {
	At wire.Time `json:"1"`
}

func (c creative) ad(now time.Time, raw json.RawMessage) schema.Ad {
	out := Shown(c.Advertiser, c.ID, c.Last.At.V, now)
	out.Raw = raw
	out.Advertiser.Name = c.Name
	out.StartedAt = c.First.At.V
	out.Formats = formats(c.Format)
	out.Media = pictures(c.Shows)
	return out
}

// lately is how recently an ad must have been shown to count as active: Google only says when it was last shown.
const lately = 48 * time.Hour

// Shown returns the ad with the given id of the advertiser with id of, last shown at the given time. The ad has no id
// when one of the two is missing.
func Shown(of, id string, last *time.Time, now time.Time) schema.Ad {
	if !advertiserID.MatchString(of) || !creativeID.MatchString(id) {
		return schema.Ad{}
	}
	page := AdvertiserURL(of)
	out := schema.Ad{
		Common:     schema.Common{ID: id, URL: page + "/creative/" + id},
		Advertiser: schema.AdvertiserSummary{ID: &of, URL: &page},
	}
	if last != nil {
		active := now.Sub(*last) < lately
		out.IsActive = &active
		if !active {
			out.EndedAt = last
		}
	}
	return out
}

// AdvertiserURL returns the address of an advertiser's page, by its number.
func AdvertiserURL(id string) string { return adsURL + "/advertiser/" + id }

func formats(n wire.Count) []string {
	if n.V == nil {
		return nil
	}
	switch *n.V {
	case 1:
		return []string{"text"}
	case 2:
		return []string{"image"}
	case 3:
		return []string{"video"}
	}
	return nil
}

// pictures returns the images of an ad. What a script draws is left out.
func pictures(shows ...content) (out []schema.Media) {
	for _, c := range shows {
		root, err := dom.Parse([]byte(c.Picture.Image))
		if err != nil {
			continue
		}
		u := text.URL(dom.Attr(dom.First(root, dom.Tag("img")), "src"))
		if u != nil && !slices.ContainsFunc(out, func(m schema.Media) bool { return m.URL == *u }) {
			out = append(out, schema.Media{Type: schema.Image, URL: *u})
		}
	}
	return out
}

// ad reads one ad by its key, such as AR1234/CR5678. Google does not give the advertiser's name there.
func (s *site) ad(ctx context.Context, key string) (schema.Ad, error) {
	of, id, _ := cut(key)
	query := creativeQuery{Advertiser: of, ID: id}
	query.View.Kind = 1
	var found struct {
		Ad wire.Object[detail] `json:"1"`
	}
	nothing, err := s.call(ctx, "LookupService", "GetCreativeById", query, &found)
	if err != nil {
		return schema.Ad{}, err
	}
	if nothing {
		return schema.Ad{}, providers.NotFound("Google shows no such ad")
	}
	if err := wire.Same(ctx, "ad", key, found.Ad.V.Advertiser+"/"+found.Ad.V.ID); err != nil {
		return schema.Ad{}, err
	}
	return found.Ad.V.ad(found.Ad.Raw), nil
}

// cut splits the key of an ad.
func cut(key string) (of, id string, both bool) { return strings.Cut(key, "/") }

// detail is an ad read alone, in which the same fields have other numbers.
type detail struct {
	Advertiser string             `json:"1"`
	ID         string             `json:"2"`
	Last       moment             `json:"4"`
	Shows      wire.Rows[content] `json:"5"` // one for each form of the ad
	Format     wire.Count         `json:"8"`
	Regions    wire.Rows[struct {
		ID wire.Count `json:"1"`
	}] `json:"17"`
}

func (d detail) ad(raw json.RawMessage) schema.Ad {
	out := Shown(d.Advertiser, d.ID, d.Last.At.V, time.Now())
	out.Raw = raw
	out.Formats = formats(d.Format)
	var shows []content
	for _, c := range d.Shows.All() {
		shows = append(shows, c.V)
	}
	out.Media = pictures(shows...)
	for _, r := range d.Regions.All() {
		out.Countries = append(out.Countries, countryOf(r.V.ID.V))
	}
	out.Countries = text.Each(out.Countries)
	slices.Sort(out.Countries)
	return out
}
