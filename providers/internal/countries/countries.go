// Package countries maps the country names that upstreams use to codes.
package countries

import (
	"maps"
	"strings"
	"sync"

	"golang.org/x/text/language"
	"golang.org/x/text/language/display"
)

// spellings are names of countries that differ from CLDR's.
var spellings = map[string]string{
	"bosnia and herzegovina": "BA", "britain (uk)": "GB", "cape verde": "CV", "congo": "CG", "czech republic": "CZ", "east timor": "TL",
	"great britain": "GB", "hong kong": "HK", "iran, islamic republic of": "IR", "ivory coast": "CI", "korea, republic of": "KR",
	"korea (south)": "KR", "macau": "MO", "macedonia": "MK", "moldova, republic of": "MD", "myanmar": "MM", "palestine": "PS",
	"russian federation": "RU", "swaziland": "SZ", "syrian arab republic": "SY", "taiwan, province of china": "TW", "turkey": "TR", "türkiye": "TR",
	"uk": "GB", "united states of america": "US", "usa": "US", "vatican city": "VA", "viet nam": "VN",
}

// codes maps English names, in lower case, to ISO 3166-1 alpha-2 codes.
var codes = sync.OnceValue(func() map[string]string {
	known := map[string]string{}
	names := display.English.Regions()
	for a := 'A'; a <= 'Z'; a++ {
		for b := 'A'; b <= 'Z'; b++ {
			code := string([]rune{a, b})
			region, err := language.ParseRegion(code)
			if err != nil || !region.IsCountry() || region.Canonicalize().String() != code {
				continue
			}
			if name := names.Name(region); name != "" {
				known[strings.ToLower(name)] = code
			}
		}
	}
	maps.Copy(known, spellings)
	return known
})

// Code returns the ISO 3166-1 alpha-2 code of a country by its English name, nil when there is no such country.
func Code(name string) *string {
	code, ok := codes()[strings.ToLower(strings.TrimSpace(name))]
	if !ok {
		return nil
	}
	return &code
}
