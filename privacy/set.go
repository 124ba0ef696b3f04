package privacy

import (
	"math/bits"
	"slices"
)

// Set is a set of names that is asked about far more often than it has what is asked for. It is immutable, and safe for
// concurrent use. A nil Set is empty.
type Set struct {
	names map[Name]struct{}
	// filter has a word of bits for every few names. Names are hashes already: the highest bits choose the word, the
	// lowest two bits in it. Almost every name that is not in the set is recognized by this one word, which is in the
	// processor's cache where the map is not.
	filter []uint64
	shift  int
}

// namesPerWord is for how many names the filter has a word: about one in 64 of other names passes it.
const namesPerWord = 4

// NewSet returns a set of names.
func NewSet(names []Name) *Set {
	s := &Set{names: make(map[Name]struct{}, len(names))}
	log := bits.Len(uint(len(names) / namesPerWord))
	s.filter, s.shift = make([]uint64, 1<<log), 64-log
	for _, n := range names {
		s.names[n] = struct{}{}
		s.filter[uint64(n)>>s.shift] |= n.bits()
	}
	return s
}

// bits returns the bits of a name in its word of a filter.
func (n Name) bits() uint64 { return 1<<(n&63) | 1<<(n>>6&63) }

// Has reports whether n is in s.
func (s *Set) Has(n Name) bool {
	if s == nil || s.filter[uint64(n)>>s.shift]&n.bits() != n.bits() {
		return false
	}
	_, ok := s.names[n]
	return ok
}

// Len returns how many names there are.
func (s *Set) Len() int {
	if s == nil {
		return 0
	}
	return len(s.names)
}

// Names returns the names, unordered.
func (s *Set) Names() []Name {
	out := make([]Name, 0, s.Len())
	if s != nil {
		for n := range s.names {
			out = append(out, n)
		}
	}
	return out
}

// Meets reports whether one of the names in m is in s.
func (s *Set) Meets(m Marks) bool {
	if s.Len() == 0 {
		return false
	}
	for ; len(m) >= pairSize; m = m[pairSize:] {
		if handle, id := number(m), number(m[8:]); s.Has(handle) && handle != 0 || s.Has(id) && id != 0 {
			return true
		}
	}
	return false
}

// Among returns the names in m that are in s, each once, sorted.
func (s *Set) Among(m Marks) []Name {
	var found []Name
	for handle, id := range m.pairs() {
		for _, name := range [...]Name{handle, id} {
			if name != 0 && s.Has(name) {
				found = append(found, name)
			}
		}
	}
	slices.Sort(found)
	return slices.Compact(found)
}
