// Package soundcloud reads public SoundCloud data. Posts are the tracks that an account has uploaded; collections are
// its playlists and albums.
//
// There are two providers. The official one requires the client id and secret of an app. The own one reads the
// website's own API with the website's public client id. It has suggestions and verified marks, and is used when the
// first fails. Source: https://developers.soundcloud.com/docs/api/explorer/open-api
package soundcloud

import (
	"cmp"
	"net/http"

	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/upstream"
	"github.com/socialdata/socialdata/schema"
)

// Config configures the providers for SoundCloud.
type Config struct {
	ClientID     string       // of the app; needed for the official API
	ClientSecret string       // of the app; needed for the official API
	BaseURL      string       // "" means https://api.soundcloud.com
	TokenURL     string       // "" means https://secure.soundcloud.com/oauth/token
	HTTP         *http.Client // nil means a client of its own

	Own         providers.Own // reads the website's own API; on by default
	OwnClientID string        // the website's client id; "" reads it off the website
	OwnURL      string        // "" means https://api-v2.soundcloud.com
	SiteURL     string        // "" means https://soundcloud.com
}

// credentials are the query parameters in which SoundCloud accepts, or once accepted, credentials; the last one gives
// access to private tracks.
var credentials = []string{"client_id", "client_secret", "oauth_token", "access_token", "secret_token"}

// New returns the providers for SoundCloud, in the order in which they are tried.
func New(cfg Config) providers.Chain {
	c := newClient(cfg)
	official := providers.Provider{
		Name: "soundcloud", Platform: platform.SoundCloud, Source: schema.Official, Prompt: true,
		PageSizes: providers.PagesOf(pageSize, providers.OpPosts, providers.OpSearch, providers.OpComments,
			providers.OpCollections, providers.OpTracks),
		Profile:          c.profile,
		Linked:           c.linked,
		Posts:            c.posts,
		Post:             c.post,
		Search:           c.search,
		Comments:         c.comments,
		Collections:      c.collections,
		Collection:       c.collection,
		CollectionTracks: c.collectionTracks,
		Track:            c.track,
		Tracks:           c.tracks,

		Normalize: addresses.Normalize, Names: addresses.Names, Also: addresses.Also,
		Open: upstream.Opener(cfg.HTTP, "on.soundcloud.com"),
		Filters: map[providers.Op]providers.Filters{
			providers.OpPosts:  providers.NewestFirst(),
			providers.OpSearch: {"kind": {"track", "post", "profile", "collection"}},
		},
		Notes: map[providers.Op]string{
			providers.OpPosts:       "the account's tracks",
			providers.OpSearch:      "tracks unless a kind is given",
			providers.OpReplies:     "comments have no replies",
			providers.OpFollowers:   "only offered on other platforms",
			providers.OpFollowing:   "only offered on other platforms",
			providers.OpSuggestions: "only the website has them",
			providers.OpTranscript:  "SoundCloud has no transcripts",
			providers.OpLive:        "SoundCloud has no broadcasts",
			providers.OpTrackPosts:  "a track is the same as its post",
		},
		Routes: providers.Routes(platform.SoundCloud,
			"users/{urn}", "users/{urn}/tracks{?access,sort"+paging, "users/{urn}/playlists{?show_tracks"+paging,
			"users/{urn}/web-profiles{?limit}",
			"tracks{?q,ids,urns,genres,tags,bpm[from],bpm[to],duration[from],duration[to],created_at[from],created_at[to],access"+
				paging,
			"tracks/{urn}", "tracks/{urn}/comments{?threaded,filter_replies"+paging, "tracks/{urn}/related{?access"+paging,
			"playlists{?q,show_tracks,access"+paging, "playlists/{urn}{?access}", "playlists/{urn}/tracks{?access"+paging,
		),
		Subjects:    []string{"permalink", "urn"},
		Forward:     c.http.Forward,
		Credentials: credentials,
		Owner:       providers.Owner{Words: []string{"me"}},
	}
	official = official.Requiring(map[string]string{"client_id": cfg.ClientID, "client_secret": cfg.ClientSecret})
	return providers.Chain{official, newOwn(cfg).provider().IfOwn(cfg.Own, true)}
}

// client reads the official API.
type client struct{ http *upstream.Client }

// paging is the end of the URI template of a list.
const paging = ",limit,offset,cursor,linked_partitioning}"

func newClient(cfg Config) *client {
	return &client{upstream.New(upstream.Config{
		HTTP: cfg.HTTP, Base: cmp.Or(cfg.BaseURL, "https://api.soundcloud.com"), Check: check, Absent: isRefusal,
		Header: http.Header{"Accept": {"application/json; charset=utf-8"}},
		Tokens: tokens(cfg), Scheme: "OAuth", Credentials: credentials,
		Quota: upstream.NewQuota(0, 0), // SoundCloud only limits tokens and plays
	})}
}
