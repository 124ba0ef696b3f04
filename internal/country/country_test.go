package country_test

import (
	"testing"

	"golang.org/x/text/language"

	"github.com/socialdata/socialdata/internal/country"
)

func TestCode(t *testing.T) {
	t.Parallel()
	for word, want := range map[string]string{
		"SA": "SA", "us": "US", "Gb": "GB", "UK": "GB", "uk": "GB", "XX": "", "ZZ": "", "EU": "", "AN": "", "XK": "", "": "", "S": "",
		"USA": "", " A": "", "A ": "", "D ": "",
	} {
		if got := country.Code(word); got != want {
			t.Errorf("Code(%q) = %q, want %q", word, got, want)
		}
	}
}

func TestCodesAreThoseOfCLDR(t *testing.T) {
	t.Parallel()
	n := 0
	for a := 'A'; a <= 'Z'; a++ {
		for b := 'A'; b <= 'Z'; b++ {
			word := string([]rune{a, b})
			if country.Code(word) != word {
				continue
			}
			n++
			if r, err := language.ParseRegion(word); err != nil || !r.IsCountry() || r.Canonicalize() != r {
				t.Errorf("%s is not a country", word)
			}
		}
	}
	if n != 249 {
		t.Errorf("%d codes, want the 249 of ISO 3166-1", n)
	}
}
