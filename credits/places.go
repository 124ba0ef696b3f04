package credits

import (
	"iter"
	"sort"
)

// places finds the entries of an account that a [Query] selects, without reading the others.
type places struct {
	platforms map[string][]int // indexes of entries in order, by platform
	requests  map[string]int   // the index of the last entry, by request
	before    []int            // for each entry, the index of the previous entry of the same request; -1 for none
}

func newPlaces() places {
	return places{platforms: map[string][]int{}, requests: map[string]int{}}
}

// add records the next entry, which has index place.
func (p *places) add(place int, e *Entry) {
	if e.Platform != "" {
		p.platforms[e.Platform] = append(p.platforms[e.Platform], place)
	}
	before, again := p.requests[e.RequestID]
	if !again {
		before = -1
	}
	p.before = append(p.before, before)
	if e.RequestID != "" {
		p.requests[e.RequestID] = place
	}
}

// candidates returns the indexes of all entries that q selects, newest first, and few others: those of its request, or
// of its platform and time, or of its time.
func (b *book) candidates(q Query) iter.Seq[int] {
	return func(yield func(int) bool) {
		if q.RequestID != "" || q.Platform != "" {
			b.index()
		}
		if q.RequestID != "" {
			place, ok := b.places.requests[q.RequestID]
			for ok && place >= 0 && yield(place) {
				place = b.places.before[place]
			}
			return
		}
		low, high := b.span(q)
		if q.Platform == "" {
			for place := high - 1; place >= low && yield(place); {
				place--
			}
			return
		}
		of := b.places.platforms[q.Platform]
		for n := sort.SearchInts(of, high) - 1; n >= 0 && of[n] >= low && yield(of[n]); {
			n--
		}
	}
}

// span returns the first index within the bounds of q, and the one after the last: an account's entries are sorted by
// number and by time.
func (b *book) span(q Query) (low, high int) {
	first := func(is func(e *Entry) bool) int {
		return sort.Search(b.entries.len(), func(i int) bool { return is(b.entries.at(i)) })
	}
	high = b.entries.len()
	if q.Before > 0 {
		high = min(high, first(func(e *Entry) bool { return e.Seq >= q.Before }))
	}
	if !q.Until.IsZero() {
		high = min(high, first(func(e *Entry) bool { return !e.At.Before(q.Until) }))
	}
	if !q.Since.IsZero() {
		low = first(func(e *Entry) bool { return !e.At.Before(q.Since) })
	}
	return low, high
}
