package spotify

import (
	"bytes"
	"encoding/json"
	"net/http"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/upstream"
)

var (
	errLimit     = &providers.Error{Kind: providers.ErrUnavailable, Detail: "Spotify refuses the page size"}
	errForbidden = &providers.Error{Kind: providers.ErrUnavailable, Detail: "Spotify does not allow this app to read that"}
)

// check handles refusals, whose body is an object, plain text or empty.
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
		case isRefusal(res) && (says("invalid id") || says("base62")):
			return providers.NotFound("Spotify has no such id")
		case res.Input:
			return refused(res.Body)
		}
	case http.StatusForbidden:
		if says("premium") {
			return providers.Unavailable(nil, "Spotify requires that the owner of the app has a Premium subscription")
		}
		return errForbidden
	case http.StatusMethodNotAllowed, http.StatusNotImplemented: // a route that Spotify removed
		return errForbidden
	}
	return nil
}

// refusal is the body of an error response.
type refusal struct {
	Error struct {
		Status  int    `json:"status"`
		Message string `json:"message"`
	} `json:"error"`
}

// isRefusal reports whether a response has an error body, which repeats the status.
var isRefusal = upstream.Says(func(r refusal) bool { return r.Error.Status >= http.StatusBadRequest })

// refused returns why Spotify does not accept the caller's parameters. It returns nil for a refusal without a reason:
// then the common rules apply.
func refused(body []byte) error {
	var answer refusal
	if json.Unmarshal(body, &answer) != nil || answer.Error.Message == "" {
		return nil
	}
	return providers.Invalid("Spotify refuses the request: %s", answer.Error.Message)
}
