package amazon

import (
	"context"
	"encoding/json"
	"regexp"
	"strings"
	"time"

	"golang.org/x/net/html"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/internal/dates"
	"github.com/socialdata/socialdata/providers/internal/dom"
	"github.com/socialdata/socialdata/providers/kit/text"
	"github.com/socialdata/socialdata/providers/kit/wire"
	"github.com/socialdata/socialdata/schema"
)

// reviews reads those on the page of a product, in the order of the page, most helpful first. There is no second page.
func (s *site) reviews(ctx context.Context, productID, cursor string) (page providers.Page[schema.Review], err error) {
	if cursor != "" {
		return page, providers.ErrCursor // none is ever given
	}
	in, asin, err := s.markets.find(productID, "")
	var root *html.Node
	if err == nil {
		root, err = s.open(ctx, in, asin)
	}
	if err == nil {
		page.Items, err = reviewsOn(ctx, root, in, productID)
	}
	if err != nil {
		return page, err
	}
	return page, nil
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
	if out == nil {
		list := dom.First(page, id("cm-cr-dp-review-list")) // which a product without ratings does not have
		ratings := text.Count(line(dom.First(page, id("acrCustomerReviewText"))))
		empty := list != nil && dom.First(list, dom.Has("id")) == nil
		return nil, wire.Need(ctx, "[data-hook=review]", empty || list == nil && (ratings == nil || *ratings == 0))
	}
	return out, wire.Understood("[data-hook=review]", len(out)-lost, lost)
}

// hook matches elements by the name that Amazon gives to its own scripts.
func hook(name string) dom.Match { return dom.Is("data-hook", name) }

// opinion is what the page says of a review, in its own words.
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
	if o.Stars == "" { // of a review from another country
		o.Stars = line(dom.First(e, hook("cmps-review-star-rating")))
	}
	if o.Stars != "" { // which some titles repeat in plain words
		o.Title = strings.TrimSpace(strings.TrimPrefix(o.Title, o.Stars))
	}
	return o
}

// stamp matches what a title and a body have beside the buyer's words: the stars, and the switch that folds a long text.
func stamp(e *html.Node) bool {
	return e.Data == "i" || strings.Contains(dom.Attr(e, "data-hook"), "star-rating") || dom.Attr(e, "data-action") == "a-expander-toggle" ||
		dom.Class("a-icon-alt")(e) || dom.Class("a-expander-header")(e) || dom.Class("a-expander-prompt")(e)
}

// saidIn is what a buyer has written in e, with the lines of its own.
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

// review is the zero review, which breaks the schema, where its id or its stars cannot be told.
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

// written reads a date such as "Reviewed in the United States on January 15, 2024"; nil in other languages.
func (o opinion) written() *time.Time {
	at := strings.LastIndex(o.Date, " on ")
	if at < 0 {
		return nil
	}
	return dates.Parse(o.Date[at+len(" on "):], "January 2, 2006", "2 January 2006")
}
