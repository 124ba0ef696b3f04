package head

import (
	"github.com/socialdata/socialdata/enrich/arabic/internal/feature"
)

// placeLists are the lists of places, which are found behind particles as well.
const placeLists = 0xF << 5

// Dialect returns the features of the dialect head.
func (r *Reader) Dialect(t *Text) []feature.Block {
	t.extra, t.MarkEnds = t.extra[:0], t.MarkEnds[:0]
	prev := uint32(0)
	for i := range t.Spans {
		s := &t.Spans[i]
		for j := range feature.Bits(r.lists.Dialect.Exact(prev, s) | r.lists.Dialect.Bare(prev, s)&placeLists) {
			t.extra = append(t.extra, feature.Combine(kindMarker, j, 0))
		}
		t.MarkEnds = append(t.MarkEnds, len(t.extra))
		prev = s.Key
	}
	return t.pack(
		feature.Block{Features: t.Chars, Value: Scale(len(t.Chars))},
		feature.Block{Features: t.Words, Value: Scale(len(t.Words))},
		feature.Block{Features: t.extra, Value: Scale(len(t.Spans))},
	)
}
