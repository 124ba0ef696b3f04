package zid

import (
	"encoding/json"
	"errors"
	"net/http"
	"strings"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/upstream"
)

// check recognizes a refusal of our tokens, which Zid also writes as "No such user", and the errors that the managers'
// part of the API sends with status 200.
// https://docs.zid.sa
func check(res *upstream.Response) error {
	switch {
	case res.Status == http.StatusUnauthorized || res.Status == http.StatusForbidden:
		return providers.Unavailable(nil, "Zid refuses the merchant's tokens, or they lack a permission")
	case res.Status/100 == 2 && strings.Contains(res.URL.Path, "/managers/"):
		var soft struct {
			Message struct {
				Type string `json:"type"`
			} `json:"message"`
		}
		if json.Unmarshal(res.Body, &soft) == nil && soft.Message.Type == "error" {
			return providers.Unavailable(nil, "Zid answers with an error")
		}
	}
	return nil
}

// absent reports whether a 404 has an error body: that of the shops, or that of the managers' part.
var absent = upstream.Says(func(r struct {
	Detail string `json:"detail"`
	Status string `json:"status"`
},
) bool {
	return r.Detail != "" || r.Status == "error"
})

// errNoUUID refuses an id with which the merchant API finds no product: a number, which the public storefronts use.
var errNoUUID = providers.Invalid("Zid's merchant API finds products by their UUID")

// listError handles "not found" for a list: after the last page it ends the list, and on the first page it says nothing
// about the requested thing.
func listError(err error, n int) error {
	switch {
	case !errors.Is(err, providers.ErrNotFound):
		return err
	case n > 1:
		return nil
	}
	return providers.Unavailable(nil, "Zid has no such list")
}
