package bluesky

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/socialdata/socialdata/providers/internal/text"
	"github.com/socialdata/socialdata/schema"
)

// loose is a part that an author's own program has written and nobody has checked: what is of the wrong type is taken
// for absent, so that one post cannot spoil a page.
type loose[T any] struct{ V T }

// UnmarshalJSON decodes b if it fits.
func (l *loose[T]) UnmarshalJSON(b []byte) error {
	var v T
	if json.Unmarshal(b, &v) == nil {
		l.V = v
	}
	return nil
}

// record is a post as its author has written it.
// https://github.com/bluesky-social/atproto/blob/main/lexicons/app/bsky/feed/post.json
type record struct {
	Text      loose[string]         `json:"text"`
	CreatedAt loose[string]         `json:"createdAt"` // the author's clock
	Langs     loose[[]string]       `json:"langs"`
	Tags      loose[[]string]       `json:"tags"` // hashtags that are not in the text
	Facets    loose[[]loose[facet]] `json:"facets"`
	Reply     loose[struct {
		Root   reference `json:"root"`
		Parent reference `json:"parent"`
	}] `json:"reply"`
}

type reference struct {
	URI string `json:"uri"`
}

// facet says what a part of the text is. The bounds count bytes of UTF-8.
// https://github.com/bluesky-social/atproto/blob/main/lexicons/app/bsky/richtext/facet.json
type facet struct {
	Index struct {
		Start int `json:"byteStart"`
		End   int `json:"byteEnd"`
	} `json:"index"`
	Features []loose[feature] `json:"features"`
}

type feature struct {
	Type string `json:"$type"`
	Tag  string `json:"tag"`
	DID  string `json:"did"`
}

// lang returns the first language that the author names.
func (r record) lang() *string {
	if len(r.Langs.V) == 0 || len(r.Langs.V[0]) < 2 {
		return nil
	}
	return &r.Langs.V[0]
}

// createdAt returns the author's time, unless it cannot be read or lies behind the time at which Bluesky saw the post.
func (r record) createdAt(indexedAt string) *time.Time {
	said, err := time.Parse(time.RFC3339, r.CreatedAt.V)
	seen, seenErr := time.Parse(time.RFC3339, indexedAt)
	switch {
	case seenErr == nil && (err != nil || said.After(seen)):
		return new(seen.UTC())
	case err == nil:
		return new(said.UTC())
	}
	return nil
}

// facets returns the facets in the order of the text.
func (r record) facets() []facet {
	var out []facet
	for _, f := range r.Facets.V {
		out = append(out, f.V)
	}
	slices.SortStableFunc(out, func(a, b facet) int { return cmp.Compare(a.Index.Start, b.Index.Start) })
	return out
}

// hashtags returns the tags of the text and those beside it, each once in its first spelling.
func (r record) hashtags() []string {
	var out []string
	add := func(tag string) {
		tag = strings.TrimLeft(strings.TrimSpace(tag), "#＃")
		if tag != "" && !slices.ContainsFunc(out, func(have string) bool { return strings.EqualFold(have, tag) }) {
			out = append(out, tag)
		}
	}
	for _, f := range r.facets() {
		for _, x := range f.Features {
			if strings.HasSuffix(x.V.Type, "#tag") {
				add(x.V.Tag)
			}
		}
	}
	for _, tag := range r.Tags.V {
		add(tag)
	}
	return out
}

// mentions returns the handles that the text names, or the DID where the text has none.
func (r record) mentions() []string {
	var out []string
	for _, f := range r.facets() {
		for _, x := range f.Features {
			if !strings.HasSuffix(x.V.Type, "#mention") {
				continue
			}
			who := x.V.DID
			if start, end := f.Index.Start, f.Index.End; 0 <= start && start < end && end <= len(r.Text.V) {
				if named, err := account(r.Text.V[start:end]); err == nil {
					who = named
				}
			}
			if who != "" && !slices.Contains(out, who) {
				out = append(out, who)
			}
		}
	}
	return out
}

// embed is what Bluesky shows with a post, in as far as it is media. Link cards and quoted posts are not.
// https://github.com/bluesky-social/atproto/tree/main/lexicons/app/bsky/embed
type embed struct {
	Type   string `json:"$type"`
	Images []struct {
		Fullsize string `json:"fullsize"`
		Thumb    string `json:"thumb"`
	} `json:"images"`
	Items []struct {
		Type      string `json:"$type"`
		Fullsize  string `json:"fullsize"`
		Thumbnail string `json:"thumbnail"`
	} `json:"items"`
	Playlist  string        `json:"playlist"` // HLS
	Thumbnail string        `json:"thumbnail"`
	Media     *loose[embed] `json:"media"`
}

func (e embed) media() []schema.Media {
	var out []schema.Media
	add := func(kind schema.MediaType, link, thumbnail string) {
		if u := text.URL(link); u != nil {
			out = append(out, schema.Media{Type: kind, URL: *u, ThumbnailURL: text.URL(thumbnail)})
		}
	}
	switch e.Type {
	case "app.bsky.embed.images#view":
		for _, i := range e.Images {
			add(schema.Image, i.Fullsize, i.Thumb)
		}
	case "app.bsky.embed.gallery#view":
		for _, i := range e.Items {
			if i.Type == "app.bsky.embed.gallery#viewImage" {
				add(schema.Image, i.Fullsize, i.Thumbnail)
			}
		}
	case "app.bsky.embed.video#view":
		add(schema.Video, e.Playlist, e.Thumbnail)
	case "app.bsky.embed.recordWithMedia#view":
		if e.Media != nil {
			return e.Media.V.media()
		}
	}
	return out
}
