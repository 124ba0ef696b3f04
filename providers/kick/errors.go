package kick

import (
	"net/http"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/upstream"
)

// check reads the refusals of the official interface, where what does not exist comes as an empty list: a 404 is an
// address that is wrong or was taken away.
func check(res *upstream.Response) error {
	switch res.Status {
	case http.StatusBadRequest:
		return res.Malformed("Kick")
	case http.StatusNotFound, http.StatusGone:
		return providers.Unavailable(nil, "the upstream does not know this address")
	}
	return nil
}

// checkOwn leaves all but a 400 of the website to the common rules.
func checkOwn(res *upstream.Response) error {
	if res.Status == http.StatusBadRequest {
		return res.Malformed("Kick")
	}
	return nil
}
