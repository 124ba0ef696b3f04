package applemusic

import (
	"encoding/json"
	"net/http"
	"strconv"
	"time"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/upstream"
)

// check handles rate limiting: Apple answers 403, usually without a message, and gives no time.
// https://developer.apple.com/library/archive/documentation/AudioVideo/Conceptual/iTuneSearchAPI/Searching.html
func check(res *upstream.Response) error {
	switch {
	case res.Status == http.StatusForbidden:
		return providers.Limited("Apple is rate limiting us", time.Minute)
	case res.Status == http.StatusBadRequest && res.Input:
		return providers.Invalid("Apple does not support that region, or rejects the query")
	}
	return nil
}

// checkCatalog returns an error with the parameter that Apple refuses, if it contains the caller's input.
// https://developer.apple.com/documentation/applemusicapi/handling-requests-and-responses
func checkCatalog(res *upstream.Response) error {
	if res.Status != http.StatusBadRequest || !res.Input {
		return nil
	}
	var answer refusal
	if json.Unmarshal(res.Body, &answer) == nil && len(answer.Errors) > 0 && answer.Errors[0].Source.Parameter != "" {
		return providers.Invalid("Apple Music refuses the value of its parameter %q", answer.Errors[0].Source.Parameter)
	}
	return providers.Invalid("Apple Music rejects the query")
}

// refusal is the body of an error response of the catalog.
type refusal struct {
	Errors []struct {
		Status string `json:"status"`
		Source struct {
			Parameter string `json:"parameter"`
		} `json:"source"`
	} `json:"errors"`
}

// absent reports whether a 404 of the catalog has its error body.
var absent = upstream.Says(func(r refusal) bool {
	return len(r.Errors) > 0 && r.Errors[0].Status == strconv.Itoa(http.StatusNotFound)
})
