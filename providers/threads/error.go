package threads

import (
	"encoding/json"
	"strings"
	"time"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/internal/upstream"
)

// check reads the code of an error: status and type differ from one part of the interface to the other.
// https://developers.facebook.com/docs/threads/troubleshooting/error-codes
func check(res *upstream.Response) error {
	if res.Status < 400 {
		return nil
	}
	var body struct {
		Error struct {
			Code    int `json:"code"`
			Subcode int `json:"error_subcode"`
		} `json:"error"`
	}
	if json.Unmarshal(res.Body, &body) != nil {
		return nil
	}
	switch code := body.Error.Code; {
	case code == 100 && body.Error.Subcode == 33:
		return providers.NotFound("Threads knows no such account or post, or does not show it")
	case code == 100 && res.URL.Query().Has("after"):
		return providers.ErrCursor
	case code == 100 && strings.HasSuffix(res.URL.Path, "/keyword_search"):
		return providers.Invalid("Threads cannot read this query")
	case code == 100:
		return providers.NotFound("Threads knows no such account or post")
	case code == 190:
		return providers.Unavailable(nil, "Threads refuses our token")
	case code == 10, code >= 200 && code < 300:
		return providers.Unsupported("Threads does not show this to our app: it may be missing, private, or have fewer than 100 followers")
	case code == 4, code == 17, code == 32, code == 613:
		return &providers.Error{Kind: providers.ErrUnavailable, Detail: "Threads limits our pace", RetryAfter: time.Minute}
	}
	return nil
}
