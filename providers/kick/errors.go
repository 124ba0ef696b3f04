package kick

import (
	"encoding/json"
	"net/http"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/internal/upstream"
)

// check reads the refusals of the official interface, where what does not exist comes as an empty list: a 404 is an
// address that is wrong or was taken away.
func check(res *upstream.Response) error {
	switch res.Status {
	case http.StatusBadRequest:
		return malformed(res)
	case http.StatusNotFound, http.StatusGone:
		return providers.Unavailable(nil, "the upstream does not know this address")
	}
	return nil
}

// checkOwn leaves all but a 400 of the website to the common rules.
func checkOwn(res *upstream.Response) error {
	if res.Status == http.StatusBadRequest {
		return malformed(res)
	}
	return nil
}

// malformed reads a 400: Kick cannot read a parameter. One that holds words of the caller is the caller's.
func malformed(res *upstream.Response) error {
	var refusal struct {
		Message string `json:"message"`
	}
	if !res.Input || json.Unmarshal(res.Body, &refusal) != nil || refusal.Message == "" {
		return nil // for the common rules
	}
	return providers.Invalid("Kick cannot read this value: %s", refusal.Message)
}
