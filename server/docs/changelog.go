package docs

import (
	"regexp"
	"strings"
)

// block is a heading, a paragraph or a list of a text in Markdown.
type block struct {
	Level int       // of a heading; else 0
	Text  []token   // of a heading or a paragraph
	Items [][]token // of a list
}

// Releases returns the changelog in blocks. Of Markdown it knows what the changelog has: headings, paragraphs, lists,
// code and links, of which the text remains.
func (s site) Releases() []block {
	var out []block
	for part := range strings.SplitSeq(s.Changelog, "\n\n") {
		part = strings.TrimSpace(part)
		heading := strings.TrimLeft(part, "#")
		switch level := len(part) - len(heading); {
		case part == "":
		case level > 0:
			out = append(out, block{Level: level, Text: marked(heading)})
		case strings.HasPrefix(part, "- "):
			var items [][]token
			for item := range strings.SplitSeq(strings.TrimPrefix(part, "- "), "\n- ") {
				items = append(items, marked(item))
			}
			out = append(out, block{Items: items})
		default:
			out = append(out, block{Text: marked(part)})
		}
	}
	return out
}

var (
	markdownLinks = regexp.MustCompile(`\[([^]]*)\]\([^)]*\)`)
	markdownCode  = regexp.MustCompile("`[^`]*`")
)

// marked returns a text in tokens: code has the class s.
func marked(source string) []token {
	source = strings.Join(strings.Fields(markdownLinks.ReplaceAllString(source, "$1")), " ")
	return split(source, markdownCode, func(text string, _ bool) token { return token{"s", strings.Trim(text, "`")} })
}
