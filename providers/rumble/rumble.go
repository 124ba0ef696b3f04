// Package rumble reads rumble.com's public pages: those of channels, users and videos, its search, and the JSON behind
// its player and its comments.
//
// Rumble has no documented API for reading, so the structs link to no page. A video has three ids: that of its page
// (v1a992g), which is the post's id here, that of its player (v17n34y), and a number, which is the player's id without
// its v in base 36.
package rumble

import (
	"cmp"
	"net/http"
	"strconv"
	"time"

	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/browser"
	"github.com/socialdata/socialdata/providers/kit/upstream"
	"github.com/socialdata/socialdata/schema"
)

// Config configures the provider for Rumble.
type Config struct {
	Own         providers.Own // reads the public pages; on by default
	BaseURL     string        // "" means https://rumble.com
	WatchingURL string        // of the viewer count; "" means https://wn0.rumble.com
	HTTP        *http.Client  // nil means a client of its own
}

const home = "https://rumble.com/"

// site is rumble.com, and the host of viewer counts.
type site struct {
	http     *upstream.Client
	watching *upstream.Client
	client   *http.Client // for files on other hosts
}

// New returns the one provider for Rumble.
func New(cfg Config) providers.Chain {
	quota := upstream.NewQuota(3600, time.Hour) // Rumble publishes no limit: one read a second on average is our own
	open := func(base string) *upstream.Client {
		return upstream.New(upstream.Config{HTTP: cfg.HTTP, Base: base, Header: asBrowser, Check: check, Absent: absent, Quota: quota})
	}
	s := &site{
		http:     open(cmp.Or(cfg.BaseURL, "https://rumble.com")),
		watching: open(cmp.Or(cfg.WatchingURL, "https://wn0.rumble.com")),
		client:   cfg.HTTP,
	}
	return providers.Chain{s.provider().IfOwn(cfg.Own, true)}
}

func (s *site) provider() providers.Provider {
	const (
		noPeople      = "Rumble does not show lists of followers"
		noMusic       = "Rumble has no catalog of sounds"
		noLists       = "the pages of playlists are not read"
		noSales       = "Rumble has no shops"
		noAds         = "Rumble has no public library of ads"
		noEvents      = "Rumble has no public events"
		noCommunities = "communities are on Locals, another site"
	)
	return providers.Provider{
		Name: "rumble", Platform: platform.Rumble, Source: schema.Own, Prompt: true,
		PageSizes: providers.PagesOf(strconv.Itoa(pageSize), providers.OpComments, providers.OpReplies).
			And("25", providers.OpPosts), // as Rumble decides
		Limits:     upstream.Limits(map[string]*upstream.Quota{"pages": s.http.Quota()}),
		Profile:    s.profile,
		Posts:      s.posts,
		Post:       s.post,
		Live:       s.live,
		Search:     s.search,
		Comments:   s.comments,
		Replies:    s.replies,
		Transcript: s.transcript,

		Searches:  searchable,
		Normalize: addresses.Normalize, Names: addresses.Names, Also: addresses.Also,
		Filters: map[providers.Op]providers.Filters{
			providers.OpPosts:      providers.NewestFirst(),
			providers.OpSearch:     {"kind": {"post", "profile"}, "sort": {"relevance", "views"}},
			providers.OpTranscript: {"lang": nil},
		},
		Notes: map[providers.Op]string{
			providers.OpProfile:        "c/name, user/name, or a name, which is tried as a channel first; followers are rounded",
			providers.OpPosts:          "25 a page; likes are not in the list",
			providers.OpPost:           "likes and views may be rounded, as on the page",
			providers.OpLive:           "the video that the account's page marks as live",
			providers.OpSearch:         "kind post (the default) or profile; sort=views for posts",
			providers.OpReplies:        "post_id is required: Rumble only finds comments by their video",
			providers.OpTranscript:     "the subtitles of a video, if it has any",
			providers.OpReels:          "the pages of short videos are not read",
			providers.OpTrending:       "the pages of popular videos are not read",
			providers.OpSuggestions:    "Rumble has no public suggestions",
			providers.OpFollowers:      noPeople,
			providers.OpFollowing:      noPeople,
			providers.OpAudience:       "Rumble only shows it to the account's owner",
			providers.OpLinked:         "the accounts that an account links to are in the links of its profile",
			providers.OpCommunity:      noCommunities,
			providers.OpCommunityPosts: noCommunities,
			providers.OpCollections:    noLists,
			providers.OpCollection:     noLists,
			providers.OpTrack:          noMusic,
			providers.OpTracks:         noMusic,
			providers.OpProducts:       noSales,
			providers.OpProduct:        noSales,
			providers.OpStore:          noSales,
			providers.OpAds:            noAds,
			providers.OpAdsSearch:      noAds,
			providers.OpEvent:          noEvents,
			providers.OpEvents:         noEvents,
		},
	}
}

// asBrowser are the headers that a browser sends when a person opens a page. The texts beside counts come in the
// requested language.
var asBrowser = browser.Page()
