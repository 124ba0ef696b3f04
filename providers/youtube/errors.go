package youtube

import (
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/island"
	"github.com/socialdata/socialdata/providers/kit/text"
	"github.com/socialdata/socialdata/providers/kit/upstream"
)

// reset returns when the daily quotas reset: midnight in California.
// https://developers.google.com/youtube/v3/determine_quota_cost
func reset(now time.Time) time.Time {
	pacific, err := time.LoadLocation("America/Los_Angeles")
	if err != nil { // on a system without time zones: an hour late in summer
		pacific = time.FixedZone("PST", -8*60*60)
	}
	y, m, d := now.In(pacific).Date()
	return time.Date(y, m, d+1, 0, 0, 0, 0, pacific)
}

// failure is the body of an error response.
// https://developers.google.com/youtube/v3/docs/errors
type failure struct {
	Error struct {
		Message string `json:"message"` // may contain HTML
		Errors  []struct {
			Reason   string `json:"reason"`
			Location string `json:"location"` // the invalid parameter
		} `json:"errors"`
		Details []struct {
			Reason string `json:"reason"`
		} `json:"details"`
	} `json:"error"`
}

// errNoPlaylist means that there is no such playlist. The playlist of a channel's uploads does not exist until there
// are any.
var errNoPlaylist = providers.NotFound("no such playlist")

// check distinguishes YouTube's refusals: private or disabled things, a used-up quota, an invalid key and an expired
// page token all have status 400 or 403.
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
	case "playlistNotFound":
		return errNoPlaylist
	case "channelNotFound", "videoNotFound", "commentNotFound":
		return providers.NotFound("no such %s", strings.TrimSuffix(reason, "NotFound"))
	case "commentsDisabled":
		return providers.NotFound("comments are disabled on this video")
	case "playlistItemsNotAccessible":
		return providers.NotFound("this playlist is private")
	case "channelClosed", "channelSuspended":
		return providers.NotFound("this channel is closed")
	case "quotaExceeded", "dailyLimitExceeded":
		now := time.Now()
		return providers.Limited("the daily quota at YouTube is used up", reset(now).Sub(now))
	case "rateLimitExceeded", "userRateLimitExceeded":
		return providers.Limited("YouTube is rate limiting us", time.Minute)
	case "keyInvalid", "API_KEY_INVALID", "accessNotConfigured", "SERVICE_DISABLED", "ipRefererBlocked":
		return providers.Unavailable(errors.New(reason), "YouTube refused our API key")
	case "invalidRegionCode":
		return providers.Invalid("YouTube does not support this region")
	}
	switch {
	case res.Status == http.StatusForbidden && strings.HasSuffix(res.URL.Path, "/playlistItems") &&
		strings.Contains(f.Error.Message, "does not have permission"):
		return providers.NotFound("this playlist is private")
	case res.Status == http.StatusBadRequest && slices.Contains(identifiers, location):
		return providers.NotFound("this is not a valid YouTube id")
	case res.Status == http.StatusBadRequest && res.Input && f.Error.Message != "":
		return providers.Invalid("YouTube refuses the search: %s", text.FromHTML(f.Error.Message))
	}
	return nil
}

// absent reports whether a 404 has an error body of the API about a missing thing.
var absent = upstream.Says(func(f failure) bool {
	return len(f.Error.Errors) > 0 && strings.HasSuffix(strings.ToLower(f.Error.Errors[0].Reason), "notfound")
})

// absentFeed reports whether a 404 is Google's page for it.
func absentFeed(res *upstream.Response) bool {
	return strings.HasPrefix(island.Read(res.Body).Title, "Error 404 (Not Found)!!1")
}

// identifiers are the parameters that contain the requested id: if YouTube rejects one, there is no such thing.
var identifiers = []string{"id", "forHandle", "forUsername", "channelId", "videoId", "playlistId", "parentId"}
