package appstore

import (
	"regexp"
	"slices"
	"strings"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/internal/links"
)

var bundle = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,254}$`)

// normalize reduces an app to its number or its bundle id, whose case matters.
func normalize(_ providers.Subject, value string) (string, error) {
	link, err := links.Parse(value, "apps.apple.com", "itunes.apple.com", "geo.itunes.apple.com")
	if err != nil {
		return "", err
	}
	if link != nil { // apps.apple.com/us/app/facebook/id284882215
		value = ""
		if at := slices.Index(link.Segments, "app"); at >= 0 {
			if i := slices.IndexFunc(link.Segments[at:], func(s string) bool { return number(s) != s }); i >= 0 {
				value = link.Segments[at+i]
			}
		}
	}
	if n := number(value); links.Digits(n) {
		return n, nil
	}
	if !bundle.MatchString(value) {
		return "", providers.Invalid("an app is given by its number, such as 284882215, or its bundle id, such as com.example.app")
	}
	return value, nil
}

// number takes the number out of id284882215, as the store's addresses write it.
func number(s string) string {
	if n, ok := strings.CutPrefix(s, "id"); ok && links.Digits(n) {
		return n
	}
	return s
}
