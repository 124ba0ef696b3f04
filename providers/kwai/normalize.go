package kwai

import (
	"strings"
	"unicode"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/links"
)

const siteURL = "https://www.kwai.com/"

// isHandle reports whether s has the form of a handle.
func isHandle(s string) bool {
	return links.Within(s, 64, func(r rune) bool { return unicode.In(r, unicode.L, unicode.N) || strings.ContainsRune("_.-", r) })
}

// addresses describes how addresses and identifiers of Kwai are parsed. It is read-only.
var addresses = &links.Site{
	Hosts: []string{"kwai.com", "k.kwai.com", "s.kw.ai", "kwai-video.com"},
	Order: []providers.Subject{providers.PostID, providers.Handle},
	Also:  map[providers.Subject][]providers.Subject{providers.PostID: {providers.Handle}},
	In: func(s providers.Subject, l *links.Link) string {
		switch {
		case s != providers.Handle:
			return videoIn(l)
		case strings.HasPrefix(l.Segment(0), "@"):
			return l.Segment(0)
		}
		return ""
	},
	ID: canonical,
	Short: func(l *links.Link) bool {
		return len(l.Segments) > 0 && (l.Host != "kwai.com" || l.Segment(0) == "p")
	},
}

// canonical checks a handle or the place of a video. The site finds a video by its account and its number, so both are
// kept: @handle/NUMBER, or NUMBER/NUMBER in an address that the app shares.
func canonical(s providers.Subject, value string) (string, error) {
	if s == providers.Handle {
		if value = strings.TrimPrefix(value, "@"); !isHandle(value) {
			return "", providers.Invalid("a Kwai handle is the name after the @, such as KwaiBrasilOficial")
		}
		return value, nil
	}
	if v := parse(value); v.number == "" {
		return "", providers.Invalid("a Kwai video is an address such as https://www.kwai.com/@handle/video/5193363430624671876, or its number")
	}
	return value, nil
}

// videoIn parses /@handle/video/NUMBER, in which another word may replace "video" or it may be missing, and
// /photo/NUMBER/NUMBER.
func videoIn(link *links.Link) string {
	n := len(link.Segments)
	switch first := link.Segment(0); {
	case strings.HasPrefix(first, "@") && (n == 2 || n == 3) && links.Digits(link.Segment(n-1)):
		return first + "/" + link.Segment(n-1)
	case first == "photo" && n == 3:
		return link.Segment(1) + "/" + link.Segment(2)
	}
	return ""
}

// place identifies a video on the site.
type place struct {
	handle string // "" when it is unknown
	user   string // the number of the account, in an address that the app shares
	number string // of the video; "" if the value is not the place of one
}

// parse parses a normalized id.
func parse(id string) place {
	owner, number, found := strings.Cut(id, "/")
	if !found {
		owner, number = "", id
	}
	name, named := strings.CutPrefix(owner, "@")
	switch {
	case !links.Digits(number) || len(number) > 20 || strings.Trim(number, "0") == "":
		return place{}
	case named && isHandle(name):
		return place{handle: name, number: number}
	case !named && links.Digits(owner) && found:
		return place{user: owner, number: number}
	case !found:
		return place{number: number}
	}
	return place{}
}

func profileURL(handle string) string { return siteURL + "@" + handle }

func videoURL(handle, number string) string { return profileURL(handle) + "/video/" + number }
