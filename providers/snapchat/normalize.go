package snapchat

import (
	"regexp"
	"slices"
	"strings"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/internal/links"
)

const siteURL = "https://www.snapchat.com/"

var (
	username = regexp.MustCompile(`^[a-z0-9][a-z0-9_.-]{2,14}$`)
	postID   = regexp.MustCompile(`^[A-Za-z0-9_=-]{10,200}$`)
)

// normalize folds a username, which ignores case, and reduces the addresses of Spotlight videos and highlights to their ids.
func normalize(s providers.Subject, value string) (string, error) {
	link, err := links.Parse(value, "snapchat.com", "story.snapchat.com")
	if err != nil {
		return "", err
	}
	if link != nil && link.Segment(0) == "t" {
		return "", providers.Invalid("a short link does not say what it leads to: open it and pass the address behind it")
	}
	if s == providers.Handle {
		return account(link, value)
	}
	if s == providers.CollectionID {
		return collectionID(link, value)
	}
	return spotlightID(link, value)
}

func account(link *links.Link, value string) (string, error) {
	if link != nil {
		switch value = link.Segment(0); {
		case value == "add" || value == "u":
			value = link.Segment(1)
		case !strings.HasPrefix(value, "@"): // a page of the site, such as /spotlight
			value = ""
		}
	}
	value = strings.ToLower(strings.TrimPrefix(value, "@"))
	if !username.MatchString(value) {
		return "", providers.Invalid("a Snapchat handle is a username such as team.snapchat, or the URL of a profile")
	}
	return value, nil
}

// spotlightID finds the id in an address, which may begin with the account: /@name/spotlight/ID.
func spotlightID(link *links.Link, value string) (string, error) {
	if link != nil {
		value = ""
		if i := slices.Index(link.Segments, "spotlight"); i >= 0 {
			value = link.Segment(i + 1)
		}
	}
	if !postID.MatchString(value) {
		return "", providers.Invalid("a Snapchat post is the id or the URL of a Spotlight video")
	}
	return value, nil
}

// collectionID finds the id of a highlight in its address: /@name/highlight/ID.
func collectionID(link *links.Link, value string) (string, error) {
	if link != nil {
		value = ""
		if link.Segment(1) == "highlight" {
			value = link.Segment(2)
		}
	}
	if !postID.MatchString(value) {
		return "", providers.Invalid("a Snapchat collection is the id or the URL of a highlight")
	}
	return value, nil
}

func profileURL(handle string) string { return siteURL + "@" + handle }

func spotlightURL(id string) string { return siteURL + "spotlight/" + id }
