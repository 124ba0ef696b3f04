package rumble

import (
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/internal/links"
)

var (
	slug      = regexp.MustCompile(`^[\pL\pN_][\pL\pN\pM_.-]*$`)
	videoPage = regexp.MustCompile(`^v[0-9a-z]+$`)
)

// ofPlayer begins a post's identifier that names the player of a video, as addresses to embed it do. Which page is
// meant is for Rumble to say.
const ofPlayer = "embed/"

// normalize reduces an account to name, c/name or user/name, since a channel and a user may share a name; a video to
// the id of its page; a comment to its number.
func normalize(s providers.Subject, value string) (string, error) {
	link, err := links.Parse(value, "rumble.com")
	if err != nil {
		return "", err
	}
	switch s {
	case providers.Handle:
		if link != nil {
			value = accountOf(link)
		}
		value = strings.TrimPrefix(value, "@")
		kind, name, two := strings.Cut(value, "/")
		if !two {
			name = value
		}
		if !slug.MatchString(name) || two && kind != "c" && kind != "user" {
			return "", providers.Invalid("a Rumble handle is a name such as Bongino or user/Bongino, or the account's URL")
		}
	case providers.CommentID:
		if link != nil {
			value = link.Fragment
		}
		if value = strings.TrimPrefix(value, "comment-"); !links.Digits(value) {
			return "", providers.Invalid("a Rumble comment is a number such as 410000001, or the comment's URL")
		}
	default:
		if link != nil {
			value = videoOf(link)
		}
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

// notAccounts are pages that stand where those of accounts do.
var notAccounts = []string{
	"about", "account", "browse", "category", "editor-picks", "embed", "live", "login.php", "our-apps", "playlists",
	"premium", "register.php", "s", "search", "shorts", "upload.php", "videos",
}

// accountOf returns the account whose page, or one of whose tabs, l is: /c/name…, /user/name… or /name.
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

// videoOf returns the video whose page or player l is: /v1a992g-its-title.html, /shorts/v1a992g, /embed/v17n34y/, or that
// with the code of a publisher, /embed/u4.v17n34y/.
func videoOf(l *links.Link) string {
	switch l.Segment(0) {
	case "embed":
	case "shorts":
		return l.Segment(1)
	default:
		return l.Segment(0)
	}
	id := l.Segment(1)
	return ofPlayer + id[strings.LastIndexByte(id, '.')+1:]
}

// pageID returns the id of the video to whose page an address leads, or "".
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

// playerID returns the id of the player to which an address leads, or "".
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

// accountAt returns the account to whose page an address leads, or the zero account.
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

// id is the account's, in which the kind matters: a channel and a user may share a name.
func (a account) id() string {
	if a.Slug == "" {
		return ""
	}
	return a.Kind + "/" + a.Slug
}

func (a account) url() string { return home + a.Kind + "/" + url.PathEscape(a.Slug) }
