// Package island finds the data that a page holds for its own scripts: JSON in script elements, and the metadata in its
// head. A page is read in one pass of the tokenizer, and values deep within a script are found in one pass over its
// JSON. The caller decodes the found values into typed structs.
package island

import (
	"bytes"
	"strings"

	"golang.org/x/net/html"

	"github.com/socialdata/socialdata/providers/kit/markup"
)

// Page is the machine-readable part of a page.
type Page struct {
	Title     string // the text of the title element, without surrounding space
	Canonical string // the page's own address, as written
	Scripts   []Script

	meta map[string][]string
}

// Script is a script element.
type Script struct {
	ID   string
	Type string // such as "application/ld+json"
	Body []byte // a part of the page, not a copy

	attributes []html.Attribute
}

// Has reports whether the element has an attribute of that name, such as "data-sjs".
func (s Script) Has(attribute string) bool {
	for _, a := range s.attributes {
		if a.Key == attribute {
			return true
		}
	}
	return false
}

// Attribute returns the value of an attribute, such as "src"; "" when there is none.
func (s Script) Attribute(name string) string { return get(s.attributes, name) }

// Read parses a page. It never fails: missing parts are empty, and so is everything if the page has more parts than any
// real one.
func Read(body []byte) *Page {
	p := &Page{meta: map[string][]string{}}
	if markup.Check(body) != nil {
		return p
	}
	z := html.NewTokenizer(bytes.NewReader(body))
	for kind := z.Next(); kind != html.ErrorToken; kind = z.Next() { // the only error is the end of the page
		if kind != html.StartTagToken && kind != html.SelfClosingTagToken {
			continue
		}
		name, more := z.TagName()
		switch string(name) {
		case "meta":
			p.addMeta(attributes(z, more))
		case "link":
			if a := attributes(z, more); get(a, "rel") == "canonical" {
				p.Canonical = get(a, "href")
			}
		case "title":
			if p.Title == "" && z.Next() == html.TextToken {
				p.Title = strings.TrimSpace(html.UnescapeString(string(z.Raw())))
			}
		case "script":
			p.addScript(z, attributes(z, more))
		}
	}
	return p
}

func (p *Page) addMeta(a []html.Attribute) {
	name := get(a, "property")
	if name == "" {
		name = get(a, "name")
	}
	if name = strings.ToLower(name); name != "" {
		p.meta[name] = append(p.meta[name], get(a, "content"))
	}
}

func (p *Page) addScript(z *html.Tokenizer, a []html.Attribute) {
	s := Script{ID: get(a, "id"), Type: get(a, "type"), attributes: a}
	if z.Next() == html.TextToken {
		s.Body = bytes.Clone(z.Raw()) // the tokenizer reuses its buffer
	}
	p.Scripts = append(p.Scripts, s)
}

// Meta returns the content of the first meta element with the given name or property, "" when there is none.
func (p *Page) Meta(name string) string {
	if all := p.meta[name]; len(all) > 0 {
		return all[0]
	}
	return ""
}

// Metas returns the contents of all meta elements with the given name or property, in order.
func (p *Page) Metas(name string) []string { return p.meta[name] }

// Script returns the body of the script with the given id, or nil.
func (p *Page) Script(id string) []byte {
	for _, s := range p.Scripts {
		if s.ID == id {
			return s.Body
		}
	}
	return nil
}

// LinkedData returns the bodies of the scripts that hold JSON-LD, in order.
// https://www.w3.org/TR/json-ld11/#embedding-json-ld-in-html-documents
func (p *Page) LinkedData() [][]byte {
	var out [][]byte
	for _, s := range p.Scripts {
		if s.Type == "application/ld+json" {
			out = append(out, s.Body)
		}
	}
	return out
}

func attributes(z *html.Tokenizer, more bool) []html.Attribute {
	var out []html.Attribute
	for more {
		var key, value []byte
		key, value, more = z.TagAttr()
		out = append(out, html.Attribute{Key: string(key), Val: string(value)})
	}
	return out
}

func get(a []html.Attribute, key string) string {
	for _, at := range a {
		if at.Key == key {
			return at.Val
		}
	}
	return ""
}
