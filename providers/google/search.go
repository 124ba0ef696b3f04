package google

import (
	"context"
	"encoding/json"
	"maps"
	"math"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/dates"
	"github.com/socialdata/socialdata/providers/kit/ids"
	"github.com/socialdata/socialdata/providers/kit/pages"
	"github.com/socialdata/socialdata/providers/kit/text"
	"github.com/socialdata/socialdata/providers/kit/upstream"
	"github.com/socialdata/socialdata/providers/kit/wire"
	"github.com/socialdata/socialdata/schema"
)

const (
	path     = "customsearch/v1"
	pageSize = 10 // Google's maximum
	deepest  = 91 // where the last page begins: Google shows 100 results
)

// answer is the response to a search.
// https://developers.google.com/custom-search/v1/reference/rest/v1/Search
type answer struct {
	Kind    string `json:"kind"` // customsearch#search
	Queries wire.Object[struct {
		Next wire.Rows[struct {
			Start wire.Count `json:"startIndex"`
		}] `json:"nextPage"` // absent on the last page
	}] `json:"queries"`
	Information struct {
		Total wire.Count `json:"totalResults"` // an estimate, except for 0
	} `json:"searchInformation"`
	Items wire.Rows[result] `json:"items"` // absent when nothing is found
}

type result struct {
	Title   string `json:"title"` // plain text
	Link    string `json:"link"`
	Snippet string `json:"snippet"` // plain text with the line breaks of Google's own page
	PageMap struct {
		Metatags wire.Rows[metatags] `json:"metatags"`
	} `json:"pagemap"`
}

// metatags is the metadata of the page, in the page's own words.
type metatags struct {
	Published     string `json:"article:published_time"`
	DatePublished string `json:"datePublished"`
	Date          string `json:"date"`
}

// search reads a page of results. The cursor is the position of its first result, counted from 1.
func (c *client) search(
	ctx context.Context, q providers.SearchQuery, cursor string,
) (page providers.Page[schema.SearchResult], err error) {
	start, err := pages.Number(cursor, deepest)
	if err != nil {
		return page, err
	}
	var a answer
	if _, err := c.http.Read(ctx, c.request(q, start), &a); err != nil {
		return page, err
	}
	return a.page(ctx, start)
}

// request returns the request for the results of q from position start on.
// https://developers.google.com/custom-search/v1/reference/rest/v1/cse/list
func (c *client) request(q providers.SearchQuery, start int) upstream.Request {
	r := upstream.Get(path).With("cx", c.engine).With("num", strconv.Itoa(pageSize)).With("start", strconv.Itoa(start)).
		With("gl", strings.ToLower(q.Region)).With("lr", documents[q.Lang]).Says("q", q.Query)
	if q.Sort == "recent" {
		r = r.With("sort", "date")
	}
	if !q.Since.IsZero() {
		days := math.Ceil(time.Since(q.Since).Hours() / 24)
		r = r.With("dateRestrict", "d"+strconv.Itoa(max(1, int(days))))
	}
	return r
}

// documents maps languages to the values of lr.
var documents = map[string]string{
	"zh-CN": "lang_zh-CN", "zh-TW": "lang_zh-TW", "he": "lang_iw",
	"ar": "lang_ar", "bg": "lang_bg", "ca": "lang_ca", "cs": "lang_cs", "da": "lang_da", "de": "lang_de", "el": "lang_el",
	"en": "lang_en", "es": "lang_es", "et": "lang_et", "fi": "lang_fi", "fr": "lang_fr", "hr": "lang_hr", "hu": "lang_hu",
	"id": "lang_id", "is": "lang_is", "it": "lang_it", "ja": "lang_ja", "ko": "lang_ko", "lt": "lang_lt", "lv": "lang_lv",
	"nl": "lang_nl", "no": "lang_no", "pl": "lang_pl", "pt": "lang_pt", "ro": "lang_ro", "ru": "lang_ru", "sk": "lang_sk",
	"sl": "lang_sl", "sr": "lang_sr", "sv": "lang_sv", "tr": "lang_tr",
}

// languages are the languages to which results can be narrowed.
func languages() []string { return slices.Sorted(maps.Keys(documents)) }

// page converts the response whose first result has position start.
func (a answer) page(ctx context.Context, start int) (page providers.Page[schema.SearchResult], err error) {
	if err = wire.Marker(ctx, "kind", a.Kind, "customsearch#search"); err != nil {
		return page, err
	}
	if total := a.Information.Total.V; !a.Items.Here() && start == 1 { // a later page may be empty
		if err = wire.Need(ctx, "items", total == nil || *total == 0); err != nil {
			return page, err
		}
	}
	if err = a.Items.Optional(ctx, "items"); err != nil || a.Items.Len() == 0 { // though a next page was announced
		return page, err
	}
	for place, row := range a.Items.All() {
		page.Items = append(page.Items, row.V.result(int64(start+place), row.Raw))
	}
	page.Next, err = a.next(ctx, start)
	return page, err
}

// next returns the cursor of the page after the one at start, "" when there is none.
func (a answer) next(ctx context.Context, start int) (string, error) {
	const name = "queries.nextPage"
	list := a.Queries.V.Next
	err := wire.Need(ctx, "queries", a.Queries.Here())
	if err != nil {
		return "", err
	}
	if err := list.Optional(ctx, name); err != nil {
		return "", err
	}
	for _, next := range list.All() {
		at := next.V.Start.V
		switch err := wire.Need(ctx, name+"[].startIndex", at != nil && *at > int64(start)); {
		case err != nil:
			return "", err
		case *at > deepest:
			return "", nil
		}
		return strconv.FormatInt(*at, 10), nil
	}
	return "", nil
}

// result converts r. It returns the zero result, which breaks the schema, when r has no address.
func (r result) result(position int64, raw json.RawMessage) schema.SearchResult {
	page := &schema.WebPage{
		Common:      schema.Common{Raw: raw},
		Title:       line(r.Title),
		Snippet:     text.NonEmpty(line(r.Snippet)),
		Position:    &position,
		PublishedAt: r.published(),
	}
	if address := text.URL(r.Link); address != nil {
		page.ID, page.URL = ids.Of(*address), *address
		if u, err := url.Parse(*address); err == nil {
			page.Domain = strings.TrimPrefix(strings.ToLower(u.Hostname()), "www.")
		}
	}
	return schema.Result(page)
}

// published returns the time of publication that the page states.
func (r result) published() *time.Time {
	for _, m := range r.PageMap.Metatags.All() {
		for _, s := range []string{m.V.Published, m.V.DatePublished, m.V.Date} {
			if at := dates.Parse(s, time.RFC3339, time.DateOnly); at != nil {
				return at
			}
		}
		break // the rest belongs to other parts of the page
	}
	return nil
}

// line writes s in one line.
func line(s string) string { return strings.Join(strings.Fields(s), " ") }

// forward reads the route unchanged, in our search engine if the caller names none.
func (c *client) forward(ctx context.Context, path string, query url.Values) (json.RawMessage, error) {
	if !query.Has("cx") {
		query = maps.Clone(query)
		query.Set("cx", c.engine)
	}
	return c.http.Forward(ctx, path, query)
}
