package pinterest

import (
	"cmp"
	"context"
	"encoding/json"
	"encoding/xml"
	"net/http"
	"strings"
	"time"

	"golang.org/x/net/html"

	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/browser"
	"github.com/socialdata/socialdata/providers/kit/dates"
	"github.com/socialdata/socialdata/providers/kit/links"
	"github.com/socialdata/socialdata/providers/kit/markup"
	"github.com/socialdata/socialdata/providers/kit/text"
	"github.com/socialdata/socialdata/providers/kit/upstream"
	"github.com/socialdata/socialdata/providers/kit/wire"
	"github.com/socialdata/socialdata/schema"
)

// feeds reads the RSS of accounts and boards: the 25 newest pins, with their text, picture and time.
type feeds struct{ http *upstream.Client }

func newFeeds(cfg Config) providers.Provider {
	f := &feeds{upstream.New(upstream.Config{
		HTTP: cfg.HTTP, Base: cmp.Or(cfg.WebURL, "https://www.pinterest.com"), Check: check, Absent: framed,
		Header: http.Header{"User-Agent": {browser.Agent}, "Accept": {"application/rss+xml, text/xml"}},
		Quota:  upstream.NewQuota(0, 0),
	})}
	return providers.Provider{
		Name: "pinterest_feed", Platform: platform.Pinterest, Source: schema.Own, Prompt: true,
		Posts:           f.posts,
		CollectionPosts: f.collectionPosts,

		Normalize: addresses.Normalize, Names: addresses.Names, Also: addresses.Also,
		Filters: map[providers.Op]providers.Filters{providers.OpCollectionPosts: {"kind": {"board"}}},
	}
}

// feed is the RSS of an account or a board.
// https://www.rssboard.org/rss-specification
type feed struct {
	XMLName xml.Name `xml:"rss"`
	Channel *struct {
		Links []string `xml:"link"` // one holds the address; those of other namespaces are empty
		Items []item   `xml:"item"`
	} `xml:"channel"`
}

// item is a pin. Its description is HTML: the picture and the text.
type item struct {
	Title       string `xml:"title" json:"title"`
	Link        string `xml:"link" json:"link"`
	Description string `xml:"description" json:"description"`
	Published   string `xml:"pubDate" json:"pubDate"`
	GUID        string `xml:"guid" json:"guid"`
}

func (f *feeds) posts(ctx context.Context, handle, cursor string) (page providers.Page[schema.Post], err error) {
	if page.Items, err = f.read(ctx, upstream.Get(handle, "feed.rss"), handle, cursor); err != nil {
		return page, err
	}
	return page, nil
}

func (f *feeds) collectionPosts(
	ctx context.Context, q providers.CollectionQuery, cursor string,
) (page providers.Page[schema.Post], err error) {
	handle, slug, ok := strings.Cut(q.ID, "/")
	if !ok || handle == short {
		err = errByAddress
	} else {
		page.Items, err = f.read(ctx, upstream.Get(handle, slug+".rss"), handle, cursor)
	}
	if err != nil {
		return page, err
	}
	return page, nil
}

// read reads a feed of an account, which has one page.
func (f *feeds) read(ctx context.Context, r upstream.Request, handle, cursor string) ([]schema.Post, error) {
	if cursor != "" {
		return nil, providers.ErrCursor
	}
	res, err := f.http.Do(ctx, r)
	if err != nil {
		return nil, err
	}
	var answer feed
	if err := markup.XML(res.Body, &answer); err != nil {
		return nil, err
	}
	if err := wire.Need(ctx, "channel", answer.Channel != nil); err != nil {
		return nil, err
	}
	if err := about(ctx, handle, answer.Channel.Links); err != nil {
		return nil, err
	}
	posts, lost := []schema.Post{}, 0
	for _, i := range answer.Channel.Items {
		p := i.post(handle)
		if posts = append(posts, p); p.ID == "" {
			lost++
		}
	}
	if err := (wire.Witness{Rows: len(posts)}).Check(ctx, "item"); err != nil { // a feed has no count
		return nil, err
	}
	return posts, wire.Understood("item", len(posts)-lost, lost)
}

// about returns an error when a feed is of another account.
func about(ctx context.Context, handle string, addresses []string) error {
	for _, a := range addresses {
		if link, err := links.Parse(a, hosts...); err == nil && link != nil {
			return wire.SameFold(ctx, "account", handle, link.Segment(0))
		}
	}
	return wire.Need(ctx, "channel.link", false)
}

// post converts i, which has no id when the pin is unknown.
func (i item) post(handle string) schema.Post {
	id, err := addresses.Normalize(providers.PostID, i.Link)
	if err != nil {
		if id, err = addresses.Normalize(providers.PostID, i.GUID); err != nil {
			return schema.Post{}
		}
	}
	raw, err := json.Marshal(i)
	if err != nil { // it has only strings
		return schema.Post{}
	}
	words := joined(i.Title, "", text.FromHTML(i.Description))
	return schema.Post{
		Common:    schema.Common{ID: id, URL: pinURL(id), Raw: raw},
		Author:    schema.Actor{ID: handle, Handle: handle},
		Text:      words,
		CreatedAt: dates.Parse(strings.TrimSpace(i.Published), time.RFC1123, time.RFC1123Z),
		Media:     one(schema.Image, i.picture(), ""),
		Hashtags:  text.Hashtags(words),
		Mentions:  text.Mentions(words),
	}
}

// picture returns the address of the first picture in the description, "" when there is none.
func (i item) picture() string {
	z := html.NewTokenizer(strings.NewReader(i.Description))
	for {
		switch z.Next() {
		case html.ErrorToken:
			return ""
		case html.StartTagToken, html.SelfClosingTagToken:
			t := z.Token()
			for _, a := range t.Attr {
				if t.Data == "img" && a.Key == "src" {
					return a.Val
				}
			}
		case html.TextToken, html.EndTagToken, html.CommentToken, html.DoctypeToken:
		}
	}
}
