package rumble

import (
	"cmp"
	"context"
	"strings"
	"time"

	"golang.org/x/net/html"

	"github.com/socialdata/socialdata/providers/internal/dates"
	"github.com/socialdata/socialdata/providers/internal/dom"
	"github.com/socialdata/socialdata/providers/kit/text"
	"github.com/socialdata/socialdata/providers/kit/wire"
	"github.com/socialdata/socialdata/schema"
)

// row is a video in a list, in the page's words.
type row struct {
	ID          string  `json:"id"` // of its page; "" when it has none that can be read
	Number      string  `json:"number"`
	URL         string  `json:"url"`
	Title       string  `json:"title"`
	Description string  `json:"description"`
	Time        string  `json:"datetime"`
	Duration    string  `json:"duration"` // such as "1:02:03"; "" of what is live
	Views       string  `json:"views"`
	Comments    string  `json:"comments"`
	Likes       string  `json:"likes"`
	Picture     string  `json:"picture"`
	Live        bool    `json:"live"`
	Featured    bool    `json:"featured"` // it heads the page out of its order
	Author      account `json:"author"`   // in what is found; on the page of an account it is that account
	AuthorName  string  `json:"author_name"`
	AuthorImage string  `json:"author_image"`
}

// isRow matches a video in a list, in the layout of channels and in the older one of search.
func isRow(n *html.Node) bool { return dom.Class("videostream")(n) || dom.Class("video-item")(n) }

// listing returns the videos on the page of an account, in its order.
func (p *page) listing(ctx context.Context) ([]row, error) {
	list := dom.First(p.doc, dom.Class("channel-listing__container"))
	list = cmp.Or(list, dom.First(p.doc, dom.Class("thumbnail__grid")))
	rows := p.rows(list)
	return rows, wire.Need(ctx, "channel-listing__container", len(rows) > 0 || isEmpty(list))
}

// isEmpty tells whether a list is there and holds nothing: a list with something in it that is no video is another
// layout.
func isEmpty(list *html.Node) bool {
	grid := dom.First(list, dom.Class("thumbnail__grid"))
	if list != nil && dom.Class("thumbnail__grid")(list) {
		grid = list
	}
	return grid != nil && dom.First(grid, dom.Has("class")) == nil || says(list, noVideos...)
}

// noVideos are the words for a list in which there is nothing.
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

// post is the video as a post of author. It has no id when the row has none.
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

// pageURL returns the address of a video's page without what the site adds to count visits.
func pageURL(href string) string {
	path, _, _ := strings.Cut(href, "?")
	path, _, _ = strings.Cut(path, "#")
	if u := absolute(path); u != nil {
		return *u
	}
	return home + pageID(href)
}
