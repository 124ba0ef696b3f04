package privacy

import (
	"slices"
)

// Set is a set of names. It is immutable, and safe for concurrent use. A nil Set is empty.
type Set struct{ names map[Name]struct{} }

// NewSet returns a set of names.
func NewSet(names []Name) *Set {
	s := &Set{names: make(map[Name]struct{}, len(names))}
	for _, n := range names {
		s.names[n] = struct{}{}
	}
	return s
}

// Has reports whether n is in s.
func (s *Set) Has(n Name) bool {
	if s == nil {
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
