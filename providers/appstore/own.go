package appstore

import (
	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/schema"
)

// own returns the provider for the undocumented sources: the reviews feed and the hints of the store's search box.
func (c *client) own() providers.Provider {
	site := addresses(c.markets)
	p := providers.Provider{
		Name: "appstore_own", Platform: platform.AppStore, Source: schema.Own, Prompt: true,
		PageSizes:   providers.PagesOf(feedPage, providers.OpReviews),
		Reviews:     c.reviews,
		Suggestions: c.suggestions,

		Normalize: site.Normalize, Names: site.Names, Also: site.Also, Country: site.CountryOf, InCountry: site.InCountry,
		Filters: map[providers.Op]providers.Filters{
			providers.OpReviews: {"region": nil}, providers.OpSuggestions: {"region": regions()},
		},
		Notes: map[providers.Op]string{providers.OpReviews: "the newest 500 of the storefront"},
	}
	if storefronts[c.markets.Home] == "" {
		p.Suggestions = nil
		delete(p.Filters, providers.OpSuggestions)
		p.Notes[providers.OpSuggestions] = "not in the configured storefront"
	}
	return p
}
