package instagram

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/meta"
	"github.com/socialdata/socialdata/providers/kit/upstream"
	"github.com/socialdata/socialdata/providers/kit/wire"
)

// errParameter is returned when Instagram refuses a parameter: a field that this version does not know, or a cursor
// among the fields.
var errParameter = providers.Unavailable(nil, "Instagram refuses a field in our request")

// errPassing is a fault that Meta expects to be temporary.
var errPassing = providers.Unavailable(nil, "Instagram reports a temporary error")

func isPassing(err error) bool { return errors.Is(err, errPassing) }

// check maps the error codes of the Graph API.
// https://developers.facebook.com/docs/graph-api/guides/error-handling
func check(res *upstream.Response) error {
	if res.Status < 400 {
		return nil
	}
	r, _ := meta.RefusalOf(res.Body)
	switch code := r.Code; {
	case code == 110:
		return providers.NotHere("Instagram's official API has no such account: it may be personal, or restricted to adults")
	case code == 24:
		return providers.NotFound("Instagram has no such hashtag")
	case code == 100 && r.Subcode == 33:
		return providers.Unavailable(nil, "Instagram does not accept our account, or a field in our request")
	case code == 100 && res.URL.Query().Has("after"):
		return providers.ErrCursor
	case code == 100 && res.Input:
		return providers.Invalid("Instagram rejects this hashtag")
	case code == 100:
		return errParameter
	case code == 190, code == 102:
		return providers.Unavailable(nil, "Instagram refuses our token")
	case code == 36104:
		return providers.Unsupported("Instagram's official API does not show live videos")
	case code == 10, code >= 200 && code < 300:
		return providers.Unsupported("Instagram does not show this to our app")
	case code == 4, code == 17, code == 18, code == 32, code == 613, code == 80002:
		return providers.Limited("Instagram is rate limiting us", rest(res.Header))
	case (code == 1 || code == 2) && res.Status < 500:
		return errPassing
	case res.Status == http.StatusNotFound, res.Status == http.StatusGone:
		return providers.NotHere("Instagram's official API shows no such thing")
	}
	return nil
}

// ownRefusal reports whether a refusal is one of the Graph API.
func ownRefusal(res *upstream.Response) bool {
	_, ok := meta.RefusalOf(res.Body)
	return ok
}

// rest returns how long Instagram wants us to stop: the longest time that it states for any account, else a minute.
// https://developers.facebook.com/docs/graph-api/overview/rate-limiting#headers-2
func rest(h http.Header) time.Duration {
	var usage map[string][]struct {
		Minutes wire.Count `json:"estimated_time_to_regain_access"`
	}
	longest := time.Minute
	if json.Unmarshal([]byte(h.Get("X-Business-Use-Case-Usage")), &usage) != nil {
		return longest
	}
	const most = 7 * 24 * 60 // more than a week is not plausible
	for _, uses := range usage {
		for _, u := range uses {
			if m := u.Minutes.V; m != nil && *m <= most {
				longest = max(longest, time.Duration(*m)*time.Minute)
			}
		}
	}
	return longest
}

var errNoPage = providers.NotFound("Instagram has no such page")

var errLogin = providers.Walled("Instagram asks for a login")

// checkWeb recognizes the ways in which the site asks for a login or a captcha instead of answering.
func checkWeb(res *upstream.Response) error {
	if isLogin(res.URL) {
		return errLogin
	}
	to, err := url.Parse(res.Header.Get("Location"))
	moved := err == nil && res.Status >= 300 && res.Status < 400
	if moved && isLogin(to) || res.Status == http.StatusUnauthorized {
		return errLogin
	}
	var body struct {
		Status       string          `json:"status"`
		Message      string          `json:"message"`
		RequireLogin bool            `json:"require_login"`
		Checkpoint   json.RawMessage `json:"checkpoint_url"`
	}
	if wire.Pick(res.Body, &body) != nil {
		return nil
	}
	switch {
	case body.RequireLogin:
		return errLogin
	case body.Checkpoint != nil, isCheck(body.Message):
		return providers.Walled("Instagram asks for a captcha")
	case body.Status == "fail" && res.Status == http.StatusBadRequest:
		return providers.Walled("Instagram refuses to answer without a login")
	case body.Status == "fail" && res.Status < 300:
		return providers.Unavailable(nil, "Instagram answers with an error")
	}
	return nil
}

// absent reports whether a 404 is the site's own: an error body of its API, or a page of its own.
func absent(res *upstream.Response) bool { return fails(res) || ownPage(res) }

var (
	fails   = upstream.Says(func(r struct{ Status string }) bool { return r.Status == "fail" })
	ownPage = upstream.Framed("instagram.com", "cdninstagram.com")
)

func isLogin(u *url.URL) bool {
	if u == nil {
		return false
	}
	for _, page := range []string{"/accounts/login", "/challenge"} {
		if strings.HasSuffix(u.Path, page) || strings.Contains(u.Path, page+"/") {
			return true
		}
	}
	return false
}

// isCheck reports whether a message of the site is the name of a captcha or checkpoint.
func isCheck(message string) bool {
	checks := []string{
		"checkpoint_required", "challenge_required", "feedback_required", "login_required", "useragent mismatch",
	}
	for _, word := range checks {
		if strings.Contains(message, word) {
			return true
		}
	}
	return false
}
