package search

import (
	"cmp"
	"encoding/json"
	"slices"
	"time"

	"github.com/socialdata/socialdata/internal/cursor"
)

const (
	fusionK       = 60 // of reciprocal rank fusion
	mostPerAuthor = 3  // on the first page
)

// ranked is one result on its way into a merged list.
type ranked struct {
	raw    json.RawMessage
	score  float64
	part   int // place of its platform
	id     string
	url    string
	author string
	at     time.Time
}

// fuse merges the results of several platforms by reciprocal rank fusion, ties by the order of the platforms and then
// by id; or newest first when recent is set, what has no time last. A result that two platforms give stands once, at
// its best rank; one that the parts before or the pages before have given, not at all. When capped is set, what an
// author has beyond three is held back rather than shown.
// https://dl.acm.org/doi/10.1145/1571941.1572114
func (j *job) fuse(before, parts []*jobPart, capped bool) (shown, held []json.RawMessage) {
	var all []*ranked
	seen := map[string]*ranked{}
	for _, p := range before {
		for _, raw := range p.results() {
			r := newRanked(raw, 0)
			seen[r.url], seen[r.id] = r, r
		}
	}
	for i, p := range parts {
		for rank, raw := range p.results() {
			r := newRanked(raw, i)
			r.score = 1 / float64(fusionK+rank+1)
			if slices.Contains(j.Seen, cursor.Hash(r.url)) {
				continue
			}
			if twin := cmp.Or(seen[r.url], seen[r.id]); twin != nil {
				twin.score = max(twin.score, r.score)
				continue
			}
			seen[r.url], seen[r.id] = r, r
			all = append(all, r)
		}
	}
	slices.SortStableFunc(all, func(a, b *ranked) int {
		if j.Recent {
			if c := b.at.Compare(a.at); c != 0 {
				return c
			}
		}
		return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.part, b.part), cmp.Compare(a.id, b.id))
	})
	count := map[string]int{}
	for _, r := range all {
		if count[r.author]++; capped && r.author != "" && count[r.author] > mostPerAuthor {
			held = append(held, r.raw)
		} else {
			shown = append(shown, r.raw)
		}
	}
	return shown, held
}

// results returns the results of a part, encoded.
func (p *jobPart) results() []json.RawMessage {
	var list []json.RawMessage
	_ = json.Unmarshal(p.Data, &list) // our own encoding: nothing else can be in there
	return list
}

func newRanked(raw json.RawMessage, part int) *ranked {
	var o struct {
		Kind, Platform, ID, URL string
		Author                  *struct{ Platform, ID string }
		CreatedAt               *time.Time `json:"created_at"`
		PublishedAt             *time.Time `json:"published_at"`
		ReleasedAt              *time.Time `json:"released_at"`
	}
	_ = json.Unmarshal(raw, &o) // our own encoding: nothing else can be in there
	r := &ranked{raw: raw, part: part, id: o.Kind + "|" + o.Platform + "|" + o.ID, url: o.URL}
	if o.Author != nil && o.Author.ID != "unknown" {
		r.author = o.Author.Platform + "|" + o.Author.ID
	}
	if at := cmp.Or(o.CreatedAt, o.PublishedAt, o.ReleasedAt); at != nil {
		r.at = *at
	}
	return r
}
