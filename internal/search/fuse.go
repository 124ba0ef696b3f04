package search

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"
	"sync"
	"time"

	"github.com/socialdata/socialdata/internal/cursor"
	"github.com/socialdata/socialdata/internal/jsontext"
	"github.com/socialdata/socialdata/schema"
)

const (
	fusionK       = 60 // of reciprocal rank fusion
	mostPerAuthor = 3  // before those of others
)

// ranked is one result of a merged list.
type ranked struct {
	raw    json.RawMessage     // nil if it was ranked by its value
	page   func() [][]byte     // the JSON of each result of its page, if it was ranked by its value
	place  int                 // its index in that page
	value  schema.SearchResult // what its JSON is decoded to, shared; the zero value if that is not known
	score  float64
	part   int // index of its platform
	id     string
	url    string
	author string
	at     time.Time
}

// fuse merges the results of several platforms by reciprocal rank fusion, with ties in the order of the platforms and
// then of the ids; those beyond an author's third come last. If the record says so, they are newest first instead, with
// those without a time last. A result of two platforms is included once, at its best rank, and not at all if before or
// an earlier page has it.
// https://dl.acm.org/doi/10.1145/1571941.1572114
func (r *record) fuse(before, parts []part) []ranked {
	all := r.distinct(before, parts)
	slices.SortFunc(all, func(a, b *ranked) int {
		if c := b.at.Compare(a.at); r.Recent && c != 0 {
			return c
		}
		return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.part, b.part), cmp.Compare(a.id, b.id))
	})
	if !r.Recent {
		moveFrequentAuthorsBack(all)
	}
	out := make([]ranked, len(all))
	for i, x := range all {
		out[i] = *x
	}
	return out
}

// distinct returns each result of parts once, with its best score, without those of before and of earlier pages.
func (r *record) distinct(before, parts []part) []*ranked {
	n := 0
	for _, p := range parts {
		n += len(p.list)
	}
	all, known, seen := make([]*ranked, 0, n), make(map[string]*ranked, 2*n), hashes(r.Seen)
	for _, p := range before {
		for _, x := range p.results() {
			known[x.url], known[x.id] = &x, &x
		}
	}
	for i, p := range parts {
		for rank, x := range p.results() {
			x.part, x.score = i, 1/float64(fusionK+rank+1)
			twin := cmp.Or(known[x.url], known[x.id])
			switch {
			case seen[cursor.Hash(x.url)]:
			case twin != nil:
				twin.score = max(twin.score, x.score)
			default:
				known[x.url], known[x.id] = &x, &x
				all = append(all, &x)
			}
		}
	}
	return all
}

// moveFrequentAuthorsBack moves the results beyond the third of an author behind the others. Their order stays.
func moveFrequentAuthorsBack(results []*ranked) {
	count := map[string]int{}
	behind := make(map[*ranked]int, len(results))
	for _, x := range results {
		if count[x.author]++; x.author != "" && count[x.author] > mostPerAuthor {
			behind[x] = 1
		}
	}
	slices.SortStableFunc(results, func(a, b *ranked) int { return cmp.Compare(behind[a], behind[b]) })
}

// list returns the JSON list of results.
func list(results []ranked) []byte {
	out := []byte{'['}
	for i, x := range results {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(out, x.encoded()...)
	}
	return append(out, ']')
}

// encoded returns the JSON of a result.
func (x ranked) encoded() json.RawMessage {
	if x.page != nil {
		return x.page()[x.place]
	}
	return x.raw
}

func hashes(of []uint64) map[uint64]bool {
	out := make(map[uint64]bool, len(of))
	for _, h := range of {
		out[h] = true
	}
	return out
}

// results returns the results of a part, which are shared.
func (p part) results() []ranked {
	if p.list != nil {
		return p.list
	}
	return rankedOf(p.Results)
}

func rankedOf(results []byte) []ranked {
	list := jsontext.Elements(results) // encoded by the engine, so it is valid
	out := make([]ranked, len(list))
	for i, raw := range list {
		out[i] = newRanked(raw)
	}
	return out
}

// rankedAs returns the results of a page whose values are known. The page is only split when the JSON of one of them is
// needed, which a caller in the process does not need.
func rankedAs(values []schema.SearchResult, encoded []byte) []ranked {
	out := make([]ranked, len(values))
	page := sync.OnceValue(func() [][]byte {
		all := jsontext.Elements(encoded) // encoded by the engine, so it is valid
		return all
	})
	for i, v := range values {
		c := v.Shared()
		author, at := origin(v.Object)
		out[i] = ranked{
			page: page, place: i, value: v, id: resultID(string(v.Kind), string(c.Platform), c.ID), url: c.URL,
		}
		if author != nil {
			out[i].author = authorID(string(author.Platform), author.ID)
		}
		if at != nil {
			out[i].at = *at
		}
	}
	return out
}

// origin returns who made an object, and when; nil for what is not known.
func origin(o schema.Object) (*schema.Actor, *time.Time) {
	switch o := o.(type) {
	case *schema.Post:
		return &o.Author, o.CreatedAt
	case *schema.Comment:
		return &o.Author, o.CreatedAt
	case *schema.Review:
		return &o.Author, o.CreatedAt
	case *schema.Track:
		return nil, o.ReleasedAt
	case *schema.Collection:
		return nil, o.CreatedAt
	case *schema.WebPage:
		return nil, o.PublishedAt
	}
	return nil, nil
}

// newRanked decodes the fields of a result that are needed for ranking. A fan-out ranks hundreds of results while its
// caller waits, and decoding them completely took a sixth of its time (BenchmarkFanOut).
func newRanked(raw json.RawMessage) ranked {
	x := ranked{raw: raw}
	var kind, on, id string
	for name, value := range jsontext.Members(raw) {
		switch name {
		case "kind":
			kind = text(value)
		case "platform":
			on = text(value)
		case "id":
			id = text(value)
		case "url":
			x.url = text(value)
		case "author":
			x.author = authorOf(value)
		case "created_at", "published_at", "released_at":
			if x.at.IsZero() {
				x.at, _ = time.Parse(time.RFC3339, text(value)) // null is the zero time
			}
		}
	}
	x.id = resultID(kind, on, id)
	return x
}

// resultID returns a text that identifies a result.
func resultID(kind, on, id string) string { return kind + "|" + on + "|" + id }

// authorOf returns the [authorID] of an encoded author.
func authorOf(author []byte) string {
	var on, id string
	for name, value := range jsontext.Members(author) {
		switch name {
		case "platform":
			on = text(value)
		case "id":
			id = text(value)
		}
	}
	return authorID(on, id)
}

// authorID returns a text that identifies an author, "" if the author is unknown.
func authorID(on, id string) string {
	if id == "" || id == "unknown" {
		return ""
	}
	return on + "|" + id
}

// text decodes a string that the engine has encoded; "" for null.
func text(value []byte) string {
	if len(value) < 2 || value[0] != '"' {
		return ""
	}
	if bytes.IndexByte(value, '\\') < 0 {
		return string(value[1 : len(value)-1])
	}
	var s string
	_ = json.Unmarshal(value, &s) // encoded by the engine, so it is valid
	return s
}
