// Package kick reads public Kick data. Profiles are channels, posts are recorded broadcasts, reels are clips.
//
// The official interface needs the client id and secret of an app; it knows channels and what they broadcast, but
// neither recordings nor clips, and tells no counts. What the website itself reads has all of that, but stands behind a
// bot check that refuses most servers, and Kick's terms forbid scraping: it is off unless Config.Own switches it on.
// Sources: https://docs.kick.com and the answers that https://kick.com reads.
package kick

import (
	"cmp"
	"net/http"

	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/upstream"
	"github.com/socialdata/socialdata/schema"
)

// Config says how to reach Kick.
type Config struct {
	ClientID     string        // of the app; the official interface needs it
	ClientSecret string        // of the app; the official interface needs it
	Own          providers.Own // reads what the website itself reads; off by default
	BaseURL      string        // of the official interface; "" means https://api.kick.com
	TokenURL     string        // "" means https://id.kick.com/oauth/token
	OwnURL       string        // of the website; "" means https://kick.com
	HTTP         *http.Client  // nil means a client of its own

	// Batch is how many channels one request of the official interface asks for; 0 means 50, which its documentation is quoted
	// with, and 1 asks for each by itself.
	Batch int
}

// New returns the providers for Kick, in the order in which they are to be tried: the official interface, and what the
// website reads.
func New(cfg Config) providers.Chain {
	return providers.Chain{newOfficial(cfg), newOwn(cfg)}
}

// official reads the documented interface.
type official struct{ http *upstream.Client }

func newOfficial(cfg Config) providers.Provider {
	o := &official{upstream.New(upstream.Config{
		HTTP: cfg.HTTP, Base: cmp.Or(cfg.BaseURL, "https://api.kick.com"), Check: check, Tokens: tokens(cfg),
		Quota: upstream.NewQuota(0, 0), // Kick documents no number
	})}
	p := providers.Provider{
		Name: "kick", Platform: platform.Kick, Source: schema.Official,
		Profile: o.profile,
		Live:    o.live,

		Normalize: addresses.Normalize, Names: addresses.Names, Also: addresses.Also,
		Notes: map[providers.Op]string{
			providers.OpProfile:     "without followers and verified mark, which Kick's interface does not tell",
			providers.OpSearch:      "Kick's interface cannot search channels, and the website asks a third party",
			providers.OpSuggestions: "Kick's interface has no suggestions",
			providers.OpComments:    "Kick keeps the chat of a recording to its website",
			providers.OpReplies:     "Kick keeps the chat of a recording to its website",
			providers.OpFollowers:   "Kick shows nobody the list of followers",
			providers.OpTrending:    "Kick tells who is on air, not which recordings are popular",
			providers.OpTranscript:  "Kick has no transcripts",
		},
		Routes: providers.Routes(platform.Kick,
			"public/v1/channels{?slug,broadcaster_user_id}", "public/v1/users{?id}", "public/v1/users/livestreams{?user_id}",
			"public/v2/livestreams{?category_id,language_code,limit,cursor}",
			"public/v2/categories{?id,name,tag,limit,cursor}",
		),
		Forward: o.forward,
	}
	if most := cmp.Or(cfg.Batch, 50); most > 1 {
		p.Batches.Profile = providers.Batch[schema.Profile]{Most: most, Read: o.profiles}
		p.Batches.Live = providers.Batch[schema.LiveStream]{Most: most, Read: o.lives}
	}
	p = p.Requiring(map[string]string{"client_id": cfg.ClientID, "client_secret": cfg.ClientSecret})
	if !p.Serves(providers.OpProfile) {
		delete(p.Notes, providers.OpProfile) // what is to be known of it is for the website to say
	}
	return p
}

// tokens asks for an access token with the app's own credentials.
// https://docs.kick.com/getting-started/generating-tokens-oauth2-flow
func tokens(cfg Config) *upstream.Tokens {
	return upstream.AppTokens(cfg.HTTP, cmp.Or(cfg.TokenURL, "https://id.kick.com/oauth/token"), cfg.ClientID, cfg.ClientSecret)
}
