package twitch

import (
	"net/http"
	"strings"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/upstream"
)

// check handles refusals whose status has a special meaning at Twitch.
// https://dev.twitch.tv/docs/api/guide/#http-status-codes
func check(res *upstream.Response) error {
	switch res.Status {
	case http.StatusBadRequest:
		return res.Malformed("Twitch")
	case http.StatusNotFound:
		// For accounts that do not exist Helix answers with an empty list; only these paths have a 404.
		for _, path := range []string{"/videos", "/clips", "/schedule"} {
			if strings.HasSuffix(res.URL.Path, path) {
				return nil
			}
		}
		return providers.Unavailable(nil, "Twitch has no such API address")
	case http.StatusGone:
		return providers.Unavailable(nil, "Twitch no longer has this API address")
	}
	return nil
}
