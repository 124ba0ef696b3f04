package zid

import (
	"regexp"
	"strings"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/links"
)

const domain = ".zid.store" // of every shop without a domain of its own

var (
	label = regexp.MustCompile(`^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$`)
	uuid  = regexp.MustCompile(`^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`)
)

// webAddresses describes how Zid's addresses and identifiers are parsed. The address of a product contains the shop but
// not the product's id. Shops on a domain of their own are identified by number only: requests are never sent to a host
// that the caller can choose freely. It is read-only.
var webAddresses = &links.Site{
	Hosts: []string{domain},
	Order: []providers.Subject{providers.StoreID},
	In: func(s providers.Subject, l *links.Link) string {
		if s != providers.StoreID {
			return ""
		}
		return l.Host
	},
	ID: canonical,
}

// canonical reduces a store to its number or its host under zid.store, and checks the UUID or number of a product.
func canonical(s providers.Subject, value string) (string, error) {
	if s == providers.ProductID {
		if strings.ContainsAny(value, "/ ?#%\\") {
			return "", providers.Invalid("a product is given by its UUID, which is not in its address")
		}
		return strings.ToLower(value), nil
	}
	name := strings.TrimSuffix(strings.ToLower(value), domain)
	switch {
	case !label.MatchString(name):
		return "", providers.Invalid("a store is given by its number, such as 4, or its address, such as demo%s", domain)
	case links.Digits(value):
		return value, nil
	}
	return name + domain, nil
}
