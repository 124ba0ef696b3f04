package scrapecreators

import (
	"cmp"
	"context"
	"encoding/json"
	"regexp"
	"strings"

	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/text"
	"github.com/socialdata/socialdata/providers/kit/upstream"
	"github.com/socialdata/socialdata/providers/kit/wire"
	"github.com/socialdata/socialdata/schema"
)

// amazonReads reads the storefronts of creators on amazon.com.
type amazonReads struct {
	*client
	before string // prefix of ASINs of amazon.com, when that is not the configured marketplace
}

func (c *client) amazon(country string) providers.Provider {
	r := amazonReads{client: c}
	if country != "" && !strings.EqualFold(country, "US") {
		r.before = "com:"
	}
	return providers.Provider{
		Platform:    platform.Amazon,
		Profile:     r.profile,
		Products:    r.products,
		Collections: r.collections,
		Filters:     map[providers.Op]providers.Filters{providers.OpCollections: {"kind": {string(schema.Playlist)}}},
		Notes: map[providers.Op]string{
			providers.OpProfile:     "a creator with a storefront on amazon.com, by the name after /shop/",
			providers.OpProducts:    "from the reseller, the first few on a creator's storefront on amazon.com, without titles",
			providers.OpCollections: "from the reseller, lists and curations on the front page of a creator's shop on amazon.com",
		},
	}
}

const amazonSite = "https://www.amazon.com/"

// shop reads a storefront, as complete as the vendor has it.
// https://docs.scrapecreators.com/v1/amazon/shop
func (r amazonReads) shop(ctx context.Context, handle string) (s amazonShop, err error) {
	ask := upstream.Get("v1/amazon/shop").Says("url", amazonSite+"shop/"+handle)
	a, err := upstream.Object[amazonShop](ctx, r.http, ask, "")
	if err != nil {
		return s, err
	}
	s = a.V
	s.handle, s.raw = handle, a.Raw
	return s, nil
}

func (r amazonReads) profile(ctx context.Context, handle string) (schema.Profile, error) {
	s, err := r.shop(ctx, handle)
	if err != nil {
		return schema.Profile{}, err
	}
	if err := wire.Need(ctx, "name", s.Name != ""); err != nil {
		return schema.Profile{}, err
	}
	return s.profile(), nil
}

// products reads the trending picks of a creator.
func (r amazonReads) products(
	ctx context.Context, q providers.ProductsQuery, _ string,
) (page providers.Page[schema.Product], err error) {
	if q.Handle == "" {
		return page, providers.Unsupported("ScrapeCreators only lists products of creators: use handle")
	}
	s, err := r.shop(ctx, q.Handle)
	if err != nil {
		return page, err
	}
	page.Items, err = wire.Items(ctx, "trendingPicks", s.Picks, func(p amazonPick, raw json.RawMessage) (schema.Product, bool) {
		return p.product(r.before, s, raw), true
	})
	return page, err
}

func (r amazonReads) collections(
	ctx context.Context, q providers.CollectionsQuery, _ string,
) (page providers.Page[schema.Collection], err error) {
	s, err := r.shop(ctx, q.Handle)
	if err != nil {
		return page, err
	}
	convert := func(l amazonList, raw json.RawMessage) (schema.Collection, bool) { return l.collection(s, raw), true }
	lists, err := wire.Items(ctx, "lists", s.Lists, convert)
	if err != nil {
		return page, err
	}
	curations, err := wire.Items(ctx, "curations", s.Curations, convert)
	page.Items = append(lists, curations...)
	return page, err
}

type amazonShop struct {
	Name        string                `json:"name"`
	Avatar      string                `json:"avatar"`
	Description string                `json:"description"`
	Socials     []string              `json:"socials"`
	Picks       wire.Rows[amazonPick] `json:"trendingPicks"`
	Lists       wire.Rows[amazonList] `json:"lists"`
	Curations   wire.Rows[amazonList] `json:"curations"`

	handle string
	raw    json.RawMessage
}

func (s amazonShop) url() string { return amazonSite + "shop/" + s.handle }

func (s amazonShop) profile() schema.Profile {
	return schema.Profile{
		Common: schema.Common{ID: s.handle, URL: s.url(), Raw: s.raw}, Handle: s.handle, DisplayName: text.NonEmpty(s.Name),
		Bio: text.NonEmpty(s.Description), AvatarURL: text.URL(s.Avatar), Links: text.URLs(s.Socials...),
	}
}

// amazonPick is a product on the front page of a shop. It has no title.
type amazonPick struct {
	URL   string     `json:"url"` // contains its ASIN
	Image string     `json:"image"`
	Price wire.Float `json:"price"`
}

var amazonASIN = regexp.MustCompile(`/getProductDetails/([A-Z0-9]{10})(?:[/?]|$)`)

// product returns the zero product, which breaks the schema, when the price is missing: it may not be for sale.
func (p amazonPick) product(before string, s amazonShop, raw json.RawMessage) schema.Product {
	asin := amazonASIN.FindStringSubmatch(p.URL)
	if asin == nil || p.Price.V == nil {
		return schema.Product{}
	}
	return schema.Product{
		Common:  schema.Common{ID: before + asin[1], URL: amazonSite + "dp/" + asin[1], Raw: raw},
		Store:   schema.StoreSummary{ID: s.handle, Name: cmp.Or(s.Name, s.handle), URL: s.url()},
		Price:   schema.Price{Amount: *p.Price.V, Currency: "USD"},
		Images:  text.URLs(p.Image),
		InStock: true, // unavailable products are not shown
	}
}

// amazonList is a list of products, or a curation of posts.
type amazonList struct {
	Title string     `json:"title"`
	URL   string     `json:"url"` // its path ends in its id
	Image string     `json:"image"`
	Items wire.Count `json:"itemCount"` // for a list
	Posts wire.Count `json:"postCount"` // for a curation
}

// id returns the last part of the path.
func (l amazonList) id() string {
	path, _, _ := strings.Cut(l.URL, "?")
	path = strings.TrimSuffix(path, "/")
	return path[strings.LastIndexByte(path, '/')+1:]
}

func (l amazonList) collection(s amazonShop, raw json.RawMessage) schema.Collection {
	owner := schema.Actor{
		ID: s.handle, Handle: s.handle, DisplayName: text.NonEmpty(s.Name), AvatarURL: text.URL(s.Avatar),
	}
	c := schema.Collection{
		Common: schema.Common{ID: l.id(), URL: text.URLOr(l.URL, s.url()), Raw: raw},
		Kind:   schema.Playlist, Title: l.Title, Owner: &owner, ItemsCount: l.Items.V, CoverURL: text.URL(l.Image),
	}
	if c.ItemsCount == nil {
		c.ItemsCount = l.Posts.V
	}
	return c
}
