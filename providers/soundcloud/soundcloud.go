// Package soundcloud reads public SoundCloud data. Posts are the tracks that an account has put up; collections are its
// playlists and albums.
//
// There are two providers. The official one wants the client id and secret of an app. The own one reads what the website
// reads, with the client id that the website gives to everybody; it has suggestions and verified marks, and stands in
// where the first fails.
// Source: https://developers.soundcloud.com/docs/api/explorer/open-api
package soundcloud

import (
	"bytes"
	"cmp"
	"encoding/json"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"time"

	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/internal/links"
	"github.com/socialdata/socialdata/providers/internal/upstream"
	"github.com/socialdata/socialdata/schema"
)

// Config says how to reach SoundCloud.
type Config struct {
	ClientID     string       // of the app; needed for the official interface
	ClientSecret string       // of the app; needed for the official interface
	BaseURL      string       // "" means https://api.soundcloud.com
	TokenURL     string       // "" means https://secure.soundcloud.com/oauth/token
	HTTP         *http.Client // nil means a client of its own

	Own         providers.Own // reads the website's own interface; on by default
	OwnClientID string        // the website's client id; "" reads it off the website
	OwnURL      string        // "" means https://api-v2.soundcloud.com
	SiteURL     string        // "" means https://soundcloud.com
}

// New returns the providers for SoundCloud, in the order in which they are to be tried.
func New(cfg Config) providers.Chain {
	c := newClient(cfg)
	official := providers.Provider{
		Name: "soundcloud", Platform: platform.SoundCloud, Source: schema.Official,
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

		Normalize: normalize,
		Filters: map[providers.Op]providers.Filters{
			providers.OpSearch: {"kind": {"track", "post", "profile", "collection"}},
		},
		Notes: map[providers.Op]string{
			providers.OpPosts:       "the account's tracks",
			providers.OpSearch:      "tracks unless a kind is given",
			providers.OpReplies:     "comments are flat",
			providers.OpFollowers:   "served for other platforms only",
			providers.OpFollowing:   "served for other platforms only",
			providers.OpSuggestions: "only the website has them",
			providers.OpTranscript:  "SoundCloud has no transcripts",
			providers.OpLive:        "SoundCloud has no broadcasts",
			providers.OpTrackPosts:  "a track and its post are one",
		},
		Routes: providers.Routes(platform.SoundCloud,
			"users/{urn}", "users/{urn}/tracks", "users/{urn}/playlists", "users/{urn}/web-profiles", "tracks",
			"tracks/{urn}", "tracks/{urn}/comments", "tracks/{urn}/related", "playlists", "playlists/{urn}",
			"playlists/{urn}/tracks",
		),
		Forward: c.http.Forward,
	}
	official = official.Requiring(map[string]string{"client_id": cfg.ClientID, "client_secret": cfg.ClientSecret})
	return providers.Chain{official, newOwn(cfg).provider().IfOwn(cfg.Own, true)}
}

// client reads the official interface.
type client struct{ http *upstream.Client }

func newClient(cfg Config) *client {
	return &client{upstream.New(upstream.Config{
		HTTP: cfg.HTTP, Base: cmp.Or(cfg.BaseURL, "https://api.soundcloud.com"), Check: check,
		Header: http.Header{"Accept": {"application/json; charset=utf-8"}},
		Tokens: tokens(cfg), Scheme: "OAuth",
		Quota: upstream.NewQuota(0, 0), // SoundCloud counts nothing but tokens and plays
	})}
}

// check reads refusals. An empty 403 is a track or an account that is private or barred from apps.
// https://developers.soundcloud.com/docs/api/guide#errors
func check(res *upstream.Response) error {
	switch res.Status {
	case http.StatusForbidden:
		if len(bytes.TrimSpace(res.Body)) == 0 {
			return providers.NotFound("it is private on SoundCloud, or its owner keeps it from apps or from our country")
		}
	case http.StatusBadRequest:
		q := res.URL.Query()
		switch {
		case q.Has("cursor") || q.Has("offset"):
			return providers.ErrCursor
		case !q.Has("q"):
			return providers.NotFound("SoundCloud knows no such id")
		}
	case http.StatusTooManyRequests:
		return limited(res.Body, time.Now())
	case http.StatusGatewayTimeout:
		return &providers.Error{Kind: providers.ErrTimeout}
	}
	return nil
}

// limited reads when a limit starts anew, which stands in the body; nil leaves that to the common rules.
// https://developers.soundcloud.com/docs/api/rate-limits
func limited(body []byte, now time.Time) error {
	var answer struct {
		Errors []struct {
			Meta struct {
				Reset string `json:"reset_time"`
			} `json:"meta"`
		} `json:"errors"`
	}
	if json.Unmarshal(body, &answer) != nil || len(answer.Errors) == 0 {
		return nil
	}
	if t := date(answer.Errors[0].Meta.Reset); t != nil && t.After(now) {
		return &providers.Error{Kind: providers.ErrUnavailable, Detail: "SoundCloud limits our pace", RetryAfter: t.Sub(now)}
	}
	return nil
}

var (
	permalink = regexp.MustCompile(`^[a-z0-9_-]{1,100}$`)
	urn       = regexp.MustCompile(`^soundcloud:(users|tracks|playlists):([0-9]+)$`)
	short     = regexp.MustCompile(`^https://on\.soundcloud\.com/[A-Za-z0-9]+$`)
)

// reserved are paths of soundcloud.com that are no accounts.
var reserved = map[string]bool{
	"charts": true, "discover": true, "feed": true, "jobs": true, "library": true, "messages": true, "mobile": true, "pages": true,
	"people": true, "search": true, "settings": true, "stations": true, "stream": true, "tags": true, "upload": true, "you": true,
}

// normalize takes permalinks, ids, URNs and URLs. An account becomes its permalink; what else has a public page becomes
// its number or the path of that page, as in ann/tea or ann/sets/tea; a short link stays one.
func normalize(s providers.Subject, value string) (string, error) {
	link, err := links.Parse(value, "soundcloud.com", "on.soundcloud.com")
	if err != nil {
		return "", err
	}
	if link != nil && link.Host == "on.soundcloud.com" {
		value = "https://on.soundcloud.com/" + link.Segment(0)
		if !short.MatchString(value) {
			return "", providers.Invalid("%q is no short link of SoundCloud", value)
		}
		return value, nil
	}
	if link != nil {
		value = strings.Join(link.Segments, "/")
	}
	if s == providers.Handle {
		if m := urn.FindStringSubmatch(value); m != nil && m[1] == "users" {
			return value, nil
		}
		if link != nil {
			value = link.Segment(0)
		}
		value = strings.ToLower(strings.TrimPrefix(value, "@"))
		if !permalink.MatchString(value) || reserved[value] {
			return "", providers.Invalid("a SoundCloud handle is the name in the account's URL, such as pelican-song")
		}
		return value, nil
	}
	kind, set := "tracks", false
	if s == providers.CollectionID {
		kind, set = "playlists", true
	}
	if m := urn.FindStringSubmatch(value); m != nil && m[1] == kind {
		return m[2], nil
	}
	if links.Digits(value) {
		return value, nil
	}
	if path, ok := publicPath(strings.ToLower(value), set); ok {
		return path, nil
	}
	if set {
		return "", providers.Invalid("a SoundCloud collection is a playlist's number or URL")
	}
	return "", providers.Invalid("a SoundCloud post is a track's number or URL")
}

// publicPath tells whether path is the public page of a track, account/track, or of a set, account/sets/set. What follows,
// such as a private link's secret or the set that a track was played in, is left out.
func publicPath(path string, set bool) (string, bool) {
	parts := strings.Split(path, "/")
	n := 2
	if set {
		n = 3
	}
	if len(parts) < n || reserved[parts[0]] || (parts[1] == "sets") != set {
		return "", false
	}
	for _, p := range parts[:n] {
		if !permalink.MatchString(p) {
			return "", false
		}
	}
	return strings.Join(parts[:n], "/"), true
}

// site returns the public page of a normalized identifier that is no number.
func site(value string) string {
	if strings.HasPrefix(value, "https://") {
		return value
	}
	return (&url.URL{Scheme: "https", Host: "soundcloud.com", Path: "/" + value}).String()
}
