package pinterest

import (
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/links"
)

const (
	site  = "https://www.pinterest.com/"
	short = "pin.it" // the host of short links, for both pins and boards
)

// hosts are Pinterest's hosts: one for each country, and languages as subdomains.
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

// pages are the words that the site's own pages have in the position of a handle. It is read-only.
var pages = []string{
	"pin", "search", "ideas", "today", "explore", "discover", "categories", "topics", "business", "about", "settings",
	"login", "signup", "resource", "news_hub", "shop", "source", "password", "_", "_tools", "oauth", "videos", "homefeed",
	"pin-builder", "pin-creation-tool", "logout", "convert-business", "collage-creation-tool", "shopping",
}

var (
	username = regexp.MustCompile(`^[a-z0-9_-]{1,64}$`)
	shortID  = regexp.MustCompile(`^[A-Za-z0-9]{1,32}$`)
)

// addresses describes how addresses and identifiers of Pinterest are parsed. A short link is kept for both pins and
// boards: what it leads to is only known once it is read. It is read-only.
var addresses = &links.Site{
	Hosts: append(slices.Clone(hosts), "assets.pinterest.com"),
	Order: []providers.Subject{providers.PostID, providers.CollectionID, providers.Handle},
	Also: map[providers.Subject][]providers.Subject{
		providers.CollectionID: {providers.Handle},
		providers.ShortLink:    {providers.PostID, providers.CollectionID},
	},
	In: inLink, ID: canonical,
	Short:    func(l *links.Link) bool { return l.Host == short && shortID.MatchString(l.Segment(0)) },
	Searches: map[string]string{"search": "{q}"},
}

// inLink returns the identifier of kind s in an address, or "" when there is none.
func inLink(s providers.Subject, l *links.Link) string {
	first := l.Segment(0)
	switch {
	case l.Host == short:
		return short + "/" + first
	case l.Host == "assets.pinterest.com": // ext/embed.html?id=1
		if s == providers.PostID {
			return l.Param("id")
		}
	case s == providers.PostID: // the number may come after a title: /pin/tea-with-mint--63894888471739700/
		id := l.After("pin")
		if title := strings.LastIndex(id, "--"); title >= 0 {
			id = id[title+2:]
		}
		return id
	case slices.Contains(pages, first):
	case s == providers.Handle:
		return first
	case s == providers.CollectionID && len(l.Segments) == 2:
		return first + "/" + l.Segment(1)
	}
	return ""
}

// canonical lower-cases a handle, and reduces a pin to its number and a board to its number or the path of its page,
// such as ann_example/tea.
func canonical(s providers.Subject, value string) (string, error) {
	id, isShort := strings.CutPrefix(value, short+"/")
	switch {
	case isShort && s != providers.Handle && shortID.MatchString(id):
		return value, nil
	case s == providers.Handle:
		if value = strings.ToLower(strings.TrimPrefix(value, "@")); !username.MatchString(value) {
			return "", providers.Invalid("a Pinterest handle is the name in the account's address, such as ann_example")
		}
	case s == providers.PostID:
		if !isNumber(value) {
			return "", providers.Invalid("a pin is a number such as 63894888471739700, or its URL")
		}
	case s == providers.CollectionID:
		return boardID(value)
	}
	return value, nil // Pinterest serves nothing else
}

func boardID(value string) (string, error) {
	if isNumber(value) {
		return value, nil
	}
	if segments := strings.Split(strings.Trim(value, "/"), "/"); len(segments) == 2 {
		owner, slug := strings.ToLower(strings.TrimPrefix(segments[0], "@")), segments[1]
		// Tabs of an account, such as /ann_example/_saved/, begin with an underscore.
		isBoard := username.MatchString(owner) && slug != "" && !strings.HasPrefix(slug, "_") && slug != "pins"
		if isBoard && !slices.Contains(pages, owner) {
			return owner + "/" + slug, nil
		}
	}
	return "", providers.Invalid("a board is a number such as 63894957152718519, or its URL")
}

// isNumber reports whether s has the form of Pinterest's ids.
func isNumber(s string) bool {
	return links.Digits(s) && strings.Trim(s, "0") != "" && len(s) <= 20
}

func page(path string) string {
	return (&url.URL{Scheme: "https", Host: "www.pinterest.com", Path: "/" + strings.Trim(path, "/") + "/"}).String()
}

func pinURL(id string) string { return page("pin/" + id) }
