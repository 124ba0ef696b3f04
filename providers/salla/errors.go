package salla

import (
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/upstream"
	"github.com/socialdata/socialdata/providers/kit/wire"
)

// refusal is the body of an error response. It repeats the status, and may come with a 200.
// https://docs.salla.dev
type refusal struct {
	Status  wire.Count `json:"status"`
	Success wire.Bool  `json:"success"`
	Error   struct {
		Message string              `json:"message"`
		Fields  map[string][]string `json:"fields"`
	} `json:"error"`
}

// check handles the refusals of both APIs, which have the same form.
func check(res *upstream.Response) error {
	var r refusal
	_ = json.Unmarshal(res.Body, &r) // any other body is ignored
	switch status := r.status(res.Status); {
	case status == http.StatusUnauthorized:
		return providers.Unavailable(nil, "%s", r.unauthorized())
	case status == http.StatusUnprocessableEntity && res.Input:
		return providers.Invalid("Salla rejects this value: %s", r.reason())
	case res.Status >= 300:
		return nil // the common rules apply
	case status == http.StatusNotFound, status == http.StatusGone:
		return providers.ErrNotFound
	case status >= 300 || r.Success.V != nil && !*r.Success.V:
		return providers.Unavailable(nil, "Salla answered with the error %d in a response with status 200", status)
	}
	return nil
}

// absent reports whether a 404 or 410 has Salla's error body, which repeats the status.
var absent = upstream.Says(func(r refusal) bool {
	status := r.status(0)
	return status == http.StatusNotFound || status == http.StatusGone
})

// status returns the worse of the HTTP status and the status in the body.
func (r refusal) status(outside int) int {
	if r.Status.V != nil && *r.Status.V < 1000 {
		return max(outside, int(*r.Status.V))
	}
	return outside
}

// unauthorized distinguishes a missing scope, which the operator can fix, from a token that is no longer valid.
func (r refusal) unauthorized() string {
	const needs = "should have access to one of those scopes:"
	if _, scope, ok := strings.Cut(r.Error.Message, needs); ok {
		return "the store's token lacks the scope " + strings.TrimSpace(scope)
	}
	return "Salla refuses the store's token: it has expired, the store is closed, or the store has removed the app"
}

func (r refusal) reason() string {
	var all []string
	for _, field := range slices.Sorted(maps.Keys(r.Error.Fields)) {
		all = append(all, r.Error.Fields[field]...)
	}
	if all == nil {
		return r.Error.Message
	}
	return strings.Join(all, " ")
}
