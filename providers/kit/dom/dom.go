// Package dom finds the parts of an HTML page: elements by class, tag or attribute, in document order, and their text.
// Every function accepts a nil node, and finds nothing in it, so that a page whose layout has changed only lacks its
// parts.
package dom

import (
	"bytes"
	"iter"
	"slices"
	"strings"

	"golang.org/x/net/html"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/markup"
)

// Parse parses a page as browsers do. It returns [providers.ErrUnavailable] only if the page has more elements, or
// deeper nesting, than any real page.
func Parse(body []byte) (*html.Node, error) {
	if err := markup.Check(body); err != nil {
		return nil, err
	}
	doc, err := html.Parse(bytes.NewReader(body))
	if err != nil {
		return nil, providers.Unreadable(err)
	}
	return doc, nil
}

// Match reports whether an element is one of those searched for.
type Match func(*html.Node) bool

// mostClasses is how many bytes of a class attribute are searched.
const mostClasses = 4 << 10

// Class matches elements that have each of classes.
func Class(classes ...string) Match {
	return func(n *html.Node) bool {
		have := slices.Collect(classesOf(n))
		return !slices.ContainsFunc(classes, func(c string) bool { return !slices.Contains(have, c) })
	}
}

func classesOf(n *html.Node) iter.Seq[string] {
	all := Attr(n, "class")
	return strings.FieldsSeq(all[:min(len(all), mostClasses)])
}

// Tag matches elements with that name, such as "video".
func Tag(name string) Match { return func(n *html.Node) bool { return n.Data == name } }

// Has matches elements that have the attribute, whatever its value.
func Has(attribute string) Match {
	return func(n *html.Node) bool {
		return slices.ContainsFunc(n.Attr, func(a html.Attribute) bool { return a.Key == attribute })
	}
}

// Is matches elements whose attribute has the given value.
func Is(attribute, value string) Match {
	return func(n *html.Node) bool { return Attr(n, attribute) == value }
}

// All returns the elements in n that match all of matches, in document order. It does not include n itself.
func All(n *html.Node, matches ...Match) iter.Seq[*html.Node] {
	return func(yield func(*html.Node) bool) {
		if n == nil {
			return
		}
		for e := range n.Descendants() {
			if e.Type == html.ElementNode && matchesAll(e, matches) && !yield(e) {
				return
			}
		}
	}
}

// Rows is [All] for elements that are rows of a list: a matching element within another is a part of that row, so that
// no text is read twice.
func Rows(n *html.Node, matches ...Match) iter.Seq[*html.Node] {
	return func(yield func(*html.Node) bool) {
		var last *html.Node
		for e := range All(n, matches...) {
			if inside(e, last) {
				continue
			}
			if last = e; !yield(e) {
				return
			}
		}
	}
}

// inside reports whether n is within the element top, which may be nil.
func inside(n, top *html.Node) bool {
	for e := n.Parent; top != nil && e != nil; e = e.Parent {
		if e == top {
			return true
		}
	}
	return false
}

func matchesAll(e *html.Node, matches []Match) bool {
	return !slices.ContainsFunc(matches, func(m Match) bool { return !m(e) })
}

// First returns the first element of [All], or nil.
func First(n *html.Node, matches ...Match) *html.Node {
	for e := range All(n, matches...) {
		return e
	}
	return nil
}

// Within reports whether n is within an element that m matches.
func Within(n *html.Node, m Match) bool {
	if n == nil {
		return false
	}
	for e := range n.Ancestors() {
		if e.Type == html.ElementNode && m(e) {
			return true
		}
	}
	return false
}

// Attr returns the value of an attribute of n, or "".
func Attr(n *html.Node, name string) string {
	if n == nil {
		return ""
	}
	for _, a := range n.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}

// Meta returns the content of the page's meta element with that property, such as "og:title", or "".
func Meta(page *html.Node, property string) string {
	return strings.TrimSpace(Attr(First(page, Tag("meta"), Is("property", property)), "content"))
}

// Text returns the text in n as a reader sees it: <br> and block elements begin a line. Spaces and line breaks of the
// source are kept, except those around the whole text. Scripts and styles have no text.
func Text(n *html.Node) string {
	var w writer
	if n != nil {
		w.write(n)
	}
	return strings.TrimSpace(w.b.String())
}

// Words is [Text] for what a person has written in n. It leaves out what the page adds: buttons, links without a
// target, hidden elements, translations next to their original, and elements that one of without matches.
func Words(n *html.Node, without ...Match) string {
	originals, translations := twinsIn(n)
	w := writer{skip: func(e *html.Node) bool {
		for class := range classesOf(e) {
			switch of := pairOf(class); {
			case of == "":
			case strings.Contains(class, "translated") && originals[of]:
				return true
			case strings.Contains(class, "original") && translations[of]:
				return false // which of the two is hidden depends on the language of the page
			}
		}
		return isButton(e) || isHidden(e) || slices.ContainsFunc(without, func(m Match) bool { return m(e) })
	}}
	if n != nil {
		w.write(n)
	}
	return strings.TrimSpace(w.b.String())
}

// twinsIn returns the classes of the originals in n that have text, and of the translations, by the part that their
// class names have in common.
func twinsIn(n *html.Node) (originals, translations map[string]bool) {
	originals, translations = map[string]bool{}, map[string]bool{}
	for e := range All(n) {
		for class := range classesOf(e) {
			switch of := pairOf(class); {
			case of == "":
			case strings.Contains(class, "translated"):
				translations[of] = true
			case !originals[of]:
				originals[of] = hasWords(e)
			}
		}
	}
	return originals, translations
}

// pairOf returns the common part of the classes of an original and its translation, "" for another class.
func pairOf(class string) string {
	for _, word := range []string{"original", "translated"} {
		if before, behind, found := strings.Cut(class, word); found {
			return before + "*" + behind
		}
	}
	return ""
}

func hasWords(n *html.Node) bool {
	for d := range n.Descendants() {
		if d.Type == html.TextNode && strings.TrimSpace(d.Data) != "" {
			return true
		}
	}
	return false
}

func isButton(e *html.Node) bool {
	switch e.Data {
	case "button", "input", "select", "textarea", "noscript", "template":
		return true
	case "a":
		href := strings.TrimSpace(Attr(e, "href"))
		return href == "" || strings.HasPrefix(href, "#") || strings.HasPrefix(strings.ToLower(href), "javascript:")
	}
	return Attr(e, "role") == "button"
}

// hiding are classes whose elements are not shown, or only to screen readers.
var hiding = []Match{
	Class("hidden"), Class("aok-hidden"), Class("a-hidden"), Class("visually-hidden"), Class("sr-only"),
}

func isHidden(e *html.Node) bool {
	style := strings.ToLower(strings.ReplaceAll(Attr(e, "style"), " ", ""))
	return Has("hidden")(e) || strings.Contains(style, "display:none") ||
		slices.ContainsFunc(hiding, func(m Match) bool { return m(e) })
}

type writer struct {
	b    strings.Builder
	due  bool                  // a block has ended: what follows begins a new line
	skip func(*html.Node) bool // elements to leave out; nil for none
}

func (w *writer) write(n *html.Node) {
	if n.Type == html.TextNode {
		w.text(n.Data)
	}
	block := isBlock(n)
	w.due = w.due || block
	for c := range n.ChildNodes() {
		switch {
		case c.Type == html.ElementNode && c.Data == "br":
			w.text("\n")
		case c.Type == html.ElementNode && (c.Data == "script" || c.Data == "style" || w.skip != nil && w.skip(c)):
		default:
			w.write(c)
		}
	}
	w.due = w.due || block
}

func (w *writer) text(s string) {
	if s == "" {
		return
	}
	if w.due && w.b.Len() > 0 && !strings.HasSuffix(w.b.String(), "\n") && !strings.HasPrefix(s, "\n") {
		w.b.WriteByte('\n')
	}
	w.due = false
	w.b.WriteString(s)
}

func isBlock(n *html.Node) bool {
	if n.Type != html.ElementNode {
		return false
	}
	switch n.Data {
	case "p", "div", "pre", "blockquote", "ul", "ol", "li", "table", "tr", "section", "h1", "h2", "h3", "h4", "h5", "h6":
		return true
	}
	return false
}

// Background returns the address of the picture behind n from its style, or "".
func Background(n *html.Node) string {
	_, rest, _ := strings.Cut(Attr(n, "style"), "background-image:")
	_, rest, _ = strings.Cut(rest, "url(")
	rest = strings.TrimSpace(rest)
	end := ")"
	if strings.HasPrefix(rest, "'") || strings.HasPrefix(rest, `"`) {
		end, rest = rest[:1], rest[1:]
	}
	address, _, closed := strings.Cut(rest, end)
	if !closed {
		return ""
	}
	return strings.TrimSpace(address)
}
