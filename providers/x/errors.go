package x

import (
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/upstream"
)

// fault is an entry of errors.
type fault struct {
	Title      string                     `json:"title"`
	Type       string                     `json:"type"`
	Detail     string                     `json:"detail"`
	Message    string                     `json:"message"`
	Value      string                     `json:"value"`      // what was asked for, of a 200
	Parameter  string                     `json:"parameter"`  // of a 200
	Parameters map[string]json.RawMessage `json:"parameters"` // of a 400
}

// refusal says what an answer that has errors and no data means. It is nil when none of them is about the thing itself.
func refusal(faults []fault) error {
	for _, f := range faults {
		switch {
		case f.aside():
		case strings.Contains(f.Detail, "suspended"):
			return providers.NotFound("the account is suspended")
		case kind(f.Type) == "not-authorized-for-resource":
			return providers.NotFound("the account is protected or suspended")
		case kind(f.Type) == "resource-not-found":
			return providers.NotFound("X knows no such account, post, space or community")
		default:
			return providers.Unavailable(errors.New(f.Title), "X refused our request")
		}
	}
	return nil
}

// aside tells whether f is about something that the answer only points to.
func (f fault) aside() bool {
	for _, p := range []string{"referenced_", "pinned_", "attachments.", "entities.", "in_reply_to_"} {
		if strings.HasPrefix(f.Parameter, p) {
			return true
		}
	}
	return false
}

// kind is what stands behind /problems/ in a type; the host before it is an old or a new one.
func kind(typ string) string { return typ[strings.LastIndex(typ, "/")+1:] }

// check reads the answers that the common rules would misunderstand.
func check(res *upstream.Response) error {
	if res.Status < 400 {
		return nil
	}
	var body struct {
		fault
		Errors []fault `json:"errors"`
	}
	_ = json.Unmarshal(res.Body, &body) // what is no JSON has no type and no errors
	switch res.Status {
	case http.StatusBadRequest:
		return badRequest(body.Errors)
	case http.StatusPaymentRequired:
		return providers.Unavailable(nil, "our account with X is out of credits")
	case http.StatusForbidden:
		if kind(body.Type) == "unsupported-authentication" {
			return providers.Unsupported("X does not serve this to our kind of access")
		}
	case http.StatusNotFound:
		if len(res.Body) == 0 || strings.Contains(res.URL.Path, "/search") {
			return providers.Unavailable(nil, "X does not know this address")
		}
	case http.StatusTooManyRequests:
		// X sends no Retry-After; the common rules read when the window ends.
		if kind(body.Type) == "usage-capped" || body.Title == "UsageCapExceeded" {
			return providers.Limited("our account with X has used up its month", time.Hour)
		}
	case http.StatusGatewayTimeout:
		return &providers.Error{Kind: providers.ErrTimeout, Detail: "X did not answer in time"}
	}
	return nil
}

// badRequest tells a dead cursor from a caller's fault and both from ours.
func badRequest(faults []fault) error {
	for _, f := range faults {
		for name := range f.Parameters {
			switch name {
			case "pagination_token", "next_token":
				return providers.ErrCursor
			case "tweet.fields", "post.fields":
				return providers.Unavailable(errWords, "X refused our request")
			case "start_time":
				return providers.Invalid("since must be in the past, and within the time that X searches")
			case "end_time":
				return providers.Invalid("until must be later than since, and within the time that X searches")
			case "query":
				return providers.Invalid("%s", strings.TrimSuffix("X cannot read this query: "+f.Message, ": "))
			case "id", "ids", "username", "usernames", "user_ids":
				return providers.Invalid("X cannot read this handle or id")
			}
		}
	}
	return providers.Unavailable(nil, "X refused our request")
}
