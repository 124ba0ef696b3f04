// Package youtube reads public YouTube data. Profiles are channels, posts are videos, collections are playlists.
//
// [New] reads the Data API, which wants an API key: 10,000 units a day, one for every read made here, and 100 searches
// a day on top. The second source is what the site itself shows to anybody: transcripts, search suggestions, and the Shorts
// among a channel's newest 15 videos. Music, subscribers and text posts are in neither.
// Source: https://developers.google.com/youtube/v3/docs
package youtube

import (
	"cmp"
	"maps"
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

// Config says how to reach YouTube.
type Config struct {
	APIKey  string       // of a Google Cloud project with the Data API switched on; "" leaves only what the site shows
	BaseURL string       // of the Data API; "" means https://youtube.googleapis.com/youtube/v3
	HTTP    *http.Client // nil means a client of its own

	DailyUnits    int // that Google grants the project; 0 means 10,000
	DailySearches int // that it grants on top; 0 means 100

	WebURL     string // of the site; "" means https://www.youtube.com
	SuggestURL string // of the search suggestions; "" means https://suggestqueries-clients6.youtube.com

	// PlayerClient and PlayerVersion are the app that transcripts are asked for as: some apps get caption addresses
	// that only a real player can open. "" means ANDROID and 20.10.38.
	PlayerClient, PlayerVersion string

	// Own reads what the site itself shows: transcripts, which YouTube often refuses to data centres, the Shorts of the
	// channel feed, and search suggestions; on by default.
	Own providers.Own
}

type client struct {
	http          *upstream.Client
	units, search *upstream.Quota
}

// New returns the providers for YouTube: the Data API, and what the site itself shows.
func New(cfg Config) providers.Chain {
	return providers.Chain{newOfficial(cfg), newOwn(cfg)}
}

func newOfficial(cfg Config) providers.Provider {
	c := newClient(cfg)
	p := providers.Provider{
		Name: "youtube", Platform: platform.YouTube, Source: schema.Official,
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

		Normalize: normalize,
		Filters: map[providers.Op]providers.Filters{
			providers.OpTrending: {"region": nil},
			providers.OpSearch: {
				"kind": {"post", "profile", "collection"}, "sort": {"relevance", "recent", "views", "rating"},
				"since": nil, "until": nil, "region": nil,
			},
			providers.OpCollections: {"kind": {string(schema.Playlist), string(schema.Podcast)}},
		},
		Notes: map[providers.Op]string{
			providers.OpProfile:          "verified is always false: the Data API does not tell; YouTube rounds followers to three digits",
			providers.OpFollowers:        "YouTube keeps lists of subscribers private",
			providers.OpFollowing:        "YouTube keeps lists of subscriptions private",
			providers.OpAudience:         "only a channel's owner can read where its audience lives",
			providers.OpLive:             "a channel that is off air costs one of 100 searches a day",
			providers.OpTrending:         "the most popular videos of a region, US when none is given",
			providers.OpSearch:           "100 searches a day; since and until are about publication",
			providers.OpReels:            "Shorts",
			providers.OpTrack:            "the Data API knows no music",
			providers.OpTracks:           "the Data API knows no music",
			providers.OpTrackPosts:       "the Data API knows no music",
			providers.OpCollectionTracks: "the Data API knows no music",
			providers.OpCommunity:        "the Data API has no text posts",
			providers.OpCommunityPosts:   "the Data API has no text posts",
			providers.OpProducts:         "the Data API has no shops",
			providers.OpProduct:          "the Data API has no shops",
			providers.OpReviews:          "the Data API has no shops",
		},
		Routes: providers.Routes(platform.YouTube,
			"channels", "videos", "playlists", "playlistItems", "commentThreads", "comments", "search",
			"videoCategories", "i18nRegions", "i18nLanguages",
		),
		Forward: c.forward,
	}
	if cfg.APIKey == "" {
		p = p.Without("api_key")
		// What is to be known of the reads that are left is for the site's provider to say.
		maps.DeleteFunc(p.Notes, func(op providers.Op, _ string) bool { return p.Missing[op] != nil })
	}
	return p
}

func newClient(cfg Config) *client {
	return &client{
		http: upstream.New(upstream.Config{
			HTTP: cfg.HTTP, Base: cmp.Or(cfg.BaseURL, "https://youtube.googleapis.com/youtube/v3"), Check: check,
			// A header keeps the key out of logged URLs.
			// https://cloud.google.com/apis/docs/system-parameters
			Header: http.Header{"X-Goog-Api-Key": {cfg.APIKey}},
		}),
		// https://developers.google.com/youtube/v3/determine_quota_cost
		units:  upstream.NewQuota(cmp.Or(cfg.DailyUnits, 10_000), 24*time.Hour),
		search: upstream.NewQuota(cmp.Or(cfg.DailySearches, 100), 24*time.Hour),
	}
}

var (
	channelID  = regexp.MustCompile(`^UC[A-Za-z0-9_-]{22}$`)
	handle     = regexp.MustCompile(`^[\pL\pN\pM_.·-]{1,100}$`)
	videoID    = regexp.MustCompile(`^[A-Za-z0-9_-]{11}$`)
	playlistID = regexp.MustCompile(`^[A-Za-z0-9_-]{2,64}$`)
	commentID  = regexp.MustCompile(`^[A-Za-z0-9_-]{10,64}(\.[A-Za-z0-9_-]{10,64})?$`)
)

// legacy stands before the user names that YouTube gave until 2012: they are no handles, and are asked for in another
// way.
const legacy = "user/"

// pages are first segments of youtube.com that are no channels.
var pages = map[string]bool{
	"about": true, "account": true, "ads": true, "channel": true, "clip": true, "creators": true, "embed": true, "feed": true,
	"feeds": true, "gaming": true, "hashtag": true, "howyoutubeworks": true, "live": true, "logout": true, "playlist": true,
	"playlists": true, "podcasts": true, "post": true, "premium": true, "redirect": true, "results": true, "shorts": true,
	"signin": true, "t": true, "trending": true, "tv": true, "upload": true, "user": true, "watch": true,
}

// normalize reduces a channel to its id, its handle in lower case without @, or user/ and its old user name; and a
// video, playlist or comment to its id. An id of a wrong form is left as it is: there is no such video, which is not
// the same as a question that makes no sense.
func normalize(s providers.Subject, value string) (string, error) {
	link, err := links.Parse(value, "youtube.com", "youtu.be", "music.youtube.com", "youtube-nocookie.com")
	if err != nil {
		return "", err
	}
	if link != nil {
		if value = inLink(s, link); value == "" {
			return "", providers.Invalid("the URL names no %s of YouTube", s)
		}
	}
	if s != providers.Handle || channelID.MatchString(value) {
		return value, nil
	}
	if name, ok := strings.CutPrefix(value, legacy); ok && handle.MatchString(name) {
		return value, nil
	}
	if value = strings.ToLower(strings.TrimPrefix(value, "@")); !handle.MatchString(value) {
		return "", providers.Invalid("a YouTube handle is one such as @youtube, or a channel id")
	}
	return value, nil
}

// inLink finds the identifier in a public URL; "" when it is not there.
func inLink(s providers.Subject, l *links.Link) string {
	first, second := l.Segment(0), l.Segment(1)
	switch s {
	case providers.Handle:
		switch {
		case strings.HasPrefix(first, "@"):
			return first
		case first == "channel" && channelID.MatchString(second):
			return second
		case first == "user" && second != "":
			return legacy + second
		case first == "c":
			return second // its owner has most often kept the name as the handle
		case len(l.Segments) == 1 && l.Host == "youtube.com" && !pages[first]:
			return first // the same, shorter
		}
		return ""
	case providers.PostID:
		switch {
		case l.Host == "youtu.be":
			return first
		case first == "watch":
			return l.Query.Get("v")
		case first == "shorts", first == "live", first == "embed", first == "v":
			return second
		}
		return ""
	case providers.CollectionID:
		return l.Query.Get("list")
	case providers.CommentID:
		return l.Query.Get("lc")
	default:
		return ""
	}
}
