package scrapecreators

import (
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/countries"
	"github.com/socialdata/socialdata/providers/kit/text"
)

// adDays returns the first and the last day on which the ads of a list may have been shown; "" for any.
func adDays(f providers.AdFilter) (from, to string) {
	if !f.Since.IsZero() {
		from = f.Since.UTC().Format(time.DateOnly)
	}
	if !f.Until.IsZero() { // Until is exclusive
		to = f.Until.UTC().Add(-1).Format(time.DateOnly)
	}
	return from, to
}

// countryCodes returns codes of countries in alphabetical order, each once.
func countryCodes(codes ...string) []string {
	var out []string
	for _, code := range codes {
		out = append(out, countryOf(code)...)
	}
	out = text.Each(out)
	slices.Sort(out)
	return out
}

// countryOf returns the code of a country by its code or name, none if there is no such country.
func countryOf(name string) []string {
	if code := countries.Code(name); code != nil {
		return []string{*code}
	}
	return nil
}

// without removes a parameter from a URL that a library uses to count its own visitors. The others are left unchanged.
func without(address, parameter string) string {
	u, err := url.Parse(address)
	if err != nil || !u.Query().Has(parameter) {
		return address
	}
	kept := slices.DeleteFunc(strings.Split(u.RawQuery, "&"), func(pair string) bool {
		name, _, _ := strings.Cut(pair, "=")
		return name == parameter
	})
	u.RawQuery = strings.Join(kept, "&")
	return u.String()
}
