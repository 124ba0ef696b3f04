package linktree

import (
	"regexp"
	"strings"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/links"
)

var username = regexp.MustCompile(`^[a-z0-9_](?:[a-z0-9._-]{0,98}[a-z0-9._])?$`)

// reserved are paths of linktr.ee that are not accounts' pages. It is read-only.
var reserved = map[string]bool{
	"admin": true, "discover": true, "favicon.ico": true, "login": true, "marketplace": true, "register": true, "robots.txt": true,
	"s": true, "sitemap.xml": true, "templates": true,
}

// addresses describes how addresses and names of Linktree's pages are parsed. Nothing else there has a name. It is
// read-only.
var addresses = &links.Site{
	Hosts: []string{"linktr.ee"},
	Order: []providers.Subject{providers.Handle},
	In:    func(_ providers.Subject, l *links.Link) string { return l.Segment(0) },
	ID:    canonical,
}

// canonical lower-cases the name of a page, which ignores case.
func canonical(s providers.Subject, value string) (string, error) {
	value = strings.ToLower(strings.TrimPrefix(value, "@"))
	if s != providers.Handle || !username.MatchString(value) || reserved[value] {
		return "", providers.Invalid("a Linktree handle is the name in the URL of a page, such as linktr.ee/name")
	}
	return value, nil
}
