package kwai

import (
	"strings"
	"unicode"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/internal/links"
)

const siteURL = "https://www.kwai.com/"

// isHandle tells whether s has the form of a handle.
func isHandle(s string) bool {
	return links.Within(s, 64, func(r rune) bool { return unicode.In(r, unicode.L, unicode.N) || strings.ContainsRune("_.-", r) })
}

// normalize reduces what people paste. The site finds a video by its account and its number, so that both stay of an
// address: @handle/NUMBER, or NUMBER/NUMBER of an address that the app shares.
func normalize(s providers.Subject, value string) (string, error) {
	link, err := links.Parse(value, "kwai.com", "k.kwai.com", "s.kw.ai", "kwai-video.com")
	if err != nil {
		return "", err
	}
	if link != nil && (link.Host != "kwai.com" || link.Segment(0) == "p") {
		return "", providers.Invalid("a short link does not say what it leads to: open it and pass the address behind it")
	}
	if s == providers.Handle {
		return account(link, value)
	}
	if link != nil {
		value = videoIn(link)
	}
	if v := parse(value); v.number == "" {
		return "", providers.Invalid("a Kwai video is an address such as https://www.kwai.com/@handle/video/5193363430624671876, or its number")
	}
	return value, nil
}

func account(link *links.Link, value string) (string, error) {
	if link != nil {
		if value = link.Segment(0); !strings.HasPrefix(value, "@") {
			value = ""
		}
	}
	value = strings.TrimPrefix(value, "@")
	if !isHandle(value) {
		return "", providers.Invalid("a Kwai handle is the name behind the @, such as KwaiBrasilOficial")
	}
	return value, nil
}

// videoIn reads /@handle/video/NUMBER, in which another word may stand or none, and /photo/NUMBER/NUMBER.
func videoIn(link *links.Link) string {
	n := len(link.Segments)
	switch first := link.Segment(0); {
	case strings.HasPrefix(first, "@") && (n == 2 || n == 3):
		return first + "/" + link.Segment(n-1)
	case first == "photo" && n == 3:
		return link.Segment(1) + "/" + link.Segment(2)
	}
	return ""
}

// place is where the site shows a video.
type place struct {
	handle string // "" when it is not known
	user   string // the number of the account, in an address that the app shares
	number string // of the video; "" for what is no place of one
}

// parse reads a normalized id.
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
