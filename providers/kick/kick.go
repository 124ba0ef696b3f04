// Package kick reads public Kick data. Profiles are channels, posts are recorded broadcasts, reels are clips.
//
// The official API needs the client id and secret of an app. It has channels and their current broadcasts, but no
// recordings, no clips and no counts. The API of the website has all of these, but a bot check refuses most servers,
// and Kick's terms forbid scraping: it is off unless Config.Own switches it on.
//
// Sources: https://docs.kick.com and the answers that https://kick.com gets from its API.
package kick

import (
	"cmp"
	"net/http"
	"strings"

	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/upstream"
	"github.com/socialdata/socialdata/schema"
)

// Config configures the providers for Kick.
type Config struct {
	ClientID     string        // of the app; required for the official API
	ClientSecret string        // of the app; required for the official API
	Own          providers.Own // reads the website's API; off by default
	BaseURL      string        // of the official API; "" means https://api.kick.com
	TokenURL     string        // "" means https://id.kick.com/oauth/token
	OwnURL       string        // of the website; "" means https://kick.com
	HTTP         *http.Client  // nil means a client of its own

	// Batch is the maximum number of channels in one request to the official API; 0 means 50, the number in its
	// documentation, and 1 means one request for each channel.
	Batch int
}

// New returns the providers for Kick, in the order in which they are tried: the official API, and the website's API.
func New(cfg Config) providers.Chain {
	return providers.Chain{newOfficial(cfg), newOwn(cfg)}
}

// official reads the official API.
type official struct{ http *upstream.Client }

func newOfficial(cfg Config) providers.Provider {
	o := &official{upstream.New(upstream.Config{
		HTTP: cfg.HTTP, Base: cmp.Or(cfg.BaseURL, "https://api.kick.com"), Check: check, Tokens: tokens(cfg),
		Quota: upstream.NewQuota(0, 0), // Kick does not document its limit
	})}
	p := providers.Provider{
		Name: "kick", Platform: platform.Kick, Source: schema.Official, Prompt: true,
		Profile: o.profile,
		Live:    o.live,

		Normalize: addresses.Normalize, Names: addresses.Names, Also: addresses.Also,
		Notes: map[providers.Op]string{
			providers.OpProfile:     "without the number of followers and the verified badge, which Kick's API does not have",
			providers.OpSearch:      "Kick's API cannot search channels, and its website uses a third party for that",
			providers.OpSuggestions: "Kick's API has no suggestions",
			providers.OpComments:    "Kick only shows the chat of a recording on its website",
			providers.OpReplies:     "Kick only shows the chat of a recording on its website",
			providers.OpFollowers:   "Kick does not show lists of followers",
			providers.OpTrending:    "Kick shows live channels, but no popular recordings",
			providers.OpTranscript:  "Kick has no transcripts",
		},
		Routes: providers.Routes(platform.Kick,
			"public/v1/channels{?slug,broadcaster_user_id}", "public/v1/users{?id}", "public/v1/users/livestreams{?user_id}",
			"public/v2/livestreams{?category_id,language_code,limit,cursor}",
			"public/v2/categories{?id,name,tag,limit,cursor}",
		),
		Subjects: []string{"slug"},
		Forward:  o.forward,
	}
	if most := cmp.Or(cfg.Batch, 50); most > 1 {
		p.Batches.Profile = providers.Batch[schema.Profile]{Most: most, Read: o.profiles}
		p.Batches.Live = providers.Batch[schema.LiveStream]{Most: most, Read: o.lives}
	}
	p = p.Requiring(map[string]string{"client_id": cfg.ClientID, "client_secret": cfg.ClientSecret})
	if !p.Serves(providers.OpProfile) {
		delete(p.Notes, providers.OpProfile) // the note belongs to the website's provider
	}
	return p
}

// tokens requests access tokens with the app's credentials.
// https://docs.kick.com/getting-started/generating-tokens-oauth2-flow
func tokens(cfg Config) *upstream.Tokens {
	return upstream.AppTokens(cfg.HTTP, cmp.Or(cfg.TokenURL, "https://id.kick.com/oauth/token"), cfg.ClientID, cfg.ClientSecret)
}

// check leaves everything except a 400 to the common rules.
func check(res *upstream.Response) error {
	if res.Status == http.StatusBadRequest {
		return res.Malformed("Kick")
	}
	return nil
}

// absent reports whether a 404 has an error body of the website's API. The official API never has one: it answers with
// an empty list for what does not exist.
var absent = upstream.Says(func(r struct{ Message string }) bool { return strings.Contains(r.Message, "Not Found") })
