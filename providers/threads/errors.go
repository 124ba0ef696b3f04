package threads

import (
	"net/url"
	"strings"
	"time"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/meta"
	"github.com/socialdata/socialdata/providers/kit/upstream"
)

// check maps the code of an error: status and type differ between parts of the API.
// https://developers.facebook.com/docs/threads/troubleshooting/error-codes
func check(res *upstream.Response) error {
	if res.Status < 400 {
		return nil
	}
	r, ok := meta.RefusalOf(res.Body)
	if !ok {
		return nil
	}
	switch code := r.Code; {
	case code == 100 && r.Subcode == 33:
		return providers.NotFound("Threads has no such account or post, or does not show it")
	case code == 100 && res.URL.Query().Has("after"):
		return providers.ErrCursor
	case code == 100 && res.Input:
		return providers.Invalid("Threads rejects this query")
	case code == 100:
		return providers.NotFound("Threads has no such account or post")
	case code == 190:
		return providers.Unavailable(nil, "Threads refuses our token")
	case code == 10, code >= 200 && code < 300:
		return providers.Unsupported("Threads does not show this to our app: it may be missing, private, or have fewer than 100 followers")
	case code == 4, code == 17, code == 32, code == 613:
		return providers.Limited("Threads is rate limiting us", time.Minute)
	}
	return nil
}

// absent reports whether a refusal is one of the API about the requested thing.
func absent(res *upstream.Response) bool {
	r, _ := meta.RefusalOf(res.Body)
	return r.Code == 100
}

// ownPage recognizes a page of the site by where its pictures and scripts are.
var ownPage = upstream.Framed("threads.com", "threads.net", "cdninstagram.com")

// checkPage recognizes the login page to which Threads redirects, also on another host.
func checkPage(res *upstream.Response) error {
	if isLogin(res.URL) {
		return errLogin
	}
	if to, err := url.Parse(res.Header.Get("Location")); err == nil && res.Status >= 300 && res.Status < 400 && isLogin(to) {
		return errLogin
	}
	return nil
}

var errLogin = providers.Walled("Threads asks for a login")

func isLogin(u *url.URL) bool {
	return u != nil && (strings.HasPrefix(u.Path, "/login") || strings.HasPrefix(u.Path, "/accounts/login"))
}
