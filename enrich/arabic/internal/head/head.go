// Package head extracts the features for each output of the enrichment. Training and inference share it.
package head

import (
	"math"

	"github.com/socialdata/socialdata/enrich/arabic/internal/feature"
	"github.com/socialdata/socialdata/enrich/arabic/internal/lexicon"
	"github.com/socialdata/socialdata/enrich/arabic/internal/token"
)

// Reader reads texts for the heads. It is safe for concurrent use; each text needs its own [Text].
type Reader struct {
	lists *lexicon.Lists
	emoji map[rune]int
}

// NewReader returns a Reader. The map holds the polarity of emoji, from -5 to 5.
func NewReader(emoji map[rune]int) *Reader {
	return &Reader{lists: lexicon.Load(), emoji: emoji}
}

// Text is a text while the heads process it. The zero value is ready to use; a reused Text keeps its memory.
type Text struct {
	token.Doc
	feature.Set
	extra   []uint32
	polar   []uint32
	stems   []uint32
	blocks  [3]feature.Block
	lang    langText
	dialect dialectText
	feelText
}

// Read scans text and extracts what all heads share.
func (r *Reader) Read(t *Text, text string) {
	t.Scan(text)
	t.Extract(&t.Doc)
}

// Scale makes long and short texts comparable.
func Scale(n int) float32 { return float32(1 / math.Sqrt(float64(n)+1)) }

func (t *Text) pack(a, b, c feature.Block) []feature.Block {
	t.blocks[0], t.blocks[1], t.blocks[2] = a, b, c
	return t.blocks[:3]
}

// The kinds of features of the heads.
const (
	kindMarker = feature.KindHead + iota
	kindPolar
	kindEmoji
	kindSign
	kindSeed
	kindTagWord
	kindShape
)

// Lists returns the word lists.
func (r *Reader) Lists() *lexicon.Lists { return r.lists }

// FirstRune returns the first rune of s.
func FirstRune(s string) rune {
	for _, r := range s {
		return r
	}
	return 0
}
