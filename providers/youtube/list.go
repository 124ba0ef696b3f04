package youtube

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/internal/upstream"
)

// list is the answer of every list call. It has no items, rather than an error, when an id does not exist.
type list[T any] struct {
	Items []upstream.Object[T] `json:"items"`
	Next  string               `json:"nextPageToken"` // absent on the last page
}

// get reads a list, counted against the daily units unless r says otherwise.
func get[T any](ctx context.Context, c *client, r upstream.Request) (list[T], error) {
	var l list[T]
	err := c.read(ctx, r, &l)
	return l, err
}

func (c *client) read(ctx context.Context, r upstream.Request, dst any) error {
	if r.Quota == nil {
		r.Quota = c.units
	}
	_, err := c.http.JSON(ctx, r, dst)
	if errors.Is(err, errUsedUp) {
		r.Quota.Close(reset(time.Now()))
	}
	return err
}

func (c *client) forward(ctx context.Context, path string, query url.Values) (json.RawMessage, error) {
	r := upstream.Request{Path: []string{path}, Query: query}
	if path == "search" {
		r.Quota = c.search
	}
	var raw json.RawMessage
	err := c.read(ctx, r, &raw)
	return raw, err
}

// errUsedUp says that a day's quota is spent.
var errUsedUp = errors.New("youtube: the day's quota is used up")

// reset returns when the daily quotas start anew: midnight in California.
// https://developers.google.com/youtube/v3/determine_quota_cost
func reset(now time.Time) time.Time {
	pacific, err := time.LoadLocation("America/Los_Angeles")
	if err != nil { // a system without time zones: an hour late in summer
		pacific = time.FixedZone("PST", -8*60*60)
	}
	y, m, d := now.In(pacific).Date()
	return time.Date(y, m, d+1, 0, 0, 0, 0, pacific)
}

// failure is the body of an answer that is no success.
// https://developers.google.com/youtube/v3/docs/errors
type failure struct {
	Error struct {
		Message string `json:"message"` // may hold HTML
		Errors  []struct {
			Reason   string `json:"reason"`
			Location string `json:"location"` // the parameter at fault
		} `json:"errors"`
		Details []struct {
			Reason string `json:"reason"`
		} `json:"details"`
	} `json:"error"`
}

// check tells YouTube's refusals apart: a private or closed thing, a spent quota, our own key and a dead page token
// all come as 400 or 403.
func check(res *upstream.Response) error {
	var f failure
	if res.Status < 400 || res.Status >= 500 || res.Status == http.StatusTooManyRequests || json.Unmarshal(res.Body, &f) != nil {
		return nil
	}
	reason, location := "", ""
	if len(f.Error.Errors) > 0 {
		reason, location = f.Error.Errors[0].Reason, f.Error.Errors[0].Location
	}
	for _, d := range f.Error.Details {
		if d.Reason == "API_KEY_INVALID" || d.Reason == "SERVICE_DISABLED" {
			reason = d.Reason
		}
	}
	switch reason {
	case "invalidPageToken":
		return providers.ErrCursor
	case "channelNotFound", "videoNotFound", "playlistNotFound", "commentNotFound":
		return providers.NotFound("no such %s", strings.TrimSuffix(reason, "NotFound"))
	case "commentsDisabled":
		return providers.NotFound("comments are disabled on this video")
	case "playlistItemsNotAccessible":
		return providers.NotFound("this playlist is private")
	case "channelClosed", "channelSuspended":
		return providers.NotFound("this channel is closed")
	case "quotaExceeded", "dailyLimitExceeded":
		now := time.Now()
		return &providers.Error{
			Kind: providers.ErrUnavailable, Detail: "the day's quota at YouTube is used up",
			RetryAfter: reset(now).Sub(now), Err: errUsedUp,
		}
	case "rateLimitExceeded", "userRateLimitExceeded":
		return &providers.Error{Kind: providers.ErrUnavailable, Detail: "YouTube limits our pace", RetryAfter: time.Minute}
	case "keyInvalid", "API_KEY_INVALID", "accessNotConfigured", "SERVICE_DISABLED", "ipRefererBlocked":
		return providers.Unavailable(errors.New(reason), "YouTube refused our API key")
	case "invalidRegionCode":
		return providers.Invalid("YouTube does not know this region")
	}
	switch {
	case res.Status == http.StatusForbidden && strings.HasSuffix(res.URL.Path, "/playlistItems") &&
		strings.Contains(f.Error.Message, "does not have permission"):
		return providers.NotFound("this playlist is private")
	case res.Status == http.StatusBadRequest && slices.Contains(identifiers, location):
		return providers.NotFound("the id has not the form of YouTube's")
	}
	return nil
}

// identifiers are the parameters that hold what the caller asked for: when YouTube finds fault with one, there is no
// such thing.
var identifiers = []string{"id", "forHandle", "forUsername", "channelId", "videoId", "playlistId", "parentId"}
