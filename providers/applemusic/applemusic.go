// Package applemusic reads the public catalog of Apple Music. Profiles are artists, posts are an artist's albums,
// collections are albums and playlists. An id without a prefix is that of a thing in the configured storefront;
// sa:1440935467 is an album in the Saudi one.
//
// There are two providers. The documented iTunes Search API needs no key and is tried first. The Apple Music API needs
// a developer token; it adds playlists and suggestions, and is the fallback for the first. With a token the first
// provider gets an artist's picture and biography from the second.
//
// Sources:
// https://developer.apple.com/library/archive/documentation/AudioVideo/Conceptual/iTuneSearchAPI/
// https://developer.apple.com/documentation/applemusicapi/
package applemusic

import (
	"cmp"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/links"
	"github.com/socialdata/socialdata/providers/kit/upstream"
	"github.com/socialdata/socialdata/schema"
)

// Config configures the providers for Apple Music.
type Config struct {
	Country    string       // the storefront, ISO 3166-1 alpha-2; "" means US
	BaseURL    string       // of the iTunes Search API; "" means https://itunes.apple.com
	CatalogURL string       // of the Apple Music API; "" means https://api.music.apple.com/v1
	HTTP       *http.Client // nil means a client of its own

	// The Apple Music API needs a developer token, or the credentials to create one.
	DeveloperToken string // a finished token; it expires within six months
	TeamID         string // alternatively the developer team's id,
	KeyID          string // the id of its MusicKit key
	PrivateKey     string // and the private key: the text of the .p8 file

	// Batch is the maximum number of ids in one look-up; 0 means 200, Apple's maximum number of results, and 1 means
	// one request for each id. Apple documents that several ids are allowed, but not how many.
	Batch int

	// Quota is Apple's limit on itunes.apple.com, which is shared by everything that reads there from one address; nil
	// means a limit for this provider alone.
	Quota *Quota
}

// Quota is a limit that several providers may share.
type Quota = upstream.Quota

// NewQuota returns Apple's limit on itunes.apple.com: about 20 reads a minute for each address.
func NewQuota() *Quota { return upstream.NewQuota(20, time.Minute) }

// New returns the providers for Apple Music, in the order in which they are tried.
func New(cfg Config) providers.Chain {
	catalog, here := newCatalog(cfg)
	c := newClient(cfg)
	site := addresses(c.markets)
	if here {
		c.catalog = catalog
	}
	itunes := providers.Provider{
		Name: "apple_music", Platform: platform.AppleMusic, Source: schema.Official, Prompt: true,
		PageSizes: providers.PagesOf(strconv.Itoa(pageSize), providers.OpPosts, providers.OpSearch,
			providers.OpCollections, providers.OpCollectionTracks),
		Limits:           upstream.Limits(map[string]*upstream.Quota{"searches": c.http.Quota()}),
		Profile:          c.profile,
		Posts:            c.posts,
		Post:             c.post,
		Search:           c.search,
		Collections:      c.collections,
		Collection:       c.collection,
		CollectionTracks: c.collectionTracks,
		Track:            c.track,

		Normalize: site.Normalize, Names: site.Names, Also: site.Also, Country: site.CountryOf, InCountry: site.InCountry,
		Filters: map[providers.Op]providers.Filters{
			providers.OpProfile:          {"region": nil},
			providers.OpPost:             {"region": nil},
			providers.OpTrack:            {"region": nil},
			providers.OpSearch:           {"kind": {"track", "collection", "profile"}, "region": nil},
			providers.OpCollections:      {"kind": {"album"}},
			providers.OpCollection:       {"kind": {"album", "playlist"}, "region": nil},
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
			providers.OpTranscript:       "Apple does not publish lyrics",
			providers.OpTrackPosts:       "Apple Music has no posts that use a track",
		},
		// Both omit callback, which would turn the answer into a script.
		Routes: providers.Routes(platform.AppleMusic,
			"lookup{?id,amgArtistId,amgAlbumId,amgVideoId,upc,isbn,bundleId,entity,media,country,lang,limit,sort}",
			"search{?term,country,media,entity,attribute,genreId,limit,offset,lang,version,explicit}",
		),
		Forward: c.http.Forward,
	}
	if most := min(cmp.Or(cfg.Batch, longestAnswer), longestAnswer); most > 1 {
		itunes.Batches = providers.Batches{
			Profile:    providers.Batch[schema.Profile]{Most: most, Bytes: longestKeys, Read: c.profiles},
			Post:       providers.Batch[schema.Post]{Most: most, Bytes: longestKeys, Read: c.postsByID},
			Track:      providers.Batch[schema.Track]{Most: most, Bytes: longestKeys, Read: c.tracks},
			Collection: providers.BatchBy[providers.CollectionQuery, schema.Collection]{Most: most, Bytes: longestKeys, Read: c.collectionsByID},
		}
	}
	full := catalog.provider()
	if !here {
		full = full.Without("developer_token")
	}
	return providers.Chain{itunes, full}
}

// client reads the iTunes Search API.
type client struct {
	http    *upstream.Client
	markets *links.Markets
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
		markets: links.MarketsOf(cfg.Country),
	}
}

// store is the storefront that something is read in.
type store struct {
	markets *links.Markets
	country string // ISO 3166-1 alpha-2
}

// storeOf splits an identifier into its storefront and Apple's own identifier.
func storeOf(markets *links.Markets, id string) (in store, bare string) {
	country, bare := markets.Cut(id)
	return store{markets, country}, bare
}

// id returns the identifier of a thing in the storefront by Apple's own identifier.
func (s store) id(bare string) string { return s.markets.ID(s.country, bare) }

// page returns the address of the page of a thing by its path there.
func (s store) page(path string) string {
	return "https://music.apple.com/" + strings.ToLower(s.country) + "/" + path
}
