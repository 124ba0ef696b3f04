package zid

import (
	"context"
	"encoding/json"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/dates"
	"github.com/socialdata/socialdata/providers/kit/pages"
	"github.com/socialdata/socialdata/providers/kit/text"
	"github.com/socialdata/socialdata/providers/kit/upstream"
	"github.com/socialdata/socialdata/providers/kit/wire"
	"github.com/socialdata/socialdata/schema"
)

// reviews lists the reviews of a product, newest first. Zid lists the reviews of the whole store, so a page holds those
// of the product on one page of that list, and may be empty. The cursor is the page number.
func (m *merchant) reviews(
	ctx context.Context, productID, cursor string,
) (page providers.Page[schema.Review], err error) {
	return m.findReviews(ctx, productID, cursor)
}

func (m *merchant) findReviews(
	ctx context.Context, productID, cursor string,
) (page providers.Page[schema.Review], err error) {
	if !uuid.MatchString(productID) {
		return page, errNoUUID
	}
	n, err := pages.Number(cursor, math.MaxInt)
	if err != nil {
		return page, err
	}
	s, err := m.shop(ctx)
	if err != nil {
		return page, err
	}
	return m.reviewPage(ctx, s, productID, n)
}

const reviewsPage = "20" // Zid's default

// reviewPage reads page n of the reviews of the store, and keeps those of one product.
// https://docs.zid.sa, "Product reviews"
func (m *merchant) reviewPage(
	ctx context.Context, s shop, productID string, n int,
) (page providers.Page[schema.Review], err error) {
	var answer struct {
		Reviews    wire.Rows[review] `json:"reviews"`
		Pagination *struct {
			NextPage wire.Token `json:"next_page"`
		} `json:"pagination"`
	}
	r := upstream.Get("managers", "store", "reviews", "product").With("page", strconv.Itoa(n)).With("page_size", reviewsPage).
		With("status", "approved").With("order_by", "id").With("sort_by", "DESC")
	if _, err = m.http.Read(ctx, r, &answer); err != nil {
		return page, listError(err, n)
	}
	page.Items, err = wire.Items(ctx, "reviews", answer.Reviews, func(v review, raw json.RawMessage) (schema.Review, bool) {
		return v.review(s, raw), v.belongs(productID)
	})
	if err != nil {
		return page, err
	}
	if err = wire.Need(ctx, "pagination", answer.Pagination != nil); err != nil {
		return page, err
	}
	next, err := answer.Pagination.NextPage.Next(ctx, "pagination.next_page")
	if err != nil || next == "" {
		return page, err
	}
	number, err := strconv.Atoi(next)
	page.Next = next
	return page, wire.Need(ctx, "pagination.next_page", err == nil && number > n)
}

// review is a buyer's review of a product.
// https://docs.zid.sa, "Product reviews"
type review struct {
	ID       wire.ID `json:"id"` // a UUID
	Customer struct {
		ID   wire.ID `json:"id"`
		Name string  `json:"name"`
	} `json:"customer"`
	Product struct {
		ID wire.ID `json:"id"`
	} `json:"product"`
	Status      string     `json:"status"`
	IsAnonymous wire.Bool  `json:"is_anonymous"`
	Rating      wire.Float `json:"rating"`
	Comment     string     `json:"comment"` // null without text
	CreatedAt   string     `json:"created_at"`
}

// belongs reports false for reviews of other products, and for those that the merchant has not approved. A review
// without a product does not belong either, and is counted as unreadable.
func (v review) belongs(productID string) bool {
	about := v.Product.ID == "" || strings.EqualFold(string(v.Product.ID), productID)
	return about && (v.Status == "approved" || v.Status == "published")
}

// review returns the zero review, which breaks the schema, when the rating or product is missing, or when it is unknown
// whether the buyer is anonymous.
func (v review) review(s shop, raw json.RawMessage) schema.Review {
	stars := v.Rating.V
	if stars == nil || *stars < 0 || *stars > 5 || v.ID == "" || v.Product.ID == "" || v.IsAnonymous.V == nil {
		return schema.Review{}
	}
	return schema.Review{
		Common:    schema.Common{ID: string(v.ID), URL: s.URL, Raw: v.public(raw)},
		ProductID: string(v.Product.ID),
		Author:    v.author(),
		Rating:    *stars,
		Text:      text.FromHTML(v.Comment),
		CreatedAt: moment(v.CreatedAt),
	}
}

// author returns the buyer, or an anonymous author if the buyer does not want to be named.
func (v review) author() schema.Actor {
	if v.IsAnonymous.Is() {
		id := "anonymous-" + string(v.ID)
		return schema.Actor{ID: id, Handle: id}
	}
	author := schema.UnknownActor()
	if id := string(v.Customer.ID); id != "" {
		author.ID, author.Handle = id, id
	}
	author.DisplayName = text.NonEmpty(v.Customer.Name)
	return author
}

// reviewFields are the public fields of a review, which also has private data of the buyer. It is read-only.
var reviewFields = []string{"id", "product", "status", "is_anonymous", "rating", "comment", "reply", "images", "created_at", "updated_at"}

// public returns the review without private data: buyers' telephone numbers and addresses, and the names of anonymous
// ones.
func (v review) public(raw json.RawMessage) json.RawMessage {
	return public(raw, reviewFields)
}

// moment parses a time without a zone, which is Riyadh's.
func moment(s string) *time.Time {
	riyadh := time.FixedZone("Riyadh", 3*60*60)
	if t, err := time.ParseInLocation(time.DateTime, s, riyadh); err == nil && t.Year() > 1 {
		return new(t.UTC())
	}
	return dates.Parse(s, time.RFC3339Nano)
}
