// Package snapchat reads public Snapchat data. Posts are what a profile's page shows: its Spotlight videos and the
// snaps of its story, which expires after a day. Highlights are collections.
//
// There are two providers. The official one requires an app that Snapchat has admitted to its Public Profile API. It
// alone can search, and it has accounts but none of their posts. The own one reads the public pages of the site.
// Source: https://developers.snap.com/api/marketing-api/Public-Profile-API/Introduction
package snapchat

import (
	"cmp"
	"net/http"
	"net/url"

	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/upstream"
	"github.com/socialdata/socialdata/schema"
)

// Config configures the providers for Snapchat.
type Config struct {
	ClientID     string // of the app; needed for the official API, as are the next two
	ClientSecret string // of the app
	RefreshToken string // of the person who authorized the app, with the scope snapchat-profile-api
	// Own reads the public pages, which Snapchat refuses to some data centres; on by default.
	Own providers.Own

	BaseURL string       // of the official API; "" means https://businessapi.snapchat.com
	AuthURL string       // of its tokens; "" means https://accounts.snapchat.com
	WebURL  string       // of the site; "" means https://www.snapchat.com
	HTTP    *http.Client // nil means a client of its own
}

// New returns the providers for Snapchat, in the order in which they are tried.
func New(cfg Config) providers.Chain {
	return providers.Chain{newOfficial(cfg), newOwn(cfg).IfOwn(cfg.Own, true)}
}

// credentials are the query parameters in which Snapchat accepts credentials.
var credentials = []string{"access_token", "client_id", "client_secret", "refresh_token"}

// client reads the Public Profile API.
type client struct{ http *upstream.Client }

func newOfficial(cfg Config) providers.Provider {
	c := client{upstream.New(upstream.Config{
		HTTP: cfg.HTTP, Base: cmp.Or(cfg.BaseURL, "https://businessapi.snapchat.com"), Tokens: tokens(cfg), Check: check,
		Credentials: credentials, Quota: upstream.NewQuota(0, 0),
	})}
	p := providers.Provider{
		Name: "snapchat", Platform: platform.Snapchat, Source: schema.Official, Prompt: true,
		PageSizes: providers.PagesOf(pageSize, providers.OpSearch),
		Profile:   c.profile,
		Search:    c.find,

		Normalize: addresses.Normalize, Names: addresses.Names, Also: addresses.Also,
		Filters: map[providers.Op]providers.Filters{providers.OpSearch: {"kind": {"profile"}}},
		Notes:   notes,
		Routes: providers.Routes(platform.Snapchat,
			"public/v1/public_profiles/search{?query,limit,tier,category,cursor}", "public/v1/public_profiles/{id}",
		),
		Forward:     c.http.Forward,
		Credentials: credentials,
		Owner:       providers.Owner{Words: []string{"me", "my_profile"}},
	}
	return p.Requiring(map[string]string{
		"client_id": cfg.ClientID, "client_secret": cfg.ClientSecret, "refresh_token": cfg.RefreshToken,
	})
}

// tokens exchanges the refresh token for access tokens, which are valid for less than an hour.
// https://developers.snap.com/api/marketing-api/Ads-API/authentication
func tokens(cfg Config) *upstream.Tokens {
	c := upstream.New(upstream.Config{HTTP: cfg.HTTP, Base: cmp.Or(cfg.AuthURL, "https://accounts.snapchat.com")})
	return upstream.ClientCredentials(c, upstream.Request{
		Path: []string{"login/oauth2/access_token"},
		Form: url.Values{
			"client_id": {cfg.ClientID}, "client_secret": {cfg.ClientSecret},
			"grant_type": {"refresh_token"}, "refresh_token": {cfg.RefreshToken},
		},
	})
}

// notes are what a user should know about Snapchat, and why it offers no more.
var notes = map[providers.Op]string{
	providers.OpProfile:         "an account without a public profile has a name and a picture only",
	providers.OpPosts:           "the official API only has accounts",
	providers.OpReels:           "the official API only has accounts",
	providers.OpPost:            "the official API only has accounts",
	providers.OpCollections:     "the official API only has accounts",
	providers.OpSearch:          "public profiles; Snapchat has no public search for posts",
	providers.OpComments:        "only Snapchat's own app shows comments",
	providers.OpReplies:         "only Snapchat's own app shows comments",
	providers.OpFollowers:       "Snapchat shows the number of subscribers, but no list of them",
	providers.OpFollowing:       "Snapchat does not show which accounts an account follows",
	providers.OpSuggestions:     "Snapchat has no public suggestions",
	providers.OpTrending:        "Snapchat has no public list of popular posts",
	providers.OpTranscript:      "Snapchat has no public captions",
	providers.OpCollection:      "Snapchat only shows highlights on the page of their account: use collections",
	providers.OpCollectionPosts: "Snapchat only shows highlights on the page of their account: use collections",
	providers.OpTrack:           "Snapchat has no public pages of sounds",
	providers.OpTracks:          "Snapchat has no public pages of sounds",
	providers.OpTrackPosts:      "Snapchat has no public pages of sounds",
	providers.OpAudience:        "Snapchat only shows it to the account's owner",
	providers.OpLive:            "Snapchat has no public broadcasts",
	providers.OpCommunity:       "Snapchat has no public communities",
	providers.OpProducts:        "Snapchat has no public list of products",
	providers.OpEvents:          "Snapchat lists no events",
}
