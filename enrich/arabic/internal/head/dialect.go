package head

import (
	"iter"
	"slices"
	"strings"

	"github.com/socialdata/socialdata/enrich/arabic/internal/feature"
	"github.com/socialdata/socialdata/enrich/arabic/internal/token"
)

// placeLists are the lists of places, which are found behind particles as well.
const placeLists = 0xF << 5

// The lists of words around names: titles, kinds of organisations and of places, and given names.
const (
	listBeforeName = 1<<0 | 1<<1 | 1<<2
	listGivenName  = 1 << 5
)

// Dialect returns the features of the dialect head for the words from i to j, without full names and names after a title
// or a street: a king or a street in the news does not place the writer.
func (r *Reader) Dialect(t *Text, i, j int) []feature.Block {
	d := &t.dialect
	d.chars, d.words, t.extra = d.chars[:0], d.words[:0], t.extra[:0]
	r.skipNames(t, i, j)
	prev, from := uint32(0), feature.Span{}
	if i > 0 {
		from = t.Spans[i-1]
	}
	for k := i; k < j; k++ {
		s := &t.Spans[k]
		if !d.skip[k-i] {
			d.chars = append(d.chars, t.Chars[from.Chars:s.Chars]...)
			d.words = append(d.words, t.Words[from.Words:s.Words]...)
			for bit := range feature.Bits(r.lists.Dialect.Exact(prev, s) | r.lists.Dialect.Bare(prev, s)&placeLists) {
				t.extra = append(t.extra, feature.Combine(kindMarker, bit, 0))
			}
		}
		prev, from = s.Key, *s
	}
	return t.pack(
		feature.Block{Features: d.chars, Value: Scale(len(d.chars))},
		feature.Block{Features: d.words, Value: Scale(len(d.words))},
		feature.Block{Features: t.extra, Value: Scale(j - i)},
	)
}

// dialectText holds the features of the dialect head.
type dialectText struct {
	chars, words []uint32
	skip         []bool
}

// skipNames marks the words from i to j that are a given name together with a word before it that belongs to the name.
func (r *Reader) skipNames(t *Text, i, j int) {
	skip := slices.Grow(t.dialect.skip[:0], j-i)[:j-i]
	clear(skip)
	name := false
	for k := j - 1; k >= i; k-- {
		lists := r.lists.NER.Exact(0, &t.Spans[k])
		if name && lists&(listBeforeName|listGivenName) != 0 {
			skip[k-i], skip[k-i+1] = true, true
			continue
		}
		name = lists&listGivenName != 0
	}
	t.dialect.skip = skip
}

// Clauses yields the words, from and to, of each clause of t.
func (t *Text) Clauses() iter.Seq2[int, int] {
	return func(yield func(from, to int) bool) {
		from := 0
		for to := 1; to <= len(t.Spans); to++ {
			if to < len(t.Spans) && !t.breaks(to) {
				continue
			}
			if !yield(from, to) {
				return
			}
			from = to
		}
	}
}

// breaks reports whether a sign or the end of a line between the i-th word and the one before it ends a clause.
func (t *Text) breaks(i int) bool {
	from, to := t.Spans[i-1].Token, t.Spans[i].Token
	for k := from + 1; k < to; k++ {
		if p := &t.Tokens[k]; p.Kind == token.Punct && strings.ContainsRune("،,.؛;!؟?:…«»", FirstRune(t.Text(p))) {
			return true
		}
	}
	return strings.Contains(t.Src[t.Tokens[from].End:t.Tokens[to].Start], "\n")
}
