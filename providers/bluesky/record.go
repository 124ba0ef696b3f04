package bluesky

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/socialdata/socialdata/providers/kit/text"
	"github.com/socialdata/socialdata/providers/kit/wire"
	"github.com/socialdata/socialdata/schema"
)

// record is a post as the author's client wrote it. It is unchecked: any field may have another type.
// https://github.com/bluesky-social/atproto/blob/main/lexicons/app/bsky/feed/post.json
type record struct {
	Text      string    `json:"text"`
	CreatedAt wire.Time `json:"createdAt"` // the author's clock
	Langs     []string  `json:"langs"`
	Tags      []string  `json:"tags"` // hashtags that are not in the text
	Facets    []facet   `json:"facets"`
	Reply     struct {
		Root   reference `json:"root"`
		Parent reference `json:"parent"`
	} `json:"reply"` // absent from a post that is not a reply
}

type reference struct {
	URI string `json:"uri"`
}

// facet describes a part of the text. The bounds count bytes of UTF-8.
// https://github.com/bluesky-social/atproto/blob/main/lexicons/app/bsky/richtext/facet.json
type facet struct {
	Index struct {
		Start wire.Count `json:"byteStart"`
		End   wire.Count `json:"byteEnd"`
	} `json:"index"`
	Features []feature `json:"features"`
}

type feature struct {
	Type string `json:"$type"`
	Tag  string `json:"tag"`
	DID  string `json:"did"`
}

// of returns the part of text that the facet describes, "" if the bounds are invalid.
func (f facet) of(text string) string {
	start, end := f.Index.Start.V, f.Index.End.V
	if start == nil || end == nil || *start >= *end || *end > int64(len(text)) {
		return ""
	}
	return text[*start:*end]
}

// lang returns the first language that the author names.
func (r record) lang() *string {
	if len(r.Langs) == 0 {
		return nil
	}
	return &r.Langs[0]
}

// createdAt returns the author's time, unless it cannot be read or is later than the time at which Bluesky saw the
// post.
func (r record) createdAt(seen *time.Time) *time.Time {
	said := r.CreatedAt.V
	if said == nil || seen != nil && said.After(*seen) {
		return seen
	}
	return said
}

// facets returns the facets in the order of the text.
func (r record) facets() []facet {
	start := func(f facet) int64 {
		if f.Index.Start.V == nil {
			return 0
		}
		return *f.Index.Start.V
	}
	return slices.SortedStableFunc(slices.Values(r.Facets), func(a, b facet) int { return cmp.Compare(start(a), start(b)) })
}

// hashtags returns the tags in the text and the separate ones, each once in its first spelling.
func (r record) hashtags() []string {
	var out []string
	seen := map[string]bool{"": true}
	add := func(tag string) {
		tag = strings.TrimLeft(strings.TrimSpace(tag), "#＃")
		if folded := strings.ToLower(strings.ToUpper(tag)); !seen[folded] {
			seen[folded] = true
			out = append(out, tag)
		}
	}
	for _, f := range r.facets() {
		for _, x := range f.Features {
			if strings.HasSuffix(x.Type, "#tag") {
				add(x.Tag)
			}
		}
	}
	for _, tag := range r.Tags {
		add(tag)
	}
	return out
}

// mentions returns the handles that are mentioned in the text, or the DID if the text has no handle.
func (r record) mentions() []string {
	var out []string
	for _, f := range r.facets() {
		for _, x := range f.Features {
			if !strings.HasSuffix(x.Type, "#mention") {
				continue
			}
			who := x.DID
			if named, err := account(f.of(r.Text)); err == nil {
				who = named
			}
			out = append(out, who)
		}
	}
	return text.Each(out)
}

// embed is the media of a post. Link cards and quoted posts are not included.
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
	Playlist  string `json:"playlist"` // HLS
	Thumbnail string `json:"thumbnail"`
	Media     *embed `json:"media"` // of a quote with media; otherwise absent
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
			return e.Media.media()
		}
	}
	return out
}
