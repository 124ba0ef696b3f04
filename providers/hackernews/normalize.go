package hackernews

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/links"
)

var handle = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)

// addresses describes how Hacker News's addresses and identifiers are parsed. It is read-only.
var addresses = &links.Site{
	Hosts: []string{"news.ycombinator.com", "hn.algolia.com"},
	Order: []providers.Subject{providers.PostID, providers.Handle},
	First: func(l *links.Link) providers.Subject {
		if l.Segment(0) == "item" && isID(l.Fragment) { // item?id=STORY#COMMENT
			return providers.CommentID
		}
		return ""
	},
	Also: map[providers.Subject][]providers.Subject{ // the address of an item does not say which of the two it is
		providers.PostID: {providers.CommentID}, providers.CommentID: {providers.PostID},
	},
	In: inLink, ID: canonical, Searches: map[string]string{"hn.algolia.com/": "{q}"},
}

// inLink returns the user or item in an address; "" when there is none.
func inLink(s providers.Subject, l *links.Link) string {
	switch l.Segment(0) {
	case "user", "submitted", "threads", "favorites":
		if s == providers.Handle {
			return l.Param("id")
		}
	case "item":
		switch {
		case s == providers.CommentID && isID(l.Fragment):
			return l.Fragment
		case s != providers.Handle:
			return l.Param("id")
		}
	}
	return ""
}

func isID(s string) bool {
	_, err := canonical(providers.PostID, s)
	return err == nil
}

// canonical checks a user name, whose case is kept because PG and pg are two people, or the number of an item.
func canonical(s providers.Subject, value string) (string, error) {
	if s == providers.Handle {
		if !handle.MatchString(value) {
			return "", providers.Invalid("a Hacker News handle is a user name such as pg")
		}
		return value, nil
	}
	n, err := strconv.ParseInt(value, 10, 64)
	if err != nil || n < 1 || strings.HasPrefix(value, "+") {
		return "", providers.Invalid("a Hacker News id is a positive number such as 8863")
	}
	return strconv.FormatInt(n, 10), nil
}
