package salla

import (
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"time"

	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/dates"
	"github.com/socialdata/socialdata/providers/kit/pages"
	"github.com/socialdata/socialdata/providers/kit/text"
	"github.com/socialdata/socialdata/providers/kit/upstream"
	"github.com/socialdata/socialdata/providers/kit/wire"
	"github.com/socialdata/socialdata/schema"
)

// storefront reads what the theme of a store reads from the browser. Only the types of Salla's package
// @salla.sa/twilight are documented, so the wire structs link to no page.
type storefront struct {
	http *upstream.Client
	ours schema.StoreSummary
}

func newOwn(cfg Config) providers.Provider {
	s := &storefront{
		http: upstream.New(upstream.Config{
			HTTP: cfg.HTTP, Base: cmp.Or(cfg.OwnURL, "https://api.salla.dev/store/v1"), Check: check, Absent: absent,
			Header: http.Header{
				"Store-Identifier": {cfg.StoreID}, "Currency": {"SAR"}, "Accept-Language": {language(cfg)},
			},
			Quota: upstream.NewQuota(0, 0), // Salla publishes no limit
		}),
		ours: storeOf(cfg),
	}
	p := providers.Provider{
		Name: "salla_own", Platform: platform.Salla, Source: schema.Own, Prompt: true,
		PageSizes: providers.PagesOf(pageSize, providers.OpProducts).And(commentsSize, providers.OpReviews),
		Products:  s.products,
		Product:   s.product,
		Reviews:   s.reviews,
		Search:    s.search,

		Normalize: normalize, Names: addresses.Names, Also: addresses.Also,
		Filters: map[providers.Op]providers.Filters{providers.OpSearch: searchFilters()},
		Notes: map[providers.Op]string{
			providers.OpStore:    "the API for themes does not have the store's name",
			providers.OpProducts: untaxed,
			providers.OpProduct:  untaxed,
		},
	}
	p = p.Requiring(map[string]string{"store_id": cfg.StoreID, "store_url": cfg.StoreURL})
	return p.IfOwn(cfg.Own, true)
}

func (s *storefront) products(ctx context.Context, q providers.ProductsQuery, cursor string) (providers.Page[schema.Product], error) {
	var page providers.Page[schema.Product]
	if q.Store == "" {
		return page, providers.Unsupported("salla: products are listed by store")
	}
	if err := isStore(q.Store, s.ours); err != nil {
		return page, err
	}
	return s.list(ctx, upstream.Get("products"), url.Values{"source": {"latest"}, "limit": {pageSize}}, cursor)
}

func (s *storefront) search(ctx context.Context, q providers.SearchQuery, cursor string) (providers.Page[schema.SearchResult], error) {
	r := in(q.Lang, upstream.Get("products", "search"))
	r.Input = true
	found, err := s.list(ctx, r, url.Values{"query": {q.Query}}, cursor)
	if err != nil {
		return providers.Page[schema.SearchResult]{}, err
	}
	return pages.Results(found), nil
}

// list reads a page of products. The cursor is the query of the next page's address, which is sent unchanged.
func (s *storefront) list(
	ctx context.Context, r upstream.Request, first url.Values, cursor string,
) (providers.Page[schema.Product], error) {
	var answer struct {
		Data   wire.Rows[item] `json:"data"`
		Cursor struct {
			Next  json.RawMessage `json:"next"`  // an address; null on the last page
			Count wire.Count      `json:"count"` // on this page
		} `json:"cursor"`
	}
	var page providers.Page[schema.Product]
	r.Query = first
	if cursor != "" {
		query, err := url.ParseQuery(cursor)
		if err != nil {
			return page, providers.ErrCursor
		}
		r.Query = query
	}
	_, err := s.http.Read(ctx, r, &answer)
	if err != nil {
		return page, err
	}
	page.Items, err = wire.Items(ctx, "data", answer.Data, func(i item, raw json.RawMessage) (schema.Product, bool) {
		return i.product(s.ours, raw), !i.hidden()
	})
	if err != nil {
		return page, err
	}
	if page.Next, err = queryOf(ctx, "cursor.next", answer.Cursor.Next); err != nil {
		return page, err
	}
	return page, wire.Witness{
		Rows: answer.Data.Len(), Count: answer.Cursor.Count.V, Cursor: cursor, Last: page.Next == "", More: page.Next != "",
	}.Check(ctx, "data")
}

// queryOf returns the query of the next page's address, "" on the last page, which must be marked as such: a missing
// mark would lose the rest of the list. name is the place of the address in the response.
func queryOf(ctx context.Context, name string, next json.RawMessage) (string, error) {
	var token wire.Token
	if err := wire.Need(ctx, name, next != nil); err != nil {
		return "", err
	}
	if err := token.UnmarshalJSON(next); err != nil {
		return "", err
	}
	address, err := token.Next(ctx, name)
	if err != nil || address == "" {
		return "", err
	}
	u, err := url.Parse(address)
	if err != nil {
		return "", wire.Need(ctx, name, false)
	}
	return u.RawQuery, wire.Need(ctx, name, u.RawQuery != "")
}

func (s *storefront) product(ctx context.Context, q providers.ProductQuery) (schema.Product, error) {
	var answer struct {
		Data wire.Object[item] `json:"data"`
	}
	_, err := s.http.Read(ctx, upstream.Get("products", q.ID, "details").With("with[]", "images"), &answer)
	if err != nil {
		return schema.Product{}, err
	}
	i := answer.Data.V
	if err := wire.Same(ctx, "product", q.ID, string(i.ID)); err != nil {
		return schema.Product{}, err
	}
	if i.hidden() {
		return schema.Product{}, providers.NotFound("the store does not show this product")
	}
	if err := wire.Need(ctx, "data.price", i.cost() != nil); err != nil {
		return schema.Product{}, err
	}
	if err := wire.Need(ctx, "data.is_available", i.inStock() != nil); err != nil {
		return schema.Product{}, err
	}
	return i.product(s.ours, answer.Data.Raw), nil
}

// item is a product as themes get it.
type item struct {
	ID          wire.Serial `json:"id"`
	Name        string      `json:"name"`
	Description string      `json:"description"` // HTML
	URL         string      `json:"url"`
	Status      string      `json:"status"`
	Price       wire.Float  `json:"price"`          // current price, with VAT if the store states prices so
	StartsAt    wire.Float  `json:"starting_price"` // of the cheapest variant, when there are several
	Currency    string      `json:"currency"`
	IsAvailable wire.Bool   `json:"is_available"`
	IsOut       wire.Bool   `json:"is_out_of_stock"`
	Rating      struct {
		Count wire.Count `json:"count"`
		Stars wire.Float `json:"stars"`
	} `json:"rating"`
	Image    file            `json:"image"`
	Images   wire.Rows[file] `json:"images"`
	Category category        `json:"category"`
}

func (i item) hidden() bool { return i.Status == "hidden" || i.Status == "deleted" }

// cost returns the current price, or that of the cheapest variant if the product itself has none; nil when it is
// unknown.
func (i item) cost() *float64 {
	switch {
	case i.Price.V == nil || *i.Price.V < 0:
		return nil
	case *i.Price.V == 0 && !i.StartsAt.Absent():
		return i.StartsAt.V
	}
	return i.Price.V
}

// product returns the zero product, which breaks the schema, when the price or the stock is unknown.
func (i item) product(store schema.StoreSummary, raw json.RawMessage) schema.Product {
	cost, inStock := i.cost(), i.inStock()
	if cost == nil || inStock == nil {
		return schema.Product{}
	}
	urls := []string{i.Image.URL}
	for _, f := range i.Images.All() {
		if f.V.Type != "video" {
			urls = append(urls, f.V.URL)
		}
	}
	return schema.Product{
		Common: schema.Common{
			ID: string(i.ID), URL: text.URLOr(i.URL, productURL(store.URL, string(i.ID))), Raw: public(raw),
		},
		Store:        store,
		Title:        i.Name,
		Description:  plain(i.Description),
		Price:        schema.Price{Amount: *cost, Currency: i.Currency},
		Images:       pictures(urls),
		InStock:      *inStock,
		Rating:       mean(i.Rating.Stars, i.Rating.Count),
		ReviewsCount: i.Rating.Count.V,
		Categories:   text.Each([]string{i.Category.Name}),
	}
}

// inStock is nil when it is unknown.
func (i item) inStock() *bool {
	switch {
	case i.IsOut.V != nil && *i.IsOut.V:
		return new(false)
	case i.IsAvailable.V != nil:
		return i.IsAvailable.V
	case i.IsOut.V != nil:
		return new(true)
	}
	return nil
}

// reviews reads the reviews below a product.
func (s *storefront) reviews(ctx context.Context, productID, cursor string) (providers.Page[schema.Review], error) {
	address := productURL(s.ours.URL, productID)
	r := upstream.Get("comments").With("type", "products").With("ids[]", productID).With("sort", "latest")
	return listPage(ctx, s.http, r, commentsSize, cursor, false, func(c comment, raw json.RawMessage) (schema.Review, bool) {
		return c.review(productID, address, raw), c.belongs()
	})
}

const commentsSize = "5" // the page size of comments that themes use

// comment is a rating, or a question with 0 stars.
type comment struct {
	ID        wire.Serial `json:"id"`
	Status    string      `json:"status"`
	Name      string      `json:"name"`
	Avatar    string      `json:"avatar"`
	Stars     wire.Float  `json:"stars"`
	Rating    wire.Float  `json:"rating"` // the same
	Content   string      `json:"content"`
	CreatedAt struct {
		Date     string `json:"date"` // with microseconds
		Timezone string `json:"timezone"`
	} `json:"created_at"`
}

func (c comment) rating() *float64 { return cmp.Or(c.Stars.V, c.Rating.V) }

// belongs reports false for questions, and for what the store has not approved.
func (c comment) belongs() bool {
	stars := c.rating()
	return (c.Status == "approved" || c.Status == "") && (stars == nil || *stars != 0)
}

// review returns the zero review, which breaks the schema, when its approval or its stars are unknown.
func (c comment) review(productID, address string, raw json.RawMessage) schema.Review {
	stars := c.rating()
	if c.Status == "" || stars == nil || c.ID == "" {
		return schema.Review{}
	}
	anchor := "review-" + string(c.ID)
	return schema.Review{
		Common:    schema.Common{ID: string(c.ID), URL: address + "#" + anchor, Raw: public(raw)},
		ProductID: productID,
		Author: schema.Actor{
			ID: anchor, Handle: anchor, DisplayName: text.NonEmpty(c.Name), AvatarURL: text.URL(c.Avatar),
		},
		Rating:    *stars,
		Text:      text.FromHTML(c.Content),
		CreatedAt: c.created(),
	}
}

// created is nil when the zone is unknown.
func (c comment) created() *time.Time {
	if c.CreatedAt.Timezone == "Asia/Riyadh" { // works without an installed zone database
		return dates.Parse(c.CreatedAt.Date+" "+riyadh, moment)
	}
	zone, err := time.LoadLocation(c.CreatedAt.Timezone)
	if err != nil || c.CreatedAt.Timezone == "" {
		return nil
	}
	at, err := time.ParseInLocation("2006-01-02 15:04:05", c.CreatedAt.Date, zone)
	if err != nil || at.Year() <= 1 {
		return nil
	}
	return new(at.UTC())
}
