package kwai

import (
	"cmp"
	"context"
	"net/url"
	"slices"
	"strings"

	"golang.org/x/net/html"

	"github.com/socialdata/socialdata/providers/kit/dom"
	"github.com/socialdata/socialdata/providers/kit/island"
	"github.com/socialdata/socialdata/providers/kit/text"
	"github.com/socialdata/socialdata/providers/kit/upstream"
	"github.com/socialdata/socialdata/providers/kit/wire"
	"github.com/socialdata/socialdata/schema"
)

// about is the beginning of the text that a shared video without a caption has.
const about = "Kwai is one of the most popular short video communities"

// shared reads a page that the app shares. It has the name of the account but not its handle, and rounds all counts but
// the views.
func (s site) shared(ctx context.Context, at place) (schema.Post, error) {
	res, err := s.share.Do(ctx, upstream.Get("photo", at.user, at.number))
	if err != nil {
		return schema.Post{}, err
	}
	head := island.Read(res.Body)
	all := head.LinkedData()
	i := slices.IndexFunc(all, func(b []byte) bool { return isA(b, "VideoObject") })
	if err := wire.Need(ctx, "the JSON-LD VideoObject", i >= 0); err != nil {
		return schema.Post{}, err
	}
	v, err := thing[video](ctx, all[i])
	if err != nil {
		return schema.Post{}, err
	}
	number := cmp.Or(numberIn(head.Meta("og:url")), numberIn(v.V.URL), numberIn(v.V.Thumbnail.first())) // one has it
	if err := wire.Need(ctx, "og:url", number != ""); err != nil {
		return schema.Post{}, err
	}
	if err := wire.Same(ctx, "post", at.number, number); err != nil {
		return schema.Post{}, err
	}
	v.V.Description = unescaped(v.V.Description)
	v.V.Thumbnail = oneOrMore[string]{head.Meta("og:image")}
	p := v.V.post(at, v.Raw)
	p.URL = "https://m.kwai.com/photo/" + at.user + "/" + at.number
	p.Author = owner(res.Body)
	p.Author.ID, p.Author.Handle = at.user, at.user
	return p, nil
}

// unescaped decodes a caption that is escaped as in an address. It drops the text about Kwai itself, which is not the
// video's.
func unescaped(s string) string {
	if plain, err := url.PathUnescape(s); err == nil {
		s = plain
	}
	if strings.HasPrefix(s, about) {
		return ""
	}
	return s
}

// owner returns the name and the picture of the account.
func owner(page []byte) (a schema.Actor) {
	root, err := dom.Parse(page)
	if err != nil {
		return a
	}
	inside := under(root, func(n *html.Node) bool { return hasClass(n, "userinfo") })
	if inside == nil {
		return a
	}
	if name := under(inside, func(n *html.Node) bool { return hasClass(n, "name") }); name != nil && name.FirstChild != nil {
		a.DisplayName = text.NonEmpty(name.FirstChild.Data)
	}
	if picture := under(inside, func(n *html.Node) bool { return n.Data == "img" }); picture != nil {
		a.AvatarURL = text.URL(attribute(picture, "src"))
	}
	return a
}

// under returns the first element below n for which is returns true, nil when there is none.
func under(n *html.Node, is func(*html.Node) bool) *html.Node {
	for d := range n.Descendants() {
		if d.Type == html.ElementNode && is(d) {
			return d
		}
	}
	return nil
}

func hasClass(n *html.Node, class string) bool {
	return slices.Contains(strings.Fields(attribute(n, "class")), class)
}

func attribute(n *html.Node, name string) string {
	for _, a := range n.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}
