// Package feature turns scanned text into hashed features.
package feature

import (
	"iter"
	"math/bits"

	"github.com/socialdata/socialdata/enrich/arabic/internal/token"
)

// MaxGram is the length of the longest character n-gram.
const MaxGram = 6

// Span describes the features that belong to one word.
type Span struct {
	Token int    // index of the token
	Key   uint32 // hash of the word
	Bare  uint32 // hash of the word without particles
	Stem  uint32 // hash of the stem
	Chars int    // end of the word's n-grams in Set.Chars
	Words int    // end of the word's features in Set.Words
}

// Block is one group of the features of a text. Each feature has the weight Value.
type Block struct {
	Features []uint32
	Value    float32
}

// Set holds the features of one text. The zero value is ready to use; a reused Set keeps its memory.
type Set struct {
	Chars []uint32 // character 1-6-grams within words
	Words []uint32 // words and pairs of words
	Stems []uint32 // stems and pairs of stems
	Spans []Span   // one for each word, in order
	buf   []rune
}

const (
	prime    = 0x9E3779B97F4A7C15
	seedChar = 0x517CC1B727220A95
	seedWord = 0x2545F4914F6CDD1D
	seedPair = 0x9FB21C651E98DF25
)

func mix(h uint64, r rune) uint64 {
	h = (h ^ uint64(r)) * prime
	return h ^ h>>29
}

func finish(h uint64) uint32 { return uint32(h * prime >> 32) }

// Key returns the hash of a word.
func Key(word []rune) uint32 { return KeyAfter(nil, word) }

// KeyAfter returns the hash of the word with the letters of head and then those of word.
func KeyAfter(head, word []rune) uint32 {
	h := uint64(seedWord)
	for _, r := range head {
		h = mix(h, r)
	}
	for _, r := range word {
		h = mix(h, r)
	}
	return finish(h)
}

// Combine hashes two keys, in order, and a kind that separates sorts of features.
func Combine(kind, a, b uint32) uint32 {
	h := (seedPair ^ uint64(kind)) * prime
	h = (h ^ h>>29 ^ uint64(a)) * prime
	h = (h ^ h>>29 ^ uint64(b)) * prime
	return finish(h ^ h>>29)
}

// StemKey returns the hash of the stem of a word.
func StemKey(word []rune) uint32 { return Combine(kindStem, Key(Stem(word)), 0) }

// Bits yields the numbers of the bits that are set in mask, lowest first.
func Bits(mask uint32) iter.Seq[uint32] {
	return func(yield func(uint32) bool) {
		for ; mask != 0; mask &= mask - 1 {
			if !yield(uint32(bits.TrailingZeros32(mask))) {
				return
			}
		}
	}
}

// The kinds of [Combine].
const (
	kindPair uint32 = iota + 1
	kindStem
	// KindHead is the first kind that the heads may use.
	KindHead
)

// Pair returns the feature of two consecutive words.
func Pair(a, b uint32) uint32 { return Combine(kindPair, a, b) }

// boundary is put before and after each word.
const boundary = ' '

// Extract replaces the content of s with the features of the words in Arabic script of d.
func (s *Set) Extract(d *token.Doc) {
	s.Chars, s.Words, s.Stems, s.Spans = s.Chars[:0], s.Words[:0], s.Stems[:0], s.Spans[:0]
	prev, prevStem := uint32(0), uint32(0)
	for i := range d.Tokens {
		t := &d.Tokens[i]
		if t.Kind != token.Word {
			continue
		}
		word := d.Folded(t)
		if len(word) == 0 {
			continue
		}
		key := Key(word)
		s.Chars = Grams(s.Chars, &s.buf, word, MaxGram)
		s.Words = append(s.Words, key, Pair(prev, key))
		bare, stem := Key(Bare(word)), StemKey(word)
		s.Stems = append(s.Stems, stem, Combine(kindStem, prevStem, stem))
		s.Spans = append(s.Spans, Span{
			Token: i, Key: key, Bare: bare, Stem: stem, Chars: len(s.Chars), Words: len(s.Words),
		})
		prev, prevStem = key, stem
	}
}

// Grams appends the hashes of the character n-grams of word up to length n, with a boundary on both sides.
func Grams(dst []uint32, buf *[]rune, word []rune, n int) []uint32 {
	b := append((*buf)[:0], boundary)
	b = append(b, word...)
	b = append(b, boundary)
	*buf = b
	for i := range b {
		h := uint64(seedChar)
		for j := i; j < len(b) && j < i+n; j++ {
			h = mix(h, b[j])
			if j == i && b[i] == boundary {
				continue
			}
			dst = append(dst, finish(h))
		}
	}
	return dst
}
