package schema

import (
	"time"

	"github.com/socialdata/socialdata/platform"
)

// StoreSummary is a store.
type StoreSummary struct {
	Platform platform.ID `json:"platform"`             // the platform of the store
	ID       string      `json:"id" min:"1" form:"id"` // the store's id on the platform
	Name     string      `json:"name"`                 // the display name
	URL      string      `json:"url" form:"uri"`       // its public page
}

// Check reports the first way in which s violates the specification.
func (s *StoreSummary) Check() error { return validate(s) }

// Price is an amount of money, as the store states it. On salla, and on zid through its merchant API, VAT is not
// included if the store adds it at checkout.
type Price struct {
	Amount   float64 `json:"amount" min:"0"`           // the amount in units of the currency, not in cents
	Currency string  `json:"currency" min:"3" max:"3"` // the ISO 4217 code of the currency
}

// Product is a product in a store.
type Product struct {
	Common
	Store        StoreSummary `json:"store"`                  // the store that sells it
	Title        string       `json:"title"`                  // its name
	Description  *string      `json:"description"`            // its description, as plain text
	Price        Price        `json:"price"`                  // its current price
	Images       []string     `json:"images" form:"uri"`      // its pictures, main one first
	InStock      bool         `json:"in_stock"`               // whether it can be bought now
	Rating       *float64     `json:"rating" min:"0" max:"5"` // the mean of its ratings
	ReviewsCount *int64       `json:"reviews_count" min:"0"`  // number of its reviews or ratings
	Categories   []string     `json:"categories"`             // its categories, widest first
}

// Check implements [Object].
func (p *Product) Check() error { return validate(p) }

// Fill implements [Object].
func (p *Product) Fill() {
	nonNil(&p.Images)
	nonNil(&p.Categories)
}

// EnrichText implements [Object].
func (p *Product) EnrichText() string { return join(p.Title, p.Description) }

// Stores returns the store.
func (p *Product) Stores() []*StoreSummary { return []*StoreSummary{&p.Store} }

// Review is a buyer's review of a product, or a user's review of an app.
type Review struct {
	Common
	ProductID string     `json:"product_id" min:"1" form:"id"` // the id of the reviewed product or app
	Author    Actor      `json:"author"`                       // the reviewer
	Rating    float64    `json:"rating" min:"0" max:"5"`       // the rating, 5 being the best
	Text      string     `json:"text"`                         // plain text; title, blank line, body if it has both
	Lang      *string    `json:"lang"`                         // its language according to the platform, never guessed
	CreatedAt *time.Time `json:"created_at"`                   // when it was written
}

// Check implements [Object].
func (r *Review) Check() error { return validate(r) }

// Fill implements [Object].
func (r *Review) Fill() {}

// EnrichText implements [Object].
func (r *Review) EnrichText() string { return r.Text }

// Actors returns the author.
func (r *Review) Actors() []*Actor { return actors(&r.Author) }
