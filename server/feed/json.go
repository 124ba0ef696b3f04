package feed

import (
	"cmp"
	"encoding/json"
)

// The objects of a JSON Feed. https://www.jsonfeed.org/version/1.1/
type (
	jsonFeed struct {
		Version string      `json:"version"`
		Title   string      `json:"title"`
		WebURL  string      `json:"home_page_url,omitempty"`
		FeedURL string      `json:"feed_url,omitempty"`
		Items   []jsonEntry `json:"items"`
	}
	jsonEntry struct {
		ID        string       `json:"id"`
		URL       string       `json:"url,omitempty"`
		Title     string       `json:"title"`
		Text      string       `json:"content_text"`
		Published string       `json:"date_published"`
		Authors   []jsonAuthor `json:"authors,omitempty"`
	}
	jsonAuthor struct {
		Name string `json:"name"`
	}
)

// JSON writes f as a JSON Feed.
func (f Feed) JSON() ([]byte, error) {
	out := jsonFeed{
		Version: "https://jsonfeed.org/version/1.1", Title: f.Title, WebURL: f.Web, FeedURL: f.Self, Items: []jsonEntry{},
	}
	for _, e := range f.Entries {
		item := jsonEntry{
			ID: e.ID, URL: e.URL, Title: e.Title, Text: e.Text, Published: stamp(*cmp.Or(e.Published, &e.Updated)),
		}
		if e.Author != "" {
			item.Authors = []jsonAuthor{{e.Author}}
		}
		out.Items = append(out.Items, item)
	}
	return json.Marshal(out)
}
