package reddit

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/upstream"
	"github.com/socialdata/socialdata/providers/kit/wire"
)

// check distinguishes refusals with the same status.
func check(res *upstream.Response) error {
	if res.Status >= 300 && res.Status < 400 {
		return &movedError{res.Header.Get("Location")}
	}
	var answer refusal
	if res.Status < 400 || json.Unmarshal(res.Body, &answer) != nil {
		return nil
	}
	switch answer.Reason {
	case "USER_DOESNT_EXIST":
		return providers.NotFound("no such account")
	case "private", "gold_only":
		return providers.NotFound("this community is private")
	case "quarantined", "gated":
		return providers.NotFound("this community is quarantined")
	case "banned":
		return providers.NotFound("this community is banned")
	}
	return nil
}

// refusal is the body of an error response.
type refusal struct {
	Reason string     `json:"reason"`
	Status wire.Count `json:"error"`
}

// absent reports whether a 404 has Reddit's error body, which repeats the status.
var absent = upstream.Says(func(r refusal) bool { return r.Status.V != nil && *r.Status.V == http.StatusNotFound })

// movedError is a redirect that was not followed.
type movedError struct{ to string }

// Error returns a text with the target of the redirect.
func (e *movedError) Error() string { return fmt.Sprintf("moved to %q", e.to) }

// Unwrap distinguishes a name that does not exist, for which Reddit redirects to its search, from a redirect to the
// login page and from others.
func (e *movedError) Unwrap() error {
	u, err := url.Parse(e.to)
	switch {
	case err != nil:
	case strings.HasPrefix(u.Path, "/subreddits/search"):
		return providers.NotFound("no such community")
	case strings.HasPrefix(u.Path, "/login"):
		return providers.Walled("Reddit asks for a login")
	}
	return providers.Unavailable(nil, "Reddit redirects to another page")
}

// checkToken recognizes refusals with status 200.
func checkToken(res *upstream.Response) error {
	var answer struct {
		Error json.RawMessage `json:"error"`
	}
	if res.Status == http.StatusOK && json.Unmarshal(res.Body, &answer) == nil && len(answer.Error) > 0 {
		return providers.Unavailable(nil, "Reddit refused our credentials")
	}
	return nil
}
