package tiktok

import (
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/island"
	"github.com/socialdata/socialdata/providers/kit/upstream"
)

// refusal is an error response of the official APIs. It is in the field error, or is the whole response.
// https://developers.tiktok.com/doc/tiktok-api-v2-error-handling
type refusal struct {
	Code    json.RawMessage `json:"code"` // a string; "ok" when there is no error
	Message string          `json:"message"`
}

func (r refusal) code() string { return strings.Trim(string(r.Code), `"`) }

// errParams means that TikTok does not accept our parameters. Who is at fault depends on what was sent.
var errParams = providers.Cause("tiktok: invalid_params")

// hidden are the texts, in lower case, with which TikTok says that it does not see an account, or may not show it.
var hidden = []string{"cannot find the user", "is private", "information cannot be returned", "api cannot return this user"}

// check classifies refusals, which may come with status 200. The official API does not see accounts that are private or
// of minors, so what it does not find may exist nevertheless.
func check(res *upstream.Response) error {
	var body struct {
		refusal
		Error refusal `json:"error"`
	}
	if json.Unmarshal(res.Body, &body) != nil && res.Status < 300 {
		return nil // wire reports what is wrong with it
	}
	r := body.Error
	if r.code() == "" {
		r = body.refusal
	}
	code, message := r.code(), strings.ToLower(r.Message)
	for _, words := range hidden {
		if strings.Contains(message, words) {
			return providers.NotHere("TikTok's Research API does not show this account: it does not exist, is private, or is excluded")
		}
	}
	switch code {
	case "", "ok", "null":
		return nil
	case "access_token_invalid":
		return providers.Unavailable(nil, "TikTok refuses our token")
	case "scope_not_authorized", "scope_permission_missed":
		return providers.Unsupported("TikTok has not approved our app for this API")
	case "rate_limit_exceeded":
		if strings.Contains(res.URL.Path, "/adlib/") {
			return providers.Limited("TikTok is rate limiting our reads of ads", time.Minute)
		}
		return providers.Limited("TikTok's daily quota is used up", untilMidnight(time.Now()))
	case "invalid_params":
		if res.Input {
			return providers.Invalid("TikTok refuses the input: %s", r.Message)
		}
		return providers.Unavailable(errParams, "TikTok refuses the request")
	}
	if res.Status < 300 {
		return providers.Unavailable(errors.New("code "+code), "TikTok answers with an error")
	}
	return nil
}

// untilMidnight returns how long a quota stays used up: TikTok counts by days in UTC.
func untilMidnight(now time.Time) time.Duration {
	now = now.UTC()
	return time.Date(now.Year(), now.Month(), now.Day()+1, 0, 0, 0, 0, time.UTC).Sub(now)
}

// blameCursor returns [providers.ErrCursor] instead of errParams if a cursor was sent.
func blameCursor(err error, cursor string) error {
	if cursor != "" && errors.Is(err, errParams) {
		return providers.ErrCursor
	}
	return err
}

// The status codes of the site's own API. They are not documented.
const (
	fine           = 0
	noUser         = 10202
	noItem         = 10204 // also when TikTok does not show the item to our address
	privateItem    = 10216
	noAccount      = 10221
	privateAccount = 10222
	otherRegion    = 10231
)

// errNoItem means that a page has no such item, or does not show it to our address: a source of another kind may.
var errNoItem = providers.NotHere("TikTok shows no such post")

// status converts a code of the site to an error.
func status(code int64) error {
	switch code {
	case fine:
		return nil
	case noUser, noAccount:
		return providers.NotFound("TikTok has no such account")
	case noItem:
		return errNoItem
	case privateItem:
		return providers.NotFound("the post is private")
	case privateAccount:
		return providers.NotFound("the account is private")
	case otherRegion:
		return providers.Unsupported("TikTok does not show this in the country of our server")
	}
	return providers.Unavailable(nil, "TikTok answers with the code %d", code)
}

var errSecurityCheck = providers.Walled("TikTok asks for a security check")

// checkWeb handles the refusals of tiktok.com.
func checkWeb(res *upstream.Response) error {
	if res.Status < 300 && strings.HasPrefix(res.URL.Path, "/login") {
		return providers.Walled("TikTok asks for a login")
	}
	return nil
}

// checkOwn handles the refusals of the embed pages: they answer 400 for what does not exist.
func checkOwn(res *upstream.Response) error {
	if res.Status != http.StatusNotFound && (res.Status != http.StatusBadRequest || !absentOwn(res)) {
		return checkWeb(res)
	}
	if r, ok := routeOf(res, island.Read(res.Body)); ok && r.V.IsError.Is() && r.V.Code.V != nil {
		if err := status(*r.V.Code.V); err != nil && !errors.Is(err, errNoItem) {
			return err
		}
	}
	return providers.NotFound("TikTok has no such page")
}

// absentOwn reports whether a 400 or 404 is TikTok's own: an embed page, or an error body of oEmbed.
func absentOwn(res *upstream.Response) bool {
	r, ok := routeOf(res, island.Read(res.Body))
	return ok && r.V.IsError.Is() || refusesQuote(res) || ownPage(res)
}

var (
	refusesQuote = upstream.Says(func(r refusal) bool { return r.Code != nil && r.Message != "" })
	ownPage      = upstream.Framed("tiktok.com", "tiktokcdn.com", "tiktokcdn-us.com", "ttwstatic.com")
)
