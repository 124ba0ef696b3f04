package mock

import (
	"math"
	"strconv"
	"time"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/schema"
)

func productsKey(q providers.ProductsQuery) []string { return []string{q.Store, q.Handle} }

// products lists the products of a store. The id of an account's store is the account's handle.
func (s *sandbox) products(q providers.ProductsQuery) (series[schema.Product], error) {
	store := q.Store + q.Handle // one of the two is empty
	return series[schema.Product]{n: length("product", store), at: func(i int) schema.Product {
		return s.ware(child(store, "product", i+1), "").product()
	}}, nil
}

func productKey(q providers.ProductQuery) []string { return []string{q.ID} }

func (s *sandbox) product(q providers.ProductQuery) (schema.Product, error) {
	return s.ware(q.ID, q.Region).product(), nil
}

func (s *sandbox) store(id string) (providers.Storefront, error) {
	shop := s.shop(id)
	return providers.Storefront{StoreSummary: shop.store(), Raw: raw(shop)}, nil
}

// reviews lists the reviews of a product, newest first.
func (s *sandbox) reviews(productID string) (series[schema.Review], error) {
	return series[schema.Review]{n: length("review", productID), at: func(i int) schema.Review {
		return s.verdict(child(productID, "review", i+1)).review()
	}}, nil
}

// shop is a store in the format of the sandbox platform.
type shop struct {
	ShopID string `json:"shop_id"`
	Link   string `json:"link"`
	Name   string `json:"name"`
}

func (g *generator) shop(id string) shop {
	name := nameOf(id) + " Shop"
	if homeOf(id).lang == "ar" {
		name = "متجر " + nameOf(id)
	}
	return shop{ShopID: id, Link: g.page("stores", id), Name: name}
}

func (s shop) store() schema.StoreSummary {
	return schema.StoreSummary{ID: s.ShopID, Name: s.Name, URL: s.Link}
}

// good is a product in the format of the sandbox platform.
type good struct {
	GoodID   string   `json:"good_id"`
	Link     string   `json:"link"`
	Shop     shop     `json:"shop"`
	Name     string   `json:"name"`
	About    *string  `json:"about"`
	Cost     cost     `json:"cost"`
	Pictures []string `json:"pictures"`
	Left     int      `json:"left"` // in stock
	Stars    *float64 `json:"stars"`
	Verdicts *int64   `json:"verdicts"`
	Path     []string `json:"path"` // categories, widest first
}

// cost is money in the smallest unit of its currency.
type cost struct {
	Amount   int64  `json:"amount"`
	Digits   int    `json:"digits"` // decimal digits: 2 for dollars, 3 for dinars
	Currency string `json:"currency"`
}

func (g *generator) ware(id, region string) good {
	d, store := roll("product", id), owner(id)
	home := homeOf(store)
	currency := home.currency
	for _, h := range homes {
		if h.country == region {
			currency = h.currency
		}
	}
	_, n := origin(id)
	what := wares[(roll("wares", store).below(len(wares))+n)%len(wares)] // each one in turn
	out := good{
		GoodID:   id,
		Link:     g.page("products", id),
		Shop:     g.shop(store),
		Name:     what.title,
		About:    hide(d, 20, pick(d, pitches[home.lang])+"\n"+pick(d, sentences[home.lang])),
		Cost:     price(what.cents, currency),
		Left:     max(0, d.between(-4, 30)),
		Stars:    hide(d, 20, float64(d.between(20, 50))/10),
		Verdicts: hide(d, 15, int64(length("review", id))),
		Path:     what.categories,
	}
	if home.lang == "ar" {
		out.Name = what.arabic
	}
	for n := range d.below(4) {
		out.Pictures = append(out.Pictures, g.file("products", id, strconv.Itoa(n+1)+".jpg"))
	}
	return out
}

// rates are approximate exchange rates to the dollar.
var rates = map[string]float64{"SAR": 3.75, "EGP": 48, "AED": 3.67, "KWD": 0.307, "JOD": 0.709, "MAD": 9.9, "GBP": 0.79, "USD": 1}

func price(cents int, currency string) cost {
	c := cost{Digits: 2, Currency: currency}
	if currency == "KWD" || currency == "JOD" {
		c.Digits = 3
	}
	units := math.Round(float64(cents)/100*rates[currency]*20) / 20 // in steps of 0.05, as in shops
	c.Amount = int64(math.Round(units * math.Pow10(c.Digits)))
	return c
}

func (g good) product() schema.Product {
	return schema.Product{
		Common:       common(g.GoodID, g.Link, g),
		Store:        g.Shop.store(),
		Title:        g.Name,
		Description:  g.About,
		Price:        schema.Price{Amount: float64(g.Cost.Amount) / math.Pow10(g.Cost.Digits), Currency: g.Cost.Currency},
		Images:       g.Pictures,
		InStock:      g.Left > 0,
		Rating:       g.Stars,
		ReviewsCount: g.Verdicts,
		Categories:   g.Path,
	}
}

// verdict is a review in the format of the sandbox platform.
type verdict struct {
	VerdictID string  `json:"verdict_id"`
	Link      string  `json:"link"`
	About     string  `json:"about"` // the id of the product
	By        account `json:"by"`
	Stars     float64 `json:"stars"`
	Words     string  `json:"words"` // may be empty
	Language  *string `json:"language"`
	WroteAt   *int64  `json:"wrote_at"` // Unix seconds
}

func (g *generator) verdict(id string) verdict {
	d := roll("review", id)
	product, n := origin(id)
	by := person(d.below(cast))
	stars, lang := d.between(1, 5), homeOf(by).lang
	return verdict{
		VerdictID: id,
		Link:      g.page("reviews", id),
		About:     product,
		By:        g.account(by),
		Stars:     float64(stars),
		Words:     verdicts[lang][stars-1],
		Language:  hide(d, 40, lang),
		WroteAt:   hide(d, 5, g.ago(time.Duration(n)*20*time.Hour+time.Duration(d.below(20*3600))*time.Second)),
	}
}

func (v verdict) review() schema.Review {
	return schema.Review{
		Common:    common(v.VerdictID, v.Link, v),
		ProductID: v.About,
		Author:    v.By.actor(),
		Rating:    v.Stars,
		Text:      v.Words,
		Lang:      v.Language,
		CreatedAt: atOrNil(v.WroteAt),
	}
}
