package docs

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// short returns the operations, one a line, for language models.
func (s site) short() []byte {
	var out bytes.Buffer
	for _, g := range s.groups {
		fmt.Fprintf(&out, "\n## %s\n\n", capital(g.Name))
		for _, e := range g.Operations {
			fmt.Fprintf(&out, "- [%s](docs#%s): %s %s. %s\n", e.Summary, e.ID, e.Method, e.Title(), e.Cost)
		}
	}
	return out.Bytes()
}

// textOf returns the main part of a page as text, in the form of Markdown. Of the languages of a call only the last is
// kept, which is curl.
func textOf(page []byte) ([]byte, error) {
	root, err := html.Parse(bytes.NewReader(page))
	if err != nil {
		return nil, err
	}
	var w textWriter
	for n := range root.Descendants() {
		if n.DataAtom == atom.Main {
			w.write(n)
		}
	}
	return append(bytes.TrimSpace(gaps.ReplaceAll(w.Bytes(), []byte("\n\n"))), '\n'), nil
}

var gaps = regexp.MustCompile(`\n{3,}`)

type textWriter struct{ bytes.Buffer }

// write adds the text of n and of what is in it.
func (w *textWriter) write(n *html.Node) {
	inside := func() {
		for c := range n.ChildNodes() {
			w.write(c)
		}
	}
	switch n.DataAtom {
	case atom.H1, atom.H2, atom.H3, atom.H4:
		fmt.Fprintf(&w.Buffer, "\n\n%s %s\n\n", strings.Repeat("#", int(n.Data[1]-'0')), lineOf(n))
	case atom.P, atom.Summary, atom.Caption:
		fmt.Fprintf(&w.Buffer, "\n%s\n", lineOf(n))
	case atom.Dt, atom.Li:
		fmt.Fprintf(&w.Buffer, "\n- %s", lineOf(n))
	case atom.Dd:
		if n.FirstChild != nil && n.FirstChild.DataAtom == atom.Details {
			inside()
			return
		}
		fmt.Fprintf(&w.Buffer, ": %s", lineOf(n))
	case atom.Tr:
		var cells []string
		for c := range n.ChildNodes() {
			if text := lineOf(c); text != "" {
				cells = append(cells, text)
			}
		}
		fmt.Fprintf(&w.Buffer, "\n| %s |", strings.Join(cells, " | "))
	case atom.Pre:
		if n.Parent.DataAtom == atom.Fieldset && another(n) {
			return
		}
		fmt.Fprintf(&w.Buffer, "\n```\n%s\n```\n", strings.TrimSpace(textIn(n)))
	case atom.Button, atom.Legend, atom.Label, atom.Datalist, atom.Footer:
	default:
		inside()
	}
}

// another reports whether an element of the same kind comes after n.
func another(n *html.Node) bool {
	for c := n.NextSibling; c != nil; c = c.NextSibling {
		if c.DataAtom == n.DataAtom {
			return true
		}
	}
	return false
}

// lineOf returns the text in n in one line.
func lineOf(n *html.Node) string { return strings.Join(strings.Fields(textIn(n)), " ") }

func textIn(n *html.Node) string {
	if n.Type == html.TextNode {
		return n.Data
	}
	var b strings.Builder
	for c := range n.ChildNodes() {
		b.WriteString(textIn(c))
	}
	return b.String()
}
