package zid

import (
	"regexp"
	"strings"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/internal/links"
)

const domain = ".zid.store" // of every shop that has no domain of its own

var (
	label = regexp.MustCompile(`^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$`)
	uuid  = regexp.MustCompile(`^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`)
)

// normalize reduces a store to its number or its host under zid.store, and a product to its UUID or number. Shops on a
// domain of their own are known by number only: a host that callers choose freely is not read.
func normalize(s providers.Subject, value string) (string, error) {
	link, err := links.Parse(value, domain)
	if err != nil {
		return "", err
	}
	if s == providers.ProductID {
		return normalizeProduct(value, link)
	}
	name := strings.TrimSuffix(strings.ToLower(value), domain)
	if link != nil {
		name = strings.TrimSuffix(link.Host, domain)
	}
	switch {
	case !label.MatchString(name):
		return "", providers.Invalid("a store is given by its number, such as 4, or its address, such as demo%s", domain)
	case link == nil && links.Digits(value):
		return value, nil
	}
	return name + domain, nil
}

func normalizeProduct(value string, link *links.Link) (string, error) {
	value = strings.ToLower(value)
	if link != nil || strings.ContainsAny(value, "/ ?#%\\") {
		return "", providers.Invalid("a product is given by its UUID: its address does not hold it")
	}
	return value, nil
}
