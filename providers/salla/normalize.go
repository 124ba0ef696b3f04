package salla

import (
	"net/url"
	"strings"
	"unicode"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/internal/links"
)

// normalize reduces a store to its number, to "salla.sa/name" or to the domain of its own, and a product to its number.
func normalize(s providers.Subject, value string) (string, error) {
	if s == providers.StoreID {
		return storeKey(value)
	}
	if s == providers.ProductID {
		return productKey(value)
	}
	return value, nil
}

// storeKey reads a store's number, its name on salla.sa, or the address of anything in it.
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

// inName tells whether r may stand in a store's name or domain, in any script.
func inName(r rune) bool {
	return r == '-' || r == '_' || r == '.' || unicode.In(r, unicode.L, unicode.M, unicode.Nd)
}

// productKey reads a product's number, or the address of its page, which ends in p and the number.
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

// number writes a number as Salla does.
func number(digits string) (string, error) {
	digits = strings.TrimLeft(digits, "0")
	if digits == "" || len(digits) > 19 {
		return "", providers.Invalid("this number is none that Salla gives")
	}
	return digits, nil
}
