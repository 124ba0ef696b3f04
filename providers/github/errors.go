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

// check tells GitHub's refusals apart: a limit, primary or secondary, from a missing permission, and a blocked
// repository from both.
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
	return providers.Limited("GitHub limits our pace", wait)
}

// errPastTheEnd is the refusal of a page of a search behind its 1,000th result.
var errPastTheEnd = providers.Cause("github: past the last result of a search")

// unprocessable reads a 422, which is about the words of a search: that GitHub shows no more of them, or why it does not
// take them. Any other is left to the common rules.
// https://docs.github.com/rest/using-the-rest-api/troubleshooting-the-rest-api#validation-failed
func unprocessable(res *upstream.Response) error {
	var refusal struct {
		Message string `json:"message"`
		Errors  []struct {
			Message string `json:"message"`
		} `json:"errors"`
	}
	if json.Unmarshal(res.Body, &refusal) != nil || !res.Input { // other words than these are for the common rules
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
