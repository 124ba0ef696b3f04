package docs

import (
	"html"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// hit is an entry of the search.
type hit struct {
	Title string `json:"t"`
	Kind  string `json:"k"` // such as "Operation"
	To    string `json:"u"` // its address, from the root of the server
	Words string `json:"w"` // the words that find it, besides its title
}

// index returns the entries of the search: chapters first, then operations and their groups, platforms, problems,
// parameters, fields and header fields. reference is the page of that name.
func (s site) index(reference []byte) []hit {
	return slices.Concat(s.chapters(reference), s.operations(), s.platforms(), s.problems(), s.parameters(), s.fields())
}

var (
	sections = regexp.MustCompile(`(?s)<section [^>]*id="([^"]+)"[^>]*>(.*?)</section>`)
	side     = regexp.MustCompile(`(?s)<div class="side">.*`)
	tags     = regexp.MustCompile(`<[^>]*>`)
)

// chapters returns the parts of the guide and the sections, with their text, and the other pages.
func (s site) chapters(reference []byte) []hit {
	said := map[string]string{}
	for _, m := range sections.FindAllSubmatch(reference, -1) {
		text := tags.ReplaceAllString(side.ReplaceAllString(string(m[2]), ""), " ")
		said[string(m[1])] = strings.Join(strings.Fields(html.UnescapeString(text)), " ")
	}
	var out []hit
	for _, p := range s.Guide() {
		out = append(out, hit{p.Name, "Guide", "docs#" + p.ID, p.Words + " " + said[p.ID]})
	}
	for _, section := range s.Sections {
		words := said[slug(section.Title)]
		if section.Page != "" {
			words = section.Page + " " + section.Intro
			for _, row := range section.Rows {
				words += " " + strings.Join(row, " ")
			}
		}
		out = append(out, hit{capital(section.Title), "Guide", section.At(), words})
	}
	return append(out,
		hit{"What can be read", "Page", "docs/platforms", "platforms operations coverage supported"},
		hit{"Which fields are filled", "Page", "docs/fields", "fields coverage null"},
		hit{"Changelog", "Page", "docs/changelog", "changes release notes versions new"},
	)
}

// operations returns the operations, with their groups.
func (s site) operations() []hit {
	var out []hit
	for _, g := range s.groups {
		out = append(out, hit{capital(g.Name), "Group", "docs#group-" + g.Name, g.Doc})
		for _, e := range g.Operations {
			out = append(out, hit{
				e.Label(), "Operation", "docs#" + e.ID, strings.Join([]string{e.Words(), e.Cost, e.Resource()}, " "),
			})
		}
	}
	return out
}

func (s site) platforms() []hit {
	var out []hit
	for _, p := range s.Platforms {
		words := []string{string(p.Platform)}
		if p.Meaning != nil {
			words = append(words, *p.Meaning)
		}
		for _, o := range s.ServedOn(p) {
			words = append(words, o.Operation)
			if o.Note != nil {
				words = append(words, *o.Note)
			}
		}
		out = append(out, hit{p.Name, "Platform", platformPath(string(p.Platform))[1:], strings.Join(words, " ")})
	}
	return out
}

func (s site) problems() []hit {
	var out []hit
	for _, p := range s.Problems {
		out = append(out, hit{
			strconv.Itoa(p.Code.Status()) + " " + string(p.Code), "Problem", "docs#" + string(p.Code),
			p.Code.Title() + " " + strings.Join(p.Code.Explain(), " "),
		})
	}
	return out
}

// parameters returns each parameter once, linked to the first operation that has it.
func (s site) parameters() []hit {
	var out []hit
	at := map[string]int{}
	for _, g := range s.groups {
		for _, e := range g.Operations {
			for _, p := range e.Inputs {
				i, known := at[p.Name]
				if !known {
					i = len(out)
					at[p.Name] = i
					out = append(out, hit{p.Name, "Parameter", "docs#" + e.ID, p.Doc + " " + strings.Join(p.Words, " ")})
				}
				if !strings.Contains(out[i].Words, p.Doc) {
					out[i].Words += " " + p.Doc
				}
			}
		}
	}
	return out
}

// fields returns each field of each resource once, linked to the first operation that returns it, and the fields of
// meta and of the header.
func (s site) fields() []hit {
	var out []hit
	add := func(of, to string, fields []field) {
		for _, f := range fields {
			if !f.Head {
				out = append(out, hit{of + "." + f.Name, "Field", to, f.Doc + " " + strings.Join(f.Words, " ")})
			}
		}
	}
	add("meta", "docs#envelope", s.Meta())
	known := map[string]bool{}
	for _, g := range s.groups {
		for _, e := range g.Operations {
			if e.Data == nil || e.Data.Kind() == reflect.Interface || known[e.Resource()] {
				continue
			}
			known[e.Resource()] = true
			add(e.Resource(), "docs#"+e.ID, e.Fields)
		}
	}
	for _, h := range s.Headers {
		out = append(out, hit{h.Name, "Header", "docs#headers", h.Doc})
	}
	return out
}
