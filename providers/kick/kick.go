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
	"regexp"
	"strings"

	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/internal/links"
	"github.com/socialdata/socialdata/providers/internal/upstream"
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

		Normalize: normalize,
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
			"public/v1/channels", "public/v1/users", "public/v1/users/livestreams", "public/v2/livestreams", "public/v2/categories",
		),
		Forward: o.forward,
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

// errRefused is a 400: the upstream cannot read a parameter, which is the caller's.
var errRefused = &providers.Error{Kind: providers.ErrInvalid, Detail: "Kick cannot read this value"}

// check reads the refusals of the official interface, where what does not exist comes as an empty list: a 404 is an
// address that is wrong or was taken away.
func check(res *upstream.Response) error {
	switch res.Status {
	case http.StatusBadRequest:
		return errRefused
	case http.StatusNotFound, http.StatusGone:
		return providers.Unavailable(nil, "the upstream does not know this address")
	}
	return nil
}

var (
	slug = regexp.MustCompile(`^[a-z0-9-]{1,64}$`)
	uuid = regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$`)
	clip = regexp.MustCompile(`^clip_[0-9A-Za-z]{1,64}$`)
)

// reserved are paths of kick.com that are no channels.
var reserved = map[string]bool{
	"api": true, "browse": true, "categories": true, "category": true, "clips": true, "community-guidelines": true,
	"dashboard": true, "following": true, "privacy-policy": true, "search": true, "terms-of-service": true, "video": true,
}

// normalize reduces a handle to its slug, which is lower case and has - where the name has _; and a post to the UUID of
// a recording or the id of a clip.
func normalize(s providers.Subject, value string) (string, error) {
	link, err := links.Parse(value, "kick.com", "player.kick.com", "clips.kick.com")
	if err != nil {
		return "", err
	}
	if s == providers.Handle {
		if link != nil {
			value = link.Segment(0)
			if value == "popout" {
				value = link.Segment(1)
			}
		}
		value = strings.ToLower(strings.TrimPrefix(value, "@"))
		if value = strings.ReplaceAll(value, "_", "-"); !slug.MatchString(value) || link != nil && reserved[value] {
			return "", providers.Invalid("a Kick handle is a channel's name such as xqc, or its URL")
		}
		return value, nil
	}
	if link != nil {
		value = postOf(link)
	}
	if id := strings.ToLower(value); uuid.MatchString(id) {
		return id, nil
	}
	if !clip.MatchString(value) {
		return "", providers.Invalid("a Kick post is the UUID of a video, the id of a clip such as clip_01ABC, or the URL of either")
	}
	return value, nil
}

// postOf finds the recording or clip that a URL names, "" when it names none.
func postOf(l *links.Link) string {
	first, second, third := l.Segment(0), l.Segment(1), l.Segment(2)
	switch {
	case l.Query.Get("clip") != "":
		return l.Query.Get("clip")
	case second == "videos" || second == "clips":
		return third
	case first == "video" || first == "clips":
		return second
	}
	return ""
}
