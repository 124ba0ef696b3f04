package schema

import (
	"time"

	"github.com/socialdata/socialdata/platform"
)

// StoreSummary is a shop.
type StoreSummary struct {
	Platform platform.ID `json:"platform"`             // where the shop is
	ID       string      `json:"id" min:"1" form:"id"` // the shop's id as the platform writes it
	Name     string      `json:"name"`                 // the name that people see
	URL      string      `json:"url" form:"uri"`       // its public page
}

// Validate reports the first way in which s breaks the specification.
func (s *StoreSummary) Validate() error { return validate(s) }

// Price is an amount of money, as the shop states it. At salla, and at zid by its merchant interface, it is without VAT
// where the shop adds VAT at the checkout.
type Price struct {
	Amount   float64 `json:"amount" min:"0"`           // how much, in units of the currency and not in cents
	Currency string  `json:"currency" min:"3" max:"3"` // the ISO 4217 code of the currency
}

// Product is a thing for sale.
type Product struct {
	Common
	Store        StoreSummary `json:"store"`                  // who sells it
	Title        string       `json:"title"`                  // its name
	Description  *string      `json:"description"`            // what it says of itself, as plain text
	Price        Price        `json:"price"`                  // what it costs now
	Images       []string     `json:"images" form:"uri"`      // pictures of it, the main one first
	InStock      bool         `json:"in_stock"`               // whether it can be bought now
	Rating       *float64     `json:"rating" min:"0" max:"5"` // the mean of its reviews
	ReviewsCount *int64       `json:"reviews_count" min:"0"`  // how many reviews or ratings it has
	Categories   []string     `json:"categories"`             // where it is filed, widest category first
}

// Validate implements [Object].
func (p *Product) Validate() error { return validate(p) }

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
	ProductID string     `json:"product_id" min:"1" form:"id"` // the product or app that it is about
	Author    Actor      `json:"author"`                       // who wrote it
	Rating    float64    `json:"rating" min:"0" max:"5"`       // how good the author finds it, 5 being the best
	Text      string     `json:"text"`                         // plain text; title, blank line, body if it has both
	Lang      *string    `json:"lang"`                         // its language as the platform tells it, never guessed
	CreatedAt *time.Time `json:"created_at"`                   // when it was written
}

// Validate implements [Object].
func (r *Review) Validate() error { return validate(r) }

// Fill implements [Object].
func (r *Review) Fill() {}

// EnrichText implements [Object].
func (r *Review) EnrichText() string { return r.Text }

// Actors returns the author.
func (r *Review) Actors() []*Actor { return actors(&r.Author) }
