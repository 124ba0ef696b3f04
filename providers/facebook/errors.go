package facebook

import (
	"encoding/json"
	"errors"
	"html"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"time"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/internal/island"
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
	errUnseen  = providers.NotHere("the Graph API knows no such Page or post, or does not show it")
)

// check reads the code of an error: statuses and types differ. The Graph API shows Pages alone, so that what it does
// not know may exist all the same.
func check(res *upstream.Response) error {
	if res.Status < 400 {
		return nil
	}
	var body refusal
	if json.Unmarshal(res.Body, &body) != nil || body.Error.Code.V == nil {
		if res.Status == http.StatusNotFound || res.Status == http.StatusGone {
			return errUnseen
		}
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
		return providers.Limited("Facebook limits our pace", pause(res.Header))
	case code == 1, res.Status < 500 && (code == 2 || body.Error.Passing.Is()): // above it the client asks again itself
		return providers.Unavailable(errPassing, "Facebook failed with code %d, or cannot give as much", code)
	}
	return providers.Unavailable(nil, "Facebook failed with code %d", *body.Error.Code.V)
}

// refused reads the code 100, which stands for a thing that is not there, one that our app may not see, a cursor, or a
// parameter.
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
		return providers.Invalid("Facebook cannot read this value: %s", message)
	}
	return providers.Unavailable(nil, "Facebook refuses our request")
}

// moved says that a Page has another number now.
type moved struct{ to string }

func (m *moved) Error() string { return "the Page is " + m.to + " now" }

// follow gives the id of the Page, or of its post, with the number that it has now.
func (m *moved) follow(id string) string {
	if above, of := cut(id); above != "" {
		return m.to + "_" + of
	}
	return m.to
}

// following reads what belongs to a Page by its id, once more where the Page has another number now, and gives the id by
// which it was read.
func following(id string, read func(id string) error) (string, error) {
	err := read(id)
	if to, ok := errors.AsType[*moved](err); ok {
		id = to.follow(id)
		err = read(id)
	}
	return id, err
}

// Unwrap returns [providers.ErrUnavailable]: where nobody follows, the Page cannot be read.
func (m *moved) Unwrap() error { return providers.ErrUnavailable }

var migrated = regexp.MustCompile(`to page ID (\d+)`) // of an error's text, which has no field for it

func movedTo(message string) error {
	if m := migrated.FindStringSubmatch(message); m != nil {
		return &moved{m[1]}
	}
	return errUnseen
}

// pause reads how long Facebook wants us to stay away, which it tells in minutes, and not to every token.
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

// checkPage knows the page to log in that Facebook leads to in the place of another, also where it lies on another
// host.
func checkPage(res *upstream.Response) error {
	if isLogin(res.URL) {
		return errLogin
	}
	to, err := url.Parse(res.Header.Get("Location"))
	if err == nil && res.Status >= 300 && res.Status < 400 && isLogin(to) {
		return errLogin
	}
	if res.Status == http.StatusBadRequest { // Facebook's answer to what it takes for no browser
		return providers.Walled("Facebook takes us for no browser")
	}
	return nil
}

var (
	errLogin = providers.Walled("Facebook asks for a login")
	errGone  = providers.NotFound("Facebook says that this content isn't available")
)

// unavailable is what Facebook says of what is deleted, hidden, or was never there.
const unavailable = "content isn't available"

func isLogin(u *url.URL) bool {
	return u != nil && (strings.HasPrefix(u.Path, "/login") || strings.HasPrefix(u.Path, "/checkpoint"))
}

// standsIn tells what a page is that came in the place of another: a login, or the word that the thing is not
// available. A form to log in may stand above that word, but then it must be what people read, and not a text of a
// script. It is nil when the page is neither, such as one of another layout.
func standsIn(head *island.Page, body []byte) error {
	words := plain(string(body))
	title := plain(head.Title + " " + head.Meta("og:title"))
	switch {
	case strings.Contains(title, "log in"), strings.Contains(title, "login"), strings.Contains(words, "you must log in"):
		return errLogin
	case strings.Contains(plain(text.FromHTML(string(body))), unavailable):
		return errGone
	case strings.Contains(words, `id="login_form"`), strings.Contains(words, `action="/login`):
		return errLogin
	case strings.Contains(words, "unsupported browser"), strings.Contains(words, "unsupported_browser"):
		return providers.Walled("Facebook takes us for no browser")
	case strings.Contains(words, unavailable):
		return errGone
	}
	return nil
}

// plain folds the case of s, and the forms in which a page writes an apostrophe.
func plain(s string) string {
	s = strings.NewReplacer("’", "'", `\u2019`, "'", `\u0027`, "'").Replace(html.UnescapeString(s))
	return strings.ReplaceAll(strings.ToLower(s), "’", "'")
}
