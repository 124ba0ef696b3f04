package upstream

import "time"

// RetryAfter returns how long the upstream wants us to stay away, when it says so in the header of that name.
func (r *Response) RetryAfter() (wait time.Duration, told bool) {
	return retryAfter(r.Header, time.Now())
}
