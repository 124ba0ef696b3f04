package pinterest

import (
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/internal/links"
)

const (
	site  = "https://www.pinterest.com/"
	short = "pin.it" // the host of short links, which stand for pins and boards alike
)

// hosts are where Pinterest shows its pages: one for each country, and languages before them.
var hosts = []string{
	"pinterest.com", ".pinterest.com", short, "pinterest.at", "pinterest.be", "pinterest.ca", "pinterest.ch",
	"pinterest.cl",
	"pinterest.co", "pinterest.co.at", "pinterest.co.in", "pinterest.co.kr", "pinterest.co.nz", "pinterest.co.uk",
	"pinterest.com.au", "pinterest.com.bo", "pinterest.com.br", "pinterest.com.ec", "pinterest.com.mx", "pinterest.com.pe",
	"pinterest.com.py", "pinterest.com.uy", "pinterest.com.vn", "pinterest.de", "pinterest.dk", "pinterest.ec",
	"pinterest.es", "pinterest.fr", "pinterest.hu", "pinterest.id", "pinterest.ie", "pinterest.in", "pinterest.info",
	"pinterest.it", "pinterest.jp", "pinterest.mx", "pinterest.nl", "pinterest.nz", "pinterest.pe", "pinterest.ph",
	"pinterest.pt", "pinterest.ru", "pinterest.se", "pinterest.th", "pinterest.tw", "pinterest.uk", "pinterest.vn",
}

// pages are what stands in the place of a handle in the addresses of the site's own pages. Nobody writes to it.
var pages = []string{
	"pin", "search", "ideas", "today", "explore", "discover", "categories", "topics", "business", "about", "settings",
	"login", "signup", "resource", "news_hub", "shop", "source", "password", "_", "_tools", "oauth", "videos", "homefeed",
	"pin-builder", "pin-creation-tool", "logout", "convert-business", "collage-creation-tool", "shopping",
}

var (
	username = regexp.MustCompile(`^[a-z0-9_-]{1,64}$`)
	shortID  = regexp.MustCompile(`^[A-Za-z0-9]{1,32}$`)
)

// normalize folds a handle, which ignores case, and reduces a pin to its number and a board to its number or the path
// of its page, such as ann_example/tea. A short link stays one: what it leads to is known when it is read.
func normalize(s providers.Subject, value string) (string, error) {
	link, err := links.Parse(value, hosts...)
	if err != nil {
		return "", err
	}
	if link != nil && link.Host == short && (s == providers.PostID || s == providers.CollectionID) {
		if id := link.Segment(0); shortID.MatchString(id) {
			return short + "/" + id, nil
		}
		return "", providers.Invalid("%q is no short link of Pinterest's", value)
	}
	switch s {
	case providers.Handle:
		return account(link, value)
	case providers.PostID:
		return pinID(link, value)
	case providers.CollectionID:
		return boardID(link, value)
	default: // Pinterest has nothing else that could be asked for
		return value, nil
	}
}

func account(link *links.Link, value string) (string, error) {
	if link != nil {
		if value = link.Segment(0); link.Host == short || slices.Contains(pages, value) {
			value = ""
		}
	}
	value = strings.ToLower(strings.TrimPrefix(value, "@"))
	if !username.MatchString(value) {
		return "", providers.Invalid("a Pinterest handle is the name in the account's address, such as ann_example")
	}
	return value, nil
}

// pinID reads a number, which may stand behind a title: /pin/tea-with-mint--63894888471739700/.
func pinID(link *links.Link, value string) (string, error) {
	if link != nil {
		at := slices.Index(link.Segments, "pin")
		if value = ""; at >= 0 {
			value = link.Segment(at + 1)
		}
		if title := strings.LastIndex(value, "--"); title >= 0 {
			value = value[title+2:]
		}
	}
	if !isNumber(value) {
		return "", providers.Invalid("a pin is a number such as 63894888471739700, or its URL")
	}
	return value, nil
}

func boardID(link *links.Link, value string) (string, error) {
	segments := strings.Split(strings.Trim(value, "/"), "/")
	if link != nil {
		segments = link.Segments
	} else if isNumber(value) {
		return value, nil
	}
	if len(segments) == 2 {
		owner, slug := strings.ToLower(strings.TrimPrefix(segments[0], "@")), segments[1]
		// Tabs of an account, such as /ann_example/_saved/, begin with a line.
		isBoard := username.MatchString(owner) && slug != "" && !strings.HasPrefix(slug, "_") && slug != "pins"
		if isBoard && !slices.Contains(pages, owner) {
			return owner + "/" + slug, nil
		}
	}
	return "", providers.Invalid("a board is a number such as 63894957152718519, or its URL")
}

// isNumber tells whether s is an id as Pinterest writes them.
func isNumber(s string) bool {
	return links.Digits(s) && strings.Trim(s, "0") != "" && len(s) <= 20
}

func page(path string) string {
	return (&url.URL{Scheme: "https", Host: "www.pinterest.com", Path: "/" + strings.Trim(path, "/") + "/"}).String()
}

func pinURL(id string) string { return page("pin/" + id) }
