package appstore

import (
	"bytes"
	"net/http"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/upstream"
)

// check reads a 403 without a body as what it is, too many calls in a minute, and a 400 as a region without a store,
// where the caller gave one. Apple does not say when to come back: our own pace is the remedy.
// https://developer.apple.com/library/archive/documentation/AudioVideo/Conceptual/iTuneSearchAPI/Searching.html
func check(res *upstream.Response) error {
	switch {
	case res.Status == http.StatusForbidden && len(bytes.TrimSpace(res.Body)) == 0:
		return providers.Limited("Apple is rate limiting us", 0)
	case res.Status == http.StatusBadRequest && res.Input:
		return providers.Invalid("the App Store cannot read the request: the region may have no store")
	}
	return nil
}
