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
	domain   string // behind amazon., such as "co.uk"
	currency string // ISO 4217
	signs    string // how its pages write the currency, parted by spaces
	comma    bool   // they write a comma before the cents
}

// host is that of the marketplace, by which the Creators interface names it.
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

// countries are those that have a marketplace.
func countries() []string { return slices.Sorted(maps.Keys(all)) }

// markets are all marketplaces, and which of them is meant where nobody names one.
type markets struct{ home market }

func marketsOf(cfg Config) markets { return markets{all[cmp.Or(strings.ToUpper(cfg.Country), "US")]} }

// in is the marketplace of a country, "" for the one that is meant anyway.
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

// find tells where a product is, and its ASIN. A region must agree with what the id says.
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
		return m, asin, providers.Invalid("the product %s is of amazon.%s, not of the region %s", id, domain, region)
	}
	return m, asin, nil
}

// id is the id of a product of m.
func (ms markets) id(m market, asin string) string {
	if m == ms.home || asin == "" {
		return asin
	}
	return m.domain + ":" + asin
}

func (m market) product(asin string) string { return m.url() + "/dp/" + asin }

// seller is the page of a seller; without an id, that of the marketplace.
func (m market) seller(id string) string {
	if id == "" {
		return m.url()
	}
	return m.url() + "/sp?seller=" + id
}

// version is that of the credential.
func (cfg Config) version() string { return cmp.Or(cfg.CredentialVersion, "3.1") }
