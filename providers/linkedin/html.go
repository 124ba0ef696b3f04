package linkedin

import (
	"iter"
	"slices"
	"strings"

	"golang.org/x/net/html"

	"github.com/socialdata/socialdata/providers/kit/dom"
)

// node is an element of a page. A nil node is empty.
type node struct{ *html.Node }

// parse parses HTML, which never fails.
func parse(body []byte) node {
	root, err := dom.Parse(body)
	if err != nil {
		return node{} // only if elements are nested too deeply
	}
	return node{root}
}

// has matches elements with a non-empty attribute.
func has(attr string) dom.Match { return func(n *html.Node) bool { return dom.Attr(n, attr) != "" } }

func either(some ...dom.Match) dom.Match {
	return func(n *html.Node) bool { return slices.ContainsFunc(some, func(m dom.Match) bool { return m(n) }) }
}

// all visits the matching elements below n, in document order.
func (n node) all(m dom.Match) iter.Seq[node] {
	return func(yield func(node) bool) {
		for d := range dom.All(n.Node, m) {
			if !yield(node{d}) {
				return
			}
		}
	}
}

// first returns the first element below n that matches, or none.
func (n node) first(m dom.Match) node { return node{dom.First(n.Node, m)} }

func (n node) here() bool { return n.Node != nil }

// inside reports whether n is within a matching element below top.
func (n node) inside(m dom.Match, top node) bool {
	if n.Node == nil {
		return false
	}
	for a := range n.Ancestors() {
		if a == top.Node {
			return false
		}
		if a.Type == html.ElementNode && m(a) {
			return true
		}
	}
	return false
}

func (n node) attr(name string) string { return dom.Attr(n.Node, name) }

// texts visits the texts below n, as they are written.
func (n node) texts() iter.Seq[string] {
	return func(yield func(string) bool) {
		if n.Node == nil {
			return
		}
		for d := range n.Descendants() {
			switch {
			case d.Type == html.TextNode:
				if !yield(d.Data) {
					return
				}
			case d.Type == html.ElementNode && d.Data == "br":
				if !yield("\n") {
					return
				}
			}
		}
	}
}

// text returns the text of n, with its line breaks.
func (n node) text() string {
	var b strings.Builder
	for t := range n.texts() {
		b.WriteString(t)
	}
	return strings.TrimSpace(b.String())
}

// line returns the text of n in one line.
func (n node) line() string { return strings.Join(strings.Fields(n.text()), " ") }

// picture returns the address of an image, which the page loads lazily; "" for a placeholder.
func (n node) picture() string {
	for _, name := range []string{"data-delayed-url", "src"} {
		if u := n.attr(name); strings.HasPrefix(u, "http") && !strings.Contains(u, "//static.licdn.com/") {
			return u
		}
	}
	return ""
}
