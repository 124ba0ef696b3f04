package twitch

import (
	"encoding/json"
	"net/http"
	"strings"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/internal/upstream"
)

// check reads the refusals whose status means something of its own at Twitch.
// https://dev.twitch.tv/docs/api/guide/#http-status-codes
func check(res *upstream.Response) error {
	switch res.Status {
	case http.StatusBadRequest:
		return malformed(res)
	case http.StatusNotFound:
		// Accounts that do not exist come as an empty list; there is little that Helix itself does not find.
		for _, path := range []string{"/videos", "/clips", "/schedule"} {
			if strings.HasSuffix(res.URL.Path, path) {
				return nil
			}
		}
		return providers.Unavailable(nil, "the upstream does not know this address")
	case http.StatusGone:
		return providers.Unavailable(nil, "the upstream has taken this interface away")
	}
	return nil
}

// malformed reads a 400: Helix cannot read a parameter. One that holds words of the caller is the caller's.
func malformed(res *upstream.Response) error {
	var refusal struct {
		Message string `json:"message"`
	}
	if !res.Input || json.Unmarshal(res.Body, &refusal) != nil || refusal.Message == "" {
		return nil // for the common rules
	}
	return providers.Invalid("Twitch cannot read this value: %s", refusal.Message)
}
