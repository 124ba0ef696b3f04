package mastodon

import (
	"regexp"
	"strings"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/links"
)

// acct is the name of an account, with the server if that is another one.
var acct = regexp.MustCompile(`^[a-z0-9_]([a-z0-9_.-]*[a-z0-9_])?(@[a-z0-9.-]+\.[a-z0-9-]+)?$`)

// addresses describes the addresses of a server, as in https://mastodon.social/@ann/109.
func addresses(base string) *links.Site {
	_, host, _ := strings.Cut(base, "://")
	return &links.Site{
		Hosts: []string{host},
		Order: []providers.Subject{providers.PostID, providers.Handle},
		Also:  map[providers.Subject][]providers.Subject{providers.PostID: {providers.Handle}},
		In:    inLink, ID: canonical, Searches: map[string]string{"search": "{q}", "tags": "#{}"},
	}
}

func inLink(s providers.Subject, l *links.Link) string {
	name, isAccount := strings.CutPrefix(l.Segment(0), "@")
	switch {
	case !isAccount:
		return ""
	case s == providers.Handle:
		return name
	case links.Digits(l.Segment(1)):
		return l.Segment(1)
	}
	return ""
}

func canonical(s providers.Subject, value string) (string, error) {
	if s == providers.Handle {
		value = strings.ToLower(strings.TrimPrefix(value, "@"))
		if !acct.MatchString(value) {
			return "", providers.Invalid("a handle is one such as ann, or ann@elsewhere.example for another server")
		}
		return value, nil
	}
	if !links.Digits(value) {
		return "", providers.Invalid("a post is the number at the end of its address")
	}
	return value, nil
}
