package kwai

import (
	"encoding/json"
	"net/http"
	"strings"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/upstream"
	"github.com/socialdata/socialdata/providers/kit/wire"
)

const gone = 1016001002 // the result for a video that is gone

// check handles the refusals of the site, of which some have the status 200.
func check(res *upstream.Response) error {
	if res.Status == http.StatusNotFound {
		if strings.Contains(res.URL.Path, "/rest/") { // such a status says nothing about the requested thing
			return providers.Unavailable(nil, "Kwai has moved the API of its own pages")
		}
		return providers.NotFound("Kwai has no such page")
	}
	var a struct {
		Result wire.Count `json:"result"`
	}
	if json.Unmarshal(res.Body, &a) == nil && a.Result.V != nil && *a.Result.V == gone {
		return providers.NotFound("the video has been deleted")
	}
	return nil
}
