package amazon

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/socialdata/socialdata/providers"
)

// market is one of Amazon's marketplaces.
type market struct {
	domain   string // after "amazon.", such as "co.uk"
	currency string // ISO 4217
	signs    string // how its pages write the currency, separated by spaces
	comma    bool   // prices have a comma before the cents
}

// host is the marketplace's host, by which the Creators API names it.
func (m market) host() string { return "www.amazon." + m.domain }

func (m market) url() string { return "https://" + m.host() }

// all lists the marketplaces by their country.
// https://affiliate-program.amazon.com/creatorsapi/docs/
var all = map[string]market{
	"US": {"com", "USD", "$ US$ USD", false}, "CA": {"ca", "CAD", "$ CA$ CAD", false},
	"MX": {"com.mx", "MXN", "$ MX$ MXN", false}, "BR": {"com.br", "BRL", "R$ BRL", true},
	"GB": {"co.uk", "GBP", "£ GBP", false}, "DE": {"de", "EUR", "€ EUR", true},
	"FR": {"fr", "EUR", "€ EUR", true}, "IT": {"it", "EUR", "€ EUR", true}, "ES": {"es", "EUR", "€ EUR", true},
	"NL": {"nl", "EUR", "€ EUR", true}, "BE": {"com.be", "EUR", "€ EUR", true}, "IE": {"ie", "EUR", "€ EUR", false},
	"SE": {"se", "SEK", "kr SEK", true}, "PL": {"pl", "PLN", "zł PLN", true}, "TR": {"com.tr", "TRY", "TL ₺ TRY", true},
	"AE": {"ae", "AED", "AED د.إ. د.إ درهم", false}, "SA": {"sa", "SAR", "SAR ر.س. ر.س ريال SR", false},
	"EG": {"eg", "EGP", "EGP ج.م. ج.م جنيه", false}, "IN": {"in", "INR", "₹ INR", false},
	"JP": {"co.jp", "JPY", "¥ ￥ JPY", false},
	"SG": {"sg", "SGD", "S$ $ SGD", false}, "AU": {"com.au", "AUD", "$ A$ AU$ AUD", false},
}

// countries are the countries that have a marketplace.
func countries() []string { return slices.Sorted(maps.Keys(all)) }

// markets are all marketplaces, and the default one.
type markets struct{ home market }

func marketsOf(cfg Config) markets { return markets{all[cmp.Or(strings.ToUpper(cfg.Country), "US")]} }

// in returns the marketplace of a country; "" means the default one.
func (ms markets) in(country string) market {
	if m, known := all[country]; known {
		return m
	}
	return ms.home
}

// byDomain finds the marketplace of a domain such as "co.uk".
func byDomain(domain string) (market, bool) {
	for _, m := range all {
		if m.domain == domain {
			return m, true
		}
	}
	return market{}, false
}

// find returns the marketplace and ASIN of a product. A region must agree with the id.
func (ms markets) find(id, region string) (m market, asin string, err error) {
	domain, asin, elsewhere := strings.Cut(id, ":")
	if !elsewhere {
		return ms.in(region), id, nil
	}
	m, known := byDomain(domain)
	if !known {
		return m, asin, providers.Invalid("Amazon has no marketplace amazon.%s", domain)
	}
	if region != "" && ms.in(region) != m {
		return m, asin, providers.Invalid("the product %s is on amazon.%s, which is not the marketplace of the region %s", id, domain, region)
	}
	return m, asin, nil
}

// id returns the id of a product in m.
func (ms markets) id(m market, asin string) string {
	if m == ms.home || asin == "" {
		return asin
	}
	return m.domain + ":" + asin
}

func (m market) product(asin string) string { return m.url() + "/dp/" + asin }

// seller returns the address of a seller's page, or of the marketplace when id is "".
func (m market) seller(id string) string {
	if id == "" {
		return m.url()
	}
	return m.url() + "/sp?seller=" + id
}

// version returns the version of the credential.
func (cfg Config) version() string { return cmp.Or(cfg.CredentialVersion, "3.1") }
