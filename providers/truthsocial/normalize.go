package truthsocial

import (
	"regexp"
	"strings"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/internal/links"
)

var (
	username = regexp.MustCompile(`^[a-z0-9_](?:[a-z0-9_.-]*[a-z0-9_])?$`)
	slug     = regexp.MustCompile(`^[a-z0-9](?:[a-z0-9_-]*[a-z0-9])?$`)
)

// normalize folds a handle, which ignores case, and reduces posts and comments, which are the same upstream, to their
// number.
func normalize(s providers.Subject, value string) (string, error) {
	link, err := links.Parse(value, "truthsocial.com")
	if err != nil {
		return "", err
	}
	switch s {
	case providers.Handle:
		if link != nil {
			value = owner(link)
		}
		value = strings.TrimSuffix(strings.TrimPrefix(strings.ToLower(value), "@"), "@truthsocial.com")
		if !username.MatchString(value) {
			return "", providers.Invalid("a Truth Social handle is a name such as realDonaldTrump, or an account's number")
		}
	case providers.CommunityID:
		if link != nil {
			value = ""
			if link.Segment(0) == "group" || link.Segment(0) == "groups" {
				value = link.Segment(1)
			}
		}
		if value = strings.ToLower(value); !slug.MatchString(value) {
			return "", providers.Invalid("a Truth Social group is the name in its URL such as trump-forever, or its number")
		}
	default:
		if link != nil {
			value = number(link)
		}
		if !links.Digits(value) {
			return "", providers.Invalid("a Truth Social post is a number such as 116669584003805199, or the post's URL")
		}
	}
	return value, nil
}

// owner is the account whose page or post l is: /@name… or /users/name….
func owner(l *links.Link) string {
	if l.Segment(0) == "users" {
		return l.Segment(1)
	}
	if name, ok := strings.CutPrefix(l.Segment(0), "@"); ok {
		return name
	}
	return ""
}

// number is that of the post l leads to: /@name/1, /@name/posts/1, /users/name/statuses/1, /group/name/posts/1 or
// /posts/1.
func number(l *links.Link) string {
	last := len(l.Segments) - 1
	parent := l.Segment(max(0, last-1))
	if parent == "posts" || parent == "statuses" || last == 1 && strings.HasPrefix(parent, "@") {
		return l.Segment(last)
	}
	return ""
}

// isNumber tells an account's or group's own number from a name made of digits: numbers hold the time in
// milliseconds before their last 16 bits.
func isNumber(s string) bool { return len(s) >= 15 && links.Digits(s) }
