package threads

import (
	"context"
	"regexp"
	"slices"
	"strings"

	"github.com/socialdata/socialdata/providers/internal/island"
	"github.com/socialdata/socialdata/providers/kit/text"
	"github.com/socialdata/socialdata/providers/kit/wire"
	"github.com/socialdata/socialdata/schema"
)

// page is what the scripts and the head of a page of the site hold.
type page struct {
	scripts int // with data for the site's own code
	users   []wire.Object[member]
	threads [][]wire.Object[node] // each a post with those that continue it; none is empty
	listed  int                   // the lists of threads that were there, be they empty
	edges   int                   // what those lists hold
	rows    int                   // the threads that were there, be they understood or not
	posts   []wire.Object[node]   // outside threads and replies: the post that the page is about
	replies *replies              // to it; nil when there is no list of them
	card    *card                 // nil when the head is not about an account
	title   string                // og:title
	budget  int                   // bytes that may yet be looked at: a page of nothing but braces costs no more than another
}

// read takes a page apart. The data sits in JSON scripts, at depths that change: objects are known by their names.
func read(ctx context.Context, body []byte) *page {
	head := island.Read(body)
	p := &page{title: head.Meta("og:title"), card: cardOf(head), budget: 32 * len(body)}
	for _, s := range head.Scripts {
		if s.Has("data-sjs") {
			p.scripts++
			island.Find(s.Body, func(name string, v island.Value) bool { return p.visit(ctx, name, v) })
		}
	}
	return p
}

// visit keeps the value under name when it is one that we know, which ends the search below it.
func (p *page) visit(ctx context.Context, name string, v island.Value) (into bool) {
	switch {
	case name == "thread_items":
		p.rows++
		p.thread(ctx, v.Bytes())
	case name == "direct_replies":
		p.directReplies(ctx, v.Bytes())
	case v.Is('['):
		return true
	case v.Is('{'):
		return p.object(ctx, name, v)
	}
	return false
}

// object looks at the names in an object: a post, an account, or a list of threads.
func (p *page) object(ctx context.Context, name string, v island.Value) (into bool) {
	raw := v.Bytes()
	if p.budget -= len(raw); p.budget < 0 {
		return false
	}
	var has []string
	v.Find(func(name string, _ island.Value) bool {
		has = append(has, name)
		return false
	})
	switch {
	case slices.Contains(has, "text_post_app_info"):
		p.posts = append(p.posts, decode[node](ctx, raw))
		return false
	case slices.Contains(has, "follower_count"), slices.Contains(has, "biography"):
		p.users = append(p.users, decode[member](ctx, raw))
	case name == "mediaData" || name == "searchResults":
		var list struct {
			Edges wire.Rows[struct{}] `json:"edges"`
		}
		if wire.Decode(ctx, raw, &list) == nil && list.Edges.Here() {
			p.listed++
			p.edges += list.Edges.Len() + list.Edges.Lost()
		}
	}
	return true
}

// decode reads an object, which is empty when raw is none.
func decode[T any](ctx context.Context, raw []byte) wire.Object[T] {
	var o wire.Object[T]
	if wire.Decode(ctx, raw, &o) != nil {
		return wire.Object[T]{}
	}
	return o
}

// item is one of thread_items.
type item struct {
	Post wire.Object[node] `json:"post"`
}

// thread keeps a thread whose first post is there: the others continue it.
func (p *page) thread(ctx context.Context, raw []byte) {
	var items wire.Rows[item]
	if wire.Decode(ctx, raw, &items) != nil || items.Lost() > 0 {
		return
	}
	var t []wire.Object[node]
	for _, i := range items.All() {
		t = append(t, i.V.Post)
	}
	if len(t) > 0 && t[0].Raw != nil {
		p.threads = append(p.threads, t)
	}
}

// unread is how many threads could not be read.
func (p *page) unread() int { return max(p.rows, p.edges) - len(p.threads) }

// replies is the list of those to a post.
type replies struct {
	Edges wire.Rows[struct {
		Node struct {
			Posts struct {
				Edges wire.Rows[struct {
					Node wire.Object[node] `json:"node"`
				}] `json:"edges"`
			} `json:"posts"`
			ThreadItems wire.Rows[item] `json:"thread_items"`
		} `json:"node"`
	}] `json:"edges"`
}

func (p *page) directReplies(ctx context.Context, raw []byte) {
	list := &replies{}
	if wire.Decode(ctx, raw, list) == nil && list.Edges.Here() {
		p.replies = list
	}
}

// top gives the first post of each thread below a post, since the others answer that one, and how many of those threads
// could not be read.
func (r *replies) top() (posts []wire.Object[node], lost int) {
	lost = r.Edges.Lost()
	for _, e := range r.Edges.All() {
		var n wire.Object[node]
		switch posts, items := e.V.Node.Posts.Edges, e.V.Node.ThreadItems; {
		case posts.Lost()+items.Lost() > 0: // perhaps the first
		case posts.Len() > 0:
			n = first(posts).Node
		case items.Len() > 0:
			n = first(items).Post
		}
		if n.Raw == nil {
			lost++
			continue
		}
		posts = append(posts, n)
	}
	return posts, lost
}

func first[T any](rows wire.Rows[T]) (row T) {
	for _, r := range rows.All() {
		return r.V
	}
	return row
}

// account is the account that a page is about; inside posts accounts stand without their counts.
func (p *page) account(handle string) *wire.Object[member] {
	for i, u := range p.users {
		if strings.EqualFold(u.V.Username, handle) {
			return &p.users[i]
		}
	}
	return nil
}

// post gives the post with a shortcode, or the one that the page is about and that has lost it, being gone.
func (p *page) post(code string) *wire.Object[node] {
	for _, t := range append([][]wire.Object[node]{p.posts}, p.threads...) {
		if i := slices.IndexFunc(t, func(n wire.Object[node]) bool { return n.V.Code == code }); i >= 0 {
			return &t[i]
		}
	}
	if i := slices.IndexFunc(p.posts, func(n wire.Object[node]) bool { return n.V.Code == "" && gone(n) }); i >= 0 {
		return &p.posts[i]
	}
	return nil
}

// top gives the shortcode of the post above one with a shortcode, where the page shows it: a reply's page begins with
// what it answers.
func (p *page) top(code string) string {
	for _, t := range p.threads {
		first := t[0].V
		if first.Code != code && first.Info.IsReply.Not() && slices.ContainsFunc(t, func(n wire.Object[node]) bool {
			return n.V.Code == code && n.V.Info.IsReply.Is()
		}) {
			return first.Code
		}
	}
	return ""
}

// answers gives the direct replies to a post, how many could not be read, and whether the page has a list of them. An
// older layout of the page has them as threads behind that of the post; what is suggested there is no reply.
func (p *page) answers(code string) (posts []wire.Object[node], lost int, listed bool) {
	if p.replies != nil {
		posts, lost = p.replies.top()
		return posts, lost, true
	}
	lost = p.unread()
	for _, t := range p.threads {
		if slices.ContainsFunc(t, func(n wire.Object[node]) bool { return n.V.Code == code }) {
			continue
		}
		switch first := t[0]; {
		case first.V.Info.IsReply.Is():
			posts = append(posts, first)
		case !first.V.Info.IsReply.Not():
			lost++
		}
	}
	return posts, lost, len(posts) > 0
}

// card is the head of a profile page: all that there is when the scripts hold no account.
type card struct {
	Handle    string `json:"handle"`
	Title     string `json:"og:title"`
	About     string `json:"og:description"`
	Image     string `json:"og:image"`
	followers *int64
	posts     *int64
	bio       string
}

// ofAccount reads "Ann (@ann.example) • Threads, Say more".
var ofAccount = regexp.MustCompile(`\(@([A-Za-z0-9._-]+)\)`)

// cardOf reads the head of a page about an account, such as "551.3K Followers • 3.2K Threads • Sports … See the latest
// conversations with @handle.". Its counts are rounded.
func cardOf(head *island.Page) *card {
	c := &card{Title: head.Meta("og:title"), About: head.Meta("og:description"), Image: head.Meta("og:image")}
	name := ofAccount.FindStringSubmatch(c.Title)
	parts := strings.SplitN(c.About, " • ", 3)
	if name == nil || len(parts) < 2 {
		return nil
	}
	c.Handle, c.followers, c.posts = name[1], text.Count(parts[0]), text.Count(parts[1])
	if c.followers == nil {
		return nil
	}
	if len(parts) == 3 {
		c.bio, _, _ = strings.Cut(parts[2], " See the latest conversations with @")
	}
	return c
}

func (c *card) profile() schema.Profile {
	raw, _ := schema.Marshal(c) // strings always marshal
	name, _, _ := strings.Cut(c.Title, " (@")
	handle := strings.ToLower(c.Handle)
	return schema.Profile{
		Common:      schema.Common{ID: handle, URL: siteURL + "@" + handle, Raw: raw},
		Handle:      handle,
		DisplayName: text.NonEmpty(name),
		Bio:         text.NonEmpty(c.bio),
		AvatarURL:   text.URL(c.Image),
		Followers:   c.followers,
		PostsCount:  c.posts,
	}
}
