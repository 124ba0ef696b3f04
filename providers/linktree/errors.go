package linktree

import (
	"net/http"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/internal/upstream"
)

// check reads refusals: a check by the network in front of Linktree is no word on the page behind it.
func check(res *upstream.Response) error {
	switch res.Status {
	case http.StatusNotFound, http.StatusGone:
		return errNoPage
	case http.StatusForbidden:
		return providers.Unavailable(nil, "Linktree answers with a check instead of the page")
	}
	return nil
}

var (
	errNoPage    = providers.NotFound("Linktree has no such page")
	errSuspended = providers.NotFound("the Linktree page is switched off")
)
