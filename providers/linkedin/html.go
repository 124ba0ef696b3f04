package linkedin

import (
	"bytes"
	"iter"
	"slices"
	"strings"

	"golang.org/x/net/html"
)

// node is an element of a page. A nil node has nothing in it.
type node struct{ *html.Node }

// parse reads HTML, all of which can be read.
func parse(body []byte) node {
	root, err := html.Parse(bytes.NewReader(body))
	if err != nil {
		return node{} // only for what is nested too deeply
	}
	return node{root}
}

// is tells whether an element belongs.
type is func(node) bool

func class(name string) is {
	return func(n node) bool { return slices.Contains(strings.Fields(n.attr("class")), name) }
}

func with(attr, value string) is { return func(n node) bool { return n.attr(attr) == value } }

func has(attr string) is { return func(n node) bool { return n.attr(attr) != "" } }

func tag(name string) is { return func(n node) bool { return n.Data == name } }

func either(some ...is) is {
	return func(n node) bool { return slices.ContainsFunc(some, func(p is) bool { return p(n) }) }
}

// all visits the elements below n that belong, from front to back.
func (n node) all(p is) iter.Seq[node] {
	return func(yield func(node) bool) {
		if n.Node == nil {
			return
		}
		for d := range n.Descendants() {
			if d.Type == html.ElementNode && p(node{d}) && !yield(node{d}) {
				return
			}
		}
	}
}

// first returns the first element below n that belongs, or none.
func (n node) first(p is) node {
	for d := range n.all(p) {
		return d
	}
	return node{}
}

func (n node) here() bool { return n.Node != nil }

// inside tells whether an element that belongs lies around n, below top.
func (n node) inside(p is, top node) bool {
	if n.Node == nil {
		return false
	}
	for a := range n.Ancestors() {
		if a == top.Node {
			return false
		}
		if a.Type == html.ElementNode && p(node{a}) {
			return true
		}
	}
	return false
}

func (n node) attr(name string) string {
	if n.Node == nil {
		return ""
	}
	for _, a := range n.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}

// texts visits the words below n, as they are written.
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

// text is what n says, with its own lines.
func (n node) text() string {
	var b strings.Builder
	for t := range n.texts() {
		b.WriteString(t)
	}
	return strings.TrimSpace(b.String())
}

// line is what n says, in one line.
func (n node) line() string { return strings.Join(strings.Fields(n.text()), " ") }

// picture is the address of an image, which the page loads late; "" for the drawing that stands for none.
func (n node) picture() string {
	for _, name := range []string{"data-delayed-url", "src"} {
		if u := n.attr(name); strings.HasPrefix(u, "http") && !strings.Contains(u, "//static.licdn.com/") {
			return u
		}
	}
	return ""
}
