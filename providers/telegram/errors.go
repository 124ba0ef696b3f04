package telegram

import (
	"encoding/json"
	"net/http"
	"time"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/upstream"
)

var (
	// errElsewhere means that t.me redirects, which is how it says that there is no preview.
	errElsewhere = &providers.Error{Kind: providers.ErrUnavailable, Detail: "Telegram redirects to another page"}

	errNoChannel = providers.NotFound("no public channel or group has this name")
	errNoPreview = providers.NotFound("this channel has no public preview of its posts")
	errGroup     = providers.Unsupported("Telegram has no public list of a group's messages")
	errPerson    = providers.Unsupported("this is not a channel, so Telegram lists no posts")
	errService   = providers.NotFound("this is a service message, not a post")
	errHidden    = providers.Unsupported("Telegram only shows this post in its app")
	errNoPost    = providers.NotFound("Telegram shows no such post")
)

// checkWeb handles refusals of t.me, of which there are few: most are pages with status 200.
func checkWeb(res *upstream.Response) error {
	switch res.Status {
	case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther, http.StatusTemporaryRedirect,
		http.StatusPermanentRedirect:
		return errElsewhere
	case http.StatusForbidden:
		return providers.Unavailable(nil, "Telegram answers with a captcha instead of the page")
	}
	return nil
}

// refusal is an error response of the Bot API.
// https://core.telegram.org/bots/api#making-requests
type refusal struct {
	Code        int    `json:"error_code"`
	Description string `json:"description"`
	Parameters  struct {
		RetryAfter int64 `json:"retry_after"` // seconds
	} `json:"parameters"`
}

// checkBot handles refusals of the Bot API. It knows only public channels and groups, so the public pages may show what
// it does not find.
func checkBot(res *upstream.Response) error {
	var r refusal
	if json.Unmarshal(res.Body, &r) != nil {
		r = refusal{}
	}
	switch res.Status {
	case http.StatusBadRequest, http.StatusForbidden:
		if r.Code == 0 {
			return providers.Unavailable(nil, "the answer is not one of the Bot API")
		}
		return providers.NotHere("the Bot API does not see this account")
	case http.StatusUnauthorized, http.StatusNotFound: // for an invalid token, the Bot API says that there is no such page
		return providers.Unavailable(nil, "Telegram refuses the bot token")
	case http.StatusTooManyRequests:
		if r.Parameters.RetryAfter > 0 {
			return providers.Limited("Telegram is rate limiting the bot", time.Duration(r.Parameters.RetryAfter)*time.Second)
		}
	}
	return nil
}
