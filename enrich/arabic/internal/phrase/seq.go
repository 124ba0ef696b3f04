package phrase

// Seq holds the features of the words and signs of one text, in order. The zero value is ready to use; a reused Seq
// keeps its memory.
type Seq struct {
	features []uint32
	ends     []int
}

// Reset empties q.
func (q *Seq) Reset() { q.features, q.ends = q.features[:0], q.ends[:0] }

// Add adds features to the current element.
func (q *Seq) Add(features ...uint32) { q.features = append(q.features, features...) }

// End ends the current element.
func (q *Seq) End() { q.ends = append(q.ends, len(q.features)) }

// Len returns the number of elements that are processed: at most [Most].
func (q *Seq) Len() int { return min(len(q.ends), Most) }

// Features returns the features of element i.
func (q *Seq) Features(i int) []uint32 {
	if i == 0 {
		return q.features[:q.ends[0]]
	}
	return q.features[q.ends[i-1]:q.ends[i]]
}

// Clone returns a copy of q that shares no memory with it.
func (q *Seq) Clone() Seq {
	return Seq{append([]uint32(nil), q.features...), append([]int(nil), q.ends...)}
}
