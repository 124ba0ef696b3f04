package schema

import (
	"math"
	"time"

	"github.com/socialdata/socialdata/platform"
)

// StoreSummary is a shop.
type StoreSummary struct {
	Platform platform.ID `json:"platform"` // set by the engine
	ID       string      `json:"id"`
	Name     string      `json:"name"`
	URL      string      `json:"url"`
}

// Validate reports the first way in which s breaks the specification.
func (s *StoreSummary) Validate() error {
	var k check
	if !s.Platform.Valid() {
		k.failf("platform: %q is not a platform", s.Platform)
	}
	k.notEmpty("id", s.ID)
	k.uri("url", s.URL)
	return k.err
}

// Price is an amount of money.
type Price struct {
	Amount   float64 `json:"amount"`   // in units of the currency, not in cents
	Currency string  `json:"currency"` // ISO 4217, three characters
}

// Product is a thing for sale.
type Product struct {
	Common
	Store        StoreSummary `json:"store"`
	Title        string       `json:"title"`
	Description  *string      `json:"description"` // plain text
	Price        Price        `json:"price"`       // what it costs now
	Images       []string     `json:"images"`
	InStock      bool         `json:"in_stock"`
	Rating       *float64     `json:"rating"` // from 0 to 5
	ReviewsCount *int64       `json:"reviews_count"`
	Categories   []string     `json:"categories"` // widest first
}

// Validate implements [Object].
func (p *Product) Validate() error {
	k := check{p.validate()}
	k.within("store", p.Store.Validate())
	if p.Price.Amount < 0 || math.IsNaN(p.Price.Amount) {
		k.failf("price.amount: %v is not an amount", p.Price.Amount)
	}
	if len([]rune(p.Price.Currency)) != 3 {
		k.failf("price.currency: %q is not 3 characters", p.Price.Currency)
	}
	k.uris("images", p.Images)
	if p.Rating != nil {
		k.upTo("rating", *p.Rating, 5)
	}
	k.count("reviews_count", p.ReviewsCount)
	return k.err
}

// Fill implements [Object].
func (p *Product) Fill() {
	nonNil(&p.Images)
	nonNil(&p.Categories)
}

// EnrichText implements [Object].
func (p *Product) EnrichText() string { return join(p.Title, p.Description) }

// Stores returns the store.
func (p *Product) Stores() []*StoreSummary { return []*StoreSummary{&p.Store} }

// Review is what a buyer, or a user of an app, says of a product.
type Review struct {
	Common
	ProductID string     `json:"product_id"`
	Author    Actor      `json:"author"`
	Rating    float64    `json:"rating"` // from 0 to 5
	Text      string     `json:"text"`
	Lang      *string    `json:"lang"`
	CreatedAt *time.Time `json:"created_at"`
}

// Validate implements [Object].
func (r *Review) Validate() error {
	k := check{r.validate()}
	k.notEmpty("product_id", r.ProductID)
	k.within("author", r.Author.validate())
	k.upTo("rating", r.Rating, 5)
	k.lang(r.Lang)
	return k.err
}

// Fill implements [Object].
func (r *Review) Fill() {}

// EnrichText implements [Object].
func (r *Review) EnrichText() string { return r.Text }

// Actors returns the author.
func (r *Review) Actors() []*Actor { return actors(&r.Author) }
