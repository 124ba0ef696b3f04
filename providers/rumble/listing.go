package rumble

import (
	"cmp"
	"context"
	"strings"
	"time"

	"golang.org/x/net/html"

	"github.com/socialdata/socialdata/providers/kit/dates"
	"github.com/socialdata/socialdata/providers/kit/dom"
	"github.com/socialdata/socialdata/providers/kit/text"
	"github.com/socialdata/socialdata/providers/kit/wire"
	"github.com/socialdata/socialdata/schema"
)

// row is a video in a list, in the page's own texts.
type row struct {
	ID          string  `json:"id"` // of its page; "" when it cannot be read
	Number      string  `json:"number"`
	URL         string  `json:"url"`
	Title       string  `json:"title"`
	Description string  `json:"description"`
	Time        string  `json:"datetime"`
	Duration    string  `json:"duration"` // such as "1:02:03"; "" while live
	Views       string  `json:"views"`
	Comments    string  `json:"comments"`
	Likes       string  `json:"likes"`
	Picture     string  `json:"picture"`
	Live        bool    `json:"live"`
	Featured    bool    `json:"featured"` // it is at the top of the page, out of order
	Author      account `json:"author"`   // set in search results; on an account's page it is that account
	AuthorName  string  `json:"author_name"`
	AuthorImage string  `json:"author_image"`
}

// isRow matches a video in a list, in the layout of channels and in the older one of search.
func isRow(n *html.Node) bool { return dom.Class("videostream")(n) || dom.Class("video-item")(n) }

// listing returns the videos on a page of an account, in the order of the page. A page without videos must say so.
func (p *page) listing(ctx context.Context, cursor string) ([]row, error) {
	list := dom.First(p.doc, dom.Class("channel-listing__container"))
	list = cmp.Or(list, dom.First(p.doc, dom.Class("thumbnail__grid")))
	rows := p.rows(list)
	none := says(list, noVideos...)
	return rows, wire.Witness{
		Rows: len(rows), Words: none, Cursor: cursor, Last: none, More: p.further() != nil,
	}.Check(ctx, "videostream")
}

// noVideos are the texts that say that a list is empty.
var noVideos = []string{"no videos found", "no channels found", "no results found"}

// rows returns the videos of a list, in the order of the page.
func (p *page) rows(list *html.Node) []row {
	var out []row
	for n := range dom.Rows(list, isRow) {
		r := readRow(n)
		r.AuthorImage = p.pictures.of(n)
		out = append(out, r)
	}
	return out
}

func readRow(n *html.Node) row {
	first := func(class string) *html.Node { return dom.First(n, dom.Class(class)) }
	href := cmp.Or(dom.Attr(first("videostream__link"), "href"), dom.Attr(first("video-item--a"), "href"))
	title, views, comments := first("thumbnail__title"), first("videostream__views"), first("videostream__comments")
	r := row{
		ID:          pageID(href),
		Number:      cmp.Or(dom.Attr(n, "data-video-id"), dom.Attr(first("rumbles-vote"), "data-id")),
		URL:         href,
		Title:       cmp.Or(strings.TrimSpace(dom.Attr(title, "title")), line(title), line(first("video-item--title"))),
		Description: dom.Words(first("videostream__description")),
		Time: cmp.Or(dom.Attr(first("videostream__time"), "datetime"), dom.Attr(first("video-item--time"), "datetime"),
			dom.Attr(dom.First(n, dom.Tag("time")), "datetime")),
		Duration: cmp.Or(line(first("videostream__status--duration")),
			dom.Attr(first("video-item--duration"), "data-value")),
		Views: cmp.Or(dom.Attr(views, "data-views"), dom.Attr(views, "title"), line(first("video-item--views"))),
		Comments: cmp.Or(dom.Attr(comments, "title"), line(first("videostream__comments--count")),
			line(first("video-item--comments"))),
		Likes:    line(first("rumbles-vote-up")),
		Picture:  cmp.Or(dom.Attr(first("thumbnail__image"), "src"), dom.Attr(first("video-item--img"), "src")),
		Live:     first("videostream__status--live") != nil || first("video-item--live") != nil,
		Featured: dom.Class("videostream--featured")(n),
	}
	author := dom.First(n, dom.Tag("a"), leadsToAccount)
	r.Author = accountAt(dom.Attr(author, "href"))
	r.AuthorName = cmp.Or(line(dom.First(author, dom.Class("channel__name"))), line(author))
	return r
}

func leadsToAccount(n *html.Node) bool { return accountAt(dom.Attr(n, "href")).Slug != "" }

// post converts the video to a post of author. It has no id when the row has none.
func (r row) post(ctx context.Context, author schema.Actor) schema.Post {
	if r.ID == "" || author.ID == "" {
		return schema.Post{}
	}
	address := pageURL(r.URL)
	said := r.Title
	if strings.Join(strings.Fields(r.Description), " ") != strings.Join(strings.Fields(r.Title), " ") {
		said = text.Join(r.Title, r.Description)
	}
	return schema.Post{
		Common:    schema.Common{ID: r.ID, URL: address, Raw: raw(r)},
		Author:    author,
		Text:      said,
		CreatedAt: dates.Parse(r.Time, time.RFC3339, "2006-01-02T15:04:05-0700"),
		Media: []schema.Media{{
			Type: schema.Video, URL: address, ThumbnailURL: absolute(r.Picture), DurationS: text.Clock(r.Duration),
		}},
		Engagement: schema.Engagement{
			Likes:    count(ctx, "rumbles-vote-up", r.Likes),
			Comments: count(ctx, "videostream__comments", r.Comments),
			Views:    count(ctx, "data-views", r.Views),
		},
		Hashtags: text.Hashtags(said),
		Mentions: text.Mentions(said),
	}
}

// pageURL returns the address of a video's page without tracking parameters.
func pageURL(href string) string {
	path, _, _ := strings.Cut(href, "?")
	path, _, _ = strings.Cut(path, "#")
	if u := absolute(path); u != nil {
		return *u
	}
	return home + pageID(href)
}
