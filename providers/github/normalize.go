package github

import (
	"regexp"
	"strings"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/links"
)

var (
	login = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_-]{0,38}(\[bot\])?$`) // _ precedes the company's name
	dots  = regexp.MustCompile(`(^|/)\.+(/|#|$)`)                            // segments of only dots, which lead elsewhere
	repo  = regexp.MustCompile(`^[A-Za-z0-9_.-]+/[A-Za-z0-9_.-]+(#[0-9]+)?$`)
)

// reserved are paths of github.com that are not accounts.
var reserved = map[string]bool{
	"about": true, "collections": true, "dashboard": true, "enterprise": true, "explore": true, "features": true, "issues": true,
	"join": true, "login": true, "logout": true, "marketplace": true, "new": true, "notifications": true, "orgs": true,
	"pricing": true, "pulls": true, "search": true, "settings": true, "signup": true, "site": true, "sponsors": true,
	"stars": true, "topics": true, "trending": true,
}

// addresses describes how GitHub's addresses and identifiers are parsed. It is read-only.
var addresses = &links.Site{
	Hosts: []string{"github.com"},
	Order: []providers.Subject{providers.PostID, providers.Handle},
	Also:  map[providers.Subject][]providers.Subject{providers.PostID: {providers.Handle}},
	In:    inLink, ID: canonical, Searches: map[string]string{"search": "{q}", "topics": "topic:{}"},
}

// inLink returns the account, repository, issue or pull request in an address.
func inLink(s providers.Subject, l *links.Link) string {
	owner, name := l.Segment(0), strings.TrimSuffix(l.Segment(1), ".git")
	switch {
	case owner == "apps" && s == providers.Handle: // the page of a bot
		return name + "[bot]"
	case owner == "orgs" && s == providers.Handle:
		return name
	case owner == "apps" || reserved[strings.ToLower(owner)]:
		return ""
	case s == providers.Handle:
		return owner
	case name == "":
		return ""
	}
	if n := l.Segment(3); links.Digits(n) && (l.Segment(2) == "issues" || l.Segment(2) == "pull") {
		name += "#" + n
	}
	return owner + "/" + name
}

// canonical lower-cases a login, which ignores case, and reduces a repository to owner/repo or its number.
func canonical(s providers.Subject, value string) (string, error) {
	if s == providers.Handle {
		value = strings.ToLower(strings.TrimPrefix(value, "@"))
		if !login.MatchString(value) || reserved[value] {
			return "", providers.Invalid("a GitHub handle is a login such as octocat")
		}
		return value, nil
	}
	if !links.Digits(value) && (!repo.MatchString(value) || dots.MatchString(value)) {
		return "", providers.Invalid("a GitHub post is a repository such as octocat/hello-world, or its number")
	}
	return strings.ToLower(value), nil
}
