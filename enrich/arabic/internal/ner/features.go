// Package ner finds the names of persons, organisations and places with an averaged perceptron over tag sequences.
package ner

import (
	"unicode"

	"github.com/socialdata/socialdata/enrich/arabic/internal/feature"
	"github.com/socialdata/socialdata/enrich/arabic/internal/gazetteer"
	"github.com/socialdata/socialdata/enrich/arabic/internal/lexicon"
	"github.com/socialdata/socialdata/enrich/arabic/internal/token"
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
	scores   []int32
	back     []uint8
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
		for _, r := range d.Text(t) {
			return 100 + uint32(r)
		}
	case token.Foreign:
		for _, r := range d.Text(t) {
			if unicode.IsUpper(r) {
				return 50
			}
			break
		}
	case token.Word, token.Number, token.Emoji, token.Mention, token.Hashtag, token.URL:
	}
	return uint32(t.Kind) + 1
}

const (
	kindShape = feature.KindHead + 100
	kindNER   = feature.KindHead + 200
)

// outside stands before the first and after the last element.
var outside = item{key: 1, bare: 1, stem: 1, shape: 99}

func (q *Seq) at(i int) *item {
	if i < 0 || i >= len(q.items) {
		return &outside
	}
	return &q.items[i]
}

func (q *Seq) add(template, a, b uint32) {
	q.features = append(q.features, feature.Combine(kindNER+template, a, b))
}

// extract appends the features of element i.
func (q *Seq) extract(i int) {
	p2, p1, c, n1, n2 := q.at(i-2), q.at(i-1), q.at(i), q.at(i+1), q.at(i+2)
	q.add(0, c.key, 0)
	q.add(1, c.bare, 0)
	q.add(2, c.stem, 0)
	q.add(3, p1.key, 0)
	q.add(4, n1.key, 0)
	q.add(5, p2.key, 0)
	q.add(6, n2.key, 0)
	q.add(7, p1.key, c.key)
	q.add(8, c.key, n1.key)
	q.add(9, p1.stem, 0)
	q.add(10, n1.stem, 0)
	q.add(11, c.shape, 0)
	q.add(12, p1.shape, n1.shape)
	q.add(13, c.gaz, 0)
	q.add(14, p1.gaz, c.gaz)
	q.add(15, c.gaz, n1.gaz)
	q.add(16, p1.key, n1.key)
	for m, j := c.lists, uint32(0); m != 0; m, j = m>>1, j+1 {
		if m&1 != 0 {
			q.add(17, j, 0)
			q.add(18, j, c.gaz)
		}
	}
	for m, j := p1.lists, uint32(0); m != 0; m, j = m>>1, j+1 {
		if m&1 != 0 {
			q.add(19, j, 0)
			q.add(20, j, c.gaz)
			q.add(21, j, c.lists)
		}
	}
	for m, j := n1.lists, uint32(0); m != 0; m, j = m>>1, j+1 {
		if m&1 != 0 {
			q.add(22, j, 0)
		}
	}
	for m, j := p2.lists, uint32(0); m != 0; m, j = m>>1, j+1 {
		if m&1 != 0 {
			q.add(23, j, p1.gaz)
		}
	}
	q.affixes(c, p1, n1)
}

// affixes appends the beginnings and endings of the word and of its neighbours.
func (q *Seq) affixes(c, p1, n1 *item) {
	w := c.word
	for n := 2; n <= 3; n++ {
		for i := 1; i+n < len(w); i++ {
			q.add(39, uint32(n), feature.Key(w[i:i+n]))
		}
	}
	q.add(40, c.cluster, 0)
	q.add(41, p1.cluster, 0)
	q.add(42, n1.cluster, 0)
	q.add(43, p1.cluster, c.cluster)
	q.add(44, c.cluster, n1.cluster)
	q.add(30, uint32(min(len(w), 10)), 0)
	for n := 1; n <= 4 && n <= len(w); n++ {
		q.add(31, uint32(n), feature.Key(w[:n]))
		q.add(32, uint32(n), feature.Key(w[len(w)-n:]))
	}
	if b := c.bareRunes; len(b) != len(w) {
		q.add(33, feature.Key(w[:len(w)-len(b)]), 0)
		for n := 2; n <= 4 && n <= len(b); n++ {
			q.add(34, uint32(n), feature.Key(b[:n]))
		}
	}
	for n := 2; n <= 3; n++ {
		if len(p1.word) >= n {
			q.add(35, uint32(n), feature.Key(p1.word[:n]))
			q.add(36, uint32(n), feature.Key(p1.word[len(p1.word)-n:]))
		}
		if len(n1.word) >= n {
			q.add(37, uint32(n), feature.Key(n1.word[:n]))
			q.add(38, uint32(n), feature.Key(n1.word[len(n1.word)-n:]))
		}
	}
}
