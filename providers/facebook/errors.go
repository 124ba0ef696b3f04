package facebook

import (
	"encoding/json"
	"errors"
	"html"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/island"
	"github.com/socialdata/socialdata/providers/kit/text"
	"github.com/socialdata/socialdata/providers/kit/upstream"
	"github.com/socialdata/socialdata/providers/kit/wire"
)

// refusal is an error of the Graph API.
type refusal struct {
	Error struct {
		Message string     `json:"message"`
		Code    wire.Count `json:"code"`
		Subcode wire.Count `json:"error_subcode"`
		Passing wire.Bool  `json:"is_transient"`
	} `json:"error"`
}

var (
	errPassing = providers.Cause("a passing failure, or a page that is too large for Facebook")
	errUnseen  = providers.NotHere("the Graph API has no such Page or post, or does not show it")
)

// check maps the code of an error: statuses and types are inconsistent. The Graph API shows Pages only, so what it does
// not find may exist all the same.
func check(res *upstream.Response) error {
	if res.Status < 400 {
		return nil
	}
	var body refusal
	if json.Unmarshal(res.Body, &body) != nil || body.Error.Code.V == nil {
		return nil
	}
	message := body.Error.Message
	switch code := *body.Error.Code.V; {
	case code == 100:
		return refused(res, body)
	case code == 803, code == 110:
		return errUnseen
	case code == 21:
		return movedTo(message)
	case code == 190, code == 102, code == 104:
		return providers.Unavailable(nil, "Facebook refuses our token")
	case code == 3, code == 10, code >= 200 && code < 300:
		return providers.Unsupported("Facebook does not show this to our app")
	case code == 4, code == 17, code == 32, code == 613, code >= 80000 && code < 80100:
		return providers.Limited("Facebook is rate limiting us", pause(res.Header))
	case code == 1, res.Status < 500 && (code == 2 || body.Error.Passing.Is()): // from 500 on the client itself retries
		return providers.Unavailable(errPassing, "Facebook failed with code %d, or the page is too large", code)
	}
	return providers.Unavailable(nil, "Facebook failed with code %d", *body.Error.Code.V)
}

// ownRefusal reports whether a refusal is one of the Graph API.
var ownRefusal = upstream.Says(func(r refusal) bool { return r.Error.Code.V != nil })

// refused handles code 100, which means that a thing does not exist, that our app may not see it, that a cursor is
// invalid, or that a parameter is.
func refused(res *upstream.Response, body refusal) error {
	message, sub := body.Error.Message, body.Error.Subcode.V
	switch q := res.URL.Query(); {
	case sub != nil && *sub == 33:
		return errUnseen
	case strings.Contains(message, "Object does not exist"), strings.Contains(message, "Public Content Access"):
		return providers.Unsupported(
			"Facebook does not show this to our app, which lacks the feature Page Public Content Access or its proof",
		)
	case q.Has("after"), q.Has("until"), q.Has("__paging_token"):
		return providers.ErrCursor
	case res.Input:
		return providers.Invalid("Facebook rejects this value: %s", message)
	}
	return providers.Unavailable(nil, "Facebook refuses our request")
}

// moved reports that a Page has another number now.
type moved struct{ to string }

func (m *moved) Error() string { return "the Page is " + m.to + " now" }

// follow returns the id of the Page, or of its post, with the new number.
func (m *moved) follow(id string) string {
	if above, of := cut(id); above != "" {
		return m.to + "_" + of
	}
	return m.to
}

// following reads something of a Page by its id, again if the Page has another number now, and returns the id by which
// it was read.
func following(id string, read func(id string) error) (string, error) {
	err := read(id)
	if to, ok := errors.AsType[*moved](err); ok {
		id = to.follow(id)
		err = read(id)
	}
	return id, err
}

// Unwrap returns [providers.ErrUnavailable]: if the new number is not followed, the Page cannot be read.
func (m *moved) Unwrap() error { return providers.ErrUnavailable }

var migrated = regexp.MustCompile(`to page ID (\d+)`) // in the text of the error, which has no field for it

func movedTo(message string) error {
	if m := migrated.FindStringSubmatch(message); m != nil {
		return &moved{m[1]}
	}
	return errUnseen
}

// pause returns how long Facebook wants us to stop, which it states in minutes, and not for every token.
func pause(h http.Header) time.Duration {
	var usage map[string][]struct {
		Minutes wire.Count `json:"estimated_time_to_regain_access"`
	}
	longest := 5 * time.Minute
	if json.Unmarshal([]byte(h.Get("X-Business-Use-Case-Usage")), &usage) != nil {
		return longest
	}
	for _, parts := range usage {
		for _, part := range parts {
			if m := part.Minutes.V; m != nil && *m < 24*60 {
				longest = max(longest, time.Duration(*m)*time.Minute)
			}
		}
	}
	return longest
}

// checkPage recognizes the login page to which Facebook redirects, also on another host.
func checkPage(res *upstream.Response) error {
	if isLogin(res.URL) {
		return errLogin
	}
	if to, err := url.Parse(res.Header.Get("Location")); err == nil && res.Status >= 300 && res.Status < 400 && isLogin(to) {
		return errLogin
	}
	if res.Status == http.StatusBadRequest { // Facebook's answer to a client that does not look like a browser
		return providers.Walled("Facebook does not accept our requests as those of a browser")
	}
	return nil
}

var (
	errLogin = providers.Walled("Facebook asks for a login")
	errGone  = providers.NotFound("Facebook says that this content isn't available")
)

func isLogin(u *url.URL) bool {
	return u != nil && (strings.HasPrefix(u.Path, "/login") || strings.HasPrefix(u.Path, "/checkpoint"))
}

// standsIn returns an error if Facebook sent another page than the requested one: a login page, or the notice that the
// content is not available. Every page has a login form, and texts of other pages in its scripts: only the address, the
// title and a visible sentence of its own tell which page it is. The error is nil for any other page, such as one with
// another layout.
func standsIn(head *island.Page, res *upstream.Response) error {
	titles := []string{plain(head.Title), plain(head.Meta("og:title"))}
	switch {
	case slices.ContainsFunc(titles, isLoginTitle), shows(res.Body, "you must log in to continue"):
		return errLogin
	case strings.Contains(res.URL.Path, "unsupported_browser"), strings.HasPrefix(titles[0], "update your browser"),
		strings.HasPrefix(titles[0], "unsupported browser"):
		return providers.Walled("Facebook does not accept our requests as those of a browser")
	case saysUnavailable(res):
		return errGone
	}
	return nil
}

// isLoginTitle reports whether a title is that of a login page, such as "Facebook – log in or sign up".
func isLoginTitle(title string) bool {
	own := strings.TrimLeft(strings.TrimPrefix(title, "facebook"), " –-|")
	return strings.HasPrefix(own, "log in") || strings.HasPrefix(own, "login")
}

// saysUnavailable reports whether a page shows Facebook's notice for what is deleted, hidden, or never existed.
func saysUnavailable(res *upstream.Response) bool {
	return shows(res.Body, "this content isn't available")
}

// shows reports whether a visible line of a page begins with words.
func shows(body []byte, words string) bool {
	for line := range strings.Lines(plain(text.FromHTML(string(body)))) {
		if strings.HasPrefix(strings.TrimSpace(line), words) {
			return true
		}
	}
	return false
}

// plain folds the case of s, and the ways in which a page writes an apostrophe.
func plain(s string) string {
	s = strings.NewReplacer("’", "'", `\u2019`, "'", `\u0027`, "'").Replace(html.UnescapeString(s))
	return strings.ReplaceAll(strings.ToLower(s), "’", "'")
}
