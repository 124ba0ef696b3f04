package rumble

import (
	"context"
	"encoding/json"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/net/html"

	"github.com/socialdata/socialdata/callctx"
	"github.com/socialdata/socialdata/providers/kit/dom"
	"github.com/socialdata/socialdata/providers/kit/text"
	"github.com/socialdata/socialdata/providers/kit/upstream"
	"github.com/socialdata/socialdata/providers/kit/wire"
	"github.com/socialdata/socialdata/schema"
)

// page is a page of rumble.com.
type page struct {
	doc      *html.Node
	body     []byte
	url      *url.URL // after redirects
	moved    bool     // Rumble has redirected to another page
	pictures pictures
}

// page reads a page. It returns errWall or errLogin if Rumble sends a challenge or a login instead.
func (s *site) page(ctx context.Context, r upstream.Request) (*page, error) {
	res, err := s.http.Do(ctx, r)
	if err != nil {
		return nil, err
	}
	doc, err := dom.Parse(res.Body)
	if err != nil {
		return nil, err
	}
	title := strings.ToLower(dom.Text(dom.First(doc, dom.Tag("title"))))
	if title == "just a moment..." || strings.HasPrefix(title, "attention required! | cloudflare") {
		return nil, errWall
	}
	if res.Moved && (strings.HasPrefix(res.URL.Path, "/login") || strings.HasPrefix(res.URL.Path, "/account")) {
		return nil, errLogin
	}
	return &page{doc, res.Body, res.URL, res.Moved, picturesIn(styles(doc))}, nil
}

// canonical returns the page's own address, as it states it.
func (p *page) canonical() string {
	return dom.Attr(dom.First(p.doc, dom.Tag("link"), dom.Is("rel", "canonical")), "href")
}

// next returns the number of the page after this one; "" on the last one.
func (p *page) next(ctx context.Context, this int) (string, error) {
	link := p.further()
	if link == nil {
		return "", nil
	}
	n := 0
	if u, err := url.Parse(dom.Attr(link, "href")); err == nil {
		n, _ = strconv.Atoi(u.Query().Get("page")) // 0 is not a page
	}
	return strconv.Itoa(n), wire.Need(ctx, "link rel=next", n > this)
}

// further returns the link to the next page, nil on the last one.
func (p *page) further() *html.Node { return dom.First(p.doc, dom.Tag("link"), dom.Is("rel", "next")) }

// says reports whether a text in n contains one of words, which are in lower case.
func says(n *html.Node, words ...string) bool {
	if n == nil {
		return false
	}
	for e := range n.Descendants() {
		if e.Type != html.TextNode || e.Parent.Data == "script" || e.Parent.Data == "style" {
			continue
		}
		said := strings.ToLower(e.Data)
		if slices.ContainsFunc(words, func(w string) bool { return strings.Contains(said, w) }) {
			return true
		}
	}
	return false
}

// pictures are the addresses of accounts' pictures, keyed by the end of the CSS class that shows them: pages set them
// in style rules.
type pictures map[string]string

const pictureClass = "user-image--img--id-"

// picturesIn parses rules such as i.user-image--img--id-0 { background-image: url(https://…); }.
func picturesIn(css string) pictures {
	out := pictures{}
	for {
		_, rest, found := strings.Cut(css, pictureClass)
		if !found {
			return out
		}
		selector, rule, opened := strings.Cut(rest, "{")
		if !opened {
			return out
		}
		rule, css, _ = strings.Cut(rule, "}")
		_, address, _ := strings.Cut(rule, "url(")
		address, _, closed := strings.Cut(address, ")")
		if address = strings.Trim(strings.TrimSpace(address), `"'`); closed && address != "" {
			out[strings.TrimSpace(selector)] = address
		}
	}
}

// of returns the address of the picture that n shows, or "".
func (p pictures) of(n *html.Node) string {
	for e := range dom.All(n, dom.Has("class")) {
		for class := range strings.FieldsSeq(dom.Attr(e, "class")) {
			if id, ok := strings.CutPrefix(class, pictureClass); ok && p[id] != "" {
				return p[id]
			}
		}
	}
	return ""
}

func styles(doc *html.Node) string {
	var b strings.Builder
	for style := range dom.All(doc, dom.Tag("style")) {
		for c := range style.ChildNodes() {
			b.WriteString(c.Data)
		}
	}
	return b.String()
}

// actor converts the account to an author. The name and the picture may be "".
func (a account) actor(name, picture string) schema.Actor {
	return schema.Actor{ID: a.id(), Handle: a.Slug, DisplayName: text.NonEmpty(name), AvatarURL: absolute(picture)}
}

// absolute resolves an address on a page, nil if it is not one.
func absolute(address string) *string {
	u, err := url.Parse(strings.TrimSpace(address))
	if err != nil || address == "" {
		return nil
	}
	base, _ := url.Parse(home) // a constant
	return text.URL(base.ResolveReference(u).String())
}

// count parses the count in a part of a page. One that is present but cannot be read is reported to the trace.
func count(ctx context.Context, part, s string) *int64 {
	n := text.Count(s)
	if n == nil && s != "" {
		callctx.Of(ctx).Trace.Drift(callctx.Drift{Paths: []string{part}})
	}
	return n
}

// line returns the text of n on one line.
func line(n *html.Node) string { return strings.Join(strings.Fields(dom.Text(n)), " ") }

// raw encodes what was read from a page as JSON with field names of this package, since the page is HTML.
func raw(v any) json.RawMessage {
	b, err := json.Marshal(v)
	if err != nil { // it consists of strings and of JSON that has been parsed before
		return nil
	}
	return b
}
