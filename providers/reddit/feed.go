package reddit

import (
	"cmp"
	"context"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"golang.org/x/net/html"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/dates"
	"github.com/socialdata/socialdata/providers/kit/markup"
	"github.com/socialdata/socialdata/providers/kit/pages"
	"github.com/socialdata/socialdata/providers/kit/text"
	"github.com/socialdata/socialdata/providers/kit/upstream"
	"github.com/socialdata/socialdata/providers/kit/wire"
	"github.com/socialdata/socialdata/schema"
)

// feedSize is the number of entries in a full feed.
const feedSize = 100

func (w web) posts(ctx context.Context, handle, cursor string) (providers.Page[schema.Post], error) {
	if name, ok := strings.CutPrefix(handle, "r/"); ok {
		return w.communityPosts(ctx, providers.CommunityPostsQuery{ID: name}, cursor)
	}
	return w.page(ctx, upstream.Get("user", handle, "submitted", ".rss").With("sort", "new"), cursor)
}

func (w web) communityPosts(ctx context.Context, q providers.CommunityPostsQuery, cursor string) (providers.Page[schema.Post], error) {
	r := upstream.Get("r", q.ID, orders[q.Sort], ".rss")
	if q.Sort == "top" {
		r = r.With("sort", "top").With("t", "week")
	}
	return w.page(ctx, r, cursor)
}

func (w web) find(ctx context.Context, q providers.SearchQuery, cursor string) (providers.Page[schema.SearchResult], error) {
	page, err := w.page(ctx, searchRequest(q, func(segments ...string) upstream.Request {
		return upstream.Get(strings.Join(segments, "/") + ".rss")
	}), cursor)
	if err != nil {
		return providers.Page[schema.SearchResult]{}, err
	}
	return pages.Results(page), nil
}

// comments reads the comments on a post; the first entry of the feed is the post itself. A feed does not show which
// comment a reply belongs to, and has no second page of comments.
func (w web) comments(ctx context.Context, postID, cursor string) (providers.Page[schema.Comment], error) {
	if cursor != "" {
		return providers.Page[schema.Comment]{}, providers.ErrCursor
	}
	postID, err := w.resolve(ctx, providers.PostID, postID)
	if err != nil {
		return providers.Page[schema.Comment]{}, err
	}
	entries, err := w.feed(ctx, upstream.Get("comments", postID, ".rss").With("sort", "new"))
	if err != nil {
		return providers.Page[schema.Comment]{}, err
	}
	if err := about(ctx, entries, postID); err != nil {
		return providers.Page[schema.Comment]{}, err
	}
	var page providers.Page[schema.Comment]
	lost := 0
	for _, e := range entries {
		id, ok := strings.CutPrefix(e.ID, "t1_")
		if !ok {
			lost += e.odd()
			continue
		}
		body, _ := e.content()
		if a := e.author(); a.Handle != deleted || body != deleted && body != removed {
			page.Items = append(page.Items, schema.Comment{
				Common: schema.Common{ID: id, URL: e.url("/comments/" + postID + "/_/" + id + "/"), Raw: e.raw()},
				PostID: postID, Author: a, Text: body, CreatedAt: e.time(),
			})
		}
	}
	return page, wire.Understood("entry", len(page.Items), lost)
}

// about returns an error unless the feed of a post's comments begins with the post.
func about(ctx context.Context, entries []entry, postID string) error {
	if len(entries) == 0 {
		return wire.Need(ctx, "entry", false)
	}
	return wire.Same(ctx, "post", "t3_"+postID, entries[0].ID)
}

// page reads a feed of posts. A feed has no link to the next page: if the feed is full, the next page begins after its
// last entry.
func (w web) page(ctx context.Context, r upstream.Request, cursor string) (providers.Page[schema.Post], error) {
	if cursor != "" && !fullname.MatchString(cursor) {
		return providers.Page[schema.Post]{}, providers.ErrCursor
	}
	entries, err := w.feed(ctx, r.With("after", cursor))
	if err != nil {
		return providers.Page[schema.Post]{}, err
	}
	var page providers.Page[schema.Post]
	lost := 0
	for _, e := range entries {
		if strings.HasPrefix(e.ID, "t3_") {
			page.Items = append(page.Items, e.post())
		} else {
			lost += e.odd()
		}
	}
	if n := len(entries); n >= feedSize {
		page.Next = entries[n-1].ID
		if err := wire.Need(ctx, "entry.id", fullname.MatchString(page.Next)); err != nil {
			return providers.Page[schema.Post]{}, err
		}
	}
	if err := wire.Understood("entry", len(page.Items), lost); err != nil {
		return providers.Page[schema.Post]{}, err
	}
	return page, wire.Witness{Rows: len(entries), Cursor: cursor}.Check(ctx, "entry") // a feed has no counts
}

func (w web) feed(ctx context.Context, r upstream.Request) ([]entry, error) {
	res, err := w.http.Do(ctx, r.With("limit", fmt.Sprint(feedSize)))
	if err != nil {
		return nil, err
	}
	var f struct {
		XMLName xml.Name `xml:"http://www.w3.org/2005/Atom feed"`
		Entries []entry  `xml:"entry"`
	}
	if err := markup.XML(res.Body, &f); err != nil {
		return nil, err
	}
	return f.Entries, nil
}

// entry is a post or comment in a feed.
// https://github.com/reddit-archive/reddit/wiki/RSS
type entry struct {
	ID     string `xml:"id" json:"id"` // a fullname
	Title  string `xml:"title" json:"title"`
	Author *struct {
		Name string `xml:"name" json:"name"` // /u/name
		URI  string `xml:"uri" json:"uri"`
	} `xml:"author" json:"author"` // absent if the account has been deleted
	Category struct {
		Term  string `xml:"term,attr" json:"term"`
		Label string `xml:"label,attr" json:"label"`
	} `xml:"category" json:"category"`
	Content string `xml:"content" json:"content"` // HTML
	Link    struct {
		Href string `xml:"href,attr" json:"href"`
	} `xml:"link" json:"link"`
	Thumbnail struct {
		URL string `xml:"url,attr" json:"url"`
	} `xml:"http://search.yahoo.com/mrss/ thumbnail" json:"thumbnail"`
	Published string `xml:"published" json:"published"`
	Updated   string `xml:"updated" json:"updated"`
}

// odd is 1 for an entry of unknown type, and 0 for one of another type.
func (e entry) odd() int {
	if fullname.MatchString(e.ID) {
		return 0
	}
	return 1
}

func (e entry) post() schema.Post {
	id := strings.TrimPrefix(e.ID, "t3_")
	body, target := e.content()
	if body == deleted || body == removed {
		body = ""
	}
	return schema.Post{
		Common:    schema.Common{ID: id, URL: e.url("/comments/" + id + "/"), Raw: e.raw()},
		Author:    e.author(),
		Text:      text.Join(e.Title, body),
		CreatedAt: e.time(),
		Media:     e.media(target),
		Mentions:  mentions(body),
	}
}

// raw returns the entry as JSON, because the feed is XML.
func (e entry) raw() []byte {
	b, err := json.Marshal(e)
	if err != nil { // strings always marshal
		return nil
	}
	return b
}

func (e entry) author() schema.Actor {
	if e.Author == nil {
		return author("", "")
	}
	return author(strings.TrimPrefix(e.Author.Name, "/u/"), "")
}

func (e entry) url(fallback string) string {
	if u := address(e.Link.Href); u != nil {
		return *u
	}
	return defaultWeb + fallback
}

func (e entry) time() *time.Time {
	return cmp.Or(dates.Parse(e.Published, time.RFC3339), dates.Parse(e.Updated, time.RFC3339))
}

// media returns the picture or video, if Reddit hosts it; for a gallery the feed only has one small picture.
func (e entry) media(target string) []schema.Media {
	u, err := url.Parse(target)
	switch thumbnail := address(e.Thumbnail.URL); {
	case err != nil:
		return nil
	case isImage(target):
		return one(schema.Image, address(target), thumbnail)
	case film(target) != "":
		return one(schema.Video, address(film(target)), thumbnail)
	case u.Host == "v.redd.it":
		return one(schema.Video, address(target), thumbnail)
	}
	return nil
}

// content extracts the text of an entry from its HTML, where it is enclosed in two comments, and the target of the
// post, which is the link [link].
func (e entry) content() (body, target string) {
	_, rest, ok := strings.Cut(e.Content, "<!-- SC_OFF -->")
	if inner, _, closed := strings.Cut(rest, "<!-- SC_ON -->"); ok && closed {
		body = text.FromHTML(inner)
	}
	z, href := html.NewTokenizer(strings.NewReader(e.Content)), ""
	for {
		switch z.Next() {
		case html.ErrorToken:
			return body, target
		case html.StartTagToken:
			if t := z.Token(); t.Data == "a" {
				at := slices.IndexFunc(t.Attr, func(a html.Attribute) bool { return a.Key == "href" })
				if href = ""; at >= 0 {
					href = t.Attr[at].Val
				}
			}
		case html.TextToken:
			if string(z.Text()) == "[link]" {
				target = href
			}
		case html.EndTagToken, html.SelfClosingTagToken, html.CommentToken, html.DoctypeToken:
		}
	}
}
