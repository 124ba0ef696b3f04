package feed

import "encoding/xml"

// The elements of an Atom feed. https://www.rfc-editor.org/rfc/rfc4287
type (
	atomFeed struct {
		XMLName xml.Name    `xml:"http://www.w3.org/2005/Atom feed"`
		ID      string      `xml:"id"`
		Title   string      `xml:"title"`
		Updated string      `xml:"updated"`
		Author  atomAuthor  `xml:"author"` // of the entries without one
		Links   []atomLink  `xml:"link"`
		Entries []atomEntry `xml:"entry"`
	}
	atomEntry struct {
		ID        string      `xml:"id"`
		Title     string      `xml:"title"`
		Updated   string      `xml:"updated"`
		Published string      `xml:"published,omitempty"`
		Author    *atomAuthor `xml:"author"`
		Links     []atomLink  `xml:"link"`
		Content   string      `xml:"content"` // text by default
	}
	atomAuthor struct {
		Name string `xml:"name"`
	}
	atomLink struct {
		Rel  string `xml:"rel,attr"`
		Href string `xml:"href,attr"`
	}
)

// links returns a link to each address that is known.
func links(self, alternate string) (out []atomLink) {
	if self != "" {
		out = append(out, atomLink{"self", self})
	}
	if alternate != "" {
		out = append(out, atomLink{"alternate", alternate})
	}
	return out
}

// Atom writes f as Atom.
func (f Feed) Atom() ([]byte, error) {
	out := atomFeed{
		ID: f.ID, Title: f.Title, Updated: stamp(f.Updated), Author: atomAuthor{"socialdata"}, Links: links(f.Self, f.Web),
	}
	for _, e := range f.Entries {
		entry := atomEntry{ID: e.ID, Title: e.Title, Updated: stamp(e.Updated), Links: links("", e.URL), Content: e.Text}
		if e.Published != nil {
			entry.Published = stamp(*e.Published)
		}
		if e.Author != "" {
			entry.Author = &atomAuthor{e.Author}
		}
		out.Entries = append(out.Entries, entry)
	}
	b, err := xml.Marshal(out)
	return append([]byte(xml.Header), b...), err
}
