package threads

import (
	"bytes"
	"encoding/json"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/net/html"

	"github.com/socialdata/socialdata/providers/internal/text"
	"github.com/socialdata/socialdata/providers/internal/upstream"
	"github.com/socialdata/socialdata/schema"
)

// page is what the scripts and the head of a page of the site hold.
type page struct {
	scripts  int // with data for the site's own code
	users    []upstream.Object[member]
	threads  [][]upstream.Object[node] // each a post with those that continue it; none is empty
	listed   bool                      // whether a list of threads was there, be it an empty one
	posts    []upstream.Object[node]   // outside threads and replies: the post that the page is about
	replies  []upstream.Object[node]   // the direct replies to it
	title    string                    // og:title
	abstract string                    // og:description
	image    string                    // og:image
}

// read takes a page apart. The data sits in JSON scripts, at depths that change: objects are known by their names.
func read(body []byte) *page {
	p := &page{}
	z := html.NewTokenizer(bytes.NewReader(body))
	for token := z.Next(); token != html.ErrorToken; token = z.Next() { // an error is the end: there is no broken HTML
		if token != html.StartTagToken && token != html.SelfClosingTagToken {
			continue
		}
		t := z.Token()
		isData := func(a html.Attribute) bool { return a.Key == "data-sjs" }
		switch {
		case t.Data == "meta":
			p.meta(attr(t, "property"), attr(t, "content"))
		case t.Data == "script" && slices.ContainsFunc(t.Attr, isData) && z.Next() == html.TextToken:
			p.scripts++
			p.walk("", z.Raw(), 0)
		}
	}
	return p
}

func attr(t html.Token, name string) string {
	for _, a := range t.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}

func (p *page) meta(property, content string) {
	switch property {
	case "og:title":
		p.title = content
	case "og:description":
		p.abstract = content
	case "og:image":
		p.image = content
	}
}

// deepest is how far walk goes down; what we look for lies at about half of it.
const deepest = 48

// walk looks for the objects that we know in raw, which stands under key.
func (p *page) walk(key string, raw json.RawMessage, depth int) {
	raw = bytes.TrimSpace(raw)
	switch {
	case len(raw) == 0 || depth > deepest:
	case key == "thread_items":
		p.thread(raw)
	case key == "direct_replies":
		p.directReplies(raw)
	case raw[0] == '[':
		var items []json.RawMessage
		if json.Unmarshal(raw, &items) == nil {
			for _, item := range items {
				p.walk("", item, depth+1)
			}
		}
	case raw[0] == '{':
		var members map[string]json.RawMessage
		if json.Unmarshal(raw, &members) == nil && !p.known(key, raw, members) {
			for _, name := range slices.Sorted(maps.Keys(members)) {
				p.walk(name, members[name], depth+1)
			}
		}
	}
}

// known keeps raw when it is a post, which ends the search below it, or an account.
func (p *page) known(key string, raw json.RawMessage, members map[string]json.RawMessage) bool {
	has := func(name string) bool { _, ok := members[name]; return ok }
	switch {
	case has("text_post_app_info"):
		var n upstream.Object[node]
		if json.Unmarshal(raw, &n) == nil {
			p.posts = append(p.posts, n)
		}
		return true
	case has("username") && (has("follower_count") || has("biography")):
		var u upstream.Object[member]
		if json.Unmarshal(raw, &u) == nil {
			p.users = append(p.users, u)
		}
	case has("edges") && (key == "mediaData" || key == "searchResults"):
		p.listed = true
	}
	return false
}

func (p *page) thread(raw json.RawMessage) {
	p.listed = true
	var items []struct {
		Post *upstream.Object[node] `json:"post"`
	}
	if json.Unmarshal(raw, &items) != nil {
		return
	}
	var t []upstream.Object[node]
	for _, i := range items {
		if i.Post != nil && i.Post.V.Code != "" {
			t = append(t, *i.Post)
		}
	}
	if len(t) > 0 {
		p.threads = append(p.threads, t)
	}
}

// directReplies keeps the first post of each thread below a post: the others answer that one.
func (p *page) directReplies(raw json.RawMessage) {
	var list edges[struct {
		Posts       edges[upstream.Object[node]] `json:"posts"`
		ThreadItems []struct {
			Post upstream.Object[node] `json:"post"`
		} `json:"thread_items"`
	}]
	if json.Unmarshal(raw, &list) != nil {
		return
	}
	for _, e := range list.Edges {
		switch {
		case len(e.Node.Posts.Edges) > 0:
			p.replies = append(p.replies, e.Node.Posts.Edges[0].Node)
		case len(e.Node.ThreadItems) > 0:
			p.replies = append(p.replies, e.Node.ThreadItems[0].Post)
		}
	}
}

type edges[T any] struct {
	Edges []struct {
		Node T `json:"node"`
	} `json:"edges"`
}

// account is the account that a page is about; inside posts accounts stand without their counts.
func (p *page) account(handle string) *upstream.Object[member] {
	for i, u := range p.users {
		if strings.EqualFold(u.V.Username, handle) && (u.V.Followers.V != nil || u.V.Biography != nil) {
			return &p.users[i]
		}
	}
	return nil
}

// by gives the posts of an account, in the order of the page.
func (p *page) by(handle string) []upstream.Object[node] {
	var out []upstream.Object[node]
	for _, t := range p.threads {
		if n := t[0]; n.V.User != nil && strings.EqualFold(n.V.User.Username, handle) && !n.V.gone() {
			out = append(out, n)
		}
	}
	return out
}

// post gives the post with a shortcode, or the one that the page is about and that has lost it, being gone.
func (p *page) post(code string) *upstream.Object[node] {
	for _, t := range append([][]upstream.Object[node]{p.posts}, p.threads...) {
		if i := slices.IndexFunc(t, func(n upstream.Object[node]) bool { return n.V.Code == code }); i >= 0 {
			return &t[i]
		}
	}
	if i := slices.IndexFunc(p.posts, func(n upstream.Object[node]) bool { return n.V.Code == "" && n.V.gone() }); i >= 0 {
		return &p.posts[i]
	}
	return nil
}

// answers gives the direct replies to the post with a shortcode. An older layout of the page has them as threads behind
// that of the post; what is suggested there is no reply.
func (p *page) answers(code string) []upstream.Object[node] {
	out := p.replies
	if len(out) == 0 {
		for _, t := range p.threads {
			if !slices.ContainsFunc(t, func(n upstream.Object[node]) bool { return n.V.Code == code }) && t[0].V.Info.IsReply {
				out = append(out, t[0])
			}
		}
	}
	return slices.DeleteFunc(slices.Clone(out), func(n upstream.Object[node]) bool { return n.V.Code == "" || n.V.Code == code || n.V.gone() })
}

// card is the head of a profile page: all that there is when the scripts hold no account.
type card struct {
	Handle string `json:"handle"`
	Title  string `json:"og:title"`
	About  string `json:"og:description"`
	Image  string `json:"og:image"`
}

// counts reads "551.3K Followers • 3.2K Threads • Sports … See the latest conversations with @handle.".
var counts = regexp.MustCompile(`^([0-9.,]+)([KMB]?) Followers? • ([0-9.,]+)([KMB]?) Threads?(?: • (?s:(.*)))?$`)

// summary gives the head of the page when it is about an account. Its counts are rounded.
func (p *page) summary(handle string) *card {
	if !strings.Contains(strings.ToLower(p.title), "(@"+strings.ToLower(handle)+")") || !counts.MatchString(p.abstract) {
		return nil
	}
	return &card{handle, p.title, p.abstract, p.image}
}

func (c *card) profile() schema.Profile {
	raw, _ := schema.Marshal(c) // strings always marshal
	m := counts.FindStringSubmatch(c.About)
	name, _, _ := strings.Cut(c.Title, " (@")
	bio, _, _ := strings.Cut(m[5], " See the latest conversations with @")
	return schema.Profile{
		Common:      schema.Common{ID: c.Handle, URL: "https://www.threads.com/@" + c.Handle, Raw: raw},
		Handle:      c.Handle,
		DisplayName: text.NonEmpty(name),
		Bio:         text.NonEmpty(bio),
		AvatarURL:   text.URL(c.Image),
		Followers:   rounded(m[1], m[2]),
		PostsCount:  rounded(m[3], m[4]),
	}
}

// rounded reads a count such as 551.3K.
func rounded(number, unit string) *int64 {
	f, err := strconv.ParseFloat(strings.ReplaceAll(number, ",", ""), 64)
	if err != nil {
		return nil
	}
	for range strings.Index(" KMB", unit) {
		f *= 1000
	}
	return new(int64(math.Round(f)))
}
