package spotify

import (
	"bytes"
	"net/http"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/internal/upstream"
)

var (
	errLimit     = &providers.Error{Kind: providers.ErrUnavailable, Detail: "Spotify refuses the page size"}
	errForbidden = &providers.Error{Kind: providers.ErrUnavailable, Detail: "Spotify does not let this app read that"}
)

// check reads refusals, whose body is an object, plain text or nothing.
// https://developer.spotify.com/documentation/web-api/concepts/api-calls#response-error
func check(res *upstream.Response) error {
	if res.Status < http.StatusBadRequest {
		return nil
	}
	said := bytes.ToLower(bytes.TrimSpace(res.Body))
	says := func(word string) bool { return bytes.Contains(said, []byte(word)) }
	switch res.Status {
	case http.StatusBadRequest:
		switch {
		case len(said) == 0, says("invalid limit"):
			return errLimit
		case says("market") && res.Input:
			return providers.Invalid("Spotify does not know that region")
		case says("invalid id"), says("base62"):
			return providers.NotFound("Spotify has no such id")
		}
	case http.StatusForbidden:
		if says("premium") {
			return providers.Unavailable(nil, "Spotify wants the owner of the app to hold a Premium subscription")
		}
		return errForbidden
	case http.StatusMethodNotAllowed, http.StatusGone, http.StatusNotImplemented: // a route that was taken away
		return errForbidden
	}
	return nil
}
