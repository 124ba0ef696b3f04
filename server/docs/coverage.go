package docs

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/schema"
)

// mark is a cell of a matrix.
type mark struct{ Class, Sign, Words string }

var (
	full  = mark{"yes", "●", "yes"}
	half  = mark{"set", "◐", "needs a setting"}
	empty = mark{"no", "·", "no"}
)

// offer is an operation of a platform.
type offer struct {
	schema.OperationInfo
	ID    string // its anchor
	Paged bool
}

// filter is a parameter that narrows a list, and the values that the platform knows; none when it takes any.
type filter struct {
	Name     string
	Values   []string
	Required bool // without it the platform does not serve the operation
}

// Options returns the filters by name.
func (o offer) Options() []filter {
	var out []filter
	for _, name := range slices.Sorted(maps.Keys(o.Filters)) {
		out = append(out, filter{name, o.Filters[name], slices.Contains(o.Required, name)})
	}
	return out
}

// mark returns the cell of the operation.
func (o offer) mark() mark {
	switch {
	case o.Available:
		return full
	case len(o.Missing) > 0:
		return half
	}
	return empty
}

// Reach says how many platforms there are. A sandbox is not one of them.
func (s site) Reach() string {
	real, sandbox := 0, ""
	for _, p := range s.Platforms {
		if i, _ := platform.Lookup(p.Platform); i.Sandbox {
			sandbox = " and a sandbox"
		} else {
			real++
		}
	}
	return strconv.Itoa(real) + " platforms" + sandbox
}

// Reads returns the operations that are read from platforms.
func (s site) Reads() []Operation {
	return slices.DeleteFunc(slices.Clone(s.Operations), func(o Operation) bool { return o.Service })
}

// offers returns what p has of each operation of [site.Reads].
func (s site) offers(p schema.PlatformInfo) []offer {
	var out []offer
	for _, o := range s.Reads() {
		i := slices.IndexFunc(p.Operations, func(i schema.OperationInfo) bool { return i.Operation == o.Name })
		if i >= 0 {
			out = append(out, offer{p.Operations[i], o.ID, o.Paged()})
		}
	}
	return out
}

// Row returns the cells of a platform, one for each of [site.Reads].
func (s site) Row(p schema.PlatformInfo) []mark {
	var out []mark
	for _, o := range s.offers(p) {
		out = append(out, o.mark())
	}
	return out
}

// ServedOn returns what p serves, or would with a setting.
func (s site) ServedOn(p schema.PlatformInfo) []offer {
	return slices.DeleteFunc(s.offers(p), func(o offer) bool { return o.mark() == empty })
}

// NotOn returns what p does not offer.
func (s site) NotOn(p schema.PlatformInfo) []offer {
	return slices.DeleteFunc(s.offers(p), func(o offer) bool { return o.mark() != empty })
}

// Class returns the class of the cell.
func (f Filling) Class() string { return f.mark().Class }

// Sign returns what stands in the cell.
func (f Filling) Sign() string { return f.mark().Sign }

func (f Filling) mark() mark {
	switch f.Share {
	case Always:
		return full
	case Sometimes:
		return half
	case Never:
	}
	return empty
}

// capital returns words with a capital at their beginning.
func capital(words string) string {
	if words == "" {
		return ""
	}
	return strings.ToUpper(words[:1]) + words[1:]
}
