package threads

import (
	"context"
	"encoding/json"
	"regexp"
	"slices"
	"strings"

	"github.com/socialdata/socialdata/providers/kit/island"
	"github.com/socialdata/socialdata/providers/kit/text"
	"github.com/socialdata/socialdata/providers/kit/wire"
	"github.com/socialdata/socialdata/schema"
)

// page is the data in the scripts and the head of a page of the site.
type page struct {
	scripts int // with data for the site's own code
	users   []wire.Object[member]
	threads [][]wire.Object[node] // each is a post with those that continue it; none is empty
	listed  int                   // the number of lists of threads, including empty ones
	edges   int                   // the number of rows in those lists
	rows    int                   // the number of threads, readable or not
	posts   []wire.Object[node]   // outside threads and replies: the post of the page
	replies *replies              // to that post; nil when there is no list of them
	card    *card                 // nil when the head is not about an account
	title   string                // og:title
	budget  int                   // bytes that may still be searched: bounds the cost of a page that is nothing but braces
}

// read parses a page. The data is in JSON scripts, at depths that change: objects are recognized by their names.
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

// visit keeps the value under name if the name is known, which ends the search below it.
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

// object checks the names in an object: a post, an account, or a list of threads.
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

// decode decodes an object, which is empty if raw is not one.
func decode[T any](ctx context.Context, raw json.RawMessage) wire.Object[T] {
	var o wire.Object[T]
	if wire.Decode(ctx, raw, &o) != nil {
		return wire.Object[T]{}
	}
	return o
}

// item is an element of thread_items.
type item struct {
	Post wire.Object[node] `json:"post"`
}

// thread keeps a thread if its first post is present: the others continue it.
func (p *page) thread(ctx context.Context, raw json.RawMessage) {
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

// unread returns how many threads could not be read.
func (p *page) unread() int { return max(p.rows, p.edges) - len(p.threads) }

// replies is the list of replies to a post.
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

func (p *page) directReplies(ctx context.Context, raw json.RawMessage) {
	list := &replies{}
	if wire.Decode(ctx, raw, list) == nil && list.Edges.Here() {
		p.replies = list
	}
}

// top returns the first post of each thread below a post, since the others answer that one, and how many of those
// threads could not be read.
func (r *replies) top() (posts []wire.Object[node], lost int) {
	lost = r.Edges.Lost()
	for _, e := range r.Edges.All() {
		var n wire.Object[node]
		switch posts, items := e.V.Node.Posts.Edges, e.V.Node.ThreadItems; {
		case posts.Lost()+items.Lost() > 0: // one of the lost rows may be the first
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

// account returns the account of the page; within posts, accounts have no counts.
func (p *page) account(handle string) *wire.Object[member] {
	for i, u := range p.users {
		if strings.EqualFold(u.V.Username, handle) {
			return &p.users[i]
		}
	}
	return nil
}

// post returns the post with a shortcode, or the deleted post of the page, which has no shortcode.
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

// top returns the shortcode of the post at the top of the one with the given shortcode, when the page shows it: a
// reply's page begins with what it answers.
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

// answers returns the direct replies to a post, how many could not be read, and whether the page has a list of them. In
// an older layout they are threads after that of the post; suggested posts are not replies.
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

// card is the head of a profile page, used when the scripts hold no account.
type card struct {
	Handle    string `json:"handle"`
	Title     string `json:"og:title"`
	About     string `json:"og:description"`
	Image     string `json:"og:image"`
	followers *int64
	posts     *int64
	bio       string
}

// ofAccount matches "Ann (@ann.example) • Threads, Say more".
var ofAccount = regexp.MustCompile(`\(@([A-Za-z0-9._-]+)\)`)

// cardOf parses the head of a page about an account, such as "551.3K Followers • 3.2K Threads • Sports … See the latest
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
