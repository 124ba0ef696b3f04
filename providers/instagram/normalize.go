package instagram

import (
	"cmp"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/links"
	"github.com/socialdata/socialdata/providers/kit/meta"
)

// hosts are the host names of the site, the short one last.
var hosts = []string{"instagram.com", "instagr.am"}

var (
	username  = regexp.MustCompile(`^[a-z0-9._]{1,30}$`)
	shortcode = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)
)

// reserved are first path segments that are not handles.
var reserved = []string{
	"p", "reel", "reels", "tv", "stories", "explore", "accounts", "direct", "about", "s", "share", "legal", "developer", "emails",
	"challenge", "web", "api", "graphql",
}

// addresses describes how Instagram's addresses and identifiers are parsed. It is read-only.
var addresses = &links.Site{
	Hosts: hosts,
	Order: []providers.Subject{
		providers.CommentID, providers.CollectionID, providers.TrackID, providers.PostID, providers.Handle,
	},
	Also: map[providers.Subject][]providers.Subject{
		providers.CommentID: {providers.PostID}, providers.PostID: {providers.Handle},
	},
	In: inLink, ID: canonical,
	// A shared address has a code of its own, which does not show where it leads.
	Short:    func(l *links.Link) bool { return l.Segment(0) == "share" && l.Segment(1) != "" },
	Searches: map[string]string{"explore/search": "{q}", "explore/tags": "#{}"},
}

// inLink returns the identifier in an address; "" when there is none.
func inLink(s providers.Subject, l *links.Link) string {
	switch s {
	case providers.Handle:
		return handleIn(l)
	case providers.PostID:
		if code := codeIn(l); !links.Digits(code) {
			return code
		}
		return numberOf(codeIn(l)) // else it would be taken for the number of another post
	case providers.CommentID:
		return commentIn(l)
	case providers.CollectionID:
		if l.Segment(0) == "stories" && l.Segment(1) == "highlights" {
			return l.Segment(2)
		}
		return ""
	case providers.TrackID:
		return l.After("audio")
	default:
		return ""
	}
}

func handleIn(l *links.Link) string {
	switch first := l.Segment(0); {
	case first == "_u": // as the apps write it
		return l.Segment(1)
	case first == "stories" && l.Segment(1) != "highlights":
		return l.Segment(1)
	case slices.Contains(reserved, first):
		return ""
	default:
		return first
	}
}

// canonical lower-cases a handle, which ignores case, and reduces a post to its number.
func canonical(s providers.Subject, value string) (string, error) {
	switch s {
	case providers.Handle:
		value = strings.ToLower(strings.TrimLeft(value, "@"))
		if !username.MatchString(value) {
			return "", providers.Invalid("an Instagram handle is a name such as nasa, or the URL of a profile")
		}
		return value, nil
	case providers.PostID:
		return postOf(value)
	case providers.CommentID:
		return number(value, "an Instagram comment is a number, or the comment's URL")
	case providers.CollectionID:
		return number(strings.TrimPrefix(value, "highlight:"), "an Instagram highlight is a number, or the highlight's URL")
	case providers.TrackID:
		return number(value, "an Instagram sound is a number, or the sound's URL")
	default:
		return value, nil
	}
}

// postOf returns the number of a post. A shortcode whose number could be an id of the official API stays a shortcode.
func postOf(value string) (string, error) {
	id, author, two := strings.Cut(value, "_")
	if links.Digits(id) && (!two || len(id) > 11 && links.Digits(author)) { // shortcodes are shorter than this
		return number(id, "an Instagram post is a shortcode such as CAnqPB-Jzcj, its number, or the post's URL")
	}
	if id = numberOf(value); id == "" {
		return "", providers.Invalid("an Instagram post is a shortcode such as CAnqPB-Jzcj, its number, or the post's URL")
	}
	if isGraphID(id) {
		return meta.Shortcode(id), nil
	}
	return id, nil
}

// numberOf decodes a shortcode, "" when it is not one. The shortcode of a private account's post has 28 more characters
// at its end.
func numberOf(code string) string {
	if !shortcode.MatchString(code) {
		return ""
	}
	if len(code) > 28 {
		code = code[:len(code)-28]
	}
	id := meta.Number(code)
	if _, err := strconv.ParseUint(id, 10, 64); err != nil {
		return ""
	}
	return id
}

// number checks the digits of an id.
func number(value, otherwise string) (string, error) {
	if n, err := strconv.ParseUint(value, 10, 64); err != nil || n == 0 || !links.Digits(value) {
		return "", providers.Invalid("%s", otherwise)
	}
	return strings.TrimLeft(value, "0"), nil
}

// isGraphID reports whether a number is an id of the official API. The posts of three days in September 2011 have such
// numbers too.
func isGraphID(id string) bool {
	return len(id) == 17 && (strings.HasPrefix(id, "17") || strings.HasPrefix(id, "18"))
}

// codeIn returns the shortcode in the address of a post's page, "" when it is another page. The author's name may come
// before it.
func codeIn(link *links.Link) string {
	for at := range 2 {
		switch link.Segment(at) {
		case "p", "reel", "reels", "tv":
			if link.Segment(at+1) == "audio" { // the page of a sound
				return ""
			}
			return link.Segment(at + 1)
		}
	}
	return ""
}

// commentIn returns the comment in the address of a post's page, "" when there is none.
func commentIn(link *links.Link) string {
	for i, s := range link.Segments {
		if s == "c" && codeIn(link) != "" {
			return link.Segment(i + 1)
		}
	}
	return ""
}

const siteURL = "https://www.instagram.com/"

func profileURL(handle string) string { return siteURL + handle + "/" }

// postURL returns the address of a post's page.
func postURL(code string, isReel bool) string {
	if isReel {
		return siteURL + "reel/" + code + "/"
	}
	return siteURL + "p/" + code + "/"
}

// postPageOf returns the address of the page of a post with a shortcode or a number, which can be converted into each
// other; "" when it has neither.
func postPageOf(code, number string, isReel bool) string {
	if code = cmp.Or(code, meta.Shortcode(number)); code == "" {
		return ""
	}
	return postURL(code, isReel)
}

// hashtagURL returns the address of a hashtag's page.
func hashtagURL(tag string) string { return siteURL + "explore/tags/" + url.PathEscape(tag) + "/" }
