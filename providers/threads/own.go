package threads

import (
	"cmp"
	"context"
	"strings"

	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/browser"
	"github.com/socialdata/socialdata/providers/kit/links"
	"github.com/socialdata/socialdata/providers/kit/upstream"
	"github.com/socialdata/socialdata/providers/kit/wire"
	"github.com/socialdata/socialdata/schema"
)

// site reads Threads' public pages. Further pages of a list cannot be read: they need a query id that changes with each
// release of the site.
type site struct{ http *upstream.Client }

func newOwn(cfg Config) providers.Provider {
	s := site{upstream.New(upstream.Config{
		HTTP: cfg.HTTP, Base: cmp.Or(cfg.WebURL, siteURL), Header: asBrowser, Check: checkPage, Absent: ownPage,
	})}
	return providers.Provider{
		Name: "threads_own", Platform: platform.Threads, Source: schema.Own, Prompt: true,
		Profile:  s.profile,
		Posts:    s.posts,
		Post:     s.post,
		Search:   s.find,
		Comments: s.comments,
		Replies:  s.replies,

		Normalize: addresses.Normalize, Names: addresses.Names, Also: addresses.Also,
		Filters: map[providers.Op]providers.Filters{
			providers.OpSearch: {"kind": {"post"}, "sort": {"relevance", "recent"}},
		},
		Notes: map[providers.Op]string{
			providers.OpProfile:  "Threads shows many data centers a login page instead",
			providers.OpPosts:    "the newest 20 to 30",
			providers.OpPost:     "by shortcode or URL",
			providers.OpSearch:   "the first page of posts; #word searches the tag",
			providers.OpComments: "the first batch, by the post's shortcode or URL",
			providers.OpReplies:  "the first batch, by the comment's shortcode or URL",
		},
	}
}

// asBrowser are the headers that a browser sends when a person opens a page: without them the page has no data.
var asBrowser = browser.Navigation("User-Agent", browser.Phone)

func (s site) profile(ctx context.Context, handle string) (schema.Profile, error) {
	p, err := s.open(ctx, upstream.Get("@"+handle), func(p *page) bool { return len(p.users) > 0 || p.about(handle) })
	if err != nil {
		return schema.Profile{}, err
	}
	if m := p.account(handle); m != nil {
		return m.V.profile(m.Raw), nil
	}
	if len(p.users) > 0 { // the head may be about the account, but then the site's format has changed
		return schema.Profile{}, wire.SameFold(ctx, "account", handle, p.users[0].V.Username)
	}
	return p.card.profile(), nil
}

// about reports whether the head of the page is about an account.
func (p *page) about(handle string) bool {
	return p.card != nil && strings.EqualFold(p.card.Handle, handle)
}

// posts reads the posts on an account's page. The pinned post comes first there, and suggested posts of others come in
// between.
func (s site) posts(ctx context.Context, handle, cursor string) (providers.Page[schema.Post], error) {
	var out providers.Page[schema.Post]
	p, err := s.open(ctx, upstream.Get("@"+handle), func(p *page) bool {
		return p.account(handle) != nil || p.rows+p.listed > 0
	})
	if err != nil {
		return out, err
	}
	if err := p.shows(ctx, handle, cursor); err != nil {
		return out, err
	}
	lost := p.unread()
	for _, t := range p.threads {
		switch first := t[0]; {
		case gone(first), first.V.User.handle() != "" && !strings.EqualFold(first.V.User.Username, handle):
		case first.V.User.handle() == "":
			lost++
		default:
			out.Items = append(out.Items, first.V.post(first.Raw))
		}
	}
	if err := wire.Understood("thread_items", len(out.Items), lost); err != nil {
		return providers.Page[schema.Post]{}, err
	}
	// Threads has no count of posts
	err = wire.Witness{Rows: len(p.threads)}.Check(ctx, "thread_items")
	if err != nil {
		return providers.Page[schema.Post]{}, err
	}
	return out, nil
}

// shows returns an error if a page has no posts to show: they are private, or the list is missing.
func (p *page) shows(ctx context.Context, handle, cursor string) error {
	m := p.account(handle)
	switch {
	case cursor != "":
		return providers.ErrCursor // there is only one page
	case m != nil && m.V.Private.Is():
		return providers.NotFound("the account is private")
	}
	return wire.Need(ctx, "mediaData.edges", p.rows+p.listed > 0)
}

func (s site) post(ctx context.Context, id string) (schema.Post, error) {
	_, n, err := s.thread(ctx, id)
	if err != nil {
		return schema.Post{}, err
	}
	return n.V.post(n.Raw), nil
}

// thread opens a post's page by its shortcode alone: Threads redirects /t/ to it.
func (s site) thread(ctx context.Context, id string) (*page, *wire.Object[node], error) {
	if links.Digits(id) {
		return nil, nil, providers.Unsupported("the public pages find posts by shortcode, not by media id")
	}
	p, err := s.open(ctx, upstream.Get("t", id), func(p *page) bool { return p.post(id) != nil })
	if err != nil {
		return nil, nil, err
	}
	n := p.post(id)
	if gone(*n) {
		return nil, nil, providers.NotFound("the post is deleted or hidden")
	}
	return p, n, wire.Need(ctx, "user or caption", n.V.readable())
}

func (s site) comments(ctx context.Context, postID, cursor string) (providers.Page[schema.Comment], error) {
	return s.children(ctx, postID, cursor, func(*page) (string, *string) { return postID, nil })
}

// replies reads a comment's own page: to Threads a comment is a post like any other. If the page does not show the post
// at the top, the comment is used as the nearest known one.
func (s site) replies(ctx context.Context, q providers.RepliesQuery, cursor string) (providers.Page[schema.Comment], error) {
	return s.children(ctx, q.CommentID, cursor, func(p *page) (string, *string) {
		return cmp.Or(q.PostID, p.top(q.CommentID), q.CommentID), &q.CommentID
	})
}

// children reads the replies to one post or comment; place returns the post at the top and the comment above them.
func (s site) children(
	ctx context.Context, id, cursor string, place func(*page) (postID string, parent *string),
) (providers.Page[schema.Comment], error) {
	var out providers.Page[schema.Comment]
	if cursor != "" {
		return out, providers.ErrCursor // there is only one page
	}
	p, main, err := s.thread(ctx, id)
	if err != nil {
		return out, err
	}
	postID, parent := place(p)
	posts, lost, listed := p.answers(id)
	for _, n := range posts {
		switch {
		case gone(n) || n.V.Code == id:
		case !n.V.readable():
			lost++
		default:
			out.Items = append(out.Items, n.V.comment(postID, parent, n.Raw))
		}
	}
	count := main.V.Info.Replies.V
	if !listed { // without a list, the post itself must say that there are none
		return out, wire.Need(ctx, "direct_replies.edges", count != nil && *count == 0)
	}
	if err := wire.Understood("direct_replies", len(out.Items), lost); err != nil {
		return out, err
	}
	return out, wire.Witness{Rows: len(posts), Count: count}.Check(ctx, "direct_replies.edges")
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
	r := upstream.Get("search").Says("q", q.Query).With("serp_type", typ)
	p, err := s.open(ctx, r, func(*page) bool { return true })
	switch {
	case err != nil:
		return out, err
	case cursor != "":
		return out, providers.ErrCursor // there is only one page
	case p.scripts == 0:
		return out, errWall
	}
	if err := wire.Need(ctx, "searchResults.edges", p.rows+p.listed > 0); err != nil {
		return out, err
	}
	lost := p.unread()
	for _, t := range p.threads {
		switch first := t[0]; {
		case gone(first):
		case !first.V.readable():
			lost++
		default:
			post := first.V.post(first.Raw)
			out.Items = append(out.Items, schema.Result(&post))
		}
	}
	if err := wire.Understood("searchResults", len(out.Items), lost); err != nil {
		return providers.Page[schema.SearchResult]{}, err
	}
	// Threads has no text for a search without results
	err = wire.Witness{Rows: len(p.threads)}.Check(ctx, "searchResults.edges")
	if err != nil {
		return providers.Page[schema.SearchResult]{}, err
	}
	return out, nil
}

// errWall is returned for a page without data.
var errWall = providers.Walled("Threads showed a page without data: a login is required, or it does not exist")

// open reads a page until it holds what has looks for. A page without data means that the thing does not exist, or is a
// login page, and the two look almost the same. It counts as missing only when a second read finds nothing either.
func (s site) open(ctx context.Context, r upstream.Request, has func(*page) bool) (*page, error) {
	for range 2 {
		res, err := s.http.Do(ctx, r)
		if err != nil {
			return nil, err
		}
		switch p := read(ctx, res.Body); {
		case has(p):
			return p, nil
		case len(p.users)+len(p.posts)+p.rows+p.listed > 0:
			return nil, wire.Need(ctx, "what was asked for", false)
		case p.scripts == 0 || p.title != "":
			return nil, errWall
		}
	}
	return nil, providers.NotFound("Threads has no such page")
}
