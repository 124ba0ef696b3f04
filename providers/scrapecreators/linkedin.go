package scrapecreators

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/ids"
	"github.com/socialdata/socialdata/providers/kit/links"
	"github.com/socialdata/socialdata/providers/kit/text"
	"github.com/socialdata/socialdata/providers/kit/upstream"
	"github.com/socialdata/socialdata/providers/kit/wire"
	"github.com/socialdata/socialdata/providers/linkedin"
	"github.com/socialdata/socialdata/schema"
)

// linkedinReads reads the vendor's data from LinkedIn's public pages.
type linkedinReads struct{ *client }

func (c *client) linkedin() providers.Provider {
	r := linkedinReads{c}
	shown := providers.Filters{"country": nil, "since": nil, "until": nil}
	return providers.Provider{
		Platform:   platform.LinkedIn,
		Profile:    r.profile,
		Posts:      r.posts,
		Post:       r.post,
		Comments:   r.comments,
		Search:     r.search,
		Transcript: r.transcript,
		Ads:        r.ads,
		AdsSearch:  r.searchAds,
		Ad:         one(c, byURL("v1/linkedin/ad", after(linkedinAds)), "", alone(linkedinAd.row), sameAd),
		Filters: map[providers.Op]providers.Filters{
			providers.OpSearch:    {"kind": {"post"}, "since": nil},
			providers.OpAds:       shown,
			providers.OpAdsSearch: shown,
		},
		Notes: map[providers.Op]string{
			providers.OpProfile:  "the reseller does not have the followers of a company",
			providers.OpPosts:    "the reseller only has those of companies, at most seven pages",
			providers.OpPost:     "the reseller finds it best by its address; articles require the reseller",
			providers.OpComments: "the reseller has the first few, from the page of the post",
			providers.OpSearch:   "the reseller has a search engine's results for LinkedIn, at most eleven pages",
		},
	}
}

const (
	linkedinSite  = "https://www.linkedin.com/"
	linkedinPages = 7 // of a company's posts
)

// linkedinPerson reports whether a handle, such as in/ann or company/tea, is a person's.
func linkedinPerson(handle string) bool { return strings.HasPrefix(handle, "in/") }

func linkedinActor(handle string) schema.Actor { return linkedin.ActorAt(linkedinSite+handle, "", "") }

// profile reads a profile. The answer does not name the account.
// https://docs.scrapecreators.com/v1/linkedin/profile
// https://docs.scrapecreators.com/v1/linkedin/company
func (r linkedinReads) profile(ctx context.Context, handle string) (p schema.Profile, err error) {
	route := "v1/linkedin/company"
	if linkedinPerson(handle) {
		route = "v1/linkedin/profile"
	}
	a, err := upstream.Object[linkedinAccount](ctx, r.http, upstream.Get(route).Says("url", linkedinSite+handle), "")
	if err != nil {
		return p, err
	}
	p = a.V.profile(handle, a.Raw)
	if err := wire.Need(ctx, "name", p.DisplayName != nil); err != nil {
		return p, err
	}
	if _, slug, _ := strings.Cut(handle, "/"); !linkedinPerson(handle) && links.Digits(slug) {
		return p, wire.Same(ctx, "company", slug, p.ID)
	}
	return p, nil
}

// linkedinAccount is a person or a company.
type linkedinAccount struct {
	ID          wire.Serial `json:"id"` // of a company
	Name        string      `json:"name"`
	About       string      `json:"about"`       // for a person; LinkedIn cuts it short
	Description string      `json:"description"` // of a company
	Image       string      `json:"image"`       // of a person
	Logo        string      `json:"logo"`        // of a company
	Website     string      `json:"website"`
	Followers   wire.Count  `json:"followers"` // of a person
	Location    linkedinAt  `json:"location"`
}

// linkedinAt is the location of a company. A person's location is only a text.
type linkedinAt struct{ country string }

// UnmarshalJSON never fails.
func (l *linkedinAt) UnmarshalJSON(b []byte) error {
	var at struct {
		Country string `json:"country"`
	}
	_ = json.Unmarshal(b, &at) // a text has no country
	l.country = at.Country
	return nil
}

func (a linkedinAccount) profile(handle string, raw json.RawMessage) schema.Profile {
	who := linkedinActor(handle)
	p := schema.Profile{
		Common: schema.Common{
			ID: cmp.Or(string(a.ID), who.ID), URL: text.URLOr(linkedinSite+handle, linkedinSite), Raw: raw,
		},
		Handle:      who.Handle,
		DisplayName: text.NonEmpty(a.Name),
		Bio:         text.NonEmpty(cmp.Or(a.About, a.Description)),
		AvatarURL:   text.URL(cmp.Or(a.Image, a.Logo)),
		Followers:   a.Followers.V,
		Links:       text.URLs(a.Website),
		Country:     text.NonEmpty(a.Location.country),
	}
	return p
}

// posts reads posts, newest first.
// https://docs.scrapecreators.com/v1/linkedin/company/posts
func (r linkedinReads) posts(ctx context.Context, handle, cursor string) (page providers.Page[schema.Post], err error) {
	if linkedinPerson(handle) {
		return page, providers.Unsupported("ScrapeCreators only lists the posts of companies")
	}
	ask := upstream.Get("v1/linkedin/company/posts").Says("url", linkedinSite+handle)
	return readNumbered(ctx, r.client, ask, cursor, linkedinPages, "posts",
		func(p linkedinPost, raw json.RawMessage) (schema.Post, bool) {
			return p.post(linkedinActor(handle), raw), true
		})
}

// read opens the page of a post, which also has a few of its comments.
// https://docs.scrapecreators.com/v1/linkedin/post
func (r linkedinReads) read(ctx context.Context, id string) (p wire.Object[linkedinPost], err error) {
	ask := upstream.Get("v1/linkedin/post").Says("url", providers.AddressOf(ctx, providers.PostID, linkedin.PostURL(id)))
	if _, err := r.http.Read(ctx, ask, &p); err != nil {
		return p, err
	}
	// A share and its activity have different numbers.
	if got := p.V.id(); got == "" || strings.Contains(got, ":") == strings.Contains(id, ":") {
		return p, wire.Same(ctx, "post", id, got)
	}
	return p, nil
}

func (r linkedinReads) post(ctx context.Context, id string) (schema.Post, error) {
	p, err := r.read(ctx, id)
	if err != nil {
		return schema.Post{}, err
	}
	return p.V.post(schema.UnknownActor(), p.Raw), nil
}

// comments reads comments, which have no ids and no times.
func (r linkedinReads) comments(
	ctx context.Context, postID, _ string,
) (page providers.Page[schema.Comment], err error) {
	p, err := r.read(ctx, postID)
	if err != nil {
		return page, err
	}
	seen := map[string]int{}
	page.Items, err = wire.Items(ctx, "comments", p.V.Said, func(c linkedinComment, raw json.RawMessage) (schema.Comment, bool) {
		out := c.comment(postID, raw)
		if seen[out.ID]++; seen[out.ID] > 1 { // the same text by the same person: only the position distinguishes them
			out.ID = ids.Of(out.ID, fmt.Sprint(seen[out.ID]))
		}
		return out, true
	})
	return page, err
}

// search searches posts with a search engine.
// https://docs.scrapecreators.com/v1/linkedin/search/posts
func (r linkedinReads) search(
	ctx context.Context, q providers.SearchQuery, cursor string,
) (page providers.Page[schema.SearchResult], err error) {
	ask := upstream.Get("v1/linkedin/search/posts").Says("query", q.Query).
		With("date_posted", reaching(q.Since, indexed...)).With("cursor", cursor)
	convert := func(p linkedinPost, raw json.RawMessage) (schema.SearchResult, bool) {
		out := p.post(schema.UnknownActor(), raw)
		return schema.Result(&out), !before(out.CreatedAt, q.Since)
	}
	page, err = upstream.Page(ctx, r.http, ask, upstream.List{Rows: "posts", Next: "cursor"}, convert)
	page.Next = indexedNext(page.Next)
	return page, err
}

// https://docs.scrapecreators.com/v1/linkedin/post/transcript
func (r linkedinReads) transcript(ctx context.Context, q providers.TranscriptQuery) (schema.Transcript, error) {
	page := linkedin.PostURL(q.PostID)
	ask := upstream.Get("v1/linkedin/post/transcript").Says("url", providers.AddressOf(ctx, providers.PostID, page))
	return r.words(ctx, ask, q.PostID, page)
}

// linkedinPost is a post or an article. Its fields depend on the list.
type linkedinPost struct {
	ID          wire.Serial                `json:"id"` // in the list of a company
	URL         string                     `json:"url"`
	Name        string                     `json:"name"` // the title of an article
	Headline    string                     `json:"headline"`
	Description string                     `json:"description"`
	Text        string                     `json:"text"` // in the list of a company
	At          wire.Time                  `json:"datePublished"`
	Likes       wire.Count                 `json:"likeCount"` // reactions of every kind
	Count       wire.Count                 `json:"commentCount"`
	Images      []string                   `json:"images"`
	Image       string                     `json:"image"`
	Author      linkedinAuthor             `json:"author"` // not in the list of a company
	Said        wire.Rows[linkedinComment] `json:"comments"`
}

type linkedinAuthor struct {
	Name  string `json:"name"`
	URL   string `json:"url"`
	Image string `json:"image"`
}

func (p linkedinPost) id() string { return cmp.Or(linkedin.PostAt(p.URL), string(p.ID)) }

// post converts p, published by holder if it has no author.
func (p linkedinPost) post(holder schema.Actor, raw json.RawMessage) schema.Post {
	words := cmp.Or(p.Text, p.Description, p.Headline, p.Name)
	if strings.HasPrefix(p.id(), "pulse/") {
		words = text.Join(p.Name, cmp.Or(p.Description, p.Headline))
	}
	out := schema.Post{
		Common:     schema.Common{ID: p.id(), URL: text.URLOr(p.URL, linkedin.PostURL(p.id())), Raw: raw},
		Author:     holder,
		Text:       words,
		CreatedAt:  p.At.V,
		Engagement: schema.Engagement{Likes: p.Likes.V, Comments: p.Count.V},
		Hashtags:   text.Hashtags(words),
	}
	if p.Author != (linkedinAuthor{}) {
		out.Author = linkedin.ActorAt(p.Author.URL, p.Author.Name, p.Author.Image)
	}
	for _, u := range text.URLs(append(p.Images, p.Image)...) {
		out.Media = append(out.Media, schema.Media{Type: schema.Image, URL: u})
	}
	return out
}

type linkedinComment struct {
	Author string `json:"author"`
	URL    string `json:"linkedinUrl"` // of the author
	Text   string `json:"text"`
}

func (c linkedinComment) comment(postID string, raw json.RawMessage) schema.Comment {
	if c.Author == "" && c.Text == "" {
		return schema.Comment{}
	}
	who, page := linkedin.ActorAt(c.URL, c.Author, ""), linkedin.PostURL(postID)
	return schema.Comment{
		Common: schema.Common{ID: ids.Of(page, who.ID, c.Author, c.Text), URL: page, Raw: raw},
		PostID: postID, Author: who, Text: c.Text,
	}
}

// ads reads the ads of a company, given by its number or by a name.
// https://docs.scrapecreators.com/v1/linkedin/ads/search
func (r linkedinReads) ads(
	ctx context.Context, q providers.AdsQuery, cursor string,
) (page providers.Page[schema.Ad], err error) {
	if q.Domain != "" {
		return page, providers.Unsupported("LinkedIn does not list ads by domain")
	}
	parameter := "company"
	if links.Digits(q.AdvertiserID) {
		parameter = "companyId"
	}
	return r.library(ctx, upstream.Get("v1/linkedin/ads/search").Says(parameter, q.AdvertiserID), q.AdFilter, cursor)
}

func (r linkedinReads) searchAds(
	ctx context.Context, q providers.AdsSearchQuery, cursor string,
) (providers.Page[schema.Ad], error) {
	return r.library(ctx, upstream.Get("v1/linkedin/ads/search").Says("keyword", q.Query), q.AdFilter, cursor)
}

func (r linkedinReads) library(
	ctx context.Context, ask upstream.Request, f providers.AdFilter, cursor string,
) (page providers.Page[schema.Ad], err error) {
	from, to := adDays(f)
	ask = ask.With("countries", f.Country).With("startDate", from).With("endDate", to).With("paginationToken", cursor)
	var answer json.RawMessage
	if _, err := r.http.Read(ctx, ask, &answer); err != nil {
		return page, err
	}
	page.Items, err = upstream.Items(ctx, answer, "ads", linkedinAd.row)
	if err != nil || string(wire.Find(answer, "isLastPage")) == "true" {
		return page, err
	}
	page.Next, err = upstream.List{Next: "paginationToken"}.Token(ctx, answer)
	return page, err
}

const linkedinAds = linkedinSite + "ad-library/detail/"

type linkedinAd struct {
	ID          wire.Serial `json:"id"`
	Description string      `json:"description"`
	Headline    string      `json:"headline"`
	Image       string      `json:"image"`
	Video       string      `json:"video"`
	Images      []string    `json:"carouselImages"`
	Type        string      `json:"adType"` // "Single Image Ad"
	Advertiser  string      `json:"advertiser"`
	Page        string      `json:"advertiserLinkedinPage"` // ends in the number of the company
	Button      string      `json:"cta"`
	Destination string      `json:"destinationUrl"`
	Duration    string      `json:"adDuration"` // "" when the dates mean nothing
	Start       wire.Time   `json:"startDate"`
	End         wire.Time   `json:"endDate"`
	Impressions []struct {
		Country string `json:"country"` // its English name
	} `json:"impressionsByCountry"`
}

// linkedinFormats maps the formats on LinkedIn's pages to those of ad libraries.
var linkedinFormats = map[string]string{
	"Single Image Ad": "image", "Video Ad": "video", "Carousel Ad": "carousel", "Text Ad": "text",
	"Document Ad": "document", "Message Ad": "message", "Event Ad": "event", "Spotlight Ad": "spotlight", "Follow Ad": "follow",
}

// row converts a. It always reports true.
func (a linkedinAd) row(raw json.RawMessage) (schema.Ad, bool) {
	out := schema.Ad{
		Common:       schema.Common{ID: string(a.ID), URL: linkedinAds + string(a.ID), Raw: raw},
		Advertiser:   schema.AdvertiserSummary{Name: a.Advertiser, URL: text.URL(a.Page)},
		Text:         a.Description,
		Headline:     text.NonEmpty(a.Headline),
		CallToAction: text.NonEmpty(a.Button),
		LandingURL:   text.URL(without(a.Destination, "trk")),
		Formats:      text.Each([]string{linkedinFormats[a.Type]}),
	}
	if _, id, _ := strings.Cut(a.Page, "/company/"); links.Digits(strings.Trim(id, "/")) {
		out.Advertiser.ID = text.NonEmpty(strings.Trim(id, "/"))
	}
	if a.Duration != "" {
		out.StartedAt, out.EndedAt = a.Start.V, a.End.V
	}
	if film := text.URL(a.Video); film != nil {
		out.Media = []schema.Media{{Type: schema.Video, URL: *film, ThumbnailURL: text.URL(a.Image)}}
		a.Image = ""
	}
	for _, u := range text.URLs(append([]string{a.Image}, a.Images...)...) {
		out.Media = append(out.Media, schema.Media{Type: schema.Image, URL: u})
	}
	for _, c := range a.Impressions {
		out.Countries = append(out.Countries, countryOf(c.Country)...)
	}
	out.Countries = countryCodes(out.Countries...)
	return out, true
}
