package appstore

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"time"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/internal/links"
	"github.com/socialdata/socialdata/providers/internal/text"
	"github.com/socialdata/socialdata/providers/internal/upstream"
	"github.com/socialdata/socialdata/schema"
)

const deepest = 10 // pages of the feed, of 50 reviews each

// reviews reads the feed of an app, newest first, page by page until one is empty: what the feed says of its last page
// is not to be trusted.
func (c *client) reviews(ctx context.Context, productID, cursor string) (providers.Page[schema.Review], error) {
	page, err := c.readReviews(ctx, productID, cursor)
	if err != nil {
		return page, fmt.Errorf("appstore: reviews of %q: %w", productID, err)
	}
	return page, nil
}

func (c *client) readReviews(ctx context.Context, productID, cursor string) (providers.Page[schema.Review], error) {
	var page providers.Page[schema.Review]
	n := 1
	if cursor != "" {
		var err error
		if n, err = strconv.Atoi(cursor); err != nil || n < 2 || n > deepest {
			return page, providers.ErrCursor
		}
	}
	id := productID
	if !links.Digits(id) { // the feed knows apps by number only
		a, err := c.app(ctx, productID, c.country)
		if err != nil {
			return page, err
		}
		id = a.V.id()
	}
	found, err := c.feed(ctx, "page="+strconv.Itoa(n), "id="+id, "sortby=mostrecent")
	if err == nil && len(found) == 0 && n == 1 {
		found, err = c.doubt(ctx, id)
	}
	if err != nil {
		return page, err
	}
	for _, e := range found {
		if r, ok := e.V.review(id, c.country, e.Raw); ok {
			page.Items = append(page.Items, r)
		}
	}
	if len(page.Items) > 0 && n < deepest {
		page.Next = strconv.Itoa(n + 1)
	}
	return page, nil
}

// doubt looks again at a feed that came without entries: that is how Apple answers for an app without reviews and for
// one that does not exist, and at times for one that has plenty.
func (c *client) doubt(ctx context.Context, id string) ([]upstream.Object[entry], error) {
	found, err := c.feed(ctx, "id="+id, "sortBy=mostRecent", "page=1")
	if err != nil || len(found) > 0 {
		return found, err
	}
	_, err = c.app(ctx, id, c.country)
	return nil, err
}

// feed reads one page of the reviews feed.
func (c *client) feed(ctx context.Context, which ...string) ([]upstream.Object[entry], error) {
	var answer struct {
		Feed *struct {
			Entry entries `json:"entry"`
		} `json:"feed"`
	}
	path := append(append([]string{c.country, "rss", "customerreviews"}, which...), "json")
	if _, err := c.itunes.JSON(ctx, upstream.Get(path...).On(c.feeds), &answer); err != nil {
		return nil, err
	}
	if answer.Feed == nil {
		return nil, providers.Unavailable(nil, "the upstream's answer is no feed")
	}
	return answer.Feed.Entry, nil
}

// entries is an array of entries; one alone stands without its array, and none is absent or null.
type entries []upstream.Object[entry]

// UnmarshalJSON reads an array, an entry or null.
func (e *entries) UnmarshalJSON(b []byte) error {
	if bytes.HasPrefix(b, []byte("{")) {
		*e = make(entries, 1)
		return json.Unmarshal(b, &(*e)[0])
	}
	return json.Unmarshal(b, (*[]upstream.Object[entry])(e))
}

// entry is one review of the feed, or, in feeds of before 2022, the app itself. Apple has no page about it; this is
// what https://itunes.apple.com/us/rss/customerreviews/page=1/id=284882215/sortby=mostrecent/json looks like.
type entry struct {
	ID     label  `json:"id"`
	Rating *label `json:"im:rating"` // absent on the app itself
	Author struct {
		Name label `json:"name"`
		URI  label `json:"uri"`
	} `json:"author"`
	Title   label `json:"title"`
	Content label `json:"content"`
	Updated label `json:"updated"` // absent before 2022
	Link    href  `json:"link"`
}

type label struct {
	Label string `json:"label"`
}

// href is where a link leads, the first of several.
type href string

// UnmarshalJSON reads a link or an array of them.
func (h *href) UnmarshalJSON(b []byte) error {
	type link struct {
		Attributes struct {
			Href string `json:"href"`
		} `json:"attributes"`
	}
	var many []link
	if bytes.HasPrefix(b, []byte("[")) {
		if err := json.Unmarshal(b, &many); err != nil {
			return err
		}
	} else {
		many = make([]link, 1)
		if err := json.Unmarshal(b, &many[0]); err != nil {
			return err
		}
	}
	for _, l := range many {
		if *h == "" {
			*h = href(l.Attributes.Href)
		}
	}
	return nil
}

var reviewer = regexp.MustCompile(`/id([0-9]+)`)

func (e entry) review(productID, country string, raw []byte) (schema.Review, bool) {
	if e.Rating == nil {
		return schema.Review{}, false
	}
	rating, err := strconv.ParseFloat(e.Rating.Label, 64)
	if err != nil {
		return schema.Review{}, false
	}
	r := schema.Review{
		Common: schema.Common{
			ID: e.ID.Label, URL: "https://apps.apple.com/" + country + "/app/id" + productID, Raw: raw,
		},
		ProductID: productID,
		Author:    e.author(),
		Rating:    rating,
		Text:      text.Join(e.Title.Label, e.Content.Label),
	}
	if e.Title.Label == e.Content.Label {
		r.Text = e.Content.Label
	}
	for _, u := range []string{e.Author.URI.Label, string(e.Link)} { // the later, the better
		if page := text.URL(u); page != nil {
			r.URL = *page
		}
	}
	if t, err := time.Parse(time.RFC3339, e.Updated.Label); err == nil {
		r.CreatedAt = new(t.UTC())
	}
	return r, true
}

func (e entry) author() schema.Actor {
	a := schema.UnknownActor()
	if m := reviewer.FindStringSubmatch(e.Author.URI.Label); m != nil {
		a.ID, a.Handle = m[1], m[1]
	}
	if name := text.NonEmpty(e.Author.Name.Label); name != nil {
		a.Handle, a.DisplayName = *name, name
	}
	return a
}
