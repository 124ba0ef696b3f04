package twitch

import (
	"net/http"
	"strings"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/upstream"
)

// check reads the refusals whose status means something of its own at Twitch.
// https://dev.twitch.tv/docs/api/guide/#http-status-codes
func check(res *upstream.Response) error {
	switch res.Status {
	case http.StatusBadRequest:
		return res.Malformed("Twitch")
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
