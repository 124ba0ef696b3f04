package instagram

import (
	"cmp"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/internal/links"
	"github.com/socialdata/socialdata/providers/internal/meta"
)

// hosts are the names of the site, the short one last.
var hosts = []string{"instagram.com", "instagr.am"}

var (
	username  = regexp.MustCompile(`^[a-z0-9._]{1,30}$`)
	shortcode = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)
)

// reserved are the first parts of addresses that are no handles.
var reserved = []string{"p", "reel", "reels", "tv", "stories", "explore", "accounts", "direct", "about", "s", "share"}

// normalize folds a handle, which ignores case, and reduces a post to its number.
func normalize(s providers.Subject, value string) (string, error) {
	link, err := links.Parse(value, hosts...)
	if err != nil {
		return "", err
	}
	switch s {
	case providers.Handle:
		return handleOf(value, link)
	case providers.PostID:
		return postOf(value, link)
	case providers.CommentID:
		if link != nil {
			value = commentIn(link)
		}
		return number(value, "an Instagram comment is a number, or the comment's URL")
	case providers.CollectionID:
		if link != nil {
			value = ""
			if link.Segment(0) == "stories" && link.Segment(1) == "highlights" {
				value = link.Segment(2)
			}
		}
		return number(strings.TrimPrefix(value, "highlight:"), "an Instagram highlight is a number, or the highlight's URL")
	case providers.TrackID:
		if link != nil {
			value = ""
			if i := slices.Index(link.Segments, "audio"); i >= 0 {
				value = link.Segment(i + 1)
			}
		}
		return number(value, "an Instagram sound is a number, or the sound's URL")
	default:
		return value, nil
	}
}

func handleOf(value string, link *links.Link) (string, error) {
	if link != nil {
		value = link.Segment(0)
		switch {
		case value == "_u": // as the apps write it
			value = link.Segment(1)
		case value == "stories" && link.Segment(1) != "highlights":
			value = link.Segment(1)
		case slices.Contains(reserved, value):
			value = ""
		}
	}
	value = strings.ToLower(strings.TrimLeft(value, "@"))
	if !username.MatchString(value) {
		return "", providers.Invalid("an Instagram handle is a name such as nasa, or the URL of a profile")
	}
	return value, nil
}

// postOf gives the number of a post. A shortcode whose number could be an id of the official interface stays one.
func postOf(value string, link *links.Link) (string, error) {
	code := value
	if link != nil {
		code = codeIn(link)
	} else {
		id, author, two := strings.Cut(value, "_")
		if links.Digits(id) && (!two || len(id) > 11 && links.Digits(author)) { // no shortcode is as long
			return number(id, "an Instagram post is a shortcode such as CAnqPB-Jzcj, its number, or the post's URL")
		}
	}
	id := numberOf(code)
	if id == "" {
		return "", providers.Invalid("an Instagram post is a shortcode such as CAnqPB-Jzcj, its number, or the post's URL")
	}
	if isGraphID(id) {
		return meta.Shortcode(id), nil
	}
	return id, nil
}

// numberOf reads a shortcode, "" when it is none. That of a private account's post has 28 more characters behind it.
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

// isGraphID tells whether a number is an id of the official interface. The posts of three days in September 2011 have
// such numbers too.
func isGraphID(id string) bool {
	return len(id) == 17 && (strings.HasPrefix(id, "17") || strings.HasPrefix(id, "18"))
}

// codeIn gives the shortcode in the address of a post's page, "" when it is another page. The name of the author may
// stand before it. What is shared has a code of its own there, which does not say what it leads to.
func codeIn(link *links.Link) string {
	if link.Segment(0) == "share" {
		return ""
	}
	for at := range 2 {
		switch link.Segment(at) {
		case "p", "reel", "reels", "tv":
			return link.Segment(at + 1)
		}
	}
	return ""
}

// commentIn gives the comment in the address of a post's page, "" when there is none.
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

// postURL is the page of a post.
func postURL(code string, isReel bool) string {
	if isReel {
		return siteURL + "reel/" + code + "/"
	}
	return siteURL + "p/" + code + "/"
}

// postPageOf is the page of a post that has a shortcode or a number, which spell each other; "" for one that has neither.
func postPageOf(code, number string, isReel bool) string {
	if code = cmp.Or(code, meta.Shortcode(number)); code == "" {
		return ""
	}
	return postURL(code, isReel)
}

// hashtagURL is the page of a hashtag.
func hashtagURL(tag string) string { return siteURL + "explore/tags/" + url.PathEscape(tag) + "/" }
