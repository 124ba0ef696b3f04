package appstore

import (
	"regexp"
	"slices"
	"strings"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/links"
)

var bundle = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,254}$`)

// addresses describes how the addresses and identifiers of apps are parsed. An app is a profile and a product.
func addresses(markets *links.Markets) *links.Site {
	return &links.Site{
		Hosts: []string{"apps.apple.com", "itunes.apple.com", "geo.itunes.apple.com"},
		Order: []providers.Subject{providers.Handle},
		Also:  map[providers.Subject][]providers.Subject{providers.Handle: {providers.ProductID}},
		In:    inLink, ID: canonical,
		Searches: map[string]string{"apps.apple.com/search": "{term}", "apps.apple.com/??/search": "{term}"},
		Country:  func(l *links.Link) string { return l.Segment(0) },
		Markets:  markets,
	}
}

// inLink returns the number of the app in an address such as apps.apple.com/us/app/facebook/id284882215.
func inLink(_ providers.Subject, l *links.Link) string {
	at := slices.Index(l.Segments, "app")
	if at < 0 {
		return ""
	}
	for _, s := range l.Segments[at:] {
		if n := number(s); n != s {
			return n
		}
	}
	return ""
}

// canonical normalizes an app to its number or its case-sensitive bundle id.
func canonical(_ providers.Subject, value string) (string, error) {
	if n := number(value); links.Digits(n) {
		return n, nil
	}
	if !bundle.MatchString(value) {
		return "", providers.Invalid("an app is given by its number, such as 284882215, or its bundle id, such as com.example.app")
	}
	return value, nil
}

// number extracts the number from id284882215, the form in the store's addresses.
func number(s string) string {
	if n, ok := strings.CutPrefix(s, "id"); ok && links.Digits(n) {
		return n
	}
	return s
}
