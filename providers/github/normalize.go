package github

import (
	"regexp"
	"strings"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/internal/links"
)

var (
	login = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_-]{0,38}(\[bot\])?$`) // _ stands before a company's name
	dots  = regexp.MustCompile(`(^|/)\.+(/|#|$)`)                            // segments that lead elsewhere
	repo  = regexp.MustCompile(`^[A-Za-z0-9_.-]+/[A-Za-z0-9_.-]+(#[0-9]+)?$`)
)

// reserved are paths of github.com that are no accounts.
var reserved = map[string]bool{
	"about": true, "collections": true, "explore": true, "features": true, "login": true, "marketplace": true, "orgs": true,
	"search": true, "settings": true, "sponsors": true, "topics": true, "trending": true,
}

// normalize folds a login, which ignores case, and reduces a repository to owner/repo or its number.
func normalize(s providers.Subject, value string) (string, error) {
	link, err := links.Parse(value, "github.com")
	if err != nil {
		return "", err
	}
	if s == providers.Handle {
		if link != nil {
			value = link.Segment(0)
			if value == "apps" { // the page of a bot
				value = link.Segment(1) + "[bot]"
			}
		}
		value = strings.ToLower(strings.TrimPrefix(value, "@"))
		if !login.MatchString(value) || reserved[value] {
			return "", providers.Invalid("a GitHub handle is a login such as octocat")
		}
		return value, nil
	}
	if link != nil {
		value = link.Segment(0) + "/" + strings.TrimSuffix(link.Segment(1), ".git")
		if n := link.Segment(3); links.Digits(n) && (link.Segment(2) == "issues" || link.Segment(2) == "pull") {
			value += "#" + n
		}
	}
	if !links.Digits(value) && (!repo.MatchString(value) || dots.MatchString(value)) {
		return "", providers.Invalid("a GitHub post is a repository such as octocat/hello-world, or its number")
	}
	return strings.ToLower(value), nil
}
