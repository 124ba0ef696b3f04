// Package mastodon reads public accounts of one server of Mastodon. It is a module of its own: nothing of it is in the
// repository of socialdata but this copy, which a test builds.
//
// Source: https://docs.joinmastodon.org/methods/accounts/#lookup
package mastodon

import (
	"cmp"
	"net/http"

	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/upstream"
	"github.com/socialdata/socialdata/schema"
)

// Platform is for socialdata.WithPlatform.
var Platform = platform.Info{ID: "mastodon", Name: "Mastodon", BaseCredits: 1, Meaning: "handles are of one server"}

const site = "https://mastodon.social"

// Config says how to reach the server.
type Config struct {
	BaseURL string       // "" means https://mastodon.social
	HTTP    *http.Client // nil means a client of its own
}

type client struct{ http *upstream.Client }

// New returns the upstream.
func New(cfg Config) providers.Chain {
	c := &client{upstream.New(upstream.Config{
		HTTP: cfg.HTTP, Base: cmp.Or(cfg.BaseURL, site), Check: check,
	})}
	return providers.Chain{{
		Name: "mastodon", Platform: Platform.ID, Source: schema.Official,
		Profile:   c.profile,
		Normalize: normalize,
	}}
}
