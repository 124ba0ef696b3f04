package mastodon

import (
	"net/http"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/upstream"
)

// check recognizes the answer of a server that shows accounts only to its own users.
func check(res *upstream.Response) error {
	if res.Status == http.StatusUnauthorized {
		return providers.Unsupported("this server only shows accounts to its own users")
	}
	return nil
}
