package scrapecreators

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/text/currency"
	"golang.org/x/text/language"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/links"
	"github.com/socialdata/socialdata/providers/kit/pages"
	"github.com/socialdata/socialdata/providers/kit/text"
	"github.com/socialdata/socialdata/providers/kit/upstream"
	"github.com/socialdata/socialdata/providers/kit/wire"
	"github.com/socialdata/socialdata/schema"
)

func tiktokShop(id string) string { return "https://www.tiktok.com/shop/store/_/" + id }

func tiktokPDP(id string) string { return "https://www.tiktok.com/shop/pdp/" + id }

// products reads the products of a shop, or those that an account shows.
func (r tiktokReads) products(
	ctx context.Context, q providers.ProductsQuery, cursor string,
) (providers.Page[schema.Product], error) {
	if q.Handle != "" {
		return r.shown(ctx, q.Handle, cursor)
	}
	return r.sold(ctx, q.Store, cursor)
}

// shown reads the showcase of an account. There is no flag: the last page has no cursor.
// https://docs.scrapecreators.com/v1/tiktok/user/showcase
func (r tiktokReads) shown(ctx context.Context, handle, cursor string) (providers.Page[schema.Product], error) {
	ask := upstream.Get("v1/tiktok/user/showcase").Says("handle", handle).With("cursor", cursor)
	return upstream.Page(ctx, r.http, ask, upstream.List{Rows: "products", Next: "cursor"}, tiktokListed(""))
}

// tiktokStore is a shop and a page of its products.
type tiktokStore struct {
	Info struct {
		ID   wire.Serial `json:"seller_id"`
		Name string      `json:"shop_name"`
		Link string      `json:"shop_link"`
	} `json:"shopInfo"`
	Products wire.Rows[tiktokProduct] `json:"products"`
	HasMore  wire.Flag                `json:"has_more"`
	Cursor   wire.Token               `json:"cursor"`
}

// shop reads a page of a shop, whose address needs no name.
// https://docs.scrapecreators.com/v1/tiktok/shop/products
func (r tiktokReads) shop(ctx context.Context, id, cursor string) (answer wire.Object[tiktokStore], err error) {
	if !links.Digits(id) {
		return answer, providers.Unsupported("this source only finds a shop by its number or its URL")
	}
	ask := upstream.Get("v1/tiktok/shop/products").Says("url", tiktokShop(id)).With("cursor", cursor)
	if _, err := r.http.Read(ctx, ask, &answer); err != nil {
		return answer, err
	}
	return answer, wire.Same(ctx, "shop", id, string(answer.V.Info.ID))
}

func (s tiktokStore) summary() schema.StoreSummary {
	id := string(s.Info.ID)
	return schema.StoreSummary{ID: id, Name: s.Info.Name, URL: text.URLOr(s.Info.Link, tiktokShop(id))}
}

func (r tiktokReads) sold(ctx context.Context, store, cursor string) (page providers.Page[schema.Product], err error) {
	s, err := r.shop(ctx, store, cursor)
	if err != nil {
		return page, err
	}
	page.Items, err = wire.Items(ctx, "products", s.V.Products, func(p tiktokProduct, raw json.RawMessage) (schema.Product, bool) {
		out, belongs := tiktokListed("")(p, raw)
		out.Store = s.V.summary()
		return out, belongs
	})
	if err != nil {
		return page, err
	}
	page.Next, err = wire.NextIf(ctx, s.V.HasMore, "cursor", s.V.Cursor)
	return page, err
}

func (r tiktokReads) store(ctx context.Context, id string) (f providers.Storefront, err error) {
	s, err := r.shop(ctx, id, "")
	if err != nil {
		return f, err
	}
	return providers.Storefront{StoreSummary: s.V.summary(), Raw: s.Raw}, nil
}

// searchProducts continues until a page has no rows, since the number of results is unknown.
// https://docs.scrapecreators.com/v1/tiktok/shop/search
func (r tiktokReads) searchProducts(ctx context.Context, query, region, cursor string) (providers.Page[schema.Product], error) {
	ask := upstream.Get("v1/tiktok/shop/search").Says("query", query).Says("region", region)
	return readNumbered(ctx, r.client, ask, cursor, endless, "products", tiktokListed(region))
}

// tiktokProduct is a row of every list of products.
type tiktokProduct struct {
	ID    wire.Serial `json:"product_id"`
	Title string      `json:"title"`
	Image tiktokFile  `json:"image"`
	Price wire.Object[struct {
		Sale     tiktokDecimal `json:"sale_price_decimal"`
		Single   tiktokDecimal `json:"single_product_price_decimal"`
		Currency string        `json:"currency_name"`
	}] `json:"product_price_info"`
	Rate struct {
		Score   wire.Float `json:"score"`
		Reviews wire.Count `json:"review_count"`
	} `json:"rate_info"`
	Seller struct {
		ID   wire.Serial `json:"seller_id"`
		Name string      `json:"shop_name"`
	} `json:"seller_info"`
	SEO struct {
		URL string `json:"canonical_url"`
	} `json:"seo_url"`
}

// tiktokListed converts the rows of a list that was requested for a region; "" is the United States.
func tiktokListed(region string) func(tiktokProduct, json.RawMessage) (schema.Product, bool) {
	return func(p tiktokProduct, raw json.RawMessage) (schema.Product, bool) {
		if len(p.Price.V.Currency) != 3 {
			where, _ := language.ParseRegion(cmp.Or(region, "US")) // an unknown region has no currency
			unit, _ := currency.FromRegion(where)
			p.Price.V.Currency = unit.String()
		}
		return p.product(raw)
	}
}

// tiktokDecimal is a price. Digits hidden by TikTok are ? or *.
type tiktokDecimal struct {
	wire.Float
	hidden bool
}

// UnmarshalJSON never fails.
func (d *tiktokDecimal) UnmarshalJSON(b []byte) error {
	d.hidden = b[0] == '"' && bytes.ContainsAny(b, "?*")
	return d.Float.UnmarshalJSON(b)
}

// product reports false if there is no price, or a hidden one. It returns the zero product, which breaks the schema,
// when that is unknown. Listed products can be bought.
func (p tiktokProduct) product(raw json.RawMessage) (schema.Product, bool) {
	price := p.Price.V.Sale
	if price.Absent() {
		price = p.Price.V.Single
	}
	if price.V == nil {
		return schema.Product{}, !p.Price.Here() || !price.Absent() && !price.hidden
	}
	out := schema.Product{
		Common: schema.Common{ID: string(p.ID), URL: text.URLOr(p.SEO.URL, tiktokPDP(string(p.ID))), Raw: raw},
		Store: schema.StoreSummary{
			ID: string(p.Seller.ID), Name: p.Seller.Name, URL: tiktokShop(string(p.Seller.ID)),
		},
		Title:   p.Title,
		Price:   schema.Price{Amount: *price.V, Currency: p.Price.V.Currency},
		InStock: true,
	}
	if u := tiktokURL(p.Image); u != nil {
		out.Images = []string{*u}
	}
	out.Rating, out.ReviewsCount = tiktokRating(p.Rate.Score, p.Rate.Reviews)
	return out, true
}

// tiktokRating returns nil for both when there are no ratings.
func tiktokRating(score wire.Float, count wire.Count) (*float64, *int64) {
	if count.V == nil || *count.V == 0 {
		return nil, count.V
	}
	return score.V, count.V
}

// product reads the page of a product. If its price is hidden, as it usually is, it looks the product up in a search
// for its title.
// https://docs.scrapecreators.com/v1/tiktok/product
func (r tiktokReads) product(ctx context.Context, q providers.ProductQuery) (none schema.Product, err error) {
	ask := upstream.Get("v1/tiktok/product").Says("url", tiktokPDP(q.ID)).Says("region", q.Region)
	answer, err := upstream.Object[tiktokDetail](ctx, r.http, ask, "")
	if err != nil {
		return none, err
	}
	d := answer.V
	if d.Code.V != nil && (*d.Code.V != 0 || !d.Info.Here() && !d.Info.Odd()) {
		return none, absent(d.Message)
	}
	if err := d.Info.check(ctx, "product_info"); err != nil {
		return none, err
	}
	if err := wire.Same(ctx, "product", q.ID, string(d.Info.V.ID)); err != nil {
		return none, err
	}
	if err := d.Info.V.SKUs.Check(ctx, "product_info.skus"); err != nil {
		return none, err
	}
	_, known := d.inStock()
	if err := wire.Need(ctx, "product_info.skus[].stock", known); err != nil {
		return none, err
	}
	if d.unsold() {
		return none, providers.NotFound("no seller currently offers this product at a price")
	}
	price := d.price()
	if price == nil {
		if price, err = r.listed(ctx, q, d.Info.V.Base.Title); err != nil {
			return none, err
		}
	}
	return d.product(answer.Raw, *price), nil
}

// listed returns the price of a product in the search for its title.
func (r tiktokReads) listed(ctx context.Context, q providers.ProductQuery, title string) (*schema.Price, error) {
	hidden := func(cause error) error { return providers.Unavailable(cause, "TikTok hides the price of this product") }
	if title == "" || r.tooExpensive(2) {
		return nil, hidden(nil)
	}
	found, err := r.searchProducts(ctx, title, q.Region, "")
	if err != nil {
		return nil, hidden(err)
	}
	i := slices.IndexFunc(found.Items, func(p schema.Product) bool { return p.ID == q.ID })
	if i < 0 {
		return nil, hidden(nil)
	}
	return &found.Items[i].Price, nil
}

type tiktokDetail struct {
	Code       wire.Count `json:"error_code"`
	Message    string     `json:"error_message"`
	Categories []struct {
		Name  string     `json:"category_name"`
		Level wire.Count `json:"level"`
	} `json:"categories"`
	Info sole[struct {
		ID     wire.Serial `json:"product_id"`
		Seller struct {
			ID   wire.Serial `json:"seller_id"`
			Name string      `json:"name"`
		} `json:"seller"`
		Base struct {
			Title  string       `json:"title"`
			Images []tiktokFile `json:"images"`
			Price  wire.Object[struct {
				Lowest   tiktokAmount `json:"min_sku_price"` // may be masked, as in "2?"
				Real     tiktokAmount `json:"real_price"`    // the same, as displayed
				Currency string       `json:"currency"`
			}] `json:"price"`
		} `json:"product_base"`
		SKUs    wire.Rows[tiktokSKU] `json:"skus"`
		Reviews struct {
			Rating wire.Float `json:"product_rating"`
			Count  wire.Count `json:"review_count"`
		} `json:"product_detail_review"`
	}] `json:"product_info"`
}

// tiktokSKU is a variant of a product.
type tiktokSKU struct {
	Stock wire.Count `json:"stock"`
	Price struct {
		Real struct {
			Value    tiktokAmount `json:"price_val"` // may be masked
			Currency string       `json:"currency"`
		} `json:"real_price"`
	} `json:"price"`
}

// tiktokAmount is a price as TikTok writes it, with or without a currency sign; V is nil when a digit is hidden.
type tiktokAmount struct {
	V    *float64
	here bool // also if hidden
}

var tiktokPrice = regexp.MustCompile(`^[\pSc\pL\s]*(\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d{1,2})?)[\pSc\pL\s]*$`)

// UnmarshalJSON never fails.
func (a *tiktokAmount) UnmarshalJSON(b []byte) error {
	var words string
	var plain wire.Float
	if json.Unmarshal(b, &words) != nil {
		plain.UnmarshalJSON(b) //nolint:errcheck // it never fails
	} else if m := tiktokPrice.FindStringSubmatch(words); m != nil {
		plain.UnmarshalJSON([]byte(strings.ReplaceAll(m[1], ",", ""))) //nolint:errcheck // it never fails
	}
	*a = tiktokAmount{plain.V, string(b) != "null" && string(b) != `""`}
	return nil
}

// unsold reports whether there is no price, not even a hidden one, in the fields for prices.
func (d tiktokDetail) unsold() bool {
	base := d.Info.V.Base.Price
	priced := base.V.Lowest.here || base.V.Real.here || d.Info.V.SKUs.Lost() > 0
	for _, sku := range d.Info.V.SKUs.All() {
		priced = priced || sku.V.Price.Real.Value.here
	}
	return base.Here() && !priced
}

// price returns the lowest price; nil when the price of any variant is hidden.
func (d tiktokDetail) price() *schema.Price {
	base := d.Info.V.Base.Price.V
	if amount := cmp.Or(base.Lowest.V, base.Real.V); amount != nil {
		return &schema.Price{Amount: *amount, Currency: base.Currency}
	}
	if d.Info.V.SKUs.Lost() > 0 {
		return nil
	}
	var lowest *schema.Price
	for _, sku := range d.Info.V.SKUs.All() {
		real := sku.V.Price.Real
		if real.Value.V == nil {
			return nil
		}
		if lowest == nil || *real.Value.V < lowest.Amount {
			lowest = &schema.Price{Amount: *real.Value.V, Currency: cmp.Or(real.Currency, base.Currency)}
		}
	}
	return lowest
}

// inStock reports whether any variant is in stock.
func (d tiktokDetail) inStock() (in, known bool) {
	known = d.Info.V.SKUs.Lost() == 0
	for _, sku := range d.Info.V.SKUs.All() {
		if n := sku.V.Stock.V; n == nil {
			known = false
		} else if *n > 0 {
			return true, true
		}
	}
	return false, known
}

func (d tiktokDetail) product(raw json.RawMessage, price schema.Price) schema.Product {
	info := d.Info.V
	p := schema.Product{
		Common: schema.Common{ID: string(info.ID), URL: tiktokPDP(string(info.ID)), Raw: raw},
		Store: schema.StoreSummary{
			ID: string(info.Seller.ID), Name: info.Seller.Name, URL: tiktokShop(string(info.Seller.ID)),
		},
		Title: info.Base.Title,
		Price: price,
	}
	p.Rating, p.ReviewsCount = tiktokRating(info.Reviews.Rating, info.Reviews.Count)
	p.InStock, _ = d.inStock()
	for _, image := range info.Base.Images {
		if u := tiktokURL(image); u != nil {
			p.Images = append(p.Images, *u)
		}
	}
	for _, c := range d.Categories {
		p.Categories = append(p.Categories, c.Name)
	}
	p.Categories = text.Each(p.Categories)
	return p
}

// https://docs.scrapecreators.com/v1/tiktok/shop/product/reviews
func (r tiktokReads) reviews(
	ctx context.Context, productID, cursor string,
) (page providers.Page[schema.Review], err error) {
	n, err := pages.Number(cursor, endless)
	if err != nil {
		return page, err
	}
	var answer struct {
		Reviews wire.Rows[tiktokReview] `json:"product_reviews"`
		HasMore wire.Bool               `json:"has_more"`
	}
	ask := upstream.Get("v1/tiktok/shop/product/reviews").Says("product_id", productID).With("page", strconv.Itoa(n))
	if _, err := r.http.Read(ctx, ask, &answer); err != nil {
		return page, err
	}
	page.Items, err = wire.Items(ctx, "product_reviews", answer.Reviews, func(v tiktokReview, raw json.RawMessage) (schema.Review, bool) {
		if string(v.ProductID) != productID {
			return schema.Review{}, true // of another product
		}
		return v.review(raw), true
	})
	if err != nil {
		return page, err
	}
	if answer.HasMore.Is() {
		page.Next = strconv.Itoa(n + 1)
	}
	return page, wire.Need(ctx, "has_more", answer.HasMore.V != nil)
}

type tiktokReview struct {
	ID         wire.Serial `json:"review_id"`
	ProductID  wire.Serial `json:"product_id"`
	ReviewerID wire.Serial `json:"reviewer_id"`
	Name       string      `json:"reviewer_name"` // masked, as in "W**n"
	Avatar     string      `json:"reviewer_avatar_url"`
	Rating     wire.Float  `json:"review_rating"`
	Text       string      `json:"review_text"`
	Time       wire.Time   `json:"review_time"` // milliseconds
}

func (v tiktokReview) review(raw json.RawMessage) schema.Review {
	if v.Rating.V == nil || v.ID == "" {
		return schema.Review{}
	}
	author := cmp.Or(string(v.ReviewerID), "review-"+string(v.ID))
	return schema.Review{
		Common:    schema.Common{ID: string(v.ID), URL: tiktokPDP(string(v.ProductID)) + "#review-" + string(v.ID), Raw: raw},
		ProductID: string(v.ProductID),
		Author: schema.Actor{
			ID: author, Handle: author, DisplayName: text.NonEmpty(v.Name), AvatarURL: text.URL(v.Avatar),
		},
		Rating:    *v.Rating.V,
		Text:      strings.TrimSpace(v.Text),
		CreatedAt: v.Time.V,
	}
}
