package zid

import (
	"cmp"
	"context"
	"encoding/json"
	"math"
	"net/http"
	"strconv"
	"strings"

	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/ids"
	"github.com/socialdata/socialdata/providers/kit/links"
	"github.com/socialdata/socialdata/providers/kit/pages"
	"github.com/socialdata/socialdata/providers/kit/text"
	"github.com/socialdata/socialdata/providers/kit/upstream"
	"github.com/socialdata/socialdata/providers/kit/wire"
	"github.com/socialdata/socialdata/schema"
)

// storefronts reads the undocumented public API of every shop under zid.store.
type storefronts struct {
	client     *http.Client
	base, lang string
}

func newStorefronts(cfg Config) *storefronts {
	return &storefronts{cfg.HTTP, cfg.StorefrontURL, cmp.Or(cfg.Lang, "ar")}
}

func (o *storefronts) provider() providers.Provider {
	return providers.Provider{
		Name: "zid_own", Platform: platform.Zid, Source: schema.Own, Prompt: true,
		PageSizes: providers.PagesOf("24", providers.OpProducts), // as Zid decides
		Products:  o.products,

		Normalize: webAddresses.Normalize, Names: webAddresses.Names, Also: webAddresses.Also,
		Notes: notes(map[providers.Op]string{
			providers.OpStore:    "the storefront only has products",
			providers.OpProduct:  "the storefront only has a list of products",
			providers.OpReviews:  "the storefront only has products",
			providers.OpSearch:   "the storefront only has a list of products",
			providers.OpProducts: "of shops under zid.store, their prices with VAT",
		}),
	}
}

// products lists the products of a shop. Some shops answer every page with the first one, so the cursor holds the page
// number and a mark of the previous page: a page with the same products ends the list.
func (o *storefronts) products(
	ctx context.Context, q providers.ProductsQuery, cursor string,
) (page providers.Page[schema.Product], err error) {
	return o.listing(ctx, q.Store, cursor)
}

func (o *storefronts) listing(
	ctx context.Context, store, cursor string,
) (page providers.Page[schema.Product], err error) {
	switch {
	case store == "":
		return page, errAccounts
	case links.Digits(store):
		return page, providers.Unsupported("the storefront of a shop is given by its address, such as demo%s", domain)
	}
	number, mark, _ := strings.Cut(cursor, ".")
	n, err := pages.Number(number, math.MaxInt)
	if err != nil || cursor != "" && mark == "" {
		return page, providers.ErrCursor
	}
	var answer struct {
		Data       wire.Rows[shown] `json:"data"`
		PagesCount wire.Count       `json:"pages_count"`
		Pagination wire.Object[struct {
			Next    wire.Token `json:"next"`
			Results wire.Count `json:"results"` // of all pages
		}] `json:"pagination"`
	}
	r := upstream.Get("api", "v1", "products").With("page", strconv.Itoa(n))
	if _, err = o.of(store).Read(ctx, r, &answer); err != nil {
		if n > 1 {
			err = listError(err, n)
		}
		return page, err
	}
	page.Items, err = wire.Items(ctx, "data", answer.Data, func(p shown, raw json.RawMessage) (schema.Product, bool) {
		return p.product(store, o.lang, raw), !p.IsDraft.Is() && p.Structure != "child"
	})
	if err != nil {
		return page, err
	}
	now, last := markOf(answer.Data), answer.PagesCount.V
	if now == mark {
		return providers.Page[schema.Product]{}, nil
	}
	if err = wire.Need(ctx, "pagination", answer.Pagination.Here() || last != nil); err != nil {
		return page, err
	}
	next, err := answer.Pagination.V.Next.Next(ctx, "pagination.next")
	if err != nil {
		return page, err
	}
	if more := last == nil || int64(n) < *last; more && (next != "" || !answer.Pagination.Here()) {
		page.Next = strconv.Itoa(n+1) + "." + now
	}
	err = wire.Witness{
		Rows: answer.Data.Len(), Count: cmp.Or(answer.Pagination.V.Results.V, last), Cursor: cursor,
		Last: page.Next == "", More: page.Next != "",
	}.Check(ctx, "data")
	return page, err
}

// of returns the client for one shop. Its host is under zid.store, which normalize ensures.
func (o *storefronts) of(store string) *upstream.Client {
	return upstream.New(upstream.Config{
		HTTP: o.client, Base: cmp.Or(o.base, "https://"+store),
		Header: http.Header{"Accept": {"application/json"}, "Accept-Language": {o.lang}}, Absent: absent,
	})
}

// markOf returns a hash of the products on a page.
func markOf(rows wire.Rows[shown]) string {
	var all []string
	for _, p := range rows.All() {
		all = append(all, string(p.V.ID))
	}
	return ids.Of(all...)
}

// shown is a product as the storefront shows it, such as one of https://demo.zid.store/api/v1/products. Its prices
// include VAT.
type shown struct {
	ID          wire.ID    `json:"id"` // a number, or a UUID in newer shops
	SKU         string     `json:"sku"`
	Name        local      `json:"name"`
	Slug        string     `json:"slug"`
	Description local      `json:"description"` // HTML
	Short       local      `json:"short_description"`
	Price       wire.Float `json:"price"`
	SalePrice   wire.Float `json:"sale_price"`
	Effective   wire.Float `json:"effective_price"`
	Currency    string     `json:"currency"`
	HTMLURL     string     `json:"html_url"`
	MainImage   picture    `json:"main_image"`
	Images      []picture  `json:"images"`
	Categories  []category `json:"categories"`
	Rating      *rating    `json:"rating"`
	Structure   string     `json:"structure"`
	IsDraft     wire.Bool  `json:"is_draft"`
	InStock     wire.Bool  `json:"in_stock"`
	IsInfinite  wire.Bool  `json:"is_infinite"`
	Quantity    wire.Count `json:"quantity"`
}

// price returns the current price of p, which the shop has computed itself.
func (p shown) price() (schema.Price, bool) {
	if v := p.Effective.V; v != nil && code(p.Currency) != "" {
		return schema.Price{Amount: *v, Currency: p.Currency}, true
	}
	if !p.Effective.Absent() {
		return schema.Price{}, false
	}
	return effective(p.Price, p.SalePrice, p.Currency)
}

// product returns the zero product, which breaks the schema, when the price or stock is unknown: 0 would be a valid
// price.
func (p shown) product(store, lang string, raw json.RawMessage) schema.Product {
	price, priced := p.price()
	inStock, known := p.inStock()
	if id := strings.ToLower(string(p.ID)); !priced || !known || !links.Digits(id) && !uuid.MatchString(id) {
		return schema.Product{}
	}
	home := "https://" + store + "/"
	out := schema.Product{
		Common: schema.Common{
			ID: string(p.ID), URL: text.URLOr(p.HTMLURL, pageIn(home, cmp.Or(p.Slug, string(p.ID)))), Raw: raw,
		},
		Store:       schema.StoreSummary{ID: store, Name: strings.TrimSuffix(store, domain), URL: home},
		Title:       cmp.Or(p.Name.in(lang), p.SKU, string(p.ID)),
		Description: text.NonEmpty(text.FromHTML(cmp.Or(p.Description.in(lang), p.Short.in(lang)))),
		Price:       price,
		Images:      text.URLs(append(addresses([]picture{p.MainImage}), addresses(p.Images)...)...),
		InStock:     inStock,
		Categories:  names(p.Categories, lang),
	}
	out.Rating, out.ReviewsCount = p.Rating.mean()
	return out
}

// inStock reports whether p can be bought now, and whether that is known.
func (p shown) inStock() (in, known bool) {
	if p.InStock.V != nil {
		return *p.InStock.V, true
	}
	in = p.IsInfinite.Is() || positive(p.Quantity)
	counted := p.IsInfinite.V != nil && p.Quantity.Absent() || p.IsInfinite.Not() && p.Quantity.V != nil
	return in, in || counted
}
