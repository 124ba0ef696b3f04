package truthsocial

import (
	"net/url"
	"strings"

	"golang.org/x/net/html"

	"github.com/socialdata/socialdata/providers/kit/text"
)

// plain returns the text of a status. The line "RT: address" before a post that quotes another is left out.
func plain(content string) string {
	if !strings.Contains(content, "quote-inline") {
		return text.FromHTML(content)
	}
	var b strings.Builder
	z := html.NewTokenizer(strings.NewReader(content))
	depth := 0 // of spans, within the quote
	for {
		kind := z.Next()
		if kind == html.ErrorToken {
			return text.FromHTML(b.String())
		}
		raw := string(z.Raw())
		name, class := tag(z, "class")
		switch {
		case kind == html.StartTagToken && name == "span" && (depth > 0 || class == "quote-inline"):
			depth++
		case kind == html.EndTagToken && name == "span" && depth > 0:
			depth--
		case depth == 0:
			b.WriteString(raw)
		}
	}
}

// external lists the links in content that leave Truth Social: mentions and hashtags stay inside.
func external(content string) []string {
	var out []string
	z := html.NewTokenizer(strings.NewReader(content))
	for {
		switch z.Next() {
		case html.ErrorToken:
			return out
		case html.StartTagToken:
			name, href := tag(z, "href")
			if u, err := url.Parse(href); name == "a" && err == nil && (u.Scheme == "http" || u.Scheme == "https") && !strings.EqualFold(u.Hostname(), "truthsocial.com") {
				out = append(out, href)
			}
		case html.TextToken, html.EndTagToken, html.SelfClosingTagToken, html.CommentToken, html.DoctypeToken:
		}
	}
}

// tag returns the name of the current tag of z, and the value of one of its attributes.
func tag(z *html.Tokenizer, attribute string) (name, value string) {
	n, more := z.TagName()
	name = string(n)
	for more {
		var k, v []byte
		if k, v, more = z.TagAttr(); string(k) == attribute {
			value = string(v)
		}
	}
	return name, value
}
