package appstore

import (
	"bytes"
	"context"
	"encoding/json"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/links"
	"github.com/socialdata/socialdata/providers/kit/pages"
	"github.com/socialdata/socialdata/providers/kit/text"
	"github.com/socialdata/socialdata/providers/kit/upstream"
	"github.com/socialdata/socialdata/providers/kit/wire"
	"github.com/socialdata/socialdata/schema"
)

const (
	deepest  = 10   // pages of the feed
	feedPage = "50" // reviews on each, as Apple decides
)

// reviews reads the feed of an app, newest first, page by page until one is empty: the last page that the feed states
// is not reliable.
func (c *client) reviews(ctx context.Context, productID, cursor string) (providers.Page[schema.Review], error) {
	var page providers.Page[schema.Review]
	n, err := pages.Number(cursor, deepest)
	if err != nil {
		return page, err
	}
	in, id := c.markets.Cut(productID)
	if !links.Digits(id) { // the feed does not accept bundle ids
		a, err := c.app(ctx, id, in)
		if err != nil {
			return page, err
		}
		if err := wire.Need(ctx, "trackId", a.V.TrackID != ""); err != nil {
			return page, err
		}
		id = string(a.V.TrackID)
	}
	found, err := c.feed(ctx, in, "page="+strconv.Itoa(n), "id="+id, "sortby=mostrecent")
	if err != nil {
		return page, err
	}
	if found.Len() == 0 && n == 1 {
		found, err = c.doubt(ctx, in, id)
	}
	if err != nil || found.Len() == 0 {
		return page, err
	}
	page.Items, err = wire.Items(ctx, "entry", found.Rows, func(e entry, raw json.RawMessage) (schema.Review, bool) {
		return e.review(c.markets.ID(in, id), "https://apps.apple.com/"+strings.ToLower(in)+"/app/id"+id, raw), !e.isApp()
	})
	if n < deepest {
		page.Next = strconv.Itoa(n + 1)
	}
	return page, err
}

// doubt reads a feed without entries again: Apple answers so for an app without reviews, for an app that does not
// exist, and sometimes for an app with many reviews.
func (c *client) doubt(ctx context.Context, in, id string) (entries, error) {
	found, err := c.feed(ctx, in, "id="+id, "sortBy=mostRecent", "page=1")
	if err != nil || found.Len() > 0 {
		return found, err
	}
	_, err = c.app(ctx, id, in)
	return found, err
}

// feed reads one page of the reviews feed of a storefront.
func (c *client) feed(ctx context.Context, in string, which ...string) (entries, error) {
	var answer struct {
		Feed *struct {
			Entry entries `json:"entry"`
		} `json:"feed"`
	}
	path := append(append([]string{strings.ToLower(in), "rss", "customerreviews"}, which...), "json")
	r := upstream.Get(path...).On(c.feeds)
	r.Input = in != c.markets.Home
	if _, err := c.itunes.Read(ctx, r, &answer); err != nil {
		return entries{}, err
	}
	if err := wire.Need(ctx, "feed", answer.Feed != nil); err != nil {
		return entries{}, err
	}
	return answer.Feed.Entry, answer.Feed.Entry.Optional(ctx, "entry")
}

// entries is an array of entries. A single entry comes without the array; no entries are absent or null.
type entries struct{ wire.Rows[entry] }

// UnmarshalJSON reads an array, an entry or null.
func (e *entries) UnmarshalJSON(b []byte) error {
	if bytes.HasPrefix(b, []byte("{")) {
		b = slices.Concat([]byte("["), b, []byte("]"))
	}
	return e.Rows.UnmarshalJSON(b)
}

// entry is one review in the feed or, in feeds from before 2022, the app itself. Apple does not document it; an example
// is https://itunes.apple.com/us/rss/customerreviews/page=1/id=284882215/sortby=mostrecent/json
type entry struct {
	ID struct {
		Label wire.Serial `json:"label"`
	} `json:"id"`
	Rating struct {
		Label wire.Float `json:"label"`
	} `json:"im:rating"` // absent on the app itself
	Author struct {
		Name label `json:"name"`
		URI  label `json:"uri"`
	} `json:"author"`
	Title   label `json:"title"`
	Content label `json:"content"`
	Updated struct {
		Label wire.Time `json:"label"`
	} `json:"updated"` // absent before 2022
	Link href  `json:"link"`
	App  label `json:"im:name"` // only of the app itself
}

type label struct {
	Label string `json:"label"`
}

// href is the target of a link, of the first one if there are several.
type href string

// UnmarshalJSON reads a link or an array of them. It never fails: other values have no target.
func (h *href) UnmarshalJSON(b []byte) error {
	*h = ""
	if !bytes.HasPrefix(b, []byte("[")) {
		b = slices.Concat([]byte("["), b, []byte("]"))
	}
	var links []struct {
		Attributes struct {
			Href string `json:"href"`
		} `json:"attributes"`
	}
	_ = json.Unmarshal(b, &links) // malformed ones are empty
	for _, l := range links {
		if *h == "" {
			*h = href(l.Attributes.Href)
		}
	}
	return nil
}

// isApp reports whether e is the app itself, which precedes the reviews in old feeds.
func (e entry) isApp() bool { return e.Rating.Label.V == nil && e.App.Label != "" }

var reviewer = regexp.MustCompile(`/id([0-9]+)`)

// review returns the zero review, which violates the schema, if there is no rating: 0 would be one.
func (e entry) review(productID, page string, raw json.RawMessage) schema.Review {
	if e.Rating.Label.V == nil {
		return schema.Review{}
	}
	r := schema.Review{
		Common:    schema.Common{ID: string(e.ID.Label), URL: page, Raw: raw},
		ProductID: productID,
		Author:    e.author(),
		Rating:    *e.Rating.Label.V,
		Text:      text.Join(e.Title.Label, e.Content.Label),
		CreatedAt: e.Updated.Label.V,
	}
	if e.Title.Label == e.Content.Label {
		r.Text = e.Content.Label
	}
	for _, u := range []string{e.Author.URI.Label, string(e.Link)} { // later ones are preferred
		r.URL = text.URLOr(u, r.URL)
	}
	return r
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
