package amazon

import (
	"context"
	"encoding/json"
	"regexp"
	"strings"
	"time"

	"golang.org/x/net/html"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/dates"
	"github.com/socialdata/socialdata/providers/kit/dom"
	"github.com/socialdata/socialdata/providers/kit/text"
	"github.com/socialdata/socialdata/providers/kit/wire"
	"github.com/socialdata/socialdata/schema"
)

// reviews reads the reviews on the page of a product, in the order of the page, most helpful first. There is only one
// page.
func (s *site) reviews(ctx context.Context, productID, cursor string) (page providers.Page[schema.Review], err error) {
	if cursor != "" {
		return page, providers.ErrCursor // there is only one page
	}
	in, asin := s.markets.find(productID)
	root, err := s.open(ctx, in, asin)
	if err != nil {
		return page, err
	}
	page.Items, err = reviewsOn(ctx, root, in, productID)
	return page, err
}

func reviewsOn(ctx context.Context, page *html.Node, in market, productID string) ([]schema.Review, error) {
	var out []schema.Review
	lost := 0
	for e := range dom.Rows(page, hook("review")) {
		r := opinionOf(e).review(in, productID)
		if r.ID == "" {
			lost++
		}
		out = append(out, r)
	}
	w := wire.Witness{Rows: len(out), Count: text.Count(line(dom.First(page, id("acrCustomerReviewText")))), Words: saysNone(page)}
	if err := w.Check(ctx, "[data-hook=review]"); err != nil {
		return nil, err
	}
	return out, wire.Understood("[data-hook=review]", len(out)-lost, lost)
}

// saysNone reports whether the page of a product says that there are no reviews.
func saysNone(page *html.Node) bool {
	return noReviews.MatchString(line(dom.First(page, id("reviewsMedley"))))
}

var noReviews = regexp.MustCompile(`(?i)\b(?:no|0) customer reviews\b|لا توجد مراجعات`)

// hook matches elements by the name that Amazon's own scripts use.
func hook(name string) dom.Match { return dom.Is("data-hook", name) }

// opinion holds the texts of a review on the page.
type opinion struct {
	ID      string `json:"id"`
	Name    string `json:"name"`
	Profile string `json:"profile"`
	Avatar  string `json:"avatar"`
	Stars   string `json:"stars"`
	Title   string `json:"title"`
	Body    string `json:"body"`
	Date    string `json:"date"`
}

func opinionOf(e *html.Node) opinion {
	o := opinion{
		ID:      dom.Attr(e, "id"),
		Name:    line(dom.First(e, dom.Class("a-profile-name"))),
		Profile: dom.Attr(dom.First(e, dom.Tag("a"), dom.Class("a-profile")), "href"),
		Avatar:  dom.Attr(dom.First(dom.First(e, dom.Class("a-profile-avatar")), dom.Tag("img")), "data-src"),
		Stars:   line(dom.First(e, hook("review-star-rating"))),
		Title:   saidIn(dom.First(e, hook("review-title"))),
		Body:    saidIn(dom.First(e, hook("review-body"))),
		Date:    line(dom.First(e, hook("review-date"))),
	}
	if o.Stars == "" { // for a review from another country
		o.Stars = line(dom.First(e, hook("cmps-review-star-rating")))
	}
	if o.Stars != "" { // some titles repeat the stars in words
		o.Title = strings.TrimSpace(strings.TrimPrefix(o.Title, o.Stars))
	}
	return o
}

// stamp matches the parts of a title or body that are not the buyer's words: the stars, and the button that folds a
// long text.
func stamp(e *html.Node) bool {
	return e.Data == "i" || strings.Contains(dom.Attr(e, "data-hook"), "star-rating") || dom.Attr(e, "data-action") == "a-expander-toggle" ||
		dom.Class("a-icon-alt")(e) || dom.Class("a-expander-header")(e) || dom.Class("a-expander-prompt")(e)
}

// saidIn returns the buyer's words in e, with their line breaks.
func saidIn(e *html.Node) string {
	var lines []string
	for l := range strings.SplitSeq(dom.Words(e, stamp), "\n") {
		lines = append(lines, strings.Join(strings.Fields(l), " "))
	}
	return strings.TrimSpace(strings.Join(lines, "\n"))
}

var (
	reviewID = regexp.MustCompile(`^R[A-Z0-9]+$`)
	account  = regexp.MustCompile(`amzn1\.account\.[A-Z0-9]+`)
)

// review returns the zero review, which breaks the schema, when the id or the stars are unknown.
func (o opinion) review(in market, productID string) schema.Review {
	rating := stars(o.Stars)
	raw, err := json.Marshal(o)
	if err != nil || rating == nil || !reviewID.MatchString(o.ID) {
		return schema.Review{}
	}
	author := schema.Actor{ID: o.ID, DisplayName: text.NonEmpty(o.Name)}
	if id := account.FindString(o.Profile); id != "" {
		author.ID = id
	}
	author.Handle = author.ID // Amazon has no handles
	if !strings.Contains(o.Avatar, "default") {
		author.AvatarURL = text.URL(o.Avatar)
	}
	return schema.Review{
		Common:    schema.Common{ID: o.ID, URL: in.url() + "/gp/customer-reviews/" + o.ID, Raw: raw},
		ProductID: productID,
		Author:    author,
		Rating:    *rating,
		Text:      text.Join(o.Title, o.Body),
		CreatedAt: o.written(),
	}
}

// written parses a date such as "Reviewed in the United States on January 15, 2024"; nil in other languages.
func (o opinion) written() *time.Time {
	at := strings.LastIndex(o.Date, " on ")
	if at < 0 {
		return nil
	}
	return dates.Parse(o.Date[at+len(" on "):], "January 2, 2006", "2 January 2006")
}
