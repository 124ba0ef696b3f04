// Package reddit reads public Reddit data. Profiles are users, posts are their submissions, communities are subreddits;
// a handle such as r/golang is a subreddit too.
//
// [New] reads the Data API, which needs the id of a registered app; its secret is empty for an installed app. The
// second source is the public Atom feeds, which have no counts and answer about once a minute.
//
// Source: https://www.reddit.com/dev/api
package reddit

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

// Config configures the providers for Reddit.
type Config struct {
	ClientID     string        // of a registered app; "" uses the feeds only
	ClientSecret string        // of the app; "" for an installed app, which has none
	DeviceID     string        // of an installed app, 20 to 30 characters; with "", Reddit does not count devices
	UserAgent    string        // as "platform:app:version (by /u/name)"; "" means one derived from ClientID
	BaseURL      string        // of the Data API; "" means https://oauth.reddit.com
	WebURL       string        // of tokens, share links and feeds; "" means https://www.reddit.com
	HTTP         *http.Client  // nil means a client of its own
	Own          providers.Own // reads the Atom feeds; on by default
}

// credentials are the query parameters in which Reddit accepts, or once accepted, credentials.
// https://github.com/reddit-archive/reddit/wiki/OAuth2
var credentials = []string{"access_token", "client_id", "client_secret", "refresh_token"}

const pageSize = "25" // of every list except comments; the upstream's maximum is 100

type client struct {
	api *upstream.Client
	web web
}

// New returns the providers for Reddit: the Data API, and the public Atom feeds.
func New(cfg Config) providers.Chain {
	return providers.Chain{newOfficial(cfg), newOwn(cfg)}
}

func newOfficial(cfg Config) providers.Provider {
	c := newClient(cfg)
	p := providers.Provider{
		Name: "reddit", Platform: platform.Reddit, Source: schema.Official, Prompt: true,
		PageSizes: providers.PagesOf(pageSize, providers.OpPosts, providers.OpSearch,
			providers.OpCommunityPosts).And(suggestSize, providers.OpSuggestions),
		Limits:         upstream.Limits(map[string]*upstream.Quota{"reads": c.api.Quota()}),
		Profile:        c.profile,
		Posts:          c.posts,
		Post:           c.post,
		Search:         c.find,
		Suggestions:    c.suggestions,
		Comments:       c.comments,
		Replies:        c.replies,
		Community:      c.community,
		CommunityPosts: c.communityPosts,

		Batches: providers.Batches{
			Post:      providers.Batch[schema.Post]{Most: most, Read: c.postsByID},
			Community: providers.Batch[schema.Profile]{Most: most, Limited: true, Read: c.communitiesByName},
		},

		Searches:  searchable,
		Normalize: addresses.Normalize, Names: addresses.Names, Also: addresses.Also,
		Open: upstream.Opener(cfg.HTTP, "www.reddit.com"),
		Filters: map[providers.Op]providers.Filters{
			providers.OpPosts: providers.NewestFirst(),
			providers.OpSearch: {
				"kind": {"post", "profile"}, "sort": {"recent", "relevance", "top", "comments"}, "handle": nil,
			},
			providers.OpCommunityPosts: {"sort": {"recent", "hot", "top", "rising"}},
		},
		Notes: map[providers.Op]string{
			providers.OpProfile:        "followers may be 0 because the account hides them; verified is always false: Reddit has no verification",
			providers.OpPosts:          "at most about 1,000 posts; empty if the account hides its history",
			providers.OpSearch:         "posts unless kind=profile, newest first unless sort is given; handle limits posts to an account or to a community such as r/golang",
			providers.OpCommunityPosts: "newest first unless sort is given; top is of the week; at most about 1,000 posts",
			providers.OpComments:       "all levels, each reply after its comment",
			providers.OpFollowers:      "Reddit does not show lists of followers",
			providers.OpTrending:       "read the community popular, sort=hot",
			providers.OpTranscript:     "the Data API has no transcripts",
		},
		Routes:      routes(),
		Owner:       providers.Owner{Words: []string{"me"}},
		Subjects:    []string{"author", "name"},
		Forward:     c.api.Forward,
		Credentials: credentials,
	}
	if cfg.ClientID == "" {
		p = p.Without("client_id", "client_secret")
		// The notes on the remaining operations belong to the feeds' provider.
		maps.DeleteFunc(p.Notes, func(op providers.Op, _ string) bool { return p.Missing[op] != nil })
	}
	return p
}

func routes() []providers.Route {
	const more = ",limit,after,before,count,show,sort,t,sr_detail,raw_json}"
	const listing = "{?limit,after,before,count,show,sort,t,sr_detail,raw_json}"
	return providers.Routes(platform.Reddit,
		"user/{name}/about{?raw_json}", "user/{name}/submitted"+listing, "user/{name}/comments{?context"+more,
		"user/{name}/trophies{?raw_json}", "r/{subreddit}/about{?raw_json}", "r/{subreddit}/about/rules{?raw_json}",
		"r/{subreddit}/new"+listing, "r/{subreddit}/hot{?g"+more, "r/{subreddit}/top"+listing, "r/{subreddit}/rising"+listing,
		"r/{subreddit}/search{?q,restrict_sr,type,category,include_facets,include_over_18"+more,
		"comments/{id}{?comment,context,depth,limit,showedits,showmedia,showmore,showtitle,sort,sr_detail,theme,threaded,"+
			"truncate,raw_json}",
		"duplicates/{id}{?crossposts_only,sr"+more, "api/info{?id,sr_name,url,raw_json}",
		"search{?q,type,category,include_facets,include_over_18"+more, "users/search{?q,search_query_id,typeahead_active"+more,
		"subreddits/search{?q,search_query_id,show_users,typeahead_active"+more, "subreddits/popular"+listing,
		"subreddits/new"+listing,
	)
}

func newClient(cfg Config) *client {
	w := newWeb(cfg)
	return &client{
		api: upstream.New(upstream.Config{
			// For a name that does not exist, Reddit redirects to its search.
			HTTP: upstream.Still(cfg.HTTP), Base: cmp.Or(cfg.BaseURL, "https://oauth.reddit.com"), Header: header(cfg), Check: check, Absent: absent,
			Tokens: tokens(cfg), Credentials: credentials,
			Limits: &upstream.LimitHeaders{Remaining: "X-Ratelimit-Remaining", Reset: "X-Ratelimit-Reset", Form: upstream.DeltaSeconds},
			Quota:  upstream.NewQuota(1000, 10*time.Minute), // 100 a minute, averaged over ten minutes
		}),
		web: w,
	}
}

// tokens requests access tokens without a user.
// https://github.com/reddit-archive/reddit/wiki/OAuth2#application-only-oauth
func tokens(cfg Config) *upstream.Tokens {
	form := map[string][]string{"grant_type": {"client_credentials"}}
	if cfg.ClientSecret == "" {
		form["grant_type"] = []string{"https://oauth.reddit.com/grants/installed_client"}
		form["device_id"] = []string{cmp.Or(cfg.DeviceID, "DO_NOT_TRACK_THIS_DEVICE")}
	}
	h := header(cfg)
	h.Set("Authorization", upstream.Basic(cfg.ClientID, cfg.ClientSecret))
	c := upstream.New(upstream.Config{
		HTTP: upstream.Still(cfg.HTTP), Base: cmp.Or(cfg.WebURL, defaultWeb), Header: h, Check: checkToken,
	})
	return upstream.ClientCredentials(c, upstream.Request{Path: []string{"api/v1/access_token"}, Form: form})
}

func header(cfg Config) http.Header {
	return http.Header{"User-Agent": {cmp.Or(cfg.UserAgent, "server:"+cmp.Or(cfg.ClientID, "socialdata")+":1.0 (+https://github.com/socialdata/socialdata)")}}
}
