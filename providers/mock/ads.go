package mock

import (
	"slices"
	"strings"
	"time"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/text"
	"github.com/socialdata/socialdata/schema"
)

func adsKey(q providers.AdsQuery) []string { return []string{q.AdvertiserID, advertiserOf(q.Domain)} }

// ads lists the ads of an advertiser, newest first. A domain selects the advertiser that has it.
func (s *sandbox) ads(q providers.AdsQuery) (series[schema.Ad], error) {
	advertiser := q.AdvertiserID + advertiserOf(q.Domain) // one of the two is empty
	return series[schema.Ad]{
		n:    length("ad", advertiser),
		at:   func(i int) schema.Ad { return s.poster(child(advertiser, "ad", i+1)).ad() },
		keep: ran(q.AdFilter),
	}, nil
}

func adsSearchKey(q providers.AdsSearchQuery) []string { return []string{q.Query} }

// adsSearch finds ads of many advertisers.
func (s *sandbox) adsSearch(q providers.AdsSearchQuery) (series[schema.Ad], error) {
	advertiser := people("ads", q.Query)
	return series[schema.Ad]{
		n:    length("ads", q.Query),
		at:   func(i int) schema.Ad { return s.poster(child(advertiser(i), "ad", 1+i%12)).ad() },
		keep: ran(q.AdFilter),
	}, nil
}

func (s *sandbox) ad(id string) (schema.Ad, error) {
	return s.poster(id).ad(), nil
}

func advertisersKey(q providers.AdvertisersQuery) []string { return []string{q.Query} }

// advertisers finds results for any query, starting with the advertiser of that name.
func (s *sandbox) advertisers(q providers.AdvertisersQuery) (series[schema.Advertiser], error) {
	found := finds("advertisers", q.Query)
	l := series[schema.Advertiser]{n: length("advertisers", q.Query), at: func(i int) schema.Advertiser {
		return s.brand(found(i)).advertiser()
	}}
	if q.Country != "" {
		l.keep = func(a schema.Advertiser) bool { return a.Country != nil && *a.Country == q.Country }
	}
	return l, nil
}

// advertiserOf is the inverse of [domain]: the advertiser of salma-shop.example is salma_shop.
func advertiserOf(domain string) string {
	name, ok := strings.CutSuffix(strings.ToLower(domain), ".example")
	if !ok {
		return name
	}
	return strings.ReplaceAll(name, "-", "_")
}

// ran returns a function that reports whether a filter keeps an ad; nil keeps all.
func ran(f providers.AdFilter) func(schema.Ad) bool {
	if f == (providers.AdFilter{}) {
		return nil
	}
	return func(a schema.Ad) bool {
		active := a.IsActive != nil && *a.IsActive
		switch {
		case f.Country != "" && !slices.Contains(a.Countries, f.Country),
			f.Status == "active" && !active,
			f.Status == "inactive" && active,
			!f.Since.IsZero() && a.EndedAt != nil && a.EndedAt.Before(f.Since),
			!f.Until.IsZero() && a.StartedAt != nil && !a.StartedAt.Before(f.Until):
			return false
		}
		return true
	}
}

// brand is an advertiser in the format of the sandbox platform.
type brand struct {
	BrandID string   `json:"brand_id"`
	Link    string   `json:"link"`
	Name    string   `json:"name"`
	Logo    *string  `json:"logo"`
	Country *string  `json:"country"`
	Ads     *int64   `json:"ads"`
	Domains []string `json:"domains"`
}

func (g *generator) brand(id string) brand {
	d := roll("advertiser", id)
	return brand{
		BrandID: id,
		Link:    g.page("advertisers", id),
		Name:    g.shop(id).Name,
		Logo:    hide(d, 20, g.file("logos", id+".png")),
		Country: hide(d, 10, homeOf(id).country),
		Ads:     hide(d, 10, int64(length("ad", id))),
		Domains: []string{domain(id)},
	}
}

func (b brand) advertiser() schema.Advertiser {
	return schema.Advertiser{
		Common:    common(b.BrandID, b.Link, b),
		Name:      b.Name,
		AvatarURL: b.Logo,
		Country:   b.Country,
		AdsCount:  b.Ads,
		Domains:   b.Domains,
	}
}

// poster is an ad in the format of the sandbox platform.
type poster struct {
	PosterID string   `json:"poster_id"`
	Link     string   `json:"link"`
	For      brand    `json:"for"`
	Headline *string  `json:"headline"`
	Words    string   `json:"words"`
	Files    []file   `json:"files"`
	Button   *string  `json:"button"`
	LeadsTo  *string  `json:"leads_to"`
	From     string   `json:"from"`  // a date
	Until    *string  `json:"until"` // a date; null while the ad is running
	ShownIn  []string `json:"shown_in"`
	Formats  []string `json:"formats"`
}

func (g *generator) poster(id string) poster {
	d, by := roll("ad", id), owner(id)
	_, n := origin(id)
	home := homeOf(by)
	start := g.epoch.AddDate(0, 0, -6*n-d.below(6))
	p := poster{
		PosterID: id,
		Link:     g.page("ads", id),
		For:      g.brand(by),
		Headline: hide(d, 25, pick(d, pitches[home.lang])),
		Words:    pick(d, sentences[home.lang]) + " " + pick(d, pitches[home.lang]),
		Button:   hide(d, 25, pick(d, buttons[home.lang])),
		From:     start.Format(time.DateOnly),
		ShownIn:  []string{home.country},
	}
	if u := text.URL(domain(by) + "/" + id); u != nil {
		p.LeadsTo = hide(d, 20, *u)
	}
	if n%3 == 0 { // every third ad has ended
		p.Until = new(start.AddDate(0, 0, d.between(1, 5)).Format(time.DateOnly))
	}
	if other := pick(d, homes).country; other != home.country {
		p.ShownIn = append(p.ShownIn, other)
	}
	switch n % 4 {
	case 0:
		p.Formats = []string{"text"}
	case 1:
		p.Formats, p.Files = []string{"image"}, []file{g.picture(id, 1)}
	case 2:
		p.Formats, p.Files = []string{"video"}, []file{g.film(d, id, 1)}
	default:
		p.Formats, p.Files = []string{"carousel", "image"}, []file{g.picture(id, 1), g.picture(id, 2), g.picture(id, 3)}
	}
	return p
}

func (p poster) ad() schema.Ad {
	a := schema.Ad{
		Common:       common(p.PosterID, p.Link, p),
		Advertiser:   schema.AdvertiserSummary{ID: &p.For.BrandID, Name: p.For.Name, URL: &p.For.Link},
		Text:         p.Words,
		Headline:     p.Headline,
		CallToAction: p.Button,
		LandingURL:   p.LeadsTo,
		StartedAt:    day(&p.From),
		EndedAt:      day(p.Until),
		IsActive:     new(p.Until == nil),
		Countries:    p.ShownIn,
		Formats:      p.Formats,
	}
	for _, f := range p.Files {
		a.Media = append(a.Media, f.media())
	}
	return a
}

// day parses a date of the platform, which may be null.
func day(date *string) *time.Time {
	if date == nil {
		return nil
	}
	t, err := time.Parse(time.DateOnly, *date)
	if err != nil {
		return nil
	}
	return &t
}
