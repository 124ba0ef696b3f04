package zid

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"math"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/pages"
	"github.com/socialdata/socialdata/providers/kit/text"
	"github.com/socialdata/socialdata/providers/kit/upstream"
	"github.com/socialdata/socialdata/providers/kit/wire"
	"github.com/socialdata/socialdata/schema"
)

// products lists the store's products, oldest first. The cursor is the page number.
func (m *merchant) products(
	ctx context.Context, q providers.ProductsQuery, cursor string,
) (page providers.Page[schema.Product], err error) {
	s, n, err := m.open(ctx, q, cursor)
	if err != nil {
		return page, err
	}
	return m.listing(ctx, s, n, m.lang)
}

func (m *merchant) open(ctx context.Context, q providers.ProductsQuery, cursor string) (s shop, n int, err error) {
	if q.Store == "" {
		return s, n, errAccounts
	}
	if n, err = pages.Number(cursor, math.MaxInt); err != nil {
		return s, n, err
	}
	if s, err = m.shop(ctx); err != nil {
		return s, n, err
	}
	return s, n, s.is(q.Store)
}

// errAccounts is returned for the products of an account. It is read-only.
var errAccounts = providers.Unsupported("Zid has products of stores, not of accounts")

const pageSize = "100" // the largest page that Zid documents

// listing reads page n of the products. After the last page Zid answers "not found", which ends the list.
// https://docs.zid.sa, "Retrieve a list of products"
func (m *merchant) listing(ctx context.Context, s shop, n int, lang string) (page providers.Page[schema.Product], err error) {
	var answer struct {
		Results wire.Rows[product] `json:"results"`
		Next    wire.Token         `json:"next"` // the address of the next page, with http:// and without our headers
	}
	r := upstream.Get("products/").With("page", strconv.Itoa(n)).With("page_size", pageSize).
		With("extended", "true").With("ordering", "created_at")
	r.Header = http.Header{"Store-Id": {s.ID}}
	if _, err = m.http.Read(ctx, r, &answer); err != nil {
		return page, listError(err, n)
	}
	page.Items, err = wire.Items(ctx, "results", answer.Results, func(p product, raw json.RawMessage) (schema.Product, bool) {
		return p.product(s, lang, raw), p.listed()
	})
	if err != nil {
		return page, err
	}
	next, err := answer.Next.Next(ctx, "next")
	if err != nil || next == "" {
		return page, err
	}
	page.Next, err = pageOf(ctx, next, n)
	return page, err
}

// pageOf returns the number of the next page from its address. It returns an error if that does not advance, since
// following it would loop forever.
func pageOf(ctx context.Context, address string, n int) (string, error) {
	number := ""
	if u, err := url.Parse(address); err == nil {
		number = u.Query().Get("page")
	}
	next, err := strconv.Atoi(number)
	if err = wire.Need(ctx, "next", err == nil && next > n); err != nil {
		return "", err
	}
	return number, nil
}

// product reads one product.
// https://docs.zid.sa, "Get a product by id"
func (m *merchant) product(ctx context.Context, q providers.ProductQuery) (schema.Product, error) {
	return m.readProduct(ctx, q.ID)
}

func (m *merchant) readProduct(ctx context.Context, id string) (schema.Product, error) {
	if !uuid.MatchString(id) {
		return schema.Product{}, errNoUUID
	}
	s, err := m.shop(ctx)
	if err != nil {
		return schema.Product{}, err
	}
	var p wire.Object[product]
	r := upstream.Get("products", id+"/")
	r.Header, r.Input = http.Header{"Store-Id": {s.ID}}, true
	if _, err := m.http.Read(ctx, r, &p); errors.Is(err, providers.ErrInvalid) { // Zid cannot parse the id: not found
		return schema.Product{}, providers.ErrNotFound
	} else if err != nil {
		return schema.Product{}, err
	}
	switch _, priced := p.V.price(); {
	case !strings.EqualFold(string(p.V.ID), id):
		return schema.Product{}, wire.Same(ctx, "product", id, string(p.V.ID))
	case p.V.hidden():
		return schema.Product{}, providers.NotFound("this product is not published")
	case !priced:
		return schema.Product{}, wire.Need(ctx, "price", false)
	}
	if _, known := p.V.inStock(); !known {
		return schema.Product{}, wire.Need(ctx, "quantity", false)
	}
	return p.V.product(s, m.lang, p.Raw), nil
}

// product is a product of the merchant API.
// https://docs.zid.sa, "Get a product by id"
type product struct {
	ID          wire.ID              `json:"id"`        // a UUID
	ParentID    wire.ID              `json:"parent_id"` // of a variant
	SKU         string               `json:"sku"`
	Name        local                `json:"name"`
	Slug        string               `json:"slug"`
	Description local                `json:"description"` // HTML
	Short       local                `json:"short_description"`
	Price       wire.Float           `json:"price"`      // without VAT
	SalePrice   wire.Float           `json:"sale_price"` // null when there is no sale
	Currency    string               `json:"currency"`
	HTMLURL     string               `json:"html_url"` // its Arabic letters are not escaped
	Images      []picture            `json:"images"`
	Categories  []category           `json:"categories"`
	Rating      *rating              `json:"rating"` // null when there is no rating
	Structure   string               `json:"structure"`
	IsDraft     wire.Bool            `json:"is_draft"`
	IsPublished wire.Bool            `json:"is_published"`
	IsInfinite  wire.Bool            `json:"is_infinite"`
	Quantity    wire.Float           `json:"quantity"` // null for parents, whose stock is that of their variants
	Stocks      wire.Rows[inventory] `json:"stocks"`
}

type inventory struct {
	Available  wire.Count `json:"available_quantity"`
	IsInfinite wire.Bool  `json:"is_infinite"`
}

type category struct {
	Name local `json:"name"`
}

type rating struct {
	Average wire.Float `json:"average"` // 0 without ratings
	Total   wire.Count `json:"total_count"`
}

// picture is an image, which Zid writes in one of four forms.
type picture struct {
	Image  address    `json:"image"`
	Images address    `json:"images"`
	URL    string     `json:"url"`
	Origin string     `json:"origin"`
	Order  wire.Count `json:"display_order"`
}

// place returns the position of the picture: last when it is missing.
func (p picture) place() int64 {
	if p.Order.V == nil {
		return math.MaxInt64
	}
	return *p.Order.V
}

type address struct {
	Full  string `json:"full_size"`
	Large string `json:"large"`
	URL   string `json:"url"`
}

// productFields are the public fields of a product. Costs, warehouses and sales figures are the merchant's own. It is
// read-only.
var productFields = []string{
	"id", "parent_id", "sku", "name", "slug", "price", "sale_price", "formatted_price", "formatted_sale_price", "currency",
	"currency_symbol", "attributes", "categories", "display_order", "has_options", "has_fields", "images", "is_draft",
	"is_infinite", "is_published", "is_taxable", "quantity", "html_url", "weight", "keywords", "requires_shipping",
	"structure", "seo", "rating", "short_description", "description", "created_at", "updated_at",
}

func (p product) hidden() bool {
	return p.IsDraft.Is() || p.IsPublished.Not() && p.IsPublished.V != nil
}

// listed reports false for unpublished products, and for variants, which belong to their parent.
func (p product) listed() bool { return !p.hidden() && p.Structure != "child" && p.ParentID == "" }

// price returns the current price of p; it is unknown if either price is, since the lower one counts.
func (p product) price() (schema.Price, bool) {
	return effective(p.Price, p.SalePrice, p.Currency)
}

func effective(price, sale wire.Float, currency string) (schema.Price, bool) {
	odd := sale.V == nil && !sale.Absent() || sale.V != nil && *sale.V < 0
	if price.V == nil || odd || code(currency) == "" {
		return schema.Price{}, false
	}
	now := *price.V
	if sale.V != nil && *sale.V > 0 && *sale.V < now {
		now = *sale.V
	}
	return schema.Price{Amount: now, Currency: currency}, true
}

// product returns the zero product, which breaks the schema, when the price or stock is unknown: 0 would be a valid
// price.
func (p product) product(s shop, lang string, raw json.RawMessage) schema.Product {
	price, priced := p.price()
	inStock, counted := p.inStock()
	if !priced || !counted || !uuid.MatchString(strings.ToLower(string(p.ID))) {
		return schema.Product{}
	}
	out := schema.Product{
		Common: schema.Common{
			ID: string(p.ID), URL: text.URLOr(p.HTMLURL, pageIn(s.URL, cmp.Or(p.Slug, string(p.ID)))),
			Raw: public(raw, productFields),
		},
		Store:       s.StoreSummary,
		Title:       cmp.Or(p.Name.in(lang), p.SKU, string(p.ID)),
		Description: text.NonEmpty(text.FromHTML(cmp.Or(p.Description.in(lang), p.Short.in(lang)))),
		Price:       price,
		Images:      addresses(p.Images),
		InStock:     inStock,
		Categories:  names(p.Categories, lang),
	}
	out.Rating, out.ReviewsCount = p.Rating.mean()
	return out
}

func pageIn(store, slug string) string {
	return strings.TrimSuffix(store, "/") + "/products/" + url.PathEscape(slug)
}

// inStock reports whether p can be bought now, and whether that is known.
func (p product) inStock() (in, known bool) {
	q := p.Quantity
	in = p.IsInfinite.Is() || q.V != nil && *q.V > 0
	known = p.IsInfinite.V != nil && q.Absent() || p.IsInfinite.Not() && q.V != nil && *q.V >= 0
	known = known && !p.Stocks.Odd() && p.Stocks.Lost() == 0
	for _, s := range p.Stocks.All() {
		in = in || s.V.IsInfinite.Is() || positive(s.V.Available)
		known = known && s.V.Available.V != nil
	}
	return in && !p.hidden(), in || known
}

func positive(c wire.Count) bool { return c.V != nil && *c.V > 0 }

// mean returns the average rating and the number of ratings; both are nil when unknown.
func (r *rating) mean() (mean *float64, count *int64) {
	if r == nil {
		return nil, nil
	}
	if v := r.Average.V; positive(r.Total) && v != nil && *v >= 0 && *v <= 5 {
		mean = v
	}
	return mean, r.Total.V
}

func names(list []category, lang string) []string {
	var out []string
	for _, c := range list {
		out = append(out, c.Name.in(lang))
	}
	return text.Each(out)
}

// addresses returns the addresses of pictures, in the order in which the shop shows them.
func addresses(list []picture) []string {
	slices.SortStableFunc(list, func(a, b picture) int { return cmp.Compare(a.place(), b.place()) })
	var out []string
	for _, p := range list {
		out = append(out, cmp.Or(p.Image.Full, p.Image.Large, p.Image.URL, p.Images.Full, p.URL, p.Origin))
	}
	return text.URLs(out...)
}

// namesOf returns the name of a product in every language, from its raw.
func namesOf(raw json.RawMessage) string {
	var p struct {
		Name local `json:"name"`
	}
	_ = json.Unmarshal(raw, &p) // a product that was decoded before
	return p.Name.plain + " " + p.Name.ar + " " + p.Name.en
}
