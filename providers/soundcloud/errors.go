package soundcloud

import (
	"bytes"
	"encoding/json"
	"net/http"
	"time"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/upstream"
)

// check handles refusals. An empty 403 means a track or an account that is private or not available to apps.
// https://developers.soundcloud.com/docs/api/guide#errors
func check(res *upstream.Response) error {
	switch res.Status {
	case http.StatusForbidden:
		if len(bytes.TrimSpace(res.Body)) == 0 {
			return providers.NotFound("it is private on SoundCloud, or not available to apps or in our country")
		}
	case http.StatusBadRequest:
		q := res.URL.Query()
		switch {
		case q.Has("cursor") || q.Has("offset"):
			return providers.ErrCursor
		case !q.Has("q") && isRefusal(res):
			return providers.NotFound("SoundCloud has no such id")
		}
		return res.Malformed("SoundCloud")
	case http.StatusTooManyRequests:
		return limited(res.Body, time.Now())
	case http.StatusGatewayTimeout:
		return &providers.Error{Kind: providers.ErrTimeout}
	}
	return nil
}

// refusal is the body of an error response.
type refusal struct {
	Code   json.RawMessage `json:"code"` // absent before 2021
	Errors []struct {
		Message string `json:"error_message"`
		Meta    struct {
			Reset string `json:"reset_time"`
		} `json:"meta"`
	} `json:"errors"`
}

// isRefusal reports whether a response has an error body of the API.
var isRefusal = upstream.Says(func(r refusal) bool { return r.Code != nil || len(r.Errors) > 0 })

// isRefusalOwn reports whether a 404 has an error body of the website's API, which is an empty object.
func isRefusalOwn(res *upstream.Response) bool {
	return string(bytes.TrimSpace(res.Body)) == "{}" || isRefusal(res)
}

// limited returns the error for an exhausted limit, with the time of its reset from the body. It returns nil if the
// body has none: then the common rules apply.
// https://developers.soundcloud.com/docs/api/rate-limits
func limited(body []byte, now time.Time) error {
	var answer refusal
	if json.Unmarshal(body, &answer) != nil || len(answer.Errors) == 0 {
		return nil
	}
	if t := date(answer.Errors[0].Meta.Reset); t != nil && t.After(now) {
		return providers.Limited("SoundCloud is rate limiting us", t.Sub(now))
	}
	return nil
}

// errClientID means that the website's client id is no longer valid.
var errClientID = &providers.Error{Kind: providers.ErrUnavailable, Detail: "SoundCloud has changed its website's client id"}

func checkOwn(res *upstream.Response) error {
	switch res.Status {
	case http.StatusUnauthorized, http.StatusForbidden:
		return errClientID
	case http.StatusBadRequest:
		if q := res.URL.Query(); q.Has("offset") {
			return providers.ErrCursor
		}
	case http.StatusGatewayTimeout:
		return &providers.Error{Kind: providers.ErrTimeout}
	}
	return nil
}
