package threads

import (
	"regexp"
	"strings"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/links"
	"github.com/socialdata/socialdata/providers/kit/meta"
	"github.com/socialdata/socialdata/providers/kit/text"
)

// hosts are the host names of the site, the old one last.
var hosts = []string{"threads.com", "threads.net"}

var (
	username = regexp.MustCompile(`^[a-z0-9._-]{1,64}$`)
	code     = regexp.MustCompile(`^[A-Za-z0-9_-]{4,64}$`)
	mention  = regexp.MustCompile(`(?:^|[^\pL\pN_@/.])@([A-Za-z0-9._]*[A-Za-z0-9_])`)
)

// mentions returns the handles mentioned in s, which have no hyphen.
func mentions(s string) []string { return text.Find(mention, s, "@") }

// addresses describes how addresses and identifiers of Threads are parsed. It is read-only.
var addresses = &links.Site{
	Hosts: hosts,
	Order: []providers.Subject{providers.PostID, providers.Handle},
	Also:  map[providers.Subject][]providers.Subject{providers.PostID: {providers.CommentID, providers.Handle}},
	In: func(s providers.Subject, l *links.Link) string {
		switch {
		case s != providers.Handle:
			return codeIn(l)
		case strings.HasPrefix(l.Segment(0), "@"):
			return l.Segment(0)
		}
		return ""
	},
	ID: canonical, Searches: map[string]string{"search": "{q}", "tag": "#{}"},
}

// canonical lower-cases a handle, which ignores case, and reduces a post or comment to its shortcode. The site's own
// number of a post is its shortcode in digits; a shorter number is a media id of the official API and is kept.
func canonical(s providers.Subject, value string) (string, error) {
	if s == providers.Handle {
		value = strings.ToLower(strings.TrimLeft(value, "@"))
		if !username.MatchString(value) {
			return "", providers.Invalid("a Threads handle is a name such as zuck, or the URL of a profile")
		}
		return value, nil
	}
	if links.Digits(value) {
		if len(value) < 19 {
			return value, nil
		}
		value = meta.Shortcode(value)
	}
	if !code.MatchString(value) {
		return "", providers.Invalid("a Threads post is a shortcode such as DEUxBnGRDtS, or the post's URL")
	}
	return value, nil
}

// codeIn returns the shortcode in the address of a post's page, "" when it is another page. link may be nil.
func codeIn(link *links.Link) string {
	switch {
	case link == nil:
		return ""
	case link.Segment(0) == "t":
		return link.Segment(1)
	case link.Segment(1) == "post":
		return link.Segment(2)
	}
	return ""
}

const siteURL = "https://www.threads.com/"

// postURL returns the address of a post's public page; Threads redirects /t/ there when the author is unknown.
func postURL(handle, code string) string {
	if handle == "" {
		return siteURL + "t/" + code
	}
	return siteURL + "@" + handle + "/post/" + code
}
