// Package spotify reads the public catalogue with the Spotify Web API. Profiles are artists, posts are an artist's
// albums, collections are albums, playlists and podcasts, tracks are songs and episodes.
//
// It requires the client id and secret of an app. Apps in development mode get no follower counts, pages of ten, no top
// tracks and no playlists of others; an error says what an app may not read. Source:
// https://developer.spotify.com/documentation/web-api
package spotify

import (
	"cmp"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/upstream"
	"github.com/socialdata/socialdata/schema"
)

// Config configures the provider for Spotify.
type Config struct {
	ClientID     string       // of the app; required
	ClientSecret string       // of the app; required
	Market       string       // ISO 3166-1 alpha-2, the country whose catalogue is read; "" means US
	PageLimit    int          // of search and an artist's albums: 0 means 10, the maximum in development mode; at most 50
	BaseURL      string       // "" means https://api.spotify.com/v1
	TokenURL     string       // "" means https://accounts.spotify.com/api/token
	HTTP         *http.Client // nil means a client of its own
}

const (
	devLimit  = 10 // the largest page of search and an artist's albums in development mode
	pageLimit = 50 // of every other list, in both modes
)

// credentials are the query parameters by which a token may be sent.
// https://www.rfc-editor.org/rfc/rfc6750#section-2.3
var credentials = []string{"access_token"}

type client struct {
	http   *upstream.Client
	market string
	limit  int
}

// New returns the provider for the public Spotify catalogue.
func New(cfg Config) providers.Chain {
	c := newClient(cfg)
	p := providers.Provider{
		Name: "spotify", Platform: platform.Spotify, Source: schema.Official, Prompt: true,
		PageSizes: providers.PagesOf(strconv.Itoa(pageLimit), providers.OpCollectionTracks).
			And(strconv.Itoa(min(len(groups)*c.limit, largestPage)), providers.OpPosts, providers.OpCollections).
			And(strconv.Itoa(len(order)*c.limit), providers.OpSearch), // all types are searched at once
		Profile:          c.profile,
		Posts:            c.posts,
		Post:             c.post,
		Search:           c.search,
		Collections:      c.collections,
		Collection:       c.collection,
		CollectionTracks: c.collectionTracks,
		Track:            c.track,
		Tracks:           c.topTracks,

		Normalize: addresses.Normalize, Names: addresses.Names, Also: addresses.Also,
		Open: upstream.Opener(cfg.HTTP, shorteners...),
		Filters: map[providers.Op]providers.Filters{
			providers.OpSearch:           {"kind": {"profile", "track", "collection"}, "region": nil},
			providers.OpCollections:      {"kind": {"album"}},
			providers.OpCollection:       {"kind": {"album", "playlist", "podcast"}},
			providers.OpCollectionTracks: {"kind": {"album", "playlist", "podcast"}},
		},
		Notes: map[providers.Op]string{
			providers.OpProfile:          "artists; a handle is an artist's id or exact name; followers only for apps with extended quota",
			providers.OpPosts:            "an artist's albums, singles and compilations",
			providers.OpSearch:           "artists are profiles; albums, playlists and podcasts are collections; at most 1,000 results of each",
			providers.OpCollections:      "an artist's albums, singles and compilations, newest first",
			providers.OpCollection:       "without a kind an id is tried as album, playlist and podcast in turn",
			providers.OpCollectionTracks: "other users' playlists only for apps with extended quota",
			providers.OpTracks:           "the artist's top tracks in the configured market; only for apps with extended quota",
			providers.OpComments:         "Spotify has no comments",
			providers.OpSuggestions:      "Spotify has no public suggestions",
			providers.OpTranscript:       "Spotify does not publish lyrics or transcripts",
			providers.OpAudience:         "Spotify does not show the countries of an artist's listeners",
			providers.OpTrackPosts:       "Spotify has no posts that use a track",
		},
		Routes: providers.Routes(platform.Spotify,
			"artists/{id}", "artists/{id}/albums{?include_groups,market,limit,offset}", "artists/{id}/top-tracks{?market,country}",
			"artists/{id}/related-artists", "albums/{id}{?market}", "albums/{id}/tracks{?market,limit,offset}",
			"tracks/{id}{?market}", "shows/{id}{?market}", "shows/{id}/episodes{?market,limit,offset}", "episodes/{id}{?market}",
			"playlists/{id}{?market,fields,additional_types}",
			"playlists/{id}/tracks{?market,fields,limit,offset,additional_types}",
			"playlists/{id}/items{?market,fields,limit,offset,additional_types}",
			"search{?q,type,market,limit,offset,include_external}",
		),
		Subjects:    []string{"uri"},
		Forward:     c.http.Forward,
		Credentials: credentials,
		Owner:       providers.Owner{Words: []string{"me"}},
	}
	return providers.Chain{p.Requiring(map[string]string{"client_id": cfg.ClientID, "client_secret": cfg.ClientSecret})}
}

func newClient(cfg Config) *client {
	limit := devLimit
	if cfg.PageLimit > 0 {
		limit = min(cfg.PageLimit, pageLimit)
	}
	return &client{
		http: upstream.New(upstream.Config{
			HTTP: cfg.HTTP, Base: cmp.Or(cfg.BaseURL, "https://api.spotify.com/v1"), Check: check, Absent: isRefusal,
			Tokens: tokens(cfg), Credentials: credentials,
			Quota: upstream.NewQuota(0, 0), // one rolling limit for the app, whose size Spotify does not publish
		}),
		market: strings.ToUpper(cmp.Or(cfg.Market, "US")),
		limit:  limit,
	}
}

// tokens requests access tokens with the app's own credentials.
// https://developer.spotify.com/documentation/web-api/tutorials/client-credentials-flow
func tokens(cfg Config) *upstream.Tokens {
	address := cmp.Or(cfg.TokenURL, "https://accounts.spotify.com/api/token")
	r := upstream.Request{
		Header: http.Header{"Authorization": {upstream.Basic(cfg.ClientID, cfg.ClientSecret)}},
		Form:   url.Values{"grant_type": {"client_credentials"}},
	}
	if u, err := url.Parse(address); err == nil {
		r.Query = u.Query()
	}
	return upstream.ClientCredentials(upstream.New(upstream.Config{HTTP: cfg.HTTP, Base: address}), r)
}

// get returns a request for the configured market; without one, Spotify finds no podcasts.
func (c *client) get(segments ...string) upstream.Request {
	return upstream.Get(segments...).With("market", c.market)
}
