package upstream

import (
	"encoding/json"
	"time"

	"github.com/socialdata/socialdata/providers"
)

// RetryAfter returns how long the upstream wants us to stay away, when it says so in the header of that name.
func (r *Response) RetryAfter() (wait time.Duration, told bool) {
	return retryAfter(r.Header, time.Now())
}

// Malformed returns the [providers.ErrInvalid] of a 400 that holds a message: site, named as in "Twitch", cannot read a
// parameter. It returns nil, which leaves the answer to the common rules, where no words of the caller were sent.
func (r *Response) Malformed(site string) error {
	var refusal struct {
		Message string `json:"message"`
	}
	if !r.Input || json.Unmarshal(r.Body, &refusal) != nil || refusal.Message == "" {
		return nil
	}
	return providers.Invalid("%s cannot read this value: %s", site, refusal.Message)
}
