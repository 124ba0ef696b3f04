package links

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/socialdata/socialdata/internal/country"
	"github.com/socialdata/socialdata/providers"
)

// Markets are the countries of a platform that has a store for each. The identifier of a thing in another store than the
// configured one begins with a prefix for its country, as in sa:284882215, because the same number may be another thing
// there, or nothing. A Markets is read-only.
type Markets struct {
	Home     string              // the country of the configured store, as ISO 3166-1 alpha-2
	Prefixes map[string]string   // by country; nil if it is the country's code in lower case
	Subjects []providers.Subject // whose identifiers have prefixes; nil means all
}

// MarketsOf returns the markets of all countries, with the store of a configured country; "" means US.
func MarketsOf(home string) *Markets {
	return &Markets{Home: cmp.Or(country.Code(home), strings.ToUpper(home), "US")}
}

// Cut splits an identifier into the country of its store and the platform's own identifier.
func (m *Markets) Cut(id string) (in, bare string) {
	if in, bare = m.cut(id); in == "" {
		in = m.Home
	}
	return in, bare
}

// cut is [Markets.Cut], but the country is "" if there is no prefix.
func (m *Markets) cut(id string) (in, bare string) {
	prefix, bare, found := strings.Cut(id, ":")
	if !found {
		return "", id
	}
	if m.Prefixes == nil {
		in = country.Code(prefix)
	} else {
		for of, p := range m.Prefixes {
			if strings.EqualFold(p, prefix) {
				in = of
			}
		}
	}
	if in == "" {
		return "", id
	}
	return in, bare
}

// ID returns the identifier of the thing that a store has under the platform's own identifier; "" for "".
func (m *Markets) ID(in, bare string) string {
	switch {
	case in == m.Home || bare == "":
		return bare
	case m.Prefixes == nil:
		return strings.ToLower(in) + ":" + bare
	}
	return m.Prefixes[in] + ":" + bare
}

// Countries returns the countries that have a store, nil for all.
func (m *Markets) Countries() []string {
	if m.Prefixes == nil {
		return nil
	}
	return slices.Sorted(maps.Keys(m.Prefixes))
}

// have reports whether identifiers of a subject have prefixes. m may be nil.
func (m *Markets) have(s providers.Subject) bool {
	return m != nil && (m.Subjects == nil || slices.Contains(m.Subjects, s))
}

// ByCountry groups identifiers by the country of their store.
func (m *Markets) ByCountry(ids []string) map[string][]string {
	all := map[string][]string{}
	for _, id := range ids {
		in, bare := m.Cut(id)
		all[in] = append(all[in], bare)
	}
	return all
}
