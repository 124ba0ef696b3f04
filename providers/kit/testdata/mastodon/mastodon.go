// Package mastodon reads public accounts of one Mastodon server. It is a module of its own: the repository of
// socialdata contains nothing of it but this copy, which a test builds.
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

// Config configures the provider for one server.
type Config struct {
	BaseURL string       // "" means https://mastodon.social
	HTTP    *http.Client // nil means a client of its own
}

type client struct{ http *upstream.Client }

// New returns the provider.
func New(cfg Config) providers.Chain {
	c := &client{upstream.New(upstream.Config{
		HTTP: cfg.HTTP, Base: cmp.Or(cfg.BaseURL, site), Check: check,
	})}
	return providers.Chain{{
		Name: "mastodon", Platform: Platform.ID, Source: schema.Official,
		Profile:   c.profile,
		Normalize: normalize,
		Names:     names,
	}}
}
