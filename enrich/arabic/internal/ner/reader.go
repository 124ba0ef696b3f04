// Package ner finds the names of persons, organisations and places with an averaged perceptron over tag sequences.
package ner

import (
	"unicode"
	"unicode/utf8"

	"github.com/socialdata/socialdata/enrich/arabic/internal/feature"
	"github.com/socialdata/socialdata/enrich/arabic/internal/gazetteer"
	"github.com/socialdata/socialdata/enrich/arabic/internal/lexicon"
	"github.com/socialdata/socialdata/enrich/arabic/internal/token"
	"github.com/socialdata/socialdata/enrich/arabic/internal/weights"
)

// Tags are the tags of a token.
var Tags = []string{"O", "B-PER", "I-PER", "B-ORG", "I-ORG", "B-LOC", "I-LOC", "B-MISC", "I-MISC"}

// NumTags is the number of [Tags].
const NumTags = 9

// Reader extracts features. It is safe for concurrent use; each text needs its own [Seq].
type Reader struct {
	Lists     *lexicon.Table
	Gazetteer *gazetteer.Table
	Clusters  Clusters
}

// item is what is known about one token before its neighbours are looked at.
type item struct {
	token           int
	key, bare, stem uint32
	lists           uint32
	gaz             uint32 // kinds of the longest gazetteer name here, with the place in it
	shape           uint32
	cluster         uint32
	word, bareRunes []rune
}

// Seq is a text as a sequence of tokens. The zero value is ready; a Seq that is used again keeps its memory.
type Seq struct {
	items    []item
	Tokens   []int // the token of each element
	features []uint32
	ends     []int
	back     []uint8
	sums     weights.Sums // here, since an argument of an interface's method would be allocated for each token
	best     [2][NumTags]int32
}

// Len returns the number of elements of the sequence.
func (q *Seq) Len() int { return len(q.Tokens) }

// Features returns the features of element i.
func (q *Seq) Features(i int) []uint32 {
	if i == 0 {
		return q.features[:q.ends[0]]
	}
	return q.features[q.ends[i-1]:q.ends[i]]
}

// Read fills q with the tokens of d, of which s holds the words. Words inside hashtags are left out: the tag is an
// entity of its own.
func (r *Reader) Read(q *Seq, d *token.Doc, s *feature.Set) {
	q.items, q.Tokens, q.features, q.ends = q.items[:0], q.Tokens[:0], q.features[:0], q.ends[:0]
	span, prev := 0, uint32(0)
	for i := range d.Tokens {
		t := &d.Tokens[i]
		for span < len(s.Spans) && s.Spans[span].Token < i {
			span++
		}
		if t.Tag {
			continue
		}
		it := item{token: i, shape: shape(d, t)}
		if t.Kind == token.Word && span < len(s.Spans) && s.Spans[span].Token == i {
			w := &s.Spans[span]
			it.key, it.bare, it.stem = w.Key, w.Bare, w.Stem
			it.word = d.Folded(t)
			it.bareRunes = feature.Bare(it.word)
			it.cluster = r.Clusters.Of(w)
			it.lists = r.Lists.Exact(prev, w)
			if it.lists == 0 && w.Bare != w.Key {
				it.lists = r.Lists.Exact(prev, &feature.Span{Key: w.Bare})
			}
		} else if t.Kind == token.Foreign {
			it.word = d.Folded(t)
			it.bareRunes = it.word
			it.key = feature.Key(it.word)
			it.bare, it.stem = it.key, it.key
		} else {
			it.key = feature.Combine(kindShape, it.shape, 0)
			it.bare, it.stem = it.key, it.key
		}
		prev = it.key
		q.items = append(q.items, it)
		q.Tokens = append(q.Tokens, i)
	}
	r.names(q)
	for i := range q.items {
		q.extract(i)
		q.ends = append(q.ends, len(q.features))
	}
}

// names marks the longest gazetteer names. The first word may carry clitics.
func (r *Reader) names(q *Seq) {
	for i := 0; i < len(q.items); {
		n, kind := r.longest(q.items[i:])
		for j := range n {
			place := uint32(1)
			if j > 0 {
				place = 2
			}
			q.items[i+j].gaz = uint32(kind)<<2 | place
		}
		i += max(n, 1)
	}
}

func (r *Reader) longest(items []item) (int, gazetteer.Kind) {
	if len(items[0].word) == 0 {
		return 0, 0
	}
	best, kind := 0, gazetteer.Kind(0)
	for _, key := range [2]uint32{items[0].key, items[0].bare} {
		for n := 1; ; n++ {
			if k := r.Gazetteer.Kind(key); k != 0 && n > best {
				best, kind = n, k
			}
			if n == len(items) || n == gazetteer.MaxWords || len(items[n].word) == 0 {
				break
			}
			key = feature.Pair(key, items[n].key)
		}
		if items[0].key == items[0].bare {
			break
		}
	}
	return best, kind
}

// shape tells kinds of tokens apart, and signs one by one.
func shape(d *token.Doc, t *token.Token) uint32 {
	switch t.Kind {
	case token.Punct:
		r, _ := utf8.DecodeRuneInString(d.Text(t))
		return 100 + uint32(r)
	case token.Foreign:
		if r, _ := utf8.DecodeRuneInString(d.Text(t)); unicode.IsUpper(r) {
			return 50
		}
	case token.Word, token.Number, token.Emoji, token.Mention, token.Hashtag, token.URL:
	}
	return uint32(t.Kind) + 1
}
