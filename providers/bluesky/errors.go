package bluesky

import (
	"encoding/json"
	"net/http"
	"strings"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/upstream"
)

// errExpired means that the access token has expired, which some servers report with status 400.
var errExpired = providers.Cause("bluesky: access token expired")

// check reads the error of a method: a name, often the generic InvalidRequest, and a message.
// https://atproto.com/specs/xrpc#error-responses
func check(res *upstream.Response) error {
	switch res.Status {
	case http.StatusGatewayTimeout:
		return &providers.Error{Kind: providers.ErrTimeout}
	case http.StatusBadRequest:
	default:
		return nil
	}
	var e struct {
		Error   string `json:"error"`
		Message string `json:"message"`
	}
	if json.Unmarshal(res.Body, &e) != nil {
		return nil
	}
	switch e.Error {
	case "AccountTakedown":
		return providers.NotFound("this account has been suspended")
	case "AccountDeactivated":
		return providers.NotFound("this account is deactivated")
	case "NotFound":
		return providers.NotFound("this post does not exist")
	case "BlockedActor", "BlockedByActor":
		return providers.NotFound("this account blocks readers")
	case "ExpiredToken", "InvalidToken":
		return providers.Unavailable(errExpired, "the upstream refused our access token")
	case "InvalidRequest", "BadQueryString":
	default: // the cause is unknown, so the caller is not blamed
		return providers.Unavailable(nil, "Bluesky answered with an unknown error")
	}
	message := strings.ToLower(e.Message)
	for _, absent := range []string{"profile not found", "actor not found", "unable to resolve handle", "could not find", "post not found"} {
		if strings.Contains(message, absent) {
			return providers.ErrNotFound
		}
	}
	switch {
	case res.URL.Query().Has("cursor") && strings.Contains(message, "cursor"):
		return providers.ErrCursor
	case res.Input && e.Message != "":
		return providers.Invalid("Bluesky rejects this input: %s", e.Message)
	}
	return nil
}
