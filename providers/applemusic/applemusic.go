// Package applemusic reads the public catalogue of Apple Music. Profiles are artists, posts are an artist's albums,
// collections are albums and playlists.
//
// There are two providers. The documented iTunes Search interface wants no key and answers first; the Apple Music
// interface wants a developer token, has playlists and suggestions, and stands in where the first fails. With a token
// the first takes an artist's picture and biography from the second.
// Source: https://developer.apple.com/library/archive/documentation/AudioVideo/Conceptual/iTuneSearchAPI/
// Source: https://developer.apple.com/documentation/applemusicapi/
package applemusic

import (
	"cmp"
	"net/http"
	"regexp"
	"strings"
	"time"

	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/internal/links"
	"github.com/socialdata/socialdata/providers/internal/upstream"
	"github.com/socialdata/socialdata/schema"
)

// Config says how to reach Apple Music.
type Config struct {
	Country    string       // the storefront, ISO 3166-1 alpha-2; "" means US
	BaseURL    string       // of the iTunes Search interface; "" means https://itunes.apple.com
	CatalogURL string       // of the Apple Music interface; "" means https://api.music.apple.com/v1
	HTTP       *http.Client // nil means a client of its own

	// The Apple Music interface wants a developer token, or what one is made of.
	DeveloperToken string // a token that is ready; it ends within six months
	TeamID         string // or the developer team's id,
	KeyID          string // the id of its MusicKit key
	PrivateKey     string // and that key: the text of the .p8 file

	// Quota is Apple's limit on itunes.apple.com, which all that read there from one address share; nil means one of
	// its own.
	Quota *Quota
}

// Quota is a limit that several providers may share.
type Quota = upstream.Quota

// NewQuota returns Apple's limit on itunes.apple.com: about 20 reads a minute for an address.
func NewQuota() *Quota { return upstream.NewQuota(20, time.Minute) }

// New returns the providers for Apple Music, in the order in which they are to be tried.
func New(cfg Config) providers.Chain {
	catalog, here := newCatalog(cfg)
	c := newClient(cfg)
	if here {
		c.catalog = catalog
	}
	itunes := providers.Provider{
		Name: "apple_music", Platform: platform.AppleMusic, Source: schema.Official,
		Profile:          c.profile,
		Posts:            c.posts,
		Post:             c.post,
		Search:           c.search,
		Collections:      c.collections,
		Collection:       c.collection,
		CollectionTracks: c.collectionTracks,
		Track:            c.track,

		Normalize: normalize,
		Filters: map[providers.Op]providers.Filters{
			providers.OpSearch:           {"kind": {"track", "collection", "profile"}, "region": nil},
			providers.OpCollections:      {"kind": {"album"}},
			providers.OpCollection:       {"kind": {"album", "playlist"}},
			providers.OpCollectionTracks: {"kind": {"album", "playlist"}},
		},
		Notes: map[providers.Op]string{
			providers.OpProfile:          "artists; a handle is an artist's id or exact name; picture and biography need a developer token",
			providers.OpPosts:            "an artist's albums, at most 200",
			providers.OpSearch:           "tracks unless a kind is given; at most 200 results",
			providers.OpCollections:      "an artist's albums, newest first",
			providers.OpCollection:       "playlists need a developer token",
			providers.OpCollectionTracks: "at most 200 of an album; playlists need a developer token",
			providers.OpTracks:           "Apple has no list of an artist's tracks; see collection/tracks",
			providers.OpComments:         "Apple Music has no comments",
			providers.OpFollowers:        "Apple Music shows no followers",
			providers.OpReviews:          "the reviews feed is for apps",
			providers.OpTranscript:       "Apple gives out no lyrics",
			providers.OpTrackPosts:       "Apple Music has no posts that use a track",
		},
		Routes:  providers.Routes(platform.AppleMusic, "lookup", "search"),
		Forward: c.http.Forward,
	}
	full := catalog.provider()
	if !here {
		full = full.Without("developer_token")
	}
	return providers.Chain{itunes, full}
}

// client reads the iTunes Search interface.
type client struct {
	http    *upstream.Client
	country string   // lower case
	catalog *catalog // nil without a developer token
}

func newClient(cfg Config) *client {
	quota := cfg.Quota
	if quota == nil {
		quota = NewQuota()
	}
	return &client{
		http: upstream.New(upstream.Config{
			HTTP: cfg.HTTP, Base: cmp.Or(cfg.BaseURL, "https://itunes.apple.com"), Quota: quota, Check: check,
		}),
		country: strings.ToLower(cmp.Or(cfg.Country, "us")),
	}
}

// check knows that beyond the limit Apple answers 403, mostly without a word, and does not say for how long.
// https://developer.apple.com/library/archive/documentation/AudioVideo/Conceptual/iTuneSearchAPI/Searching.html
func check(res *upstream.Response) error {
	switch res.Status {
	case http.StatusForbidden:
		return &providers.Error{Kind: providers.ErrUnavailable, Detail: "Apple limits our pace", RetryAfter: time.Minute}
	case http.StatusBadRequest:
		return providers.Invalid("Apple does not know that region, or cannot read the query")
	}
	return nil
}

var playlistID = regexp.MustCompile(`^pl\.[A-Za-z0-9-]+$`)

// normalize takes ids and the URLs of any storefront. An artist may also be named.
func normalize(s providers.Subject, value string) (string, error) {
	link, err := links.Parse(value, "music.apple.com", "geo.music.apple.com", "itunes.apple.com", "geo.itunes.apple.com")
	if err != nil {
		return "", err
	}
	kind, id := "", value
	if link != nil {
		kind, id = object(link)
	}
	is := func(one string) bool { return kind == one || link == nil }
	switch s {
	case providers.Handle:
		if link == nil && !links.Digits(id) { // a name, which is looked up without regard to case
			return strings.ToLower(strings.Join(strings.Fields(id), " ")), nil
		}
		if is("artist") && links.Digits(id) {
			return id, nil
		}
		return "", providers.Invalid("an Apple Music handle is an artist's id, URL or name")
	case providers.TrackID:
		if link != nil && kind == "album" {
			kind, id = "song", link.Query.Get("i")
		}
		if is("song") && links.Digits(id) {
			return id, nil
		}
		return "", providers.Invalid("an Apple Music track is a song's id or URL")
	case providers.CollectionID:
		if is("album") && links.Digits(id) || is("playlist") && playlistID.MatchString(id) {
			return id, nil
		}
		return "", providers.Invalid("an Apple Music collection is the id or URL of an album or a playlist")
	default:
		if is("album") && links.Digits(id) {
			return id, nil
		}
		return "", providers.Invalid("an Apple Music post is an album's id or URL")
	}
}

// object takes the kind and the id out of a path such as us/album/some-words/1728639278 or, of old, us/album/id1728639278.
func object(link *links.Link) (kind, id string) {
	segments := link.Segments
	if len(segments) > 0 && len(segments[0]) == 2 {
		segments = segments[1:]
	}
	if len(segments) < 2 {
		return "", ""
	}
	return segments[0], strings.TrimPrefix(segments[len(segments)-1], "id")
}
