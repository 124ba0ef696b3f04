package applemusic

import (
	"encoding/json"
	"net/http"
	"time"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/upstream"
)

// check knows that beyond the limit Apple answers 403, mostly without a word, and does not say for how long.
// https://developer.apple.com/library/archive/documentation/AudioVideo/Conceptual/iTuneSearchAPI/Searching.html
func check(res *upstream.Response) error {
	switch {
	case res.Status == http.StatusForbidden:
		return providers.Limited("Apple is rate limiting us", time.Minute)
	case res.Status == http.StatusBadRequest && res.Input:
		return providers.Invalid("Apple does not know that region, or cannot read the query")
	}
	return nil
}

// checkCatalog names the parameter that Apple refuses, where the caller has a part in it.
// https://developer.apple.com/documentation/applemusicapi/handling-requests-and-responses
func checkCatalog(res *upstream.Response) error {
	if res.Status != http.StatusBadRequest || !res.Input {
		return nil
	}
	var answer struct {
		Errors []struct {
			Source struct {
				Parameter string `json:"parameter"`
			} `json:"source"`
		} `json:"errors"`
	}
	if json.Unmarshal(res.Body, &answer) == nil && len(answer.Errors) > 0 && answer.Errors[0].Source.Parameter != "" {
		return providers.Invalid("Apple Music refuses the value of its parameter %q", answer.Errors[0].Source.Parameter)
	}
	return providers.Invalid("Apple Music cannot read the query")
}
