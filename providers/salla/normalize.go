package salla

import (
	"net/url"
	"slices"
	"strings"
	"unicode"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/links"
)

// addresses describes how addresses of stores on Salla's own domain are parsed. It is read-only.
var addresses = &links.Site{
	Hosts: []string{domain},
	Order: []providers.Subject{providers.ProductID, providers.StoreID},
	Also:  map[providers.Subject][]providers.Subject{providers.ProductID: {providers.StoreID}},
	In:    inLink, ID: canonical,
}

// domain is the host of stores without a domain of their own.
const domain = "salla.sa"

// sitePages are first path segments that are not stores.
var sitePages = []string{"about", "blog", "login", "pricing", "privacy", "register", "signup", "terms"}

// inLink returns a store, or a product by the number at the end of its address.
func inLink(s providers.Subject, l *links.Link) string {
	switch {
	case len(l.Segments) == 0 || slices.Contains(sitePages, strings.ToLower(l.Segment(0))):
		return ""
	case s == providers.StoreID:
		return domain + "/" + url.PathEscape(l.Segment(0))
	case s == providers.ProductID && len(l.Segments) > 1 && strings.HasPrefix(l.Last(), "p"):
		return l.Last()
	}
	return ""
}

// normalize also accepts the address of a store on a domain of its own, which does not show that it is Salla's.
func normalize(s providers.Subject, value string) (string, error) {
	if _, err := links.Parse(value, domain); err != nil && strings.Contains(value, "://") {
		return canonical(s, value)
	}
	return addresses.Normalize(s, value)
}

// canonical reduces a store to its number, to "salla.sa/name" or to its own domain, and a product to its number.
func canonical(s providers.Subject, value string) (string, error) {
	switch s {
	case providers.StoreID:
		return storeKey(value)
	case providers.ProductID:
		return productKey(value)
	default:
		return value, nil
	}
}

// storeKey parses a store's number, its name on salla.sa, or the address of anything in it.
func storeKey(value string) (string, error) {
	if links.Digits(value) {
		return number(value)
	}
	_, rest, schemed := strings.Cut(value, "://")
	if !schemed {
		rest = value
	}
	if !strings.ContainsAny(rest, "./") {
		rest = "salla.sa/" + rest
	}
	u, err := url.Parse("https://" + rest)
	if err != nil || u.User != nil || u.Port() != "" || strings.ContainsAny(rest, " @\\") {
		return "", providers.Invalid("a store is a number, a name on salla.sa, or its address")
	}
	host := strings.TrimPrefix(strings.ToLower(u.Hostname()), "www.")
	if !strings.Contains(strings.Trim(host, "."), ".") || !links.Within(host, 253, inName) {
		return "", providers.Invalid("a store is a number, a name on salla.sa, or its address")
	}
	if host != "salla.sa" {
		return host, nil
	}
	name, _, _ := strings.Cut(strings.Trim(u.Path, "/"), "/")
	if name == "" || name == "." || name == ".." {
		return "", providers.Invalid("this is the address of Salla itself, not of a store")
	}
	if !links.Within(name, 253, inName) {
		return "", providers.Invalid("a store's name on salla.sa has letters, digits and hyphens")
	}
	return host + "/" + strings.ToLower(name), nil
}

// inName reports whether r may be in a store's name or domain, in any script.
func inName(r rune) bool {
	return r == '-' || r == '_' || r == '.' || unicode.In(r, unicode.L, unicode.M, unicode.Nd)
}

// productKey parses a product's number, or the address of its page, which ends in p and the number.
func productKey(value string) (string, error) {
	last := value
	if u, err := url.Parse(value); err == nil && strings.Contains(value, "/") {
		path := strings.TrimRight(u.Path, "/")
		last = path[strings.LastIndexByte(path, '/')+1:]
		if !strings.HasPrefix(last, "p") {
			return "", providers.Invalid("this is not the address of a product")
		}
	}
	id := strings.TrimPrefix(last, "p")
	if !links.Digits(id) {
		return "", providers.Invalid("a product is a number, or the address of its page")
	}
	return number(id)
}

// number formats a number as Salla does.
func number(digits string) (string, error) {
	digits = strings.TrimLeft(digits, "0")
	if digits == "" || len(digits) > 19 {
		return "", providers.Invalid("this is not a number that Salla assigns")
	}
	return digits, nil
}
