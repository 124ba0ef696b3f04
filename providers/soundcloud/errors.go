package soundcloud

import (
	"bytes"
	"encoding/json"
	"net/http"
	"time"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/upstream"
)

// check reads refusals. An empty 403 is a track or an account that is private or barred from apps.
// https://developers.soundcloud.com/docs/api/guide#errors
func check(res *upstream.Response) error {
	switch res.Status {
	case http.StatusForbidden:
		if len(bytes.TrimSpace(res.Body)) == 0 {
			return providers.NotFound("it is private on SoundCloud, or its owner keeps it from apps or from our country")
		}
	case http.StatusBadRequest:
		q := res.URL.Query()
		switch {
		case q.Has("cursor") || q.Has("offset"):
			return providers.ErrCursor
		case !q.Has("q"):
			return providers.NotFound("SoundCloud knows no such id")
		}
		return res.Malformed("SoundCloud")
	case http.StatusTooManyRequests:
		return limited(res.Body, time.Now())
	case http.StatusGatewayTimeout:
		return &providers.Error{Kind: providers.ErrTimeout}
	}
	return nil
}

// limited reads when a limit starts anew, which stands in the body; nil leaves that to the common rules.
// https://developers.soundcloud.com/docs/api/rate-limits
func limited(body []byte, now time.Time) error {
	var answer struct {
		Errors []struct {
			Meta struct {
				Reset string `json:"reset_time"`
			} `json:"meta"`
		} `json:"errors"`
	}
	if json.Unmarshal(body, &answer) != nil || len(answer.Errors) == 0 {
		return nil
	}
	if t := date(answer.Errors[0].Meta.Reset); t != nil && t.After(now) {
		return providers.Limited("SoundCloud limits our pace", t.Sub(now))
	}
	return nil
}

// errClientID says that the website's client id is no longer good.
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
