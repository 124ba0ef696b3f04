package amazon

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/links"
)

var (
	asin   = regexp.MustCompile(`^[A-Z0-9]{10}$`)
	list   = regexp.MustCompile(`^[A-Za-z0-9-]{1,40}$`)
	handle = regexp.MustCompile(`^[A-Za-z0-9._-]{1,100}$`)
)

// before are the path segments that come before an ASIN.
var before = []string{"dp", "d", "product", "asin", "product-reviews", "offer-listing"}

// addresses describes how Amazon's addresses and identifiers are parsed.
func (ms markets) addresses() *links.Site {
	hosts := []string{"amzn.to", "amzn.eu", "amzn.asia", "a.co"} // hosts of short links
	isShort := slices.Clone(hosts)
	for _, country := range ms.Countries() {
		hosts = append(hosts, "amazon."+all[country].domain)
	}
	return &links.Site{
		Hosts: hosts,
		Order: []providers.Subject{providers.ProductID, providers.CollectionID, providers.Handle},
		Also:  map[providers.Subject][]providers.Subject{providers.CollectionID: {providers.Handle}},
		In:    inLink, ID: canonical, Markets: ms.Markets,
		Country: func(l *links.Link) string {
			country, _ := ms.Cut(strings.TrimPrefix(l.Host, "amazon.") + ":")
			return country
		},
		Searches: map[string]string{"s": "{k}", "*/s": "{k}", "-/*/s": "{k}"},
		Short:    func(l *links.Link) bool { return slices.Contains(isShort, l.Host) && l.Segment(0) != "" },
	}
}

// inLink returns the identifier of kind s in an address, or "" when there is none.
func inLink(s providers.Subject, l *links.Link) string {
	switch {
	case s == providers.ProductID:
		return asinIn(l)
	case l.Segment(0) != "shop":
		return ""
	case s == providers.Handle:
		return l.Segment(1)
	case l.Segment(2) == "list" || l.Segment(2) == "curation":
		return l.Segment(3)
	}
	return ""
}

// asinIn returns the ASIN in an address.
func asinIn(l *links.Link) string {
	id := cmp.Or(l.Param("asin"), l.Param("ASIN"))
	for i, segment := range l.Segments {
		if slices.Contains(before, strings.ToLower(segment)) && asin.MatchString(strings.ToUpper(l.Segment(i+1))) {
			id = l.Segment(i + 1)
		}
	}
	return id
}

// normalizer returns the normalizer of identifiers. It returns those of subjects that no provider serves unchanged.
func normalizer(site *links.Site) func(providers.Subject, string) (string, error) {
	return func(s providers.Subject, value string) (string, error) {
		if s != providers.ProductID && s != providers.Handle && s != providers.CollectionID {
			return value, nil
		}
		return site.Normalize(s, value)
	}
}

// canonical checks the ASIN of a product, the creator's name after /shop/ and the id of a list.
func canonical(s providers.Subject, value string) (string, error) {
	switch s {
	case providers.Handle:
		name := strings.TrimPrefix(value, "@")
		if !handle.MatchString(name) {
			return "", providers.Invalid("an Amazon creator is given by the name in the address of a storefront, amazon.com/shop/name")
		}
		return name, nil
	case providers.CollectionID: // a creator's list of products or curation of posts
		if !list.MatchString(value) {
			return "", providers.Invalid("an Amazon list is given by its id, as in 3QCPC18WETJFQ, or its URL")
		}
		return value, nil
	default:
		if value = strings.ToUpper(value); !asin.MatchString(value) {
			return "", providers.Invalid("an Amazon product is given by its URL, or its ASIN, as in B07JP1QK9T, or sa:B07JP1QK9T for amazon.sa")
		}
		return value, nil
	}
}
