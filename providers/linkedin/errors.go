package linkedin

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/upstream"
)

var (
	errWall    = providers.Walled("LinkedIn asks for a login")
	errRefused = providers.Walled("LinkedIn refuses to show this page: our server sends too many requests, or the owner has hidden the page")
	errGone    = providers.NotFound("LinkedIn has no such page")
)

// statusRefused is LinkedIn's own status.
const statusRefused = 999

// checkPage recognizes the refusals of the site, and the pages to which it redirects instead of answering.
func checkPage(res *upstream.Response) error {
	switch res.Status {
	case statusRefused, http.StatusForbidden, http.StatusUnavailableForLegalReasons:
		return errRefused
	}
	if err := leads(res.URL); err != nil {
		return err
	}
	if to, err := url.Parse(res.Header.Get("Location")); err == nil && res.Status >= 300 && res.Status < 400 {
		return leads(to)
	}
	return nil
}

// leads returns the error for an address to which LinkedIn redirects instead of answering; nil when the address is a
// page of its own.
func leads(u *url.URL) error {
	if u == nil {
		return nil
	}
	for _, wall := range []string{"/authwall", "/login", "/uas/login", "/checkpoint", "/signup"} {
		if u.Path == wall || strings.HasPrefix(u.Path, wall+"/") {
			return errWall
		}
	}
	if u.Path == "/404" || strings.HasPrefix(u.Path, "/404/") {
		return errGone
	}
	return nil
}

// absentPage reports whether a 404 is the site's: a page of its own, or nothing at all, which is how it answers readers
// without an account.
func absentPage(res *upstream.Response) bool {
	return len(bytes.TrimSpace(res.Body)) == 0 || ownPage(res)
}

var ownPage = upstream.Framed("linkedin.com", "licdn.com")

// failure is an error response of the official API.
// https://learn.microsoft.com/en-us/linkedin/shared/api-guide/concepts/error-handling
type failure struct {
	Code    string `json:"code"` // such as RESOURCE_NOT_FOUND
	Details struct {
		Errors []struct {
			Code  string `json:"code"`
			Input struct {
				Path struct {
					Field string `json:"fieldPath"`
				} `json:"inputPath"`
			} `json:"input"`
		} `json:"inputErrors"`
	} `json:"errorDetails"`
}

const pace = 35 * time.Second // LinkedIn does not say for how long it refuses; its shortest limit is per minute

func check(res *upstream.Response) error {
	ads := strings.HasSuffix(res.URL.Path, "/adLibrary")
	switch res.Status {
	case http.StatusBadRequest:
		if res.URL.Query().Get("start") != "0" && refuses(res.Body, "start") {
			return providers.ErrCursor
		}
		if refuses(res.Body, "dateRange") || refuses(res.Body, "countries") {
			return providers.Invalid("LinkedIn's ad library does not accept these dates, or this country")
		}
		return errRequest
	case http.StatusUnauthorized:
		return providers.Unavailable(nil, "LinkedIn refuses our token: it has expired, or it was revoked")
	case http.StatusForbidden:
		return providers.Unavailable(nil, "LinkedIn does not allow our app to read this")
	case http.StatusNotFound:
		if ads {
			return providers.Unavailable(nil, "our app has no access to LinkedIn's ad library")
		}
		return errUnseen
	case http.StatusUpgradeRequired:
		return providers.Unavailable(nil, "LinkedIn has retired the configured version of its API")
	case http.StatusTooManyRequests:
		return providers.Limited("LinkedIn is rate limiting us", pace)
	}
	return nil
}

// absent reports whether a 404 has an error body of the API.
var absent = upstream.Says(func(f failure) bool { return f.Code != "" })

var errRequest = providers.Unavailable(nil, "LinkedIn rejects our request as malformed")

// errUnseen is returned for an organisation that the official API does not show.
var errUnseen = providers.NotHere("LinkedIn's API has no such organization")

// refuses reports whether a failure is about a field of the request, or a part of it, such as dateRange/start.
func refuses(body []byte, field string) bool {
	var f failure
	if json.Unmarshal(body, &f) != nil {
		return false
	}
	for _, e := range f.Details.Errors {
		if name, _, _ := strings.Cut(e.Input.Path.Field, "/"); name == field {
			return true
		}
	}
	return false
}
