package linktree

import (
	"regexp"
	"strings"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/internal/links"
)

var handle = regexp.MustCompile(`^[a-z0-9._-]{1,60}$`)

// reserved are paths of linktr.ee that are no pages of accounts.
var reserved = map[string]bool{"admin": true, "login": true, "register": true, "s": true, "marketplace": true, "discover": true}

// normalize folds the name of a page, which ignores case.
func normalize(s providers.Subject, value string) (string, error) {
	link, err := links.Parse(value, "linktr.ee")
	if err != nil {
		return "", err
	}
	if link != nil {
		value = link.Segment(0)
	}
	value = strings.ToLower(strings.TrimPrefix(value, "@"))
	if s != providers.Handle || !handle.MatchString(value) || reserved[value] || strings.Trim(value, ".") == "" {
		return "", providers.Invalid("a Linktree handle is the name behind linktr.ee/, such as annexample")
	}
	return value, nil
}
