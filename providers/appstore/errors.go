package appstore

import (
	"bytes"
	"net/http"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/upstream"
)

// check handles a 403 without a body, which means too many calls in a minute, and a 400, which means that the caller's
// region has no store. Apple does not say when to retry, so our own quota sets the pace.
// https://developer.apple.com/library/archive/documentation/AudioVideo/Conceptual/iTuneSearchAPI/Searching.html
func check(res *upstream.Response) error {
	switch {
	case res.Status == http.StatusForbidden && len(bytes.TrimSpace(res.Body)) == 0:
		return providers.Limited("Apple is rate limiting us", 0)
	case res.Status == http.StatusBadRequest && res.Input:
		return providers.Invalid("the App Store rejects the request: the region may have no store")
	}
	return nil
}
