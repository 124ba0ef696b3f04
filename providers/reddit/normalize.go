package reddit

import (
	"regexp"
	"slices"
	"strings"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/links"
)

var (
	userName  = regexp.MustCompile(`^[a-z0-9_-]{1,24}$`)
	community = regexp.MustCompile(`^[a-z0-9][a-z0-9_]{1,23}$`)
	base36    = regexp.MustCompile(`^[a-z0-9]{1,13}$`)
	share     = regexp.MustCompile(`^(r|u|user)/[A-Za-z0-9_-]+/s/[A-Za-z0-9]+$`)
)

// addresses describes how the addresses and identifiers of Reddit are parsed. Read only.
var addresses = &links.Site{
	Hosts: []string{"reddit.com", ".reddit.com", "redd.it"},
	Order: []providers.Subject{providers.CommentID, providers.PostID, providers.CommunityID, providers.Handle},
	Also: map[providers.Subject][]providers.Subject{
		providers.CommentID:   {providers.PostID},
		providers.PostID:      {providers.CommunityID, providers.Handle},
		providers.CommunityID: {providers.Handle},
		providers.ShortLink:   {providers.PostID, providers.CommentID}, // its target is known when it is read
		providers.SearchPage:  {providers.Handle},                      // of an account or a community
	},
	In: inLink, ID: canonical,
	Searches: map[string]string{"search": "{q}", "r/*/search": "{q}", "u/*/search": "{q}", "user/*/search": "{q}"},
	Short: func(l *links.Link) bool {
		return len(l.Segments) >= 4 && share.MatchString(strings.Join(l.Segments, "/"))
	},
}

// inLink returns the identifier of kind s in an address, or "" when there is none.
func inLink(s providers.Subject, l *links.Link) string {
	first, at := l.Segment(0), slices.Index(l.Segments, "comments")
	switch s {
	case providers.Handle:
		if first == "r" || first == "u" || first == "user" {
			return first + "/" + l.Segment(1)
		}
	case providers.CommunityID:
		if first == "r" {
			return l.Segment(1)
		}
	case providers.CommentID: // comments/POST/title/COMMENT
		if at >= 0 {
			return l.Segment(at + 3)
		}
		return shared(l)
	case providers.PostID:
		switch {
		case at >= 0:
			return l.Segment(at + 1)
		case first == "gallery", l.Host != "redd.it" && first == "tb":
			return l.Segment(1)
		case l.Host == "redd.it" && len(l.Segments) == 1:
			return first
		}
		return shared(l)
	default:
	}
	return ""
}

// shared returns the path of a share link, "" for any other address.
func shared(l *links.Link) string {
	if path := strings.Join(l.Segments, "/"); share.MatchString(path) {
		return path
	}
	return ""
}

// canonical converts names, which ignore case, to lower case, and ids to their base-36 part. A handle that is a
// community keeps its r/. A share link is unchanged: only Reddit knows its target.
func canonical(s providers.Subject, value string) (string, error) {
	switch s {
	case providers.Handle:
		return handleOf(value)
	case providers.CommunityID:
		if value = strings.TrimPrefix(strings.Trim(strings.ToLower(value), "/"), "r/"); !community.MatchString(value) {
			return "", providers.Invalid("a Reddit community is a name such as golang")
		}
		return value, nil
	case providers.CommentID:
		return idOf(value, "t1_")
	default:
		return idOf(value, "t3_")
	}
}

func handleOf(value string) (string, error) {
	value = strings.Trim(strings.ToLower(value), "/")
	if name, ok := strings.CutPrefix(value, "r/"); ok && community.MatchString(name) {
		return value, nil
	}
	for _, prefix := range []string{"user/", "u/", "@"} {
		value = strings.TrimPrefix(value, prefix)
	}
	if !userName.MatchString(value) {
		return "", providers.Invalid("a Reddit handle is a user name such as spez, or a community such as r/golang")
	}
	return value, nil
}

// idOf removes the kind from the id of a post or comment.
func idOf(value, prefix string) (string, error) {
	if share.MatchString(value) {
		return value, nil
	}
	if value = strings.TrimPrefix(strings.ToLower(value), prefix); !base36.MatchString(value) {
		return "", providers.Invalid("a Reddit id is letters and digits such as %s1skjxta, or the URL of the post or comment", prefix)
	}
	return value, nil
}
