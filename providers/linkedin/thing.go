package linkedin

import (
	"bytes"
	"context"
	"encoding/json"
	"iter"
	"slices"
	"strings"

	"github.com/socialdata/socialdata/providers/kit/island"
	"github.com/socialdata/socialdata/providers/kit/wire"
)

// thing is the JSON-LD of a page about its subject.
// https://schema.org/Organization, https://schema.org/Person and https://schema.org/SocialMediaPosting
type thing struct {
	Type        some[string]       `json:"@type"`
	Name        string             `json:"name"`
	URL         string             `json:"url"`
	Description string             `json:"description"`
	Slogan      string             `json:"slogan"`
	Logo        some[picture]      `json:"logo"`
	Image       some[picture]      `json:"image"`
	SameAs      some[string]       `json:"sameAs"`
	Address     some[place]        `json:"address"`
	Counters    some[counter]      `json:"interactionStatistic"`
	Headline    string             `json:"headline"`
	Body        string             `json:"articleBody"`
	Published   wire.Time          `json:"datePublished"`
	Uploaded    wire.Time          `json:"uploadDate"`
	Author      some[author]       `json:"author"`
	Creator     some[author]       `json:"creator"`
	Comments    wire.Rows[comment] `json:"comment"`
	Commented   wire.Count         `json:"commentCount"`
	film
	Video some[film] `json:"video"`
}

// film is a https://schema.org/VideoObject.
type film struct {
	Content   string       `json:"contentUrl"`
	Thumbnail some[string] `json:"thumbnailUrl"`
	Duration  string       `json:"duration"`
}

type author struct {
	Name  string        `json:"name"`
	URL   string        `json:"url"`
	Image some[picture] `json:"image"`
}

type place struct {
	Country string `json:"addressCountry"`
}

// picture is a https://schema.org/ImageObject, or only its address.
type picture struct {
	Content string `json:"contentUrl"`
	URL     string `json:"url"`
}

// UnmarshalJSON never fails.
func (p *picture) UnmarshalJSON(b []byte) error {
	type object picture
	if json.Unmarshal(b, (*object)(p)) != nil {
		*p = picture{}
		_ = json.Unmarshal(b, &p.URL) // anything but an address is not a picture
	}
	return nil
}

func (p picture) address() string {
	if p.Content != "" {
		return p.Content
	}
	return p.URL
}

// pictures returns the addresses of the pictures that have one.
func pictures(list []picture) (all []string) {
	for _, p := range list {
		if u := p.address(); u != "" {
			all = append(all, u)
		}
	}
	return all
}

// counter is a https://schema.org/InteractionCounter.
type counter struct {
	Kind  string     `json:"interactionType"` // with http or https
	Count wire.Count `json:"userInteractionCount"`
}

// count returns how often an action, such as "LikeAction", was done.
func count(counters []counter, action string) *int64 {
	for _, c := range counters {
		if strings.HasSuffix(c.Kind, "/"+action) {
			return c.Count.V
		}
	}
	return nil
}

// some is one value or a list of them: JSON-LD treats both the same. Values that are not a T are left out.
type some[T any] []T

// UnmarshalJSON never fails.
func (s *some[T]) UnmarshalJSON(b []byte) error {
	*s = nil
	for row := range oneOrMore(b) {
		var v T
		if string(row) != "null" && json.Unmarshal(row, &v) == nil {
			*s = append(*s, v)
		}
		if len(*s) == wire.MaxRows {
			break
		}
	}
	return nil
}

// first returns the first value, or the zero value.
func (s some[T]) first() (v T) {
	if len(s) > 0 {
		v = s[0]
	}
	return v
}

// things returns the things of a page whose type ends with one of the given words.
func things(ctx context.Context, p *island.Page, types ...string) []wire.Object[thing] {
	var all []wire.Object[thing]
	for _, script := range p.LinkedData() {
		for raw := range split(script) {
			if len(all) == wire.MaxRows || ctx.Err() != nil {
				return all
			}
			o := wire.Object[thing]{Raw: raw}
			if wire.Decode(ctx, raw, &o.V) == nil && o.V.is(types) {
				all = append(all, o)
			}
		}
	}
	return all
}

func (t thing) is(types []string) bool {
	for _, own := range t.Type {
		for _, want := range types {
			if strings.HasSuffix(own, want) {
				return true
			}
		}
	}
	return false
}

// split yields the objects of a script, which may be alone, in a list or in a graph. Lists are not nested.
func split(b []byte) iter.Seq[json.RawMessage] {
	return func(yield func(json.RawMessage) bool) {
		for row := range oneOrMore(b) {
			var graph []byte
			island.Find(row, func(name string, v island.Value) bool {
				if name == "@graph" {
					graph = v.Bytes()
				}
				return false
			})
			if graph == nil {
				graph = row
			}
			for object := range oneOrMore(graph) {
				if !yield(object) {
					return
				}
			}
		}
	}
}

// oneOrMore yields the elements of a list, or the value itself if it is not a list.
func oneOrMore(b []byte) iter.Seq[[]byte] {
	if b = bytes.TrimSpace(b); bytes.HasPrefix(b, []byte("[")) {
		return wire.Split(b)
	}
	return slices.Values([][]byte{b})
}
