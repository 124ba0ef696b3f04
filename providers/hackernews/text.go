package hackernews

import (
	"regexp"
	"strings"

	"golang.org/x/net/html"
)

var manyLines = regexp.MustCompile(`\n{3,}`)

// plain converts Hacker News's HTML to text.
func plain(s string) string {
	text, _ := read(s)
	return text
}

// read converts Hacker News's HTML to text, and returns the links in it. <p> comes between paragraphs and is never
// closed. The text of a link is its URL, cut short when it is long. Code keeps its lines and their indentation.
func read(s string) (text string, links []string) {
	var b strings.Builder
	z := html.NewTokenizer(strings.NewReader(s))
	inLink := false
	for kind := z.Next(); kind != html.ErrorToken; kind = z.Next() {
		switch t := z.Token(); {
		case kind == html.TextToken && !inLink:
			b.WriteString(t.Data)
		case kind == html.TextToken:
		case t.Data == "p" && kind == html.StartTagToken, t.Data == "pre":
			b.WriteString("\n\n")
		case t.Data == "br":
			b.WriteByte('\n')
		case t.Data == "a":
			inLink = false
			for _, a := range t.Attr {
				if a.Key == "href" && a.Val != "" {
					b.WriteString(a.Val)
					links = append(links, a.Val)
					inLink = kind == html.StartTagToken
				}
			}
		}
	}
	text = manyLines.ReplaceAllString(b.String(), "\n\n")
	return strings.TrimRight(strings.TrimLeft(text, "\n"), " \t\n"), links
}
