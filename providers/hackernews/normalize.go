package hackernews

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/internal/links"
)

var handle = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)

// normalize reduces a URL to the user or item that it shows. Handles keep their case: PG and pg are two people.
func normalize(s providers.Subject, value string) (string, error) {
	link, err := links.Parse(value, "news.ycombinator.com")
	if err != nil {
		return "", err
	}
	if s == providers.Handle {
		if link != nil {
			value = ""
			switch link.Segment(0) {
			case "user", "submitted", "threads", "favorites":
				value = link.Query.Get("id")
			}
		}
		if !handle.MatchString(value) {
			return "", providers.Invalid("a Hacker News handle is a user name such as pg")
		}
		return value, nil
	}
	if link != nil {
		value = ""
		if link.Segment(0) == "item" {
			value = link.Query.Get("id")
			if s == providers.CommentID && links.Digits(link.Fragment) { // item?id=STORY#COMMENT
				value = link.Fragment
			}
		}
	}
	n, err := strconv.ParseInt(value, 10, 64)
	if err != nil || n < 1 || strings.HasPrefix(value, "+") {
		return "", providers.Invalid("a Hacker News id is a positive number such as 8863")
	}
	return strconv.FormatInt(n, 10), nil
}
