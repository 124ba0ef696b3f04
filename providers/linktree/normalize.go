package linktree

import (
	"regexp"
	"strings"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/internal/links"
)

var username = regexp.MustCompile(`^[a-z0-9_](?:[a-z0-9._-]{0,98}[a-z0-9._])?$`)

// reserved are paths of linktr.ee that are no pages of anybody. Nobody writes to it.
var reserved = map[string]bool{
	"admin": true, "discover": true, "favicon.ico": true, "login": true, "marketplace": true, "register": true, "robots.txt": true,
	"s": true, "sitemap.xml": true, "templates": true,
}

// normalize folds the name of a page, which ignores case. Nothing else at Linktree has a name.
func normalize(s providers.Subject, value string) (string, error) {
	link, err := links.Parse(value, "linktr.ee")
	if err != nil {
		return "", err
	}
	if link != nil {
		value = link.Segment(0)
	}
	value = strings.ToLower(strings.TrimPrefix(value, "@"))
	if s != providers.Handle || !username.MatchString(value) || reserved[value] {
		return "", providers.Invalid("a Linktree handle is the name in the URL of a page, such as linktr.ee/name")
	}
	return value, nil
}
