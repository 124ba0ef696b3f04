package truthsocial

import (
	"bytes"
	"net/http"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/upstream"
)

// check distinguishes what needs an account from what is forbidden, and both from Cloudflare's refusals.
func check(signedIn bool) func(*upstream.Response) error {
	return func(res *upstream.Response) error {
		switch {
		case res.Status == http.StatusUnauthorized,
			res.Status == http.StatusUnprocessableEntity && bytes.Contains(res.Body, []byte("authenticated user")):
			if signedIn {
				return providers.Unavailable(nil, "Truth Social refuses our token (setting token)")
			}
			return providers.Unsupported("Truth Social shows this to signed-in readers only: the setting token is missing")
		case res.Status == http.StatusForbidden && bytes.HasPrefix(bytes.TrimSpace(res.Body), []byte("<")):
			return providers.Unavailable(nil, "Cloudflare blocks our requests to Truth Social")
		case res.Status == http.StatusForbidden:
			return providers.Unavailable(nil, "Truth Social does not allow this")
		}
		return nil
	}
}

// errNothing is a success without the requested data, such as the {} that Truth Social returns to clients that it
// considers too fast.
var errNothing = providers.Unavailable(nil, "Truth Social returned no data")
