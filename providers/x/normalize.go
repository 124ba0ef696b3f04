package x

import (
	"encoding/base64"
	"regexp"
	"strings"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/internal/links"
)

// hosts are the names of X's site.
var hosts = []string{"x.com", "twitter.com"}

var (
	username  = regexp.MustCompile(`^[a-z0-9_]{1,15}$`)
	community = regexp.MustCompile(`^Community:([0-9]{1,20})$`)
)

// reserved are paths of x.com that are no accounts.
var reserved = map[string]bool{
	"compose": true, "explore": true, "hashtag": true, "home": true, "i": true, "intent": true, "jobs": true, "login": true,
	"messages": true, "notifications": true, "privacy": true, "search": true, "settings": true, "share": true,
	"signup": true, "tos": true,
}

// normalize folds a handle, which ignores case, and reduces a post, comment or community to its number. A handle that
// cannot be one is left for the look-up, to which it is an account that does not exist.
func normalize(s providers.Subject, value string) (string, error) {
	link, err := links.Parse(value, hosts...)
	if err != nil {
		return "", err
	}
	switch s { //nolint:exhaustive // X has no other subjects
	case providers.Handle:
		if link != nil {
			value = link.Segment(0)
			if value == "i" && link.Segment(1) == "user" && links.Digits(link.Segment(2)) {
				value = link.Segment(2)
			}
		}
		value = strings.ToLower(strings.TrimLeft(value, "@"))
		if link != nil && reserved[value] || value == "" {
			return "", providers.Invalid("an X handle is a name such as XDevelopers, or the URL of a profile")
		}
		return value, nil
	case providers.CommunityID:
		if link != nil {
			value = ""
			if link.Segment(0) == "i" && link.Segment(1) == "communities" {
				value = link.Segment(2)
			}
		}
		if value = communityID(value); !number(value) {
			return "", providers.Invalid("an X community is a number, or the URL x.com/i/communities/{number}")
		}
		return value, nil
	}
	if link != nil {
		value = statusOf(link)
	}
	if !number(value) {
		return "", providers.Invalid("an X post is a number, or the URL x.com/{handle}/status/{number}")
	}
	return value, nil
}

// statusOf reads the paths {handle}/status/{id}, i/status/{id} and i/web/status/{id}.
func statusOf(link *links.Link) string {
	for i, s := range link.Segments {
		if (s == "status" || s == "statuses") && i > 0 && i <= 2 {
			return link.Segment(i + 1)
		}
	}
	return ""
}

func number(s string) bool { return links.Digits(s) && len(s) <= 20 }

// communityID decodes the base64 form in which a search gives a community's id.
func communityID(id string) string {
	if b, err := base64.StdEncoding.DecodeString(id); err == nil {
		if m := community.FindSubmatch(b); m != nil {
			return string(m[1])
		}
	}
	return id
}
