package truthsocial

import (
	"regexp"
	"strings"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/links"
)

var (
	username = regexp.MustCompile(`^[a-z0-9_](?:[a-z0-9_.-]*[a-z0-9_])?$`)
	slug     = regexp.MustCompile(`^[a-z0-9](?:[a-z0-9_-]*[a-z0-9])?$`)
)

// addresses describes how addresses and identifiers of Truth Social are parsed. It is read-only.
var addresses = &links.Site{
	Hosts: []string{"truthsocial.com"},
	Order: []providers.Subject{providers.PostID, providers.CommunityID, providers.Handle},
	Also: map[providers.Subject][]providers.Subject{
		providers.PostID: {providers.CommentID, providers.Handle, providers.CommunityID},
	},
	In: inLink, ID: canonical, Searches: map[string]string{"search": "{q}", "tags": "#{}"},
}

// inLink returns the identifier of kind s in an address, or "" when there is none.
func inLink(s providers.Subject, l *links.Link) string {
	switch s {
	case providers.Handle:
		return owner(l)
	case providers.CommunityID:
		if l.Segment(0) == "group" || l.Segment(0) == "groups" {
			return l.Segment(1)
		}
		return ""
	default:
		return number(l)
	}
}

// canonical lower-cases a handle, which ignores case, and checks the number of posts and comments, which are the same
// upstream.
func canonical(s providers.Subject, value string) (string, error) {
	switch s {
	case providers.Handle:
		value = strings.TrimSuffix(strings.TrimPrefix(strings.ToLower(value), "@"), "@truthsocial.com")
		if !username.MatchString(value) {
			return "", providers.Invalid("a Truth Social handle is a name such as realDonaldTrump, or an account's number")
		}
	case providers.CommunityID:
		if value = strings.ToLower(value); !slug.MatchString(value) {
			return "", providers.Invalid("a Truth Social group is the name in its URL such as trump-forever, or its number")
		}
	default:
		if !links.Digits(value) {
			return "", providers.Invalid("a Truth Social post is a number such as 116669584003805199, or the post's URL")
		}
	}
	return value, nil
}

// owner returns the account whose page or post l is: /@name… or /users/name….
func owner(l *links.Link) string {
	if l.Segment(0) == "users" {
		return l.Segment(1)
	}
	if name, ok := strings.CutPrefix(l.Segment(0), "@"); ok {
		return name
	}
	return ""
}

// number returns the number of the post at l: /@name/1, /@name/posts/1, /users/name/statuses/1, /group/name/posts/1 or
// /posts/1.
func number(l *links.Link) string {
	last := len(l.Segments) - 1
	parent := l.Segment(max(0, last-1))
	numbered := last == 1 && strings.HasPrefix(parent, "@") && links.Digits(l.Segment(last))
	if numbered || last > 0 && (parent == "posts" || parent == "statuses") {
		return l.Segment(last)
	}
	return ""
}

// isNumber reports whether s is an account's or group's own number and not a name made of digits: numbers hold the time
// in milliseconds before their last 16 bits.
func isNumber(s string) bool { return len(s) >= 15 && links.Digits(s) }
