package github

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/upstream"
)

// check distinguishes GitHub's refusals: rate limits (primary or secondary), missing permissions and blocked
// repositories.
// https://docs.github.com/rest/using-the-rest-api/rate-limits-for-the-rest-api#exceeding-the-rate-limit
func check(res *upstream.Response) error {
	switch res.Status {
	case http.StatusUnavailableForLegalReasons:
		return providers.NotFound("GitHub has blocked this repository")
	case http.StatusUnprocessableEntity:
		return unprocessable(res)
	case http.StatusForbidden, http.StatusTooManyRequests:
	default:
		return nil
	}
	body := bytes.ToLower(res.Body)
	if bytes.Contains(body, []byte("access blocked")) || bytes.Contains(body, []byte("disabled")) {
		return providers.NotFound("GitHub has blocked this repository")
	}
	wait, limited := res.RetryAfter()
	if !limited && res.Header.Get("X-RateLimit-Remaining") == "0" {
		wait, limited = time.Minute, true
		if reset, err := strconv.ParseInt(res.Header.Get("X-RateLimit-Reset"), 10, 64); err == nil {
			wait = min(max(0, time.Until(time.Unix(reset, 0))), time.Hour)
		}
	}
	if !limited && (bytes.Contains(body, []byte("secondary")) || bytes.Contains(body, []byte("abuse"))) {
		wait, limited = time.Minute, true
	}
	if !limited {
		return nil
	}
	return providers.Limited("GitHub is rate limiting us", wait)
}

// errPastTheEnd is GitHub's refusal to return search results beyond the first 1,000.
var errPastTheEnd = providers.Cause("github: past the last result of a search")

// unprocessable handles a 422 that is about the search terms: there are no more results, or GitHub does not accept the
// terms. Any other 422 is left to the common rules.
// https://docs.github.com/rest/using-the-rest-api/troubleshooting-the-rest-api#validation-failed
func unprocessable(res *upstream.Response) error {
	var refusal struct {
		Message string `json:"message"`
		Errors  []struct {
			Message string `json:"message"`
		} `json:"errors"`
	}
	if json.Unmarshal(res.Body, &refusal) != nil || !res.Input { // any other body is left to the common rules
		return nil
	}
	if strings.HasPrefix(refusal.Message, "Only the first") {
		return errPastTheEnd
	}
	reason := refusal.Message
	if len(refusal.Errors) > 0 && refusal.Errors[0].Message != "" {
		reason = refusal.Errors[0].Message
	}
	return providers.Invalid("GitHub refuses the search: %s", reason)
}
