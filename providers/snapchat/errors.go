package snapchat

import (
	"context"
	"net/http"
	"net/url"
	"strings"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/upstream"
	"github.com/socialdata/socialdata/providers/kit/wire"
)

// check handles the refusals of the official API that the common rules do not cover.
func check(res *upstream.Response) error {
	switch {
	case res.Status == http.StatusForbidden:
		return providers.Unavailable(nil, "Snapchat has not admitted our app to its Public Profile API")
	case res.Status == http.StatusBadRequest && res.URL.Query().Has("cursor"):
		return providers.ErrCursor
	}
	return nil
}

// outcome is in every response of the official API, and again in every row of a list. An error has status 200.
type outcome struct {
	Request string `json:"request_status"`
	Row     string `json:"sub_request_status"`
	Reason  string `json:"sub_request_error_reason"`
}

// check returns an error unless the whole response is a success.
func (o outcome) check(ctx context.Context) error {
	if strings.EqualFold(o.Request, "ERROR") {
		return providers.Unavailable(nil, "Snapchat answers with an error")
	}
	return wire.Marker(ctx, "request_status", strings.ToUpper(o.Request), "SUCCESS")
}

// isMissing reports whether a row says that the account does not exist.
func (o outcome) isMissing() bool {
	reason := strings.ReplaceAll(strings.ToLower(o.Reason), "_", " ")
	return !o.isRead() && (strings.Contains(reason, "not found") || strings.Contains(reason, "not exist"))
}

// isRead reports whether a row says that it holds an account.
func (o outcome) isRead() bool { return strings.EqualFold(o.Row, "SUCCESS") }

var errNoPage = providers.NotFound("Snapchat has no such page")

// checkPage handles the refusals of the site, and recognizes the login page to which it redirects.
func checkPage(res *upstream.Response) error {
	if res.Status == http.StatusNotFound {
		return errNoPage
	}
	to, err := url.Parse(res.Header.Get("Location"))
	moved := res.Status >= 300 && res.Status < 400 && err == nil && isLogin(to)
	if moved || res.URL != nil && isLogin(res.URL) {
		return providers.Walled("Snapchat asks for a login")
	}
	return nil
}

// ownPage recognizes a page of the site by where its pictures and scripts are.
var ownPage = upstream.Framed("snapchat.com", "sc-cdn.net", "snap.com")

func isLogin(u *url.URL) bool {
	return u.Hostname() == "accounts.snapchat.com" || strings.HasPrefix(u.Path, "/accounts/") ||
		strings.HasPrefix(u.Path, "/login")
}
