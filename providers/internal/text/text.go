// Package text turns what upstreams write into what the schema wants: plain text, hashtags, mentions, and nil where
// there is nothing.
package text

import (
	"regexp"
	"slices"
	"strings"

	"golang.org/x/net/html"

	"github.com/socialdata/socialdata/internal/weburl"
)

// NonEmpty returns s without surrounding space, or nil when nothing is left.
func NonEmpty(s string) *string {
	if s = strings.TrimSpace(s); s == "" {
		return nil
	}
	return &s
}

// Join puts a title and a body together: the title, a blank line, the body; or the one that there is.
func Join(title, body string) string {
	title, body = strings.TrimSpace(title), strings.TrimSpace(body)
	if title == "" || body == "" {
		return title + body
	}
	return title + "\n\n" + body
}

// URL returns s as an absolute URI that the schema accepts, or nil when it is none: http and https only, a missing
// scheme is https, characters that a URI may not hold are escaped.
func URL(s string) *string {
	u, ok := weburl.Absolute(s)
	if !ok {
		return nil
	}
	return &u
}

// URLOr returns s as an absolute URI, or another where s is none: the page of an object is known even where the upstream
// does not write it.
func URLOr(s, other string) string {
	if u := URL(s); u != nil {
		return *u
	}
	return other
}

// Each returns what of list is not empty, each once, in order.
func Each(list []string) []string {
	var out []string
	for _, s := range list {
		if s = strings.TrimSpace(s); s != "" && !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	return out
}

// URLs returns those of list that are URIs, each once.
func URLs(list ...string) []string {
	var out []string
	for _, s := range list {
		if u := URL(s); u != nil && !slices.Contains(out, *u) {
			out = append(out, *u)
		}
	}
	return out
}

// Addresses returns the URLs that s names, each once, without the punctuation behind them. A closing bracket belongs to
// a URL that opens it.
func Addresses(s string) []string { return weburl.InText(s) }

var (
	hashtag = regexp.MustCompile(`(?:^|[^\pL\pN_&/#])[#＃]([\pL\pN\pM_]*[\pL][\pL\pN\pM_]*)`)
	mention = regexp.MustCompile(`(?:^|[^\pL\pN_@/.])@([A-Za-z0-9_](?:[A-Za-z0-9_.-]*[A-Za-z0-9_])?)`)
)

// Hashtags returns the hashtags of s without #, each once, in order.
func Hashtags(s string) []string { return Find(hashtag, s) }

// Mentions returns the handles that s names behind an @, each once, in order.
func Mentions(s string) []string { return Find(mention, s) }

// Find returns what the first group of re matches in s, each once, in order.
func Find(re *regexp.Regexp, s string) []string {
	var out []string
	for _, m := range re.FindAllStringSubmatch(s, -1) {
		if !slices.Contains(out, m[1]) {
			out = append(out, m[1])
		}
	}
	return out
}

// FromHTML returns the text of an HTML fragment: paragraphs become blank lines, <br> a line break, list items lines,
// entities characters; scripts and styles are left out. A link keeps its words.
func FromHTML(s string) string {
	if !strings.ContainsAny(s, "<&") {
		return strings.TrimSpace(s)
	}
	var b strings.Builder
	z := html.NewTokenizer(strings.NewReader(s))
	skip := 0
	for {
		switch z.Next() {
		case html.ErrorToken:
			return tidy(b.String())
		case html.TextToken:
			if skip == 0 {
				b.WriteString(html.UnescapeString(string(z.Raw())))
			}
		case html.StartTagToken, html.SelfClosingTagToken:
			name, _ := z.TagName()
			switch string(name) {
			case "br":
				b.WriteByte('\n')
			case "p", "div", "ul", "ol", "pre", "blockquote", "h1", "h2", "h3", "h4", "h5", "h6", "table":
				b.WriteString("\n\n")
			case "li", "tr":
				b.WriteByte('\n')
			case "script", "style":
				skip++
			}
		case html.EndTagToken:
			name, _ := z.TagName()
			switch string(name) {
			case "p", "div", "ul", "ol", "pre", "blockquote", "h1", "h2", "h3", "h4", "h5", "h6", "table":
				b.WriteString("\n\n")
			case "script", "style":
				skip = max(0, skip-1)
			}
		case html.CommentToken, html.DoctypeToken:
		}
	}
}

var blankLines = regexp.MustCompile(`[ \t]*\n[ \t]*(?:\n[ \t]*)+`)

func tidy(s string) string {
	s = strings.ReplaceAll(s, "\r\n", "\n")
	return strings.TrimSpace(blankLines.ReplaceAllString(s, "\n\n"))
}
