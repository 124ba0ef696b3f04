package amazon

import (
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"regexp"
	"strings"

	"golang.org/x/net/html"

	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/browser"
	"github.com/socialdata/socialdata/providers/kit/dom"
	"github.com/socialdata/socialdata/providers/kit/text"
	"github.com/socialdata/socialdata/providers/kit/upstream"
	"github.com/socialdata/socialdata/providers/kit/wire"
	"github.com/socialdata/socialdata/schema"
)

// site reads the pages of the shop, with one client for each marketplace.
type site struct {
	http    map[market]*upstream.Client
	markets markets
}

func newOwn(cfg Config) providers.Provider {
	s := &site{http: map[market]*upstream.Client{}, markets: marketsOf(cfg)}
	for _, m := range all {
		s.http[m] = upstream.New(upstream.Config{
			HTTP: cfg.HTTP, Base: cmp.Or(cfg.WebURL, m.url()), Header: asBrowser(m), Absent: absentPage(m),
		})
	}
	addresses := s.markets.addresses()
	return providers.Provider{
		Name: "amazon_own", Platform: platform.Amazon, Source: schema.Own, Prompt: true,
		Product: s.product,
		Reviews: s.reviews,

		Normalize: normalizer(addresses), Names: addresses.Names, Also: addresses.Also,
		Country: addresses.CountryOf, InCountry: addresses.InCountry,
		Filters: map[providers.Op]providers.Filters{
			providers.OpProduct: {"region": s.markets.Countries()}, providers.OpReviews: {"region": s.markets.Countries()},
		},
		Notes: map[providers.Op]string{
			providers.OpProduct: "the data on its page; the store is the marketplace, not the seller",
			providers.OpReviews: "those on the page of the product, about eight; more require a login",
		},
	}
}

// asBrowser returns the headers that a browser sends when a person opens a page, in English and in the currency of the
// marketplace.
func asBrowser(m market) http.Header {
	return browser.Page("Cookie", "i18n-prefs="+m.currency)
}

// open reads the page of a product, and checks that it is about that product.
func (s *site) open(ctx context.Context, in market, id string) (*html.Node, error) {
	res, err := s.http[in].Do(ctx, upstream.Get("dp", id))
	if err != nil {
		return nil, err
	}
	page, err := dom.Parse(res.Body)
	if err != nil {
		return nil, err
	}
	title := dom.Text(dom.First(page, dom.Tag("title")))
	switch {
	case isCheck(page), title == "Robot Check":
		return nil, errRobot
	case title == "Page Not Found":
		return nil, errUnknown
	}
	shown := asinOn(page)
	if err := wire.Need(ctx, "#ASIN", shown != ""); err != nil || res.Moved {
		return page, err
	}
	return page, wire.Same(ctx, "product", id, shown)
}

var inAddress = regexp.MustCompile(`/dp/([A-Z0-9]{10})`)

// asinOn returns the ASIN of the product that a page is about, "" when the page has none.
func asinOn(page *html.Node) string {
	if asin := dom.Attr(dom.First(page, dom.Tag("input"), id("ASIN")), "value"); asin != "" {
		return asin
	}
	address := dom.Attr(dom.First(page, dom.Tag("link"), dom.Is("rel", "canonical")), "href")
	if m := inAddress.FindStringSubmatch(address); m != nil {
		return m[1]
	}
	return ""
}

// isCheck reports whether a page asks the reader to solve a captcha.
func isCheck(page *html.Node) bool {
	for form := range dom.All(page, dom.Tag("form")) {
		if strings.Contains(dom.Attr(form, "action"), "/errors/validateCaptcha") {
			return true
		}
	}
	return false
}

func (s *site) product(ctx context.Context, q providers.ProductQuery) (schema.Product, error) {
	in, id := s.markets.find(q.ID)
	page, err := s.open(ctx, in, id)
	if err != nil {
		return schema.Product{}, err
	}
	p, err := read(page).product(ctx, in)
	if err != nil {
		return schema.Product{}, err
	}
	p.ID, p.URL = s.markets.id(in, id), in.product(id)
	return p, nil
}

// sheet holds the texts of the page of a product.
type sheet struct {
	Title        string   `json:"title"`
	Price        string   `json:"price"`
	Availability string   `json:"availability"`
	Gone         bool     `json:"out_of_stock"`
	Rating       string   `json:"rating"`
	Ratings      string   `json:"ratings"`
	Image        string   `json:"image"`
	Points       []string `json:"points"`
	Crumbs       []string `json:"breadcrumbs"`
}

func id(name string) dom.Match { return dom.Is("id", name) }

func read(page *html.Node) sheet {
	s := sheet{
		Title:        line(dom.First(page, id("productTitle"))),
		Price:        priceOn(page),
		Availability: line(dom.First(page, id("availability"))),
		Gone:         dom.First(page, id("outOfStock")) != nil,
		Rating:       dom.Attr(dom.First(page, id("acrPopover")), "title"),
		Ratings:      line(dom.First(page, id("acrCustomerReviewText"))),
		Image:        pictureOn(page),
	}
	for span := range dom.All(dom.First(page, id("feature-bullets")), dom.Tag("span"), dom.Class("a-list-item")) {
		s.Points = append(s.Points, line(span))
	}
	for a := range dom.All(dom.First(page, id("wayfinding-breadcrumbs_feature_div")), dom.Tag("a")) {
		s.Crumbs = append(s.Crumbs, line(a))
	}
	return s
}

// line returns the text of an element in one line.
func line(n *html.Node) string { return strings.Join(strings.Fields(dom.Text(n)), " ") }

// priceOn returns the price that a buyer pays for one. Crossed-out prices and subscribers' prices are elsewhere. When
// the page has both, the price at its top is that of the offer that Amazon has chosen.
func priceOn(page *html.Node) string {
	for row := range dom.Rows(page, once) {
		if price := cmp.Or(paidIn(row, dom.Class("priceToPay")), paidIn(row, dom.Class("a-price"))); price != "" {
			return price
		}
	}
	if price := paidIn(page, dom.Class("priceToPay")); price != "" {
		return price
	}
	if price := paidIn(dom.First(page, id("corePrice_feature_div")), dom.Class("a-price")); price != "" {
		return price
	}
	for e := range dom.All(page, id("price_inside_buybox")) {
		if !dom.Within(e, subscribed) {
			return line(e)
		}
	}
	return ""
}

// paidIn returns the first price below n that is neither crossed out nor a subscriber's.
func paidIn(n *html.Node, price dom.Match) string {
	for e := range dom.All(n, price) {
		if dom.Class("a-text-price")(e) || dom.Within(e, subscribed) {
			continue
		}
		// The whole price in one piece, for screen readers.
		if said := line(dom.First(e, dom.Class("a-offscreen"))); said != "" {
			return said
		}
	}
	return ""
}

// once matches the offer of a single purchase, when the page also has an offer for subscribers.
func once(e *html.Node) bool {
	name := dom.Attr(e, "id")
	return strings.HasPrefix(name, "newAccordionRow") || strings.HasPrefix(name, "oneTime")
}

// subscribed matches the offer for subscribers, which Amazon calls sns, of Subscribe & Save.
func subscribed(e *html.Node) bool {
	for _, name := range []string{"id", "data-feature-name", "data-a-accordion-row-name"} {
		v := dom.Attr(e, name)
		lower := strings.ToLower(v)
		if strings.HasPrefix(v, "sns") || strings.Contains(v, "_sns") || strings.Contains(lower, "subscri") || strings.Contains(lower, "rcxsubs") {
			return true
		}
	}
	return false
}

// pictureOn returns the address of the main picture in the largest size that the page has.
func pictureOn(page *html.Node) string {
	img := dom.First(page, id("landingImage"))
	if large := dom.Attr(img, "data-old-hires"); large != "" {
		return large
	}
	var sizes map[string][]int // width and height by address
	_ = json.Unmarshal([]byte(dom.Attr(img, "data-a-dynamic-image")), &sizes)
	best, widest := "", 0
	for address, size := range sizes {
		if len(size) > 0 && (size[0] > widest || size[0] == widest && address < best) {
			best, widest = address, size[0]
		}
	}
	return best
}

// product converts s. The result has no id and no url yet.
func (s sheet) product(ctx context.Context, in market) (schema.Product, error) {
	inStock := s.inStock()
	if s.Price == "" && inStock != nil && !*inStock {
		return schema.Product{}, providers.NotFound("no seller currently offers this product at a price")
	}
	amount := in.amount(s.Price)
	err := wire.Need(ctx, "#productTitle", s.Title != "")
	if err != nil {
		return schema.Product{}, err
	}
	if err := wire.Need(ctx, ".priceToPay", amount != nil); err != nil {
		return schema.Product{}, err
	}
	if err := wire.Need(ctx, "#availability", inStock != nil); err != nil {
		return schema.Product{}, err
	}
	raw, err := json.Marshal(s)
	if err != nil {
		return schema.Product{}, err
	}
	return schema.Product{
		Common:       schema.Common{Raw: raw},
		Store:        schema.StoreSummary{ID: in.host(), Name: "Amazon." + in.domain, URL: in.url()},
		Title:        s.Title,
		Description:  text.NonEmpty(strings.Join(text.Each(s.Points), "\n")),
		Price:        schema.Price{Amount: *amount, Currency: in.currency},
		Images:       text.URLs(s.Image),
		InStock:      *inStock,
		Rating:       stars(s.Rating),
		ReviewsCount: text.Count(s.Ratings),
		Categories:   text.Each(s.Crumbs),
	}, nil
}

// inStock parses the availability on the page; nil when the words are unknown. Some phrases for "no" contain a phrase
// for "yes".
func (s sheet) inStock() *bool {
	said := strings.ToLower(s.Availability)
	for _, no := range []string{"unavailable", "out of stock", "غير متوفر"} {
		if s.Gone || strings.Contains(said, no) {
			return new(false)
		}
	}
	for _, yes := range []string{"in stock", "usually ships", "available to ship", "متوفر"} {
		if strings.Contains(said, yes) {
			return new(true)
		}
	}
	return nil
}
