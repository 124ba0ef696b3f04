// Package text converts upstreams' texts to the schema's: plain text, hashtags, mentions, and nil for an empty text.
package text

import (
	"regexp"
	"strings"
	"unicode/utf8"

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

// Join joins a title and a body: the title, a blank line, the body; or the one that is not empty.
func Join(title, body string) string {
	title, body = strings.TrimSpace(title), strings.TrimSpace(body)
	if title == "" || body == "" {
		return title + body
	}
	return title + "\n\n" + body
}

// URL returns s as an absolute URI that the schema accepts, or nil when it is not one. It accepts only http and https;
// a missing scheme becomes https, and characters that a URI may not contain are escaped.
func URL(s string) *string {
	u, ok := weburl.Absolute(s)
	if !ok {
		return nil
	}
	return &u
}

// URLOr returns s as an absolute URI, or other if s is not one: the address of an object is known even if the upstream
// does not write it.
func URLOr(s, other string) string {
	if u := URL(s); u != nil {
		return *u
	}
	return other
}

// Each returns the elements of list that are not empty, each once, in order.
func Each(list []string) []string {
	var out once
	for _, s := range list {
		out.add(strings.TrimSpace(s))
	}
	return out.list
}

// once is a list that contains each text once, in order.
type once struct {
	list []string
	seen map[string]bool
}

// add adds s unless it is empty or already there.
func (o *once) add(s string) {
	if s == "" || o.seen[s] {
		return
	}
	if o.seen == nil {
		o.seen = map[string]bool{}
	}
	o.seen[s] = true
	o.list = append(o.list, s)
}

// URLs returns the elements of list that are URIs, each once.
func URLs(list ...string) []string {
	var out once
	for _, s := range list {
		if u := URL(s); u != nil {
			out.add(*u)
		}
	}
	return out.list
}

// Addresses returns the URLs in s, each once, without punctuation after them. A closing bracket belongs to a URL that
// opens it.
func Addresses(s string) []string { return weburl.InText(s) }

var (
	hashtag = regexp.MustCompile(`(?:^|[^\pL\pN_&/#])[#＃]([\pL\pN\pM_]*[\pL][\pL\pN\pM_]*)`)
	glued   = regexp.MustCompile(`[#＃]([\pL\pN_][\pL\pN\pM_]*)`)
	mention = regexp.MustCompile(`(?:^|[^\pL\pN_@/.])@([A-Za-z0-9_](?:[A-Za-z0-9_.-]*[A-Za-z0-9_])?)`)
)

// Hashtags returns the hashtags of s without #, each once, in order.
func Hashtags(s string) []string { return Find(hashtag, s, "#", "＃") }

// GluedHashtags is [Hashtags] for platforms that also recognize a hashtag that directly follows other text, as the
// second one of #sea#storm, and one that is a number.
func GluedHashtags(s string) []string {
	good := func(before rune) bool { return before != '&' && before != '/' && before != '#' }
	return FindBehind(glued, since(s, "#", "＃"), good)
}

// Mentions returns the handles after an @ in s, each once, in order.
func Mentions(s string) []string { return Find(mention, s, "@") }

// since returns the searched part of s from the character before the first of signs, or "" if s does not contain any of
// them. Most texts do not, and finding that out takes a hundredth of the time of a regular expression
// (BenchmarkHashtags).
func since(s string, signs ...string) string {
	s = weburl.Searched(s)
	first := len(s)
	for _, sign := range signs {
		if at := strings.Index(s[:first], sign); at >= 0 {
			first = at
		}
	}
	if first == len(s) {
		return ""
	}
	_, before := utf8.DecodeLastRuneInString(s[:first])
	return s[first-before:]
}

// Find returns the matches of the first group of re in s, each once, in order: the first 100 in the first 64 KiB of s.
// If signs are given, every match of re must begin with one of them, or with one character followed by one of them:
// texts that contain none of them are not searched with re.
func Find(re *regexp.Regexp, s string, signs ...string) []string {
	if len(signs) > 0 {
		s = since(s, signs...)
	}
	return FindBehind(re, s, func(rune) bool { return true })
}

// FindBehind is [Find] for matches that follow a character for which good returns true; at the beginning of s it is
// [utf8.RuneError].
func FindBehind(re *regexp.Regexp, s string, good func(before rune) bool) []string {
	s = weburl.Searched(s)
	for most := 2 * weburl.MostFinds; ; most *= 8 { // a second round only if most matches are repetitions
		var out once
		matches := re.FindAllStringSubmatchIndex(s, most)
		for _, m := range matches {
			if before, _ := utf8.DecodeLastRuneInString(s[:m[0]]); good(before) {
				out.add(s[m[2]:m[3]])
			}
			if len(out.list) == weburl.MostFinds {
				return out.list
			}
		}
		if len(matches) < most {
			return out.list
		}
	}
}

// FromHTML returns the text of an HTML fragment: paragraphs become blank lines, <br> a line break, list items lines,
// entities characters; scripts and styles are left out. A link becomes its text.
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

// tidy returns s without space around it, and with one empty line in place of consecutive blank ones.
func tidy(s string) string {
	s = strings.TrimSpace(strings.ReplaceAll(s, "\r\n", "\n"))
	var b strings.Builder
	for {
		i := strings.IndexByte(s, '\n')
		if i < 0 {
			return b.String() + s
		}
		rest := strings.TrimLeft(s[i:], " \t\n")
		if space := s[i : len(s)-len(rest)]; strings.Count(space, "\n") > 1 {
			b.WriteString(strings.TrimRight(s[:i], " \t"))
			b.WriteString("\n\n")
			s = rest
		} else {
			b.WriteString(s[:i+1])
			s = s[i+1:]
		}
	}
}

// First returns the first element of list, and "" when it is empty.
func First(list []string) string {
	if len(list) == 0 {
		return ""
	}
	return list[0]
}
