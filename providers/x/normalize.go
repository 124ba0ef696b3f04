package x

import (
	"encoding/base64"
	"regexp"
	"strings"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/links"
)

// short is the host of the links that X substitutes for those in posts.
const short = "t.co"

var (
	username  = regexp.MustCompile(`^[a-z0-9_]{1,15}$`) // since 2008; numbers of accounts are longer
	community = regexp.MustCompile(`^Community:([0-9]{1,20})$`)
)

// reserved are paths of x.com that are not accounts.
var reserved = map[string]bool{
	"about": true, "account": true, "compose": true, "download": true, "explore": true, "hashtag": true, "home": true, "i": true,
	"intent": true, "jobs": true, "login": true, "logout": true, "messages": true, "notifications": true, "oauth": true,
	"privacy": true, "search": true, "search-advanced": true, "settings": true, "share": true, "signup": true, "tos": true,
}

// addresses describes how the addresses and identifiers of X are parsed. Read only.
var addresses = &links.Site{
	Hosts: []string{"x.com", "twitter.com", "platform.twitter.com", "platform.x.com", short},
	Order: []providers.Subject{providers.PostID, providers.CommunityID, providers.Handle},
	Also:  map[providers.Subject][]providers.Subject{providers.PostID: {providers.CommentID, providers.Handle}},
	In:    inLink, ID: canonical,
	Short:    func(l *links.Link) bool { return l.Host == short && l.Segment(0) != "" },
	Searches: map[string]string{"search": "{q}", "hashtag": "#{}"},
}

// inLink returns the account, post or community in an address.
func inLink(s providers.Subject, l *links.Link) string {
	first := l.Segment(0)
	switch {
	case s == providers.Handle && first == "i" && l.Segment(1) == "user" && links.Digits(l.Segment(2)):
		return l.Segment(2)
	case s == providers.Handle && first == "intent" && (l.Segment(1) == "user" || l.Segment(1) == "follow"):
		return l.Param("screen_name")
	case s == providers.Handle && (reserved[strings.ToLower(first)] || strings.HasPrefix(l.Host, "platform.") || l.Host == short):
		return ""
	case s == providers.Handle:
		return first
	case s == providers.CommunityID && first == "i" && l.Segment(1) == "communities":
		return l.Segment(2)
	case s == providers.CommunityID:
		return ""
	case strings.HasPrefix(l.Host, "platform."): // an embedded post on another site: embed/Tweet.html?id=1
		return l.Param("id")
	}
	return statusOf(l)
}

// canonical converts a handle, which ignores case, to lower case, and checks the number of an account, a post, a comment
// or a community.
func canonical(s providers.Subject, value string) (string, error) {
	switch s {
	case providers.Handle:
		if value = strings.ToLower(strings.TrimPrefix(value, "@")); !username.MatchString(value) && !number(value) {
			return "", providers.Invalid("an X handle is a name such as XDevelopers, or the URL of a profile")
		}
		return value, nil
	case providers.CommunityID:
		if value = communityID(value); !number(value) {
			return "", providers.Invalid("an X community is a number, or the URL x.com/i/communities/{number}")
		}
		return value, nil
	default:
		if !number(value) {
			return "", providers.Invalid("an X post is a number, or the URL x.com/{handle}/status/{number}")
		}
		return value, nil
	}
}

// statusOf parses the paths {handle}/status/{id}, i/status/{id}, i/web/status/{id} and statuses/{id}, and
// {handle}/article/{id}, which has the number of the post that announced the article.
func statusOf(link *links.Link) string {
	for i, s := range link.Segments {
		if (s == "status" || s == "statuses") && i <= 2 || s == "article" && i == 1 && link.Segments[0] != "i" {
			return link.Segment(i + 1)
		}
	}
	return ""
}

func number(s string) bool { return links.Digits(s) && len(s) <= 20 }

// communityID decodes the base64 form of a community's id in search results.
func communityID(id string) string {
	if b, err := base64.StdEncoding.DecodeString(id); err == nil {
		if m := community.FindSubmatch(b); m != nil {
			return string(m[1])
		}
	}
	return id
}
