package snapchat

import (
	"regexp"
	"strings"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/links"
)

const (
	siteURL = "https://www.snapchat.com/"
	short   = "t.snapchat.com" // the host of short links
)

var (
	username = regexp.MustCompile(`^[a-z0-9][a-z0-9_.-]{2,14}$`)
	postID   = regexp.MustCompile(`^[A-Za-z0-9_=-]{10,200}$`)
)

// addresses describes how addresses and identifiers of Snapchat are parsed. It is read-only.
var addresses = &links.Site{
	Hosts: []string{"snapchat.com", "story.snapchat.com", short},
	Order: []providers.Subject{providers.PostID, providers.CollectionID, providers.Handle},
	Also: map[providers.Subject][]providers.Subject{
		providers.PostID: {providers.Handle}, providers.CollectionID: {providers.Handle},
	},
	In: inLink, ID: canonical,
	Short: func(l *links.Link) bool {
		return l.Segment(0) == "t" && l.Segment(1) != "" || l.Host == short && l.Segment(0) != ""
	},
	Searches: map[string]string{"search": "{q}", "explore": "{}", "topic": "#{}"},
}

// inLink returns the identifier of kind s in an address, or "" when there is none.
func inLink(s providers.Subject, l *links.Link) string {
	switch s {
	case providers.Handle:
		switch first := l.Segment(0); {
		case first == "add" || first == "u":
			return l.Segment(1)
		case strings.HasPrefix(first, "@"):
			return first
		}
		return "" // a page of the site, such as /spotlight
	case providers.CollectionID: // @name/highlight/ID
		if l.Segment(1) == "highlight" {
			return l.Segment(2)
		}
		return ""
	default: // may begin with the account: @name/spotlight/ID
		return l.After("spotlight")
	}
}

// canonical lower-cases a username, which ignores case, and checks the ids of Spotlight videos and highlights.
func canonical(s providers.Subject, value string) (string, error) {
	switch s {
	case providers.Handle:
		value = strings.ToLower(strings.TrimPrefix(value, "@"))
		if !username.MatchString(value) {
			return "", providers.Invalid("a Snapchat handle is a username such as team.snapchat, or the URL of a profile")
		}
	case providers.CollectionID:
		if !postID.MatchString(value) {
			return "", providers.Invalid("a Snapchat collection is the id or the URL of a highlight")
		}
	default:
		if !postID.MatchString(value) {
			return "", providers.Invalid("a Snapchat post is the id or the URL of a Spotlight video")
		}
	}
	return value, nil
}

func profileURL(handle string) string { return siteURL + "@" + handle }

func spotlightURL(id string) string { return siteURL + "spotlight/" + id }
