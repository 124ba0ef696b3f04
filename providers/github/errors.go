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
	case http.StatusUnprocessableEntity:
		return unprocessable(res)
	case http.StatusUnavailableForLegalReasons, http.StatusForbidden, http.StatusTooManyRequests:
	default:
		return nil
	}
	if !res.Input && blocked(res) { // a search names no account and no repository
		return providers.NotFound("GitHub has blocked this %s", kindOf(res.URL.Path))
	}
	body := bytes.ToLower(res.Body)
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

// blocked reports whether a refusal is about the requested thing itself, and not about our rate or permissions.
var blocked = upstream.Says(func(r refusal) bool {
	message := strings.ToLower(r.Message)
	return r.Block != nil || strings.Contains(message, "access blocked") || strings.Contains(message, "disabled")
})

// absent reports whether a 404 has GitHub's own error body.
var absent = upstream.Says(func(r refusal) bool { return strings.Contains(strings.ToLower(r.Message), "not found") })

// refusal is the body of an error response.
// https://docs.github.com/rest/using-the-rest-api/troubleshooting-the-rest-api
type refusal struct {
	Message string          `json:"message"`
	Block   json.RawMessage `json:"block"` // why it is blocked, with a 451
	Errors  []struct {
		Message string `json:"message"`
	} `json:"errors"`
}

// kindOf returns what the path of a request names: an account or a repository.
func kindOf(path string) string {
	if strings.Contains(path, "/repos/") {
		return "repository"
	}
	return "account"
}

// errPastTheEnd is GitHub's refusal to return search results beyond the first 1,000.
var errPastTheEnd = providers.Cause("github: past the last result of a search")

// unprocessable handles a 422 that is about the search terms: there are no more results, or GitHub does not accept the
// terms. Any other 422 is left to the common rules.
// https://docs.github.com/rest/using-the-rest-api/troubleshooting-the-rest-api#validation-failed
func unprocessable(res *upstream.Response) error {
	var r refusal
	if json.Unmarshal(res.Body, &r) != nil || !res.Input { // any other body is left to the common rules
		return nil
	}
	if strings.HasPrefix(r.Message, "Only the first") {
		return errPastTheEnd
	}
	reason := r.Message
	if len(r.Errors) > 0 && r.Errors[0].Message != "" {
		reason = r.Errors[0].Message
	}
	return providers.Invalid("GitHub refuses the search: %s", reason)
}
