package linktree

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/internal/island"
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

// absent returns why a page shows no account: the account does not exist, or the page's format has changed.
func absent(ctx context.Context, d *data) error {
	var p struct {
		Status wire.Count `json:"statusCode"`
	}
	_ = json.Unmarshal(d.Props.PageProps, &p) // an object, or null
	if p.Status.V != nil && *p.Status.V == http.StatusNotFound || d.Page == "/_error" || d.Page == "/404" {
		return providers.NotFound("there is no such Linktree page")
	}
	return wire.Need(ctx, "pageProps.account", false)
}
