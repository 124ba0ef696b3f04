package threads

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/internal/dates"
	"github.com/socialdata/socialdata/providers/internal/links"
	"github.com/socialdata/socialdata/providers/internal/upstream"
	"github.com/socialdata/socialdata/schema"
)

// site reads the pages that Threads shows to anybody. Further pages of a list are out of reach: they need a query id
// that changes with each release of the site.
type site struct{ http *upstream.Client }

func newOwn(cfg Config) providers.Provider {
	s := site{upstream.New(upstream.Config{
		HTTP: cfg.HTTP, Base: cmp.Or(cfg.WebURL, "https://www.threads.com"), Header: asBrowser, MaxBody: 8 << 20,
	})}
	return providers.Provider{
		Name: "threads_own", Platform: platform.Threads, Source: schema.Own,
		Profile:  s.profile,
		Posts:    s.posts,
		Post:     s.post,
		Search:   s.find,
		Comments: s.comments,
		Replies:  s.replies,

		Normalize: normalize,
		Filters: map[providers.Op]providers.Filters{
			providers.OpSearch: {"kind": {"post"}, "sort": {"relevance", "recent"}},
		},
		Notes: map[providers.Op]string{
			providers.OpProfile:  "Threads shows many data centres a login instead of its pages",
			providers.OpPosts:    "the newest 20 to 30",
			providers.OpPost:     "by shortcode or URL",
			providers.OpSearch:   "the first page of posts; #word searches the tag",
			providers.OpComments: "the first batch, by the post's shortcode or URL",
			providers.OpReplies:  "the first batch, by the comment's shortcode or URL",
		},
	}
}

// asBrowser is what a browser sends when a person opens a page: without it the page comes without data.
var asBrowser = http.Header{
	"User-Agent": {"Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) " +
		"Version/18.5 Mobile/15E148 Safari/604.1"},
	"Accept":                    {"text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"},
	"Accept-Language":           {"en-US,en;q=0.9"},
	"Sec-Fetch-Dest":            {"document"},
	"Sec-Fetch-Mode":            {"navigate"},
	"Sec-Fetch-Site":            {"none"},
	"Sec-Fetch-User":            {"?1"},
	"Upgrade-Insecure-Requests": {"1"},
}

func (s site) profile(ctx context.Context, handle string) (schema.Profile, error) {
	p, err := s.open(ctx, upstream.Get("@"+handle), func(p *page) bool { return p.account(handle) != nil || p.summary(handle) != nil })
	if err != nil {
		return schema.Profile{}, fmt.Errorf("threads: page of %q: %w", handle, err)
	}
	if m := p.account(handle); m != nil {
		return m.V.profile(m.Raw), nil
	}
	return p.summary(handle).profile(), nil
}

func (s site) posts(ctx context.Context, handle, cursor string) (providers.Page[schema.Post], error) {
	var out providers.Page[schema.Post]
	p, err := s.open(ctx, upstream.Get("@"+handle), func(p *page) bool { return p.account(handle) != nil || len(p.by(handle)) > 0 })
	if err == nil && cursor != "" {
		err = providers.ErrCursor // none is ever given
	}
	if err == nil {
		if m := p.account(handle); m != nil && m.V.Private {
			err = providers.NotFound("the account is private")
		} else if len(p.threads) == 0 && (m == nil || !p.listed) {
			err = providers.Unavailable(nil, "Threads showed the account without its posts")
		}
	}
	if err != nil {
		return out, fmt.Errorf("threads: posts of %q: %w", handle, err)
	}
	// The pinned post comes first, and posts of others are suggested between.
	posts := p.by(handle)
	slices.SortStableFunc(posts, func(a, b upstream.Object[node]) int { return dates.Newest(a.V.createdAt(), b.V.createdAt()) })
	for _, n := range posts {
		out.Items = append(out.Items, n.V.post(n.Raw))
	}
	return out, nil
}

func (s site) post(ctx context.Context, id string) (schema.Post, error) {
	_, n, err := s.thread(ctx, id)
	if err != nil {
		return schema.Post{}, fmt.Errorf("threads: page of post %q: %w", id, err)
	}
	return n.V.post(n.Raw), nil
}

// thread opens a post's page by its shortcode alone: Threads leads /t/ to it.
func (s site) thread(ctx context.Context, id string) (*page, *upstream.Object[node], error) {
	if links.Digits(id) {
		return nil, nil, providers.Unsupported("the public pages know posts by shortcode, not by media id")
	}
	p, err := s.open(ctx, upstream.Get("t", id), func(p *page) bool { return p.post(id) != nil })
	if err != nil {
		return nil, nil, err
	}
	n := p.post(id)
	if n.V.gone() {
		return nil, nil, providers.NotFound("the post is deleted or hidden")
	}
	return p, n, nil
}

func (s site) comments(ctx context.Context, postID, cursor string) (providers.Page[schema.Comment], error) {
	page, err := s.children(ctx, postID, cursor, postID, nil)
	if err != nil {
		return page, fmt.Errorf("threads: page of post %q: %w", postID, err)
	}
	return page, nil
}

// replies reads a comment's own page: to Threads it is a post like any other.
func (s site) replies(ctx context.Context, q providers.RepliesQuery, cursor string) (providers.Page[schema.Comment], error) {
	page, err := s.children(ctx, q.CommentID, cursor, cmp.Or(q.PostID, q.CommentID), &q.CommentID)
	if err != nil {
		return page, fmt.Errorf("threads: page of comment %q: %w", q.CommentID, err)
	}
	return page, nil
}

func (s site) children(ctx context.Context, id, cursor, postID string, parent *string) (providers.Page[schema.Comment], error) {
	var out providers.Page[schema.Comment]
	if cursor != "" {
		return out, providers.ErrCursor // none is ever given
	}
	p, _, err := s.thread(ctx, id)
	if err != nil {
		return out, err
	}
	for _, n := range p.answers(id) {
		out.Items = append(out.Items, n.V.comment(postID, parent, n.Raw))
	}
	return out, nil
}

func (s site) find(ctx context.Context, q providers.SearchQuery, cursor string) (providers.Page[schema.SearchResult], error) {
	var out providers.Page[schema.SearchResult]
	typ := "default"
	switch {
	case strings.HasPrefix(q.Query, "#"):
		typ = "tags"
	case q.Sort == "recent":
		typ = "recent"
	}
	p, err := s.open(ctx, upstream.Get("search").With("q", q.Query).With("serp_type", typ), func(p *page) bool { return p.listed })
	if err == nil && cursor != "" {
		err = providers.ErrCursor // none is ever given
	}
	if err != nil {
		return out, fmt.Errorf("threads: search page %q: %w", q.Query, err)
	}
	for _, t := range p.threads {
		if n := t[0]; !n.V.gone() {
			post := n.V.post(n.Raw)
			out.Items = append(out.Items, schema.Result(&post))
		}
	}
	return out, nil
}

// open reads a page until it holds what has looks for. A page without data is either no such thing or a login, which
// Threads hardly tells apart: it is missing for sure only when a second reading names nothing either.
func (s site) open(ctx context.Context, r upstream.Request, has func(*page) bool) (*page, error) {
	var p *page
	for range 2 {
		res, err := s.http.Do(ctx, r)
		if err != nil {
			return nil, err
		}
		if isLogin(res.URL) {
			return nil, providers.Unavailable(nil, "Threads asks for a login")
		}
		if p = read(res.Body); has(p) {
			return p, nil
		}
		if p.scripts == 0 || p.title != "" {
			return nil, providers.Unavailable(nil, "Threads showed a page without data: a login, or no such thing")
		}
	}
	return nil, providers.NotFound("Threads has no such page")
}

func isLogin(u *url.URL) bool {
	return u != nil && (strings.HasPrefix(u.Path, "/login") || strings.HasPrefix(u.Path, "/accounts/login"))
}
