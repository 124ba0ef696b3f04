package reddit

import (
	"regexp"
	"slices"
	"strings"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/internal/links"
)

var (
	userName  = regexp.MustCompile(`^[a-z0-9_-]{1,24}$`)
	community = regexp.MustCompile(`^[a-z0-9][a-z0-9_]{1,23}$`)
	base36    = regexp.MustCompile(`^[a-z0-9]{1,13}$`)
	share     = regexp.MustCompile(`^(r|u|user)/[A-Za-z0-9_-]+/s/[A-Za-z0-9]+$`)
)

// normalize folds names, which ignore case, and reduces ids to their base-36 part. A handle that is a community keeps
// its r/. A share link stays one: where it leads is for Reddit to tell.
func normalize(s providers.Subject, value string) (string, error) {
	link, err := links.Parse(value, "reddit.com", ".reddit.com", "redd.it")
	if err != nil {
		return "", err
	}
	switch s {
	case providers.Handle:
		return handleOf(link, value)
	case providers.CommunityID:
		return communityOf(link, value)
	case providers.CommentID:
		return idOf(link, value, "t1_", 3)
	default:
		return idOf(link, value, "t3_", 1)
	}
}

func handleOf(link *links.Link, value string) (string, error) {
	if link != nil {
		value = link.Segment(0) + "/" + link.Segment(1)
	}
	value = strings.Trim(strings.ToLower(value), "/")
	if name, ok := strings.CutPrefix(value, "r/"); ok && community.MatchString(name) {
		return value, nil
	}
	named := false
	for _, prefix := range []string{"user/", "u/", "@"} {
		var ok bool
		value, ok = strings.CutPrefix(value, prefix)
		named = named || ok
	}
	if !userName.MatchString(value) || link != nil && !named {
		return "", providers.Invalid("a Reddit handle is a user name such as spez, or a community such as r/golang")
	}
	return value, nil
}

func communityOf(link *links.Link, value string) (string, error) {
	if link != nil {
		value = link.Segment(0) + "/" + link.Segment(1)
		if link.Segment(0) != "r" {
			value = ""
		}
	}
	if value = strings.TrimPrefix(strings.Trim(strings.ToLower(value), "/"), "r/"); !community.MatchString(value) {
		return "", providers.Invalid("a Reddit community is one such as golang")
	}
	return value, nil
}

// idOf finds the id of a post or comment, which stands so many segments behind the word comments.
func idOf(link *links.Link, value, prefix string, behind int) (string, error) {
	if link != nil {
		path := strings.Join(link.Segments, "/")
		switch at := slices.Index(link.Segments, "comments"); {
		case share.MatchString(path):
			return path, nil
		case at >= 0:
			value = link.Segment(at + behind)
		case prefix == "t3_" && link.Segment(0) == "gallery":
			value = link.Segment(1)
		case prefix == "t3_" && link.Host == "redd.it":
			value = link.Segment(0)
		default:
			value = ""
		}
	}
	if share.MatchString(value) {
		return value, nil
	}
	if value = strings.TrimPrefix(strings.ToLower(value), prefix); !base36.MatchString(value) {
		return "", providers.Invalid("a Reddit id is one such as %s1skjxta, or the address of the thing", prefix)
	}
	return value, nil
}
