package x

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
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
	Value      string                     `json:"value"`      // in a 200, the requested value
	Parameter  string                     `json:"parameter"`  // in a 200
	Parameters map[string]json.RawMessage `json:"parameters"` // in a 400
}

// refusal returns the meaning of an answer with errors and without data. It is nil if none of them is about the thing
// itself.
func refusal(faults []fault) error {
	for _, f := range faults {
		switch {
		case f.aside():
		case strings.Contains(f.Detail, "suspended"):
			return providers.NotFound("the account is suspended")
		case kind(f.Type) == "not-authorized-for-resource":
			return providers.NotFound("the account is protected or suspended")
		case kind(f.Type) == "resource-not-found":
			return providers.NotFound("X has no such account, post, space or community")
		default:
			return providers.Unavailable(errors.New(f.Title), "X refused our request")
		}
	}
	return nil
}

// aside reports whether f is about an object that the answer only refers to.
func (f fault) aside() bool {
	for _, p := range []string{"referenced_", "pinned_", "attachments.", "entities.", "in_reply_to_"} {
		if strings.HasPrefix(f.Parameter, p) {
			return true
		}
	}
	return false
}

// kind returns the part of a type after /problems/; the host before it may be the old or the new one.
func kind(typ string) string { return typ[strings.LastIndex(typ, "/")+1:] }

// check handles answers that the common rules would misinterpret.
func check(res *upstream.Response) error {
	if res.Status < 400 {
		return nil
	}
	var body struct {
		fault
		Errors []fault `json:"errors"`
	}
	_ = json.Unmarshal(res.Body, &body) // without JSON there are no type and no errors
	switch res.Status {
	case http.StatusBadRequest:
		return badRequest(body.Errors)
	case http.StatusPaymentRequired:
		return providers.Unavailable(nil, "our account with X is out of credits")
	case http.StatusForbidden:
		if kind(body.Type) == "unsupported-authentication" {
			return providers.Unsupported("X does not serve this at our access level")
		}
	case http.StatusTooManyRequests:
		// X sends no Retry-After; the common rules use the end of the window.
		if kind(body.Type) == "usage-capped" || body.Title == "UsageCapExceeded" {
			return providers.Limited("our account with X has used up its monthly quota", time.Hour)
		}
	case http.StatusGatewayTimeout:
		return &providers.Error{Kind: providers.ErrTimeout, Detail: "X did not answer in time"}
	}
	return nil
}

// absent reports whether a 404 has an error body of the API; a search never has a reason for one.
func absent(res *upstream.Response) bool {
	return !strings.Contains(res.URL.Path, "/search") && saysNotFound(res)
}

var saysNotFound = upstream.Says(func(r struct {
	fault
	Errors []fault `json:"errors"`
},
) bool {
	return r.Title != "" && r.Type != "" || slices.ContainsFunc(r.Errors, func(f fault) bool { return kind(f.Type) == "resource-not-found" })
})

// absentEmbed reports whether a 404 has the empty object with which embeds answer for what does not exist.
func absentEmbed(res *upstream.Response) bool { return string(bytes.TrimSpace(res.Body)) == "{}" }

// badRequest distinguishes an expired cursor, an error of the caller, and an error of ours.
func badRequest(faults []fault) error {
	for _, f := range faults {
		for name := range f.Parameters {
			switch name {
			case "pagination_token", "next_token":
				return providers.ErrCursor
			case "tweet.fields", "post.fields":
				return providers.Unavailable(errWords, "X refused our request")
			case "start_time":
				return providers.Invalid("since must be in the past, and within the period that X searches")
			case "end_time":
				return providers.Invalid("until must be later than since, and within the period that X searches")
			case "query":
				return providers.Invalid("%s", strings.TrimSuffix("X rejects this query: "+f.Message, ": "))
			case "id", "ids", "username", "usernames", "user_ids":
				return providers.Invalid("X rejects this handle or id")
			}
		}
	}
	return providers.Unavailable(nil, "X refused our request")
}
