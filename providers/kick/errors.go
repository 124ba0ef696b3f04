package kick

import (
	"net/http"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/upstream"
)

// check handles refusals of the official API. It answers with an empty list for what does not exist, so a 404 means
// that an address is wrong or no longer served.
func check(res *upstream.Response) error {
	switch res.Status {
	case http.StatusBadRequest:
		return res.Malformed("Kick")
	case http.StatusNotFound, http.StatusGone:
		return providers.Unavailable(nil, "the upstream does not know this address")
	}
	return nil
}

// checkOwn leaves everything except a 400 of the website to the common rules.
func checkOwn(res *upstream.Response) error {
	if res.Status == http.StatusBadRequest {
		return res.Malformed("Kick")
	}
	return nil
}
