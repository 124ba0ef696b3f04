package mastodon

import (
	"net/http"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/upstream"
)

// check knows the answer of a server that shows accounts to its own users alone.
func check(res *upstream.Response) error {
	if res.Status == http.StatusUnauthorized {
		return providers.Unsupported("this server shows accounts to its own users alone")
	}
	return nil
}
