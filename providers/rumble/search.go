package rumble

import (
	"cmp"
	"context"
	"errors"
	"math"
	"strings"

	"golang.org/x/net/html"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/dom"
	"github.com/socialdata/socialdata/providers/kit/pages"
	"github.com/socialdata/socialdata/providers/kit/text"
	"github.com/socialdata/socialdata/providers/kit/upstream"
	"github.com/socialdata/socialdata/providers/kit/wire"
	"github.com/socialdata/socialdata/schema"
)

// searchable returns an error if a query cannot be searched for.
func searchable(q providers.SearchQuery) error {
	if q.Kind == schema.ProfileResult && q.Sort == "views" {
		return providers.Invalid("Rumble sorts videos by views, not accounts")
	}
	return nil
}

// search searches videos, or accounts if the query asks for them. The cursor is the number of a page.
func (s *site) search(
	ctx context.Context, q providers.SearchQuery, cursor string,
) (out providers.Page[schema.SearchResult], err error) {
	this, err := pages.Number(cursor, math.MaxInt)
	if err != nil {
		return out, err
	}
	if err := searchable(q); err != nil {
		return out, err
	}
	what, read := "video", (*page).foundVideos
	if q.Kind == schema.ProfileResult {
		what, read = "channel", (*page).foundAccounts
	}
	r := upstream.Get("search", what).Says("q", q.Query).With("page", cursor)
	if q.Sort == "views" {
		r = r.With("sort", q.Sort)
	}
	p, err := s.page(ctx, r)
	switch {
	case errors.Is(err, providers.ErrNotFound) && cursor != "":
		return out, nil // past the end
	case errors.Is(err, providers.ErrNotFound): // that of the site's own search
		return out, behind(err)
	case err != nil:
		return out, err
	}
	return p.found(ctx, read, this)
}

// found reads the results on a page. A page without results must say so.
func (p *page) found(
	ctx context.Context, read func(*page, context.Context) ([]schema.SearchResult, int), this int,
) (out providers.Page[schema.SearchResult], err error) {
	items, lost := read(p, ctx)
	title := dom.Text(dom.First(p.doc, dom.Tag("title")))
	none := strings.HasPrefix(title, "Search results for") && says(dom.First(p.doc, dom.Tag("main")), noVideos...)
	err = wire.Witness{Rows: len(items), Words: none, More: p.further() != nil}.Check(ctx, "video-listing-entry")
	if err != nil {
		return out, err
	}
	if err := wire.Understood("video-listing-entry", len(items)-lost, lost); err != nil {
		return out, err
	}
	next, err := p.next(ctx, this)
	return providers.Page[schema.SearchResult]{Items: items, Next: next}, err
}

// foundVideos returns the videos on a page, and how many were lost for lack of an id.
func (p *page) foundVideos(ctx context.Context) (items []schema.SearchResult, lost int) {
	for _, r := range p.rows(cmp.Or(dom.First(p.doc, dom.Tag("main")), p.doc)) {
		post := r.post(ctx, r.Author.actor(r.AuthorName, r.AuthorImage))
		if post.ID == "" {
			lost++
		}
		items = append(items, schema.Result(&post))
	}
	return items, lost
}

// hit is an account among the results, in the page's own texts.
type hit struct {
	Account   account `json:"account"`
	Title     string  `json:"title"`
	Followers string  `json:"subscribers"` // such as "200,784 subscribers"
	Picture   string  `json:"picture"`
	Verified  bool    `json:"verified"`
}

// foundAccounts returns the accounts on a page, and how many were lost for lack of an id.
func (p *page) foundAccounts(ctx context.Context) (items []schema.SearchResult, lost int) {
	for n := range dom.Rows(p.doc, dom.Class("channel-item")) {
		profile := p.hit(n).profile(ctx)
		if profile.ID == "" {
			lost++
		}
		items = append(items, schema.Result(&profile))
	}
	return items, lost
}

func (p *page) hit(n *html.Node) hit {
	return hit{
		Account:   accountAt(dom.Attr(dom.First(n, dom.Tag("a"), leadsToAccount), "href")),
		Title:     line(dom.First(n, dom.Class("channel-item--title"))),
		Followers: line(dom.First(n, dom.Class("channel-item--subscribers"))),
		Picture:   p.pictures.of(n),
		Verified:  dom.First(n, dom.Class("channel-item--by-verified")) != nil,
	}
}

func (h hit) profile(ctx context.Context) schema.Profile {
	if h.Account.Slug == "" {
		return schema.Profile{}
	}
	return schema.Profile{
		Common:      schema.Common{ID: h.Account.id(), URL: h.Account.url(), Raw: raw(h)},
		Handle:      h.Account.Slug,
		DisplayName: text.NonEmpty(h.Title),
		AvatarURL:   absolute(h.Picture),
		Verified:    h.Verified,
		Followers:   count(ctx, "channel-item--subscribers", h.Followers),
	}
}
