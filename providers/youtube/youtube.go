// Package youtube reads public YouTube data. Profiles are channels, posts are videos, collections are playlists.
//
// [New] reads the Data API, which needs an API key: 10,000 units a day, one for every read made here, and 100 searches
// a day in addition. The second source is the public site: transcripts, search suggestions, and the Shorts among a
// channel's newest 15 videos. Music, subscribers and text posts are in neither.
//
// Source: https://developers.google.com/youtube/v3/docs
package youtube

import (
	"cmp"
	"maps"
	"net/http"
	"time"

	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/upstream"
	"github.com/socialdata/socialdata/schema"
)

// Config configures the providers for YouTube.
type Config struct {
	APIKey  string       // of a Google Cloud project with the Data API enabled; "" uses the site only
	BaseURL string       // of the Data API; "" means https://youtube.googleapis.com/youtube/v3
	HTTP    *http.Client // nil means a client of its own

	DailyUnits    int // quota of the Google Cloud project; 0 means 10,000
	DailySearches int // its additional quota of searches; 0 means 100

	WebURL     string // of the site; "" means https://www.youtube.com
	SuggestURL string // of the search suggestions; "" means https://suggestqueries-clients6.youtube.com

	// PlayerClient and PlayerVersion are the app and version that requests for transcripts identify as: some apps get
	// caption addresses that only a real player can open. "" means ANDROID and 20.10.38.
	PlayerClient, PlayerVersion string

	// Own reads the public site: transcripts, which YouTube often refuses to data centers, the Shorts in the channel
	// feed, and search suggestions; on by default.
	Own providers.Own
}

// credentials are the query parameters in which Google accepts credentials.
// https://cloud.google.com/apis/docs/system-parameters
var credentials = []string{"key", "access_token", "oauth_token"}

type client struct {
	http   *upstream.Client
	search *upstream.Quota // has its own limit; everything else counts against the daily units
}

// New returns the providers for YouTube: the Data API, and the public site.
func New(cfg Config) providers.Chain {
	return providers.Chain{newOfficial(cfg), newOwn(cfg)}
}

func newOfficial(cfg Config) providers.Provider {
	c := newClient(cfg)
	p := providers.Provider{
		Name: "youtube", Platform: platform.YouTube, Source: schema.Official, Prompt: true,
		PageSizes: providers.PagesOf(pageSize, providers.OpPosts, providers.OpTrending, providers.OpSearch,
			providers.OpReels, providers.OpCollections, providers.OpCollectionPosts).And(commentsPage,
			providers.OpComments, providers.OpReplies),
		Limits:          upstream.Limits(map[string]*upstream.Quota{"units": c.http.Quota(), "searches": c.search}),
		Profile:         c.profile,
		Live:            c.live,
		Posts:           c.posts,
		Post:            c.post,
		Trending:        c.trending,
		Search:          c.find,
		Comments:        c.comments,
		Replies:         c.replies,
		Reels:           c.reels,
		Collections:     c.collections,
		Collection:      c.collection,
		CollectionPosts: c.collectionPosts,

		Batches: providers.Batches{
			Profile:    providers.Batch[schema.Profile]{Most: most, Read: c.profilesByID},
			Post:       providers.Batch[schema.Post]{Most: most, Read: c.postsByID},
			Collection: providers.BatchBy[providers.CollectionQuery, schema.Collection]{Most: most, Read: c.collectionsByID},
		},

		Normalize: addresses.Normalize, Names: addresses.Names, Also: addresses.Also,
		Filters: map[providers.Op]providers.Filters{
			providers.OpPosts:    providers.NewestFirst(),
			providers.OpTrending: {"region": nil},
			providers.OpSearch: {
				"kind": {"post", "profile", "collection"}, "sort": {"relevance", "recent", "views", "rating"},
				"since": nil, "until": nil, "region": nil,
			},
			providers.OpCollections: {"kind": {string(schema.Playlist), string(schema.Podcast)}},
		},
		Notes: map[providers.Op]string{
			providers.OpProfile:          "verified is always false: the Data API does not have it; YouTube rounds followers to three digits",
			providers.OpFollowers:        "YouTube does not show lists of subscribers",
			providers.OpFollowing:        "YouTube does not show lists of subscriptions",
			providers.OpAudience:         "YouTube only shows it to the channel's owner",
			providers.OpLive:             "for an offline channel, it uses one of 100 searches a day",
			providers.OpTrending:         "the most popular videos of a region, US by default",
			providers.OpSearch:           "100 searches a day; since and until are about publication",
			providers.OpReels:            "Shorts",
			providers.OpTrack:            "the Data API has no music",
			providers.OpTracks:           "the Data API has no music",
			providers.OpTrackPosts:       "the Data API has no music",
			providers.OpCollectionTracks: "the Data API has no music",
			providers.OpCommunity:        "the Data API has no text posts",
			providers.OpCommunityPosts:   "the Data API has no text posts",
			providers.OpProducts:         "the Data API has no shops",
			providers.OpProduct:          "the Data API has no shops",
			providers.OpReviews:          "the Data API has no shops",
			providers.OpStore:            "the Data API has no shops",
			providers.OpEvents:           "the Data API has live broadcasts, but no schedule",
		},
		Routes: providers.Routes(platform.YouTube,
			"channels{?part,id,forHandle,forUsername,hl,maxResults,pageToken,fields}",
			"videos{?part,id,chart,regionCode,videoCategoryId,hl,maxHeight,maxWidth,maxResults,pageToken,fields}",
			"playlists{?part,id,channelId,hl,maxResults,pageToken,fields}",
			"playlistItems{?part,id,playlistId,videoId,maxResults,pageToken,fields}",
			"commentThreads{?part,id,videoId,allThreadsRelatedToChannelId,order,searchTerms,textFormat,maxResults,pageToken,fields}",
			"comments{?part,id,parentId,textFormat,maxResults,pageToken,fields}",
			"search{?part,q,channelId,channelType,eventType,location,locationRadius,order,publishedAfter,publishedBefore,"+
				"regionCode,relevanceLanguage,safeSearch,topicId,type,videoCaption,videoCategoryId,videoDefinition,"+
				"videoDimension,videoDuration,videoEmbeddable,videoLicense,videoPaidProductPlacement,videoSyndicated,"+
				"videoType,maxResults,pageToken,fields}",
			"videoCategories{?part,id,regionCode,hl,fields}", "i18nRegions{?part,hl,fields}", "i18nLanguages{?part,hl,fields}",
		),
		Subjects:    []string{"customUrl", "value"},
		Forward:     c.forward,
		Credentials: credentials,
	}
	if cfg.APIKey == "" {
		p = p.Without("api_key")
		// The notes on the remaining operations belong to the site's provider.
		maps.DeleteFunc(p.Notes, func(op providers.Op, _ string) bool { return p.Missing[op] != nil })
	}
	return p
}

func newClient(cfg Config) *client {
	return &client{
		http: upstream.New(upstream.Config{
			HTTP: cfg.HTTP, Base: cmp.Or(cfg.BaseURL, "https://youtube.googleapis.com/youtube/v3"), Check: check, Absent: absent, Credentials: credentials,
			// A header keeps the key out of logged URLs.
			// https://cloud.google.com/apis/docs/system-parameters
			Header: http.Header{"X-Goog-Api-Key": {cfg.APIKey}},
			// https://developers.google.com/youtube/v3/determine_quota_cost
			Quota: upstream.NewQuota(cmp.Or(cfg.DailyUnits, 10_000), 24*time.Hour),
		}),
		search: upstream.NewQuota(cmp.Or(cfg.DailySearches, 100), 24*time.Hour),
	}
}
