package amazon

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/internal/links"
)

var (
	asin   = regexp.MustCompile(`^[A-Z0-9]{10}$`)
	list   = regexp.MustCompile(`^[A-Za-z0-9-]{1,40}$`)
	handle = regexp.MustCompile(`^[A-Za-z0-9._-]{1,100}$`)
)

// before are the parts of an address that stand before an ASIN.
var before = []string{"dp", "d", "product", "asin", "product-reviews", "offer-listing"}

// normalize reduces a product to its ASIN, with the domain of its marketplace before it where that is not the one of the
// settings, and the storefront of a creator to the name behind /shop/.
func (ms markets) normalize(s providers.Subject, value string) (string, error) {
	if s != providers.ProductID && s != providers.Handle && s != providers.CollectionID {
		return value, nil // of what nobody serves
	}
	var hosts []string
	for _, country := range countries() {
		hosts = append(hosts, "amazon."+all[country].domain)
	}
	link, err := links.Parse(value, hosts...)
	if err != nil {
		return "", err
	}
	switch s {
	case providers.Handle:
		return creator(link, value)
	case providers.CollectionID:
		return listOf(link, value)
	default:
		return ms.key(link, value)
	}
}

func creator(link *links.Link, value string) (string, error) {
	name := strings.TrimPrefix(value, "@")
	if link != nil {
		name = ""
		if link.Segment(0) == "shop" {
			name = link.Segment(1)
		}
	}
	if !handle.MatchString(name) {
		return "", providers.Invalid("a creator of Amazon is the name in the address of a storefront, amazon.com/shop/name")
	}
	return name, nil
}

// listOf is the id of a creator's list of products or curation of posts, which stands behind that word in its address.
func listOf(link *links.Link, value string) (string, error) {
	if link != nil {
		value = ""
		if word := link.Segment(2); link.Segment(0) == "shop" && (word == "list" || word == "curation") {
			value = link.Segment(3)
		}
	}
	if !list.MatchString(value) {
		return "", providers.Invalid("a list of Amazon is its id, as in 3QCPC18WETJFQ, or its URL")
	}
	return value, nil
}

func (ms markets) key(link *links.Link, value string) (string, error) {
	domain, id, elsewhere := strings.Cut(value, ":")
	m, known := ms.home, true
	switch {
	case link != nil:
		m, known = byDomain(strings.TrimPrefix(link.Host, "amazon."))
		id = cmp.Or(link.Query.Get("asin"), link.Query.Get("ASIN"))
		for i, segment := range link.Segments {
			if slices.Contains(before, strings.ToLower(segment)) && asin.MatchString(strings.ToUpper(link.Segment(i+1))) {
				id = link.Segment(i + 1)
			}
		}
	case elsewhere:
		m, known = byDomain(strings.ToLower(domain))
	default:
		id = value
	}
	if id = strings.ToUpper(id); !known || !asin.MatchString(id) {
		return "", providers.Invalid("a product of Amazon is its URL, or its ASIN, as in B07JP1QK9T, or sa:B07JP1QK9T for amazon.sa")
	}
	return ms.id(m, id), nil
}
