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

// offer is an operation as a platform has it.
type offer struct {
	schema.OperationInfo
	ID    string // its anchor
	Paged bool
	Size  int // the maximum number of items of a page; 0 when the platform decides, or it is not paged
}

// filter is a parameter that narrows a list, with the values that the platform accepts; none if it accepts any.
type filter struct {
	Name     string
	Values   []string
	Required bool // the platform serves the operation only with it
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

// Reach returns the number of platforms in words. Sandboxes are not counted.
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

// Reads returns the operations that are read from platforms, as platforms list them: a batch is not listed by itself.
func (s site) Reads() []Operation {
	return slices.DeleteFunc(slices.Clone(s.Operations), func(o Operation) bool { return o.Service || o.Of != "" })
}

// offers returns the offers of p, one for each of [site.Reads].
func (s site) offers(p schema.PlatformInfo) []offer {
	var out []offer
	for _, o := range s.Reads() {
		info := schema.OperationInfo{Operation: o.Name}
		if i := slices.IndexFunc(p.Operations, func(i schema.OperationInfo) bool { return i.Operation == o.Name }); i >= 0 {
			info = p.Operations[i]
		}
		out = append(out, offer{info, o.ID, o.Paged(), s.PageSizes[p.Platform][o.Name]})
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

// ServedOn returns what p serves, or would serve if it were configured.
func (s site) ServedOn(p schema.PlatformInfo) []offer {
	return slices.DeleteFunc(s.offers(p), func(o offer) bool { return o.mark() == empty })
}

// NotOn returns what p does not offer.
func (s site) NotOn(p schema.PlatformInfo) []offer {
	return slices.DeleteFunc(s.offers(p), func(o offer) bool { return o.mark() != empty })
}

// Class returns the class of the cell.
func (f Filling) Class() string { return f.mark().Class }

// Sign returns the text of the cell.
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

// capital returns words with a capital first letter.
func capital(words string) string {
	if words == "" {
		return ""
	}
	return strings.ToUpper(words[:1]) + words[1:]
}
