package google

import (
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/upstream"
)

// failure is the body of an error response of Custom Search.
// https://cloud.google.com/apis/design/errors#http_mapping
type failure struct {
	Error struct {
		Message string `json:"message"`
		Errors  []struct {
			Reason string `json:"reason"`
		} `json:"errors"`
		Details []struct {
			Reason string `json:"reason"`
		} `json:"details"`
	} `json:"error"`
}

// has reports whether one of reasons is given.
func (f failure) has(reasons ...string) bool {
	given := func(reason string) bool { return slices.Contains(reasons, reason) }
	for _, e := range f.Error.Errors {
		if given(e.Reason) {
			return true
		}
	}
	for _, d := range f.Error.Details {
		if given(d.Reason) {
			return true
		}
	}
	return false
}

// day is how long a used-up daily quota is left alone: it resets at midnight in California, and no quota of ours is
// closed for longer than an hour.
const day = time.Hour

// check distinguishes Google's refusals: of the search terms, of our key, and because of our rate.
func check(res *upstream.Response) error {
	var f failure
	if res.Status < 400 || res.Status >= 500 || json.Unmarshal(res.Body, &f) != nil {
		return nil
	}
	message := f.Error.Message
	switch limited := res.Status == http.StatusTooManyRequests; {
	case f.has("dailyLimitExceeded", "quotaExceeded"), limited && strings.Contains(message, "per day"):
		return providers.Limited("the daily quota at Google is used up", day)
	case f.has("rateLimitExceeded", "userRateLimitExceeded"), limited:
		return providers.Limited("Google is rate limiting us", time.Minute)
	case f.has("API_KEY_INVALID", "keyInvalid"), strings.HasPrefix(message, "API key"):
		return providers.Unavailable(errors.New(message), "Google refused our API key")
	case res.Status == http.StatusForbidden:
		return providers.Unavailable(errors.New(message), "Google does not allow our project to use Custom Search")
	case res.Status == http.StatusBadRequest && res.Input && message != "":
		return providers.Invalid("Google rejects this search: %s", message)
	}
	return nil
}

// checkOwn recognizes how Google turns away readers who send too many requests: by a status, or by a redirect to a
// captcha on another host.
func checkOwn(res *upstream.Response) error {
	if res.Status == http.StatusForbidden || res.Status >= 300 && res.Status < 400 {
		return providers.Limited("Google asks for a captcha", time.Minute)
	}
	return nil
}
