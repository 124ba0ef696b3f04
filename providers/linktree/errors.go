package linktree

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/island"
	"github.com/socialdata/socialdata/providers/kit/upstream"
	"github.com/socialdata/socialdata/providers/kit/wire"
)

var errRobots = providers.Unavailable(nil, "Cloudflare blocks our requests to Linktree")

// check recognizes the challenge that Cloudflare sends instead of a page, whatever its status.
// https://developers.cloudflare.com/cloudflare-challenges/challenge-types/challenge-pages/detect-response/
func check(res *upstream.Response) error {
	if res.Header.Get("Cf-Mitigated") == "challenge" {
		return errRobots
	}
	if res.Status != http.StatusForbidden && res.Status != http.StatusServiceUnavailable && res.Status != http.StatusOK {
		return nil
	}
	if p := island.Read(res.Body); p.Script(dataID) == nil && strings.HasPrefix(p.Title, "Just a moment") {
		return errRobots
	}
	return nil
}

// isAbsent reports whether d is the data of Linktree's page for what does not exist.
func (d *data) isAbsent() bool {
	var p struct {
		Status wire.Count `json:"statusCode"`
	}
	_ = json.Unmarshal(d.Props.PageProps, &p) // an object, or null
	return p.Status.V != nil && *p.Status.V == http.StatusNotFound || d.Page == "/_error" || d.Page == "/404"
}

// saysAbsent reports whether a 404 is that page.
func saysAbsent(res *upstream.Response) bool {
	var d data
	return json.Unmarshal(island.Read(res.Body).Script(dataID), &d) == nil && d.isAbsent()
}

// absent returns why a page shows no account: the account does not exist, or the page's format has changed.
func absent(ctx context.Context, d *data) error {
	if d.isAbsent() {
		return providers.NotFound("there is no such Linktree page")
	}
	return wire.Need(ctx, "pageProps.account", false)
}
