package rumble

import (
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/links"
)

var (
	slug      = regexp.MustCompile(`^[\pL\pN_][\pL\pN\pM_.-]*$`)
	videoPage = regexp.MustCompile(`^v[0-9a-z]+$`)
)

// ofPlayer is the prefix of a post's identifier that names the player of a video, as embed addresses do. Only Rumble
// knows which page belongs to it.
const ofPlayer = "embed/"

// addresses describes how addresses and identifiers of Rumble are parsed. It is read-only.
var addresses = &links.Site{
	Hosts: []string{"rumble.com"},
	Order: []providers.Subject{providers.CommentID, providers.PostID, providers.Handle},
	Also: map[providers.Subject][]providers.Subject{
		providers.CommentID: {providers.PostID}, providers.PostID: {providers.Handle},
	},
	In: inLink, ID: canonical, Searches: map[string]string{"search": "{q}"},
}

// inLink returns the identifier of kind s in an address, or "" when there is none.
func inLink(s providers.Subject, l *links.Link) string {
	switch s {
	case providers.Handle:
		return accountOf(l)
	case providers.CommentID:
		if number, ok := strings.CutPrefix(l.Fragment, "comment-"); ok {
			return number
		}
		return ""
	default:
		return videoOf(l)
	}
}

// canonical reduces an account to name, c/name or user/name, since a channel and a user may share a name; a video to
// the id of its page; and a comment to its number.
func canonical(s providers.Subject, value string) (string, error) {
	switch s {
	case providers.Handle:
		value = strings.TrimPrefix(value, "@")
		kind, name, two := strings.Cut(value, "/")
		if !two {
			name = value
		}
		if !slug.MatchString(name) || two && kind != "c" && kind != "user" {
			return "", providers.Invalid("a Rumble handle is a name such as Bongino or user/Bongino, or the account's URL")
		}
	case providers.CommentID:
		if value = strings.TrimPrefix(value, "comment-"); !links.Digits(value) {
			return "", providers.Invalid("a Rumble comment is a number such as 410000001, or the comment's URL")
		}
	default:
		player, embedded := strings.CutPrefix(value, ofPlayer)
		if !embedded {
			player, _, _ = strings.Cut(strings.TrimSuffix(value, ".html"), "-")
			value = player
		}
		if !videoPage.MatchString(player) {
			return "", providers.Invalid("a Rumble post is an id such as v1a992g, or the video's URL")
		}
	}
	return value, nil
}

// notAccounts are pages in the position of an account's page.
var notAccounts = []string{
	"about", "account", "browse", "category", "editor-picks", "embed", "live", "login", "login.php", "our-apps", "playlists",
	"premium", "register.php", "s", "search", "shorts", "upload.php", "videos",
}

// accountOf returns the account whose page, or one of its tabs, l is: /c/name…, /user/name… or /name.
func accountOf(l *links.Link) string {
	first := l.Segment(0)
	switch {
	case (first == "c" || first == "user") && l.Segment(1) != "":
		return first + "/" + l.Segment(1)
	case len(l.Segments) == 1 && !slices.Contains(notAccounts, first) && !strings.HasSuffix(first, ".html"):
		return first
	}
	return ""
}

// videoOf returns the video whose page or player l is: /v1a992g-its-title.html, /shorts/v1a992g, /embed/v17n34y/, or
// with the code of a publisher, /embed/u4.v17n34y/.
func videoOf(l *links.Link) string {
	switch l.Segment(0) {
	case "embed":
	case "shorts":
		return l.Segment(1)
	default:
		page := l.Segment(0)
		if !strings.HasSuffix(page, ".html") && !strings.ContainsAny(page, "0123456789") { // an account, such as /vegas
			return ""
		}
		return page
	}
	id := l.Segment(1)
	return ofPlayer + id[strings.LastIndexByte(id, '.')+1:]
}

// pageID returns the id of the video's page at an address, or "".
func pageID(address string) string {
	u, err := url.Parse(strings.TrimSpace(address))
	if err != nil {
		return ""
	}
	name, _, _ := strings.Cut(strings.TrimPrefix(u.Path, "/"), "/")
	id, _, _ := strings.Cut(strings.TrimSuffix(name, ".html"), "-")
	if !videoPage.MatchString(id) {
		return ""
	}
	return id
}

// playerID returns the id of the player at an address, or "".
func playerID(address string) string {
	u, err := url.Parse(strings.TrimSpace(address))
	if err != nil {
		return ""
	}
	rest, ok := strings.CutPrefix(u.Path, "/embed/")
	id, _, _ := strings.Cut(rest, "/")
	id = id[strings.LastIndexByte(id, '.')+1:]
	if !ok || !videoPage.MatchString(id) {
		return ""
	}
	return id
}

// account names an account: a channel, whose kind is c, or a user.
type account struct{ Kind, Slug string }

// accountAt returns the account whose page is at an address, or the zero account.
func accountAt(address string) account {
	u, err := url.Parse(strings.TrimSpace(address))
	if err != nil {
		return account{}
	}
	parts := strings.Split(strings.Trim(u.Path, "/"), "/")
	if len(parts) < 2 || parts[0] != "c" && parts[0] != "user" || !slug.MatchString(parts[1]) {
		return account{}
	}
	return account{parts[0], parts[1]}
}

// id returns the account's id, which contains the kind: a channel and a user may share a name.
func (a account) id() string {
	if a.Slug == "" {
		return ""
	}
	return a.Kind + "/" + a.Slug
}

func (a account) url() string { return home + a.Kind + "/" + url.PathEscape(a.Slug) }
