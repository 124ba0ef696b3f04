// Package ner finds the names of persons, organisations and places with an averaged perceptron over tag sequences.
package ner

import (
	"slices"
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

// item is the data of one token without its neighbours.
type item struct {
	token           int
	key, bare, stem uint32
	lists           uint32
	forms           forms  // the word with and without its clitics
	one             uint32 // kinds of the first form that is a name by itself
	form            uint32 // number of that form
	core            uint32 // that form, or else the word without its clitics
	listed          int    // number of the first form in a list of words around names, -1 for none
	name            uint32 // kinds of the longest name here
	nameForm        int    // number of the form with which that name starts
	place           uint32 // position of the token in that name
	shape           uint32
	cluster         uint32
	word, bareRunes []rune
}

// Seq is a text as a sequence of tokens. The zero value is ready to use; a reused Seq keeps its memory.
type Seq struct {
	items    []item
	Tokens   []int // the token of each element
	features []uint32
	ends     []int
	back     []uint8
	sums     weights.Sums // kept here, since an argument of an interface's method would be allocated for each token
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

// NameEnd returns the element after the gazetteer name that starts at element i, i when there is none.
func (q *Seq) NameEnd(i int) int {
	switch q.items[i].place {
	case alone:
		return i + 1
	case first:
		for i++; q.items[i].place != last; i++ {
			continue
		}
		return i + 1
	}
	return i
}

// Name returns the kinds of the gazetteer name that consists of the elements from i to j, 0 when there is none.
func (q *Seq) Name(i, j int) gazetteer.Kind {
	if i == j || q.NameEnd(i) != j {
		return 0
	}
	return gazetteer.Kind(q.items[i].name)
}

// Clitics returns the letters before the name that starts at element i. The form of the word in the gazetteer or a list
// determines how many there are; for other words they are the particles before an article.
func (q *Seq) Clitics(i int) Clitics {
	it := &q.items[i]
	switch {
	case it.place == alone || it.place == first:
		return it.forms.clitics[it.nameForm]
	case it.one != 0:
		return it.forms.clitics[it.form]
	case it.listed >= 0:
		return it.forms.clitics[it.listed]
	}
	return guess(it.word)
}

// Definite reports whether element i is a word with the article, behind particles or not.
func (q *Seq) Definite(i int) bool {
	c := q.Clitics(i)
	return c.Lam || hasArticle(q.items[i].word[c.Letters:])
}

// HasName reports whether q has a gazetteer name. Names that are everyday words as well do not count, except those of
// countries and large cities.
func (q *Seq) HasName() bool {
	const always = gazetteer.Country | gazetteer.BigCity
	return slices.ContainsFunc(q.items, func(it item) bool {
		k := gazetteer.Kind(it.name)
		return k&always != 0 || k != 0 && k&gazetteer.Common == 0
	})
}

// Read fills q with the tokens of d, whose words are in s. Words in hashtags are left out: the tag is an entity of its
// own.
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
		it := item{token: i, shape: shape(d, t), listed: -1}
		if t.Kind == token.Word && span < len(s.Spans) && s.Spans[span].Token == i {
			w := &s.Spans[span]
			it.key, it.bare, it.stem = w.Key, w.Bare, w.Stem
			it.word = d.Folded(t)
			it.bareRunes = feature.Bare(it.word)
			it.lists = r.Lists.Exact(prev, w)
			r.readForms(&it, w)
		} else if t.Kind == token.Foreign {
			it.word = d.Folded(t)
			it.bareRunes = it.word
			it.key = feature.Key(it.word)
			it.bare, it.stem, it.core = it.key, it.key, it.key
			it.forms.add(it.key, Clitics{})
			it.one = uint32(r.Gazetteer.Kind(it.key))
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

// readForms looks up the word with and without its clitics. The first form that is in a table counts.
func (r *Reader) readForms(it *item, w *feature.Span) {
	it.forms.fill(it.word)
	it.core = w.Bare
	for i, key := range it.forms.keys[:it.forms.n] {
		if it.lists == 0 {
			it.lists = r.Lists.Exact(0, &feature.Span{Key: key})
		}
		if it.lists != 0 && it.listed < 0 {
			it.listed = i
		}
		if it.cluster == 0 {
			it.cluster = uint32(r.Clusters[key])
		}
		if k := r.Gazetteer.Kind(key); k != 0 && it.one == 0 {
			it.one, it.core, it.form = uint32(k), key, uint32(i)
		}
	}
}

// The positions of a token in a gazetteer name; 0 is outside.
const (
	alone uint32 = iota + 1
	first
	inside
	last
)

// names marks the longest gazetteer names. The first word may carry clitics.
func (r *Reader) names(q *Seq) {
	for i := 0; i < len(q.items); {
		n, kind, form := r.longest(q.items[i:])
		q.items[i].nameForm = form
		for j := range n {
			place := inside
			switch {
			case n == 1:
				place = alone
			case j == 0:
				place = first
			case j == n-1:
				place = last
			}
			q.items[i+j].name, q.items[i+j].place = uint32(kind), place
		}
		i += max(n, 1)
	}
}

// longest returns the length of the longest name that starts at the first of items, its kinds, and the form of the
// word.
func (r *Reader) longest(items []item) (best int, kind gazetteer.Kind, form int) {
	if len(items[0].word) == 0 {
		return 0, 0, 0
	}
	f := &items[0].forms
	for i, key := range f.keys[:f.n] {
		for n := 1; ; n++ {
			if k := r.Gazetteer.Kind(key); k != 0 && n > best {
				best, kind, form = n, k, i
			}
			if n == len(items) || n == gazetteer.MaxWords || len(items[n].word) == 0 {
				break
			}
			key = feature.Pair(key, items[n].key)
		}
	}
	return best, kind, form
}

// shape classifies tokens, and distinguishes single signs.
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
