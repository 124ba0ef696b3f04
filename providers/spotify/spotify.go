// Package spotify reads the public catalogue from the Spotify Web API. Profiles are artists, posts are an artist's
// albums, collections are albums, playlists and podcasts, tracks are songs and episodes.
//
// It needs the client id and secret of an app. Apps in development mode get no follower counts, pages of ten, no top
// tracks and no playlists of others; what an app may not read is said in the error.
// Source: https://developer.spotify.com/documentation/web-api
package spotify

import (
	"bytes"
	"cmp"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/internal/links"
	"github.com/socialdata/socialdata/providers/internal/upstream"
	"github.com/socialdata/socialdata/schema"
)

// Config says how to reach Spotify.
type Config struct {
	ClientID     string       // of the app; needed
	ClientSecret string       // of the app; needed
	Market       string       // ISO 3166-1 alpha-2: whose catalogue is read; "" means US
	PageLimit    int          // of search and an artist's albums: 0 means 10, the most in development mode; 50 at most
	BaseURL      string       // "" means https://api.spotify.com/v1
	TokenURL     string       // "" means https://accounts.spotify.com/api/token
	HTTP         *http.Client // nil means a client of its own
}

const (
	devLimit  = 10 // the largest page of search and an artist's albums in development mode
	pageLimit = 50 // of every other list, in either mode
)

type client struct {
	http   *upstream.Client
	market string
	limit  int
}

// New returns the provider for the public Spotify catalogue.
func New(cfg Config) providers.Chain {
	c := newClient(cfg)
	p := providers.Provider{
		Name: "spotify", Platform: platform.Spotify, Source: schema.Official,
		Profile:          c.profile,
		Posts:            c.posts,
		Post:             c.post,
		Search:           c.search,
		Collections:      c.collections,
		Collection:       c.collection,
		CollectionTracks: c.collectionTracks,
		Track:            c.track,
		Tracks:           c.topTracks,

		Normalize: normalize,
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
			providers.OpCollectionTracks: "playlists of others only for apps with extended quota",
			providers.OpTracks:           "the artist's top tracks in the configured market; only for apps with extended quota",
			providers.OpComments:         "Spotify has no comments",
			providers.OpSuggestions:      "Spotify has no public suggestions",
			providers.OpTranscript:       "Spotify gives out no lyrics or transcripts",
			providers.OpAudience:         "Spotify tells nobody where an artist's listeners live",
			providers.OpTrackPosts:       "Spotify has no posts that use a track",
		},
		Routes: providers.Routes(platform.Spotify,
			"artists/{id}", "artists/{id}/albums", "artists/{id}/top-tracks", "artists/{id}/related-artists",
			"albums/{id}", "albums/{id}/tracks", "tracks/{id}", "shows/{id}", "shows/{id}/episodes", "episodes/{id}",
			"playlists/{id}", "playlists/{id}/tracks", "playlists/{id}/items", "search",
		),
		Forward: c.http.Forward,
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
			HTTP: cfg.HTTP, Base: cmp.Or(cfg.BaseURL, "https://api.spotify.com/v1"), Check: check,
			Tokens: tokens(cfg),
			Quota:  upstream.NewQuota(0, 0), // one rolling limit for the app, of a size that Spotify does not publish
		}),
		market: strings.ToUpper(cmp.Or(cfg.Market, "US")),
		limit:  limit,
	}
}

// tokens asks for an access token with the app's own credentials.
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

// get returns a request whose answer is about the configured market; without one, podcasts do not exist.
func (c *client) get(segments ...string) upstream.Request {
	return upstream.Get(segments...).With("market", c.market)
}

var (
	errLimit     = &providers.Error{Kind: providers.ErrUnavailable, Detail: "Spotify refuses the page size"}
	errForbidden = &providers.Error{Kind: providers.ErrUnavailable, Detail: "Spotify does not let this app read that"}
)

// check reads refusals, whose body is an object, plain text or nothing.
// https://developer.spotify.com/documentation/web-api/concepts/api-calls#response-error
func check(res *upstream.Response) error {
	said := bytes.ToLower(bytes.TrimSpace(res.Body))
	says := func(word string) bool { return bytes.Contains(said, []byte(word)) }
	switch res.Status {
	case http.StatusBadRequest:
		switch {
		case len(said) == 0, says("invalid limit"):
			return errLimit
		case says("market"):
			return providers.Invalid("Spotify does not know that region")
		case strings.HasSuffix(res.URL.Path, "/search"):
			return nil
		}
		return providers.NotFound("Spotify has no such id")
	case http.StatusForbidden:
		if says("premium") {
			return providers.Unavailable(nil, "Spotify wants the owner of the app to hold a Premium subscription")
		}
		return errForbidden
	case http.StatusMethodNotAllowed, http.StatusGone, http.StatusNotImplemented: // a route that was taken away
		return errForbidden
	}
	return nil
}

var id = regexp.MustCompile(`^[0-9A-Za-z]{22}$`)

// normalize takes ids, URIs such as spotify:artist:0TnOYISbd1XYRBk9myaseg and URLs. The id of a collection whose kind
// is known keeps it, as in album/3IqzqH6ShrRtie9Yd2ODyG, and so does an episode among tracks.
func normalize(s providers.Subject, value string) (string, error) {
	kind, key, err := split(value)
	if err != nil {
		return "", err
	}
	if key != "" && !id.MatchString(key) {
		return "", providers.Invalid("a Spotify id has 22 letters and digits, such as 0TnOYISbd1XYRBk9myaseg")
	}
	is := func(kinds ...string) bool { return slices.Contains(kinds, kind) }
	switch s {
	case providers.Handle:
		if key == "" { // a name, which is looked up without regard to case
			return strings.ToLower(strings.Join(strings.Fields(value), " ")), nil
		}
		if is("", "artist") {
			return key, nil
		}
		return "", providers.Invalid("a Spotify handle is an artist's id, URL or name")
	case providers.CollectionID:
		if is("album", "playlist", "show") {
			return kind + "/" + key, nil
		}
		if key != "" && is("") {
			return key, nil
		}
		return "", providers.Invalid("a Spotify collection is the id or URL of an album, a playlist or a podcast")
	case providers.TrackID:
		if is("episode") {
			return kind + "/" + key, nil
		}
		if key != "" && is("", "track") {
			return key, nil
		}
		return "", providers.Invalid("a Spotify track is the id or URL of a song or an episode")
	default:
		if key != "" && is("", "album") {
			return key, nil
		}
		return "", providers.Invalid("a Spotify post is an album's id or URL")
	}
}

// split takes value apart into the kind of object that it names, "" when it does not tell, and its id, "" when value is
// no id, URI or URL.
func split(value string) (kind, key string, err error) {
	link, err := links.Parse(value, "open.spotify.com", "play.spotify.com")
	switch {
	case err != nil:
		return "", "", err
	case link != nil:
		for len(link.Segments) > 0 && (strings.HasPrefix(link.Segments[0], "intl-") || link.Segments[0] == "embed" || link.Segments[0] == "user" && len(link.Segments) > 2) {
			if link.Segments[0] == "user" { // user/{name}/playlist/{id}, the old form
				link.Segments = link.Segments[1:]
			}
			link.Segments = link.Segments[1:]
		}
		kind, key = link.Segment(0), link.Segment(1)
		if key == "" {
			return "", "", providers.Invalid("%q names nothing on Spotify", value)
		}
		return kind, key, nil
	}
	if rest, ok := strings.CutPrefix(value, "spotify:"); ok {
		parts := strings.Split(rest, ":")
		if len(parts) < 2 {
			return "", "", providers.Invalid("%q names nothing on Spotify", value)
		}
		return parts[len(parts)-2], parts[len(parts)-1], nil
	}
	if kind, key, ok := strings.Cut(value, "/"); ok && id.MatchString(key) { // our own form
		return kind, key, nil
	}
	if id.MatchString(value) {
		return "", value, nil
	}
	return "", "", nil
}
