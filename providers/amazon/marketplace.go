package amazon

import (
	"cmp"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/links"
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

// markets are all marketplaces. The id of a product in another one than the configured one begins with the end of the
// marketplace's domain, as in co.uk:B07JP1QK9T.
type markets struct{ *links.Markets }

func marketsOf(cfg Config) markets {
	prefixes := map[string]string{}
	for country, m := range all {
		prefixes[country] = m.domain
	}
	ms := links.MarketsOf(cfg.Country)
	ms.Prefixes, ms.Subjects = prefixes, []providers.Subject{providers.ProductID}
	return markets{ms}
}

// find returns the marketplace of a product, and its ASIN.
func (ms markets) find(id string) (market, string) {
	country, asin := ms.Cut(id)
	return all[country], asin
}

// in returns the marketplace of a country; "" means the default one.
func (ms markets) in(country string) market { return all[cmp.Or(country, ms.Home)] }

// id returns the id of a product in m.
func (ms markets) id(m market, asin string) string {
	for country, other := range all {
		if other == m {
			return ms.ID(country, asin)
		}
	}
	return asin
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
