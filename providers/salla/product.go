package salla

import (
	"cmp"
	"context"
	"encoding/json"
	"math"
	"net/http"
	"strconv"
	"strings"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/pages"
	"github.com/socialdata/socialdata/providers/kit/text"
	"github.com/socialdata/socialdata/providers/kit/upstream"
	"github.com/socialdata/socialdata/providers/kit/wire"
	"github.com/socialdata/socialdata/schema"
)

func (m *merchant) products(ctx context.Context, q providers.ProductsQuery, cursor string) (providers.Page[schema.Product], error) {
	var page providers.Page[schema.Product]
	if q.Store == "" {
		return page, providers.Unsupported("salla: products are listed by store")
	}
	ours, err := m.ours(ctx)
	if err != nil {
		return page, err
	}
	if err := isStore(q.Store, ours); err != nil {
		return page, err
	}
	return m.list(ctx, upstream.Get("products"), ours, cursor)
}

func (m *merchant) list(
	ctx context.Context, r upstream.Request, ours schema.StoreSummary, cursor string,
) (providers.Page[schema.Product], error) {
	return listPage(ctx, m.http, r, pageSize, cursor, true, func(p product, raw json.RawMessage) (schema.Product, bool) {
		return p.product(ours, raw), !p.hidden()
	})
}

// listPage reads a page of a list with numbered pages. The cursor is the page number. A list that is not documented
// counts as empty only with a witness.
func listPage[T, O any](
	ctx context.Context, c *upstream.Client, r upstream.Request, size, cursor string, documented bool,
	convert func(v T, raw json.RawMessage) (O, bool),
) (providers.Page[O], error) {
	var answer struct {
		Data       wire.Rows[T] `json:"data"`
		Pagination pagination   `json:"pagination"`
	}
	var page providers.Page[O]
	n, err := pages.Number(cursor, math.MaxInt)
	if err != nil {
		return page, err
	}
	if _, err = c.Read(ctx, r.With("page", strconv.Itoa(n)).With("per_page", size), &answer); err != nil {
		return page, err
	}
	page.Items, err = wire.Items(ctx, "data", answer.Data, convert)
	if err != nil {
		return page, err
	}
	page.Next, err = answer.Pagination.next(ctx, n)
	if err != nil || documented {
		return page, err
	}
	return page, wire.Witness{
		Rows: answer.Data.Len(), Count: answer.Pagination.Total.V, Cursor: cursor, Last: page.Next == "", More: page.Next != "",
	}.Check(ctx, "data")
}

// pagination describes the length of a list. Its links are not followed, since they lack the page size: they only show
// whether there is another page when the number of pages is missing.
// https://docs.salla.dev
type pagination struct {
	Total      wire.Count `json:"total"` // of all pages
	TotalPages wire.Count `json:"totalPages"`
	Links      wire.Object[struct {
		Next json.RawMessage `json:"next"` // null on the last page
	}] `json:"links"` // an empty list when there is only one page
}

// next returns the cursor of the page after n, "" when there is none.
func (p pagination) next(ctx context.Context, n int) (string, error) {
	more := p.TotalPages.V != nil && int64(n) < *p.TotalPages.V
	if p.TotalPages.V == nil {
		query, err := queryOf(ctx, "pagination.links.next", p.Links.V.Next)
		if err != nil {
			return "", err
		}
		more = query != ""
	}
	if !more {
		return "", nil
	}
	return strconv.Itoa(n + 1), nil
}

func (m *merchant) product(ctx context.Context, q providers.ProductQuery) (schema.Product, error) {
	var answer struct {
		Data wire.Object[product] `json:"data"`
	}
	_, err := m.http.Read(ctx, upstream.Get("products", q.ID), &answer)
	if err != nil {
		return schema.Product{}, err
	}
	p := answer.Data.V
	if err := wire.Same(ctx, "product", q.ID, string(p.ID)); err != nil {
		return schema.Product{}, err
	}
	if err := wire.Need(ctx, "data.status", p.Status != ""); err != nil {
		return schema.Product{}, err
	}
	if p.hidden() {
		return schema.Product{}, providers.NotFound("the store does not show this product")
	}
	_, known := p.cost()
	if err := wire.Need(ctx, "data.price", known); err != nil {
		return schema.Product{}, err
	}
	if err := wire.Need(ctx, "data.is_available", p.inStock() != nil); err != nil {
		return schema.Product{}, err
	}
	ours, err := m.ours(ctx)
	if err != nil {
		return schema.Product{}, err
	}
	return p.product(ours, answer.Data.Raw), nil
}

// product is an element of GET /products.
// https://docs.salla.dev
type product struct {
	ID     wire.Serial `json:"id"`
	Name   string      `json:"name"`
	Status string      `json:"status"` // "sale", "out", "hidden" or "deleted"
	URLs   struct {
		Customer string `json:"customer"` // with Arabic letters unescaped
	} `json:"urls"`
	URL         string          `json:"url"`         // the same
	Description string          `json:"description"` // HTML
	Price       money           `json:"price"`       // current price, with VAT if the store states prices so
	SKUs        wire.Rows[sku]  `json:"skus"`
	MainImage   string          `json:"main_image"`
	Images      wire.Rows[file] `json:"images"`
	IsAvailable wire.Bool       `json:"is_available"`
	Quantity    wire.Count      `json:"quantity"` // null when stock is not counted
	Unlimited   wire.Bool       `json:"unlimited_quantity"`
	Rating      struct {
		Count wire.Count `json:"count"`
		Rate  wire.Float `json:"rate"` // the mean; 0 without ratings
	} `json:"rating"`
	Categories wire.Rows[category] `json:"categories"` // numbers in the short form
}

type money struct {
	Amount   wire.Float `json:"amount"`
	Currency string     `json:"currency"`
}

// sku is one variant of a product with several.
type sku struct {
	Price money `json:"price"`
}

// file is a picture, or a film with an empty url.
type file struct {
	Type string `json:"type"`
	URL  string `json:"url"`
}

type category struct {
	Name  string              `json:"name"`
	Items wire.Rows[category] `json:"items"` // subcategories
}

// hidden reports whether the store does not show p: it shows only what is on sale or sold out.
func (p product) hidden() bool { return p.Status != "" && p.Status != "sale" && p.Status != "out" }

// cost returns the current price, or that of the cheapest variant if the product itself has none; false when it is
// unknown.
func (p product) cost() (schema.Price, bool) {
	own := p.Price.Amount.V
	switch {
	case own == nil || *own < 0:
		return schema.Price{}, false
	case *own > 0:
		return schema.Price{Amount: *own, Currency: p.Price.Currency}, true
	case !p.SKUs.Here() || p.SKUs.Lost() > 0:
		return schema.Price{}, false // the lost one may be the cheapest
	}
	best := 0.0
	for _, s := range p.SKUs.All() {
		amount := s.V.Price.Amount.V
		if amount == nil {
			return schema.Price{}, false
		}
		if *amount > 0 && (best == 0 || *amount < best) {
			best = *amount
		}
	}
	return schema.Price{Amount: best, Currency: p.Price.Currency}, true
}

// product returns the zero product, which breaks the schema, when its visibility, price or stock is unknown.
func (p product) product(store schema.StoreSummary, raw json.RawMessage) schema.Product {
	cost, known := p.cost()
	inStock := p.inStock()
	if !known || inStock == nil || p.Status == "" {
		return schema.Product{}
	}
	return schema.Product{
		Common: schema.Common{
			ID: string(p.ID), URL: text.URLOr(cmp.Or(p.URLs.Customer, p.URL), productURL(store.URL, string(p.ID))), Raw: public(raw),
		},
		Store:        store,
		Title:        p.Name,
		Description:  plain(p.Description),
		Price:        cost,
		Images:       p.pictures(),
		InStock:      *inStock,
		Rating:       mean(p.Rating.Rate, p.Rating.Count),
		ReviewsCount: p.Rating.Count.V,
		Categories:   text.Each(names(p.Categories)),
	}
}

// inStock is nil when it is unknown.
func (p product) inStock() *bool {
	switch {
	case p.Status == "out":
		return new(false)
	case p.IsAvailable.V != nil:
		return p.IsAvailable.V
	case p.Quantity.V != nil && *p.Quantity.V > 0:
		return new(true)
	case p.Quantity.V != nil && p.Unlimited.Not():
		return new(false)
	}
	return p.Unlimited.V
}

func (p product) pictures() []string {
	urls := []string{p.MainImage}
	for _, f := range p.Images.All() {
		if f.V.Type == "image" {
			urls = append(urls, f.V.URL)
		}
	}
	return pictures(urls)
}

// pictures returns the addresses that differ in more than their query.
func pictures(urls []string) []string {
	var out []string
	seen := map[string]bool{}
	for _, u := range text.URLs(urls...) {
		bare, _, _ := strings.Cut(u, "?")
		if !seen[bare] {
			seen[bare] = true
			out = append(out, u)
		}
	}
	return out
}

// names lists categories from the outermost to the innermost.
func names(list wire.Rows[category]) []string {
	var out []string
	for _, c := range list.All() {
		out = append(append(out, strings.TrimSpace(c.V.Name)), names(c.V.Items)...)
	}
	return out
}

// mean returns the mean of ratings, nil when there are none, for which Salla writes 0.
func mean(rate wire.Float, count wire.Count) *float64 {
	if rate.V == nil || *rate.V <= 0 || count.V == nil || *count.V == 0 {
		return nil
	}
	return new(min(*rate.V, 5))
}

// plain returns the text of a description, one line for each paragraph.
func plain(html string) *string {
	var lines []string
	for line := range strings.Lines(text.FromHTML(html)) {
		if line = strings.Join(strings.Fields(line), " "); line != "" {
			lines = append(lines, line)
		}
	}
	return text.NonEmpty(strings.Join(lines, "\n"))
}

// productURL returns the address of a product's page when Salla gives none: only the number in it matters.
func productURL(store, id string) string { return strings.TrimRight(store, "/") + "/p" + id }

// search searches products by a part of their name or by their SKU.
func (m *merchant) search(ctx context.Context, q providers.SearchQuery, cursor string) (providers.Page[schema.SearchResult], error) {
	ours, err := m.ours(ctx)
	if err != nil {
		return providers.Page[schema.SearchResult]{}, err
	}
	found, err := m.list(ctx, in(q.Lang, upstream.Get("products").Says("keyword", q.Query)), ours, cursor)
	if err != nil {
		return providers.Page[schema.SearchResult]{}, err
	}
	return pages.Results(found), nil
}

// in sets the language of a request; "" means the default.
func in(lang string, r upstream.Request) upstream.Request {
	if lang != "" {
		r.Header = http.Header{"Accept-Language": {lang}}
	}
	return r
}
