package upstream

import (
	"encoding/json"
	"time"

	"github.com/socialdata/socialdata/providers"
)

// RetryAfter returns how long the upstream wants us to wait, if the response has the Retry-After header.
func (r *Response) RetryAfter() (wait time.Duration, told bool) {
	return retryAfter(r.Header, time.Now())
}

// Malformed returns [providers.ErrInvalid] for a 400 with a message: site, such as "Twitch", does not accept a
// parameter. If no words of the caller were sent it returns nil, which leaves the answer to the common rules.
func (r *Response) Malformed(site string) error {
	var refusal struct {
		Message string `json:"message"`
	}
	if !r.Input || json.Unmarshal(r.Body, &refusal) != nil || refusal.Message == "" {
		return nil
	}
	return providers.Invalid("%s cannot read this value: %s", site, refusal.Message)
}
