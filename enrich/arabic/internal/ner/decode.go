package ner

import (
	"encoding/binary"

	"github.com/socialdata/socialdata/enrich/arabic/internal/weights"
)

// Scorer returns the quantised scores of features, one for each tag.
type Scorer interface {
	Tags(features []uint32, sums *weights.Sums)
}

// Transitions are the scores of a tag after another; the last row is for the start of the text.
type Transitions [NumTags + 1][NumTags]int32

// forbidden is the score of a tag that must not follow another.
const forbidden = -1 << 28

// allowed reports whether tag b may follow tag a (NumTags at the start): I-X only follows B-X or I-X.
func allowed(a, b int) bool {
	if b == 0 || b%2 == 1 {
		return true
	}
	return a == b || a == b-1
}

// Decode finds the best tags of q. The scores in sums and trans have the same unit. Doubt is added to the score of a
// word being outside of names: the larger it is, the more certain the tagger must be of a name. Its first number is for
// words in the gazetteer, the second one for all others.
func (q *Seq) Decode(score Scorer, trans *Transitions, doubt [2]int32, tags []uint8) []uint8 {
	n := q.Len()
	tags = tags[:0]
	if n == 0 {
		return tags
	}
	if cap(q.back) < n*NumTags {
		q.back = make([]uint8, n*NumTags)
	}
	back := q.back[:n*NumTags]
	cur, next := &q.best[0], &q.best[1]
	for i := range n {
		q.sums = weights.Sums{}
		score.Tags(q.Features(i), &q.sums)
		if it := &q.items[i]; it.one|it.name != 0 {
			q.sums[0] += doubt[0]
		} else {
			q.sums[0] += doubt[1]
		}
		for b := range NumTags {
			best, from := int32(forbidden*2), 0
			if i == 0 {
				if allowed(NumTags, b) {
					best = trans[NumTags][b]
				} else {
					best = forbidden
				}
			} else {
				for a := range NumTags {
					if !allowed(a, b) {
						continue
					}
					if v := cur[a] + trans[a][b]; v > best {
						best, from = v, a
					}
				}
			}
			next[b] = max(best+q.sums[b], forbidden*2)
			back[i*NumTags+b] = uint8(from)
		}
		cur, next = next, cur
	}
	best := 0
	for b := range NumTags {
		if cur[b] > cur[best] {
			best = b
		}
	}
	for range n {
		tags = append(tags, 0)
	}
	for i := n - 1; i >= 0; i-- {
		tags[i] = uint8(best)
		best = int(back[i*NumTags+best])
	}
	return tags
}

// Model is a trained tagger.
type Model struct {
	linear *weights.Linear
	trans  Transitions
}

// Tags implements [Scorer].
func (m *Model) Tags(features []uint32, sums *weights.Sums) { m.linear.Add(sums, features) }

// Tag finds the tags of q. Doubt is in the unit of the scores during training: see [Seq.Decode].
func (m *Model) Tag(q *Seq, doubt [2]float32, tags []uint8) []uint8 {
	unit := m.linear.Scale[0]
	return q.Decode(m, &m.trans, [2]int32{int32(doubt[0] / unit), int32(doubt[1] / unit)}, tags)
}

// Append writes a model whose weights have a common unit.
func Append(dst []byte, trans *Transitions, linear []byte) []byte {
	for a := range trans {
		for b := range trans[a] {
			dst = binary.LittleEndian.AppendUint32(dst, uint32(trans[a][b]))
		}
	}
	return append(dst, linear...)
}

// Open reads what [Append] wrote.
func Open(s string) (*Model, error) {
	const size = 4 * (NumTags + 1) * NumTags
	if len(s) < size {
		return nil, weights.ErrFormat
	}
	m := &Model{}
	for i := range (NumTags + 1) * NumTags {
		m.trans[i/NumTags][i%NumTags] = int32(uint32(s[4*i]) | uint32(s[4*i+1])<<8 | uint32(s[4*i+2])<<16 | uint32(s[4*i+3])<<24)
	}
	var err error
	m.linear, err = weights.OpenLinear(s[size:])
	return m, err
}
