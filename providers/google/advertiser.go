package google

import (
	"context"
	"encoding/json"
	"net/url"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/text"
	"github.com/socialdata/socialdata/providers/kit/wire"
	"github.com/socialdata/socialdata/schema"
)

// advertisersQuery searches advertisers and domains by a prefix.
type advertisersQuery struct {
	Words       string `json:"1"`
	Advertisers int    `json:"2"` // how many
	Domains     int    `json:"3"`
	Regions     []int  `json:"4,omitempty"`
	View        struct {
		Kind int `json:"1"`
	} `json:"5"`
}

const hits = 10 // of each of the two

// advertisers searches advertisers by name, and domains.
func (s *site) advertisers(
	ctx context.Context, q providers.AdvertisersQuery, _ string,
) (page providers.Page[schema.Advertiser], err error) {
	query := advertisersQuery{Words: q.Query, Advertisers: hits, Domains: hits}
	query.View.Kind = 1
	var found struct {
		Rows wire.Rows[suggestedAdvertiser] `json:"1"`
	}
	query.Regions, err = region(q.Country)
	if err != nil {
		return page, err
	}
	nothing, err := s.call(ctx, "SearchService", "SearchSuggestions", query, &found)
	if err != nil || nothing { // an empty answer is how Google says that there are none
		return page, err
	}
	page.Items, err = wire.Items(ctx, "1", found.Rows, suggestedAdvertiser.advertiser)
	if err != nil {
		return page, err
	}
	return page, wire.Witness{Rows: found.Rows.Len()}.Check(ctx, "1")
}

// suggestedAdvertiser is an advertiser or a domain.
type suggestedAdvertiser struct {
	Advertiser struct {
		Name    string `json:"1"`
		ID      string `json:"2"`
		Country string `json:"3"`
		Ads     struct {
			About struct {
				Most wire.Count `json:"2"`
			} `json:"2"`
		} `json:"4"`
	} `json:"1"`
	Domain struct {
		Name string `json:"1"`
	} `json:"2"`
}

// advertiser converts s. It always reports true.
func (s suggestedAdvertiser) advertiser(raw json.RawMessage) (schema.Advertiser, bool) {
	if domain := s.Domain.Name; domain != "" {
		return Website(domain, raw), true
	}
	a := s.Advertiser
	if !advertiserID.MatchString(a.ID) {
		return schema.Advertiser{}, true
	}
	return schema.Advertiser{
		Common:   schema.Common{ID: a.ID, URL: AdvertiserURL(a.ID), Raw: raw},
		Name:     a.Name,
		Country:  text.NonEmpty(a.Country),
		AdsCount: a.Ads.About.Most.V,
	}, true
}

// Website returns a domain that ads lead to as an advertiser.
func Website(domain string, raw json.RawMessage) schema.Advertiser {
	page := adsURL + "/?" + url.Values{"region": {"anywhere"}, "domain": {domain}}.Encode()
	return schema.Advertiser{Common: schema.Common{ID: domain, URL: page, Raw: raw}, Name: domain, Domains: []string{domain}}
}
