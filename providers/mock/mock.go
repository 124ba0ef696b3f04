package mock

import (
	"cmp"
	"encoding/json"
	"time"

	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/schema"
)

// Epoch is the current time of the sandbox unless its Config has another one: posts are older, and some events are in
// the future.
var Epoch = time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)

// Config configures the sandbox. The zero Config is ready for use.
type Config struct {
	Epoch   time.Time        // the reference for all times; zero means [Epoch]
	Now     func() time.Time // the clock of the word lively; nil means [time.Now]
	Slow    time.Duration    // how long the words slow and pending wait; 0 means 2 seconds
	Release <-chan struct{}  // if not nil, pending waits until it is closed, however long that takes
	// Faults enables words that make a call last as long as possible, or panic. It must be off in a service with other
	// users.
	Faults bool
}

// sandbox serves the operations of a platform with generated data.
type sandbox struct {
	*generator
	id      platform.ID
	slow    time.Duration
	release <-chan struct{}
	faults  bool
}

// New returns the sandbox platform, which serves every operation.
func New(cfg Config) providers.Chain { return providers.Chain{NewFor(platform.Mock, cfg)} }

// NewFor returns a sandbox for another platform, for tests that need several platforms. It has the same accounts and
// objects as any other, with its own pages.
func NewFor(id platform.ID, cfg Config) providers.Provider {
	s := &sandbox{
		generator: newGenerator(id, cfg), id: id, slow: cmp.Or(cfg.Slow, 2*time.Second), release: cfg.Release,
		faults: cfg.Faults,
	}
	at := addresses(s.site)
	return providers.Provider{
		Name: "mock", Platform: id, Source: schema.Own, Prompt: true,
		PageSizes: sizes(),
		Profile:   one(s, providers.OpProfile, itself, s.profile),
		Followers: list(s, providers.OpFollowers, itself, s.followers),
		Following: list(s, providers.OpFollowing, itself, s.following),
		Audience:  one(s, providers.OpAudience, itself, s.audience),
		Live:      one(s, providers.OpLive, itself, s.live),
		Linked:    list(s, providers.OpLinked, itself, s.linked),

		Posts:    list(s, providers.OpPosts, itself, s.posts),
		Post:     one(s, providers.OpPost, itself, s.post),
		Trending: list(s, providers.OpTrending, trendingKey, s.trending),

		Search:      list(s, providers.OpSearch, searchKey, s.search),
		Suggestions: list(s, providers.OpSuggestions, suggestionsKey, s.suggestions),

		Comments: list(s, providers.OpComments, itself, s.comments),
		Replies:  list(s, providers.OpReplies, repliesKey, s.replies),

		Transcript:       one(s, providers.OpTranscript, transcriptKey, s.transcript),
		Reels:            list(s, providers.OpReels, itself, s.reels),
		Collections:      list(s, providers.OpCollections, collectionsKey, s.collections),
		Collection:       one(s, providers.OpCollection, collectionKey, s.collection),
		CollectionPosts:  list(s, providers.OpCollectionPosts, collectionKey, s.collectionPosts),
		CollectionTracks: list(s, providers.OpCollectionTracks, collectionKey, s.collectionTracks),

		Track:      one(s, providers.OpTrack, itself, s.track),
		Tracks:     list(s, providers.OpTracks, itself, s.tracks),
		TrackPosts: list(s, providers.OpTrackPosts, itself, s.trackPosts),

		Community:      one(s, providers.OpCommunity, itself, s.community),
		CommunityPosts: list(s, providers.OpCommunityPosts, communityPostsKey, s.communityPosts),

		Products: list(s, providers.OpProducts, productsKey, s.products),
		Product:  one(s, providers.OpProduct, productKey, s.product),
		Reviews:  list(s, providers.OpReviews, itself, s.reviews),
		Store:    one(s, providers.OpStore, itself, s.store),

		Ads:         list(s, providers.OpAds, adsKey, s.ads),
		AdsSearch:   list(s, providers.OpAdsSearch, adsSearchKey, s.adsSearch),
		Ad:          one(s, providers.OpAd, itself, s.ad),
		Advertisers: list(s, providers.OpAdvertisers, advertisersKey, s.advertisers),

		Event:        one(s, providers.OpEvent, itself, s.event),
		Events:       list(s, providers.OpEvents, eventsKey, s.events),
		EventsSearch: list(s, providers.OpEventsSearch, itself, s.eventsSearch),

		Normalize: at.Normalize, Names: at.Names, Also: at.Also, Country: at.CountryOf,
		Filters: filters(),
		Notes:   notes(),
		Routes:  routes(id),
		Forward: s.forward,
	}
}

func filters() map[providers.Op]providers.Filters {
	var kinds []string
	for _, k := range schema.CollectionKinds() {
		kinds = append(kinds, string(k))
	}
	collections := providers.Filters{"kind": kinds}
	ads := providers.Filters{"country": nil, "status": {"active", "inactive", "all"}, "since": nil, "until": nil}
	return map[providers.Op]providers.Filters{
		providers.OpPosts:    providers.NewestFirst(),
		providers.OpReels:    providers.NewestFirst(),
		providers.OpTrending: {"region": nil},
		providers.OpSearch: {
			"kind": nil, "sort": {"relevance", "recent"}, "since": nil, "until": nil, "region": nil, "lang": nil, "handle": nil,
		},
		providers.OpSuggestions:      {"region": nil},
		providers.OpTranscript:       {"lang": {"ar", "en"}},
		providers.OpCollections:      collections,
		providers.OpCollection:       collections,
		providers.OpCollectionPosts:  collections,
		providers.OpCollectionTracks: collections,
		providers.OpCommunityPosts:   {"sort": {"recent", "top"}},
		providers.OpProduct:          {"region": nil},
		providers.OpAds:              ads,
		providers.OpAdsSearch:        ads,
		providers.OpAdvertisers:      {"country": nil},
		providers.OpEvents:           {"time": {"upcoming", "past"}},
	}
}

func notes() map[providers.Op]string {
	return map[providers.Op]string{
		providers.OpProfile:     "any handle has a profile, except the words that cause a failure",
		providers.OpLive:        "on_air is always live, off_air never",
		providers.OpTrending:    "has no key: the regions AQ, BV … replace the words that cause a failure",
		providers.OpSearch:      "finds results for every query, which need not contain its words",
		providers.OpTranscript:  "in Arabic and in English",
		providers.OpProduct:     "priced in the currency of the region, or of the store by default",
		providers.OpAdvertisers: "finds results for every query, which need not contain its words",
	}
}

// at parses a time of the platform.
func at(unix int64) *time.Time { return new(time.Unix(unix, 0).UTC()) }

// atOrNil parses a time that may be null.
func atOrNil(unix *int64) *time.Time {
	if unix == nil {
		return nil
	}
	return at(*unix)
}

// common returns the shared fields of an object; wire is the object in the platform's format.
func common(id, page string, wire any) schema.Common {
	return schema.Common{ID: id, URL: page, Raw: raw(wire)}
}

// raw marshals one of the wire structs.
func raw(wire any) json.RawMessage {
	b, err := schema.Marshal(wire)
	if err != nil {
		panic(err) // all values in wire structs can be marshaled
	}
	return b
}
