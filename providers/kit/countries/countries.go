// Package countries maps the countries that upstreams name to codes.
package countries

import (
	"cmp"
	"maps"
	"strings"
	"sync"

	"golang.org/x/text/language"
	"golang.org/x/text/language/display"

	"github.com/socialdata/socialdata/internal/country"
)

// spellings are names of countries that differ from CLDR's.
var spellings = map[string]string{
	"bosnia and herzegovina": "BA", "britain (uk)": "GB", "cape verde": "CV", "congo": "CG", "czech republic": "CZ", "east timor": "TL",
	"great britain": "GB", "hong kong": "HK", "iran, islamic republic of": "IR", "ivory coast": "CI", "korea, republic of": "KR",
	"korea (south)": "KR", "macau": "MO", "macedonia": "MK", "moldova, republic of": "MD", "myanmar": "MM", "palestine": "PS",
	"russian federation": "RU", "swaziland": "SZ", "syrian arab republic": "SY", "taiwan, province of china": "TW", "turkey": "TR", "türkiye": "TR",
	"uk": "GB", "united states of america": "US", "usa": "US", "vatican city": "VA", "viet nam": "VN",
}

// names maps English names, in lower case, to codes.
var names = sync.OnceValue(func() map[string]string {
	known := map[string]string{}
	english := display.English.Regions()
	for a := 'A'; a <= 'Z'; a++ {
		for b := 'A'; b <= 'Z'; b++ {
			code := string([]rune{a, b})
			if country.Code(code) != code {
				continue
			}
			if name := english.Name(language.MustParseRegion(code)); name != "" {
				known[strings.ToLower(name)] = code
			}
		}
	}
	maps.Copy(known, spellings)
	return known
})

// Code returns the ISO 3166-1 alpha-2 code of a country by its code, in either case, or its English name. It is nil for
// other words, such as "XX" and "ZZ", which stand for no country (D107).
func Code(word string) *string {
	word = strings.TrimSpace(word)
	code := cmp.Or(country.Code(word), names()[strings.ToLower(word)])
	if code == "" {
		return nil
	}
	return &code
}
