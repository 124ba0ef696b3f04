package socialdata

import (
	"time"

	"github.com/socialdata/socialdata/operation"
	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/schema"
)

// Enrichment is the value of an Enrich field: [Arabic], or "" for none.
type Enrichment string

// Arabic requests dialect, sentiment, entities and topics.
const Arabic Enrichment = "arabic"

// ReadOptions are the options of a read. A read that does not take one of them refuses it as an invalid_request.
type ReadOptions struct {
	// IncludeRaw adds the original upstream object to each object as Raw.
	IncludeRaw bool `param:"include_raw"`
	// Fresh skips the cache, at twice the base price.
	Fresh bool `param:"fresh"`
	// MaxAge is the highest age of the data, in whole seconds up to its cache lifetime; older data costs as with Fresh.
	MaxAge time.Duration `param:"max_age_s"`
	// StaleIfError, at most a day, accepts cached data that is past its lifetime by so much when the platform fails.
	StaleIfError time.Duration `param:"stale_if_error_s"`
	// Enrich adds dialect, sentiment, entities and topics to each object, for 3 more credits unless it fails.
	Enrich Enrichment `param:"enrich"`
	// MaxCredits refuses a call that may cost more, as insufficient_credits, before anything is held; 0 is no limit.
	MaxCredits int64 `param:"max_credits"`
	// IdempotencyKey makes a call safe to repeat: 16 to 128 visible characters, new for each call. The same request with
	// the same key gets the same answer for 24 hours and is charged once; another request with that key is an
	// invalid_request. [Walk] and [Pages] derive the keys of further pages from it.
	IdempotencyKey string `header:"Idempotency-Key"`
}

// Page selects a page of a list.
type Page = operation.Page

// Newest selects the newest posts of a list: with Since none that are older, and with StopAtID, an id or URL, not that post
// nor those behind it. Nothing behind them is read.
type Newest struct {
	Since    time.Time `param:"since,newest" doc:"Leaves out what is older than this, pinned or not, and reads no further: RFC 3339, or a date."`
	StopAtID string    `param:"stop_at_id,newest"`
}

// Each operation has a request type with its name. Identifiers are accepted as people paste them: a handle with or without
// @, an id, or the public URL. Fields that are zero are not sent.
type (
	// ProfileRequest asks for one account.
	ProfileRequest struct {
		Platform platform.ID `path:"platform"`
		Handle   string      `param:"handle,required" subject:"handle" doc:"The account: its handle or public URL."`
		Region   string      `param:"region,filter" form:"country" doc:"ISO 3166-1 alpha-2 code, if the platform has a store for each country; a URL may name it too."`
		ReadOptions
	}

	// FollowersRequest asks for a page of the accounts that follow an account.
	FollowersRequest struct {
		Platform platform.ID `path:"platform"`
		Handle   string      `param:"handle,required" subject:"handle" doc:"The account: its handle or public URL."`
		Page
		ReadOptions
	}

	// FollowingRequest asks for a page of the accounts that an account follows.
	FollowingRequest struct {
		Platform platform.ID `path:"platform"`
		Handle   string      `param:"handle,required" subject:"handle" doc:"The account: its handle or public URL."`
		Page
		ReadOptions
	}

	// AudienceRequest asks where the followers of an account live.
	AudienceRequest struct {
		Platform    platform.ID `path:"platform"`
		Handle      string      `param:"handle,required" subject:"handle" doc:"The account: its handle or public URL."`
		ReadOptions `without:"enrich"`
	}

	// LiveRequest asks for an account's broadcast.
	LiveRequest struct {
		Platform    platform.ID `path:"platform"`
		Handle      string      `param:"handle,required" subject:"handle" doc:"The account: its handle or public URL."`
		ReadOptions `without:"enrich"`
	}

	// LinkedRequest asks for accounts on other platforms that seem to be the same person's.
	LinkedRequest struct {
		Platform    platform.ID   `path:"platform"`
		Handle      string        `param:"handle,required" subject:"handle" doc:"The account: its handle or public URL."`
		Platforms   []platform.ID `param:"platforms" doc:"Platforms to look for the same handle on, separated by commas; each costs its own base credits more."`
		ReadOptions `without:"enrich"`
	}

	// PostsRequest asks for a page of an account's posts.
	PostsRequest struct {
		Platform platform.ID `path:"platform"`
		Handle   string      `param:"handle,required" subject:"handle" doc:"The account: its handle or public URL."`
		Newest
		Page
		ReadOptions
	}

	// StatsRequest asks for numbers of an account's newest posts.
	StatsRequest struct {
		Platform    platform.ID `path:"platform"`
		Handle      string      `param:"handle,required" subject:"handle" doc:"The account: its handle or public URL."`
		Pages       int         `param:"pages"`
		ReadOptions `without:"include_raw enrich"`
	}

	// ReelsRequest asks for a page of an account's short videos.
	ReelsRequest struct {
		Platform platform.ID `path:"platform"`
		Handle   string      `param:"handle,required" subject:"handle" doc:"The account: its handle or public URL."`
		Newest
		Page
		ReadOptions
	}

	// TracksRequest asks for a page of an account's tracks.
	TracksRequest struct {
		Platform platform.ID `path:"platform"`
		Handle   string      `param:"handle,required" subject:"handle" doc:"The account: its handle or public URL."`
		Page
		ReadOptions
	}

	// PostRequest asks for one post.
	PostRequest struct {
		Platform platform.ID `path:"platform"`
		ID       string      `param:"id,required" subject:"post" doc:"The post: its id or public URL."`
		Region   string      `param:"region,filter" form:"country" doc:"ISO 3166-1 alpha-2 code, if the platform has a store for each country; a URL may name it too."`
		ReadOptions
	}

	// TrendingRequest asks for what is popular now.
	TrendingRequest struct {
		Platform platform.ID `path:"platform"`
		Region   string      `param:"region,filter" form:"country" doc:"ISO 3166-1 alpha-2 code, if the platform distinguishes regions."`
		Page
		ReadOptions
	}

	// SearchRequest asks one platform for objects that match a text.
	SearchRequest struct {
		Platform platform.ID       `path:"platform"`
		Query    string            `param:"query,required" max:"512" doc:"The text to search for, 1 to 512 characters."`
		Kind     schema.ResultKind `param:"kind,filter" enum:"profile post comment product review track collection web" doc:"Only results of this kind."`
		Sort     string            `param:"sort,filter" doc:"The order: relevance, recent, or a word of the platform."`
		Since    time.Time         `param:"since,filter" doc:"Only what is from this time or later: RFC 3339, or a date."`
		Until    time.Time         `param:"until,filter" doc:"Only what is from before this time: RFC 3339, or a date."`
		Region   string            `param:"region,filter" form:"country" doc:"ISO 3166-1 alpha-2 code, if the platform distinguishes regions."`
		Lang     string            `param:"lang,filter" form:"lang" doc:"BCP 47 code, if the platform distinguishes languages."`
		Handle   string            `param:"handle,filter" subject:"handle" doc:"Search only inside this account, where the platform can."`
		Page     `without:"pages"`
		ReadOptions
	}

	// SuggestionsRequest asks for completions of a search text.
	SuggestionsRequest struct {
		Platform    platform.ID `path:"platform"`
		Query       string      `param:"query,required" max:"512" doc:"What has been typed, 1 to 512 characters."`
		Region      string      `param:"region,filter" form:"country" doc:"ISO 3166-1 alpha-2 code, if the platform distinguishes regions."`
		ReadOptions `without:"enrich"`
	}

	// CommentsRequest asks for a page of the comments on a post.
	CommentsRequest struct {
		Platform platform.ID `path:"platform"`
		PostID   string      `param:"post_id,required" subject:"post" doc:"The post: its id or public URL."`
		Page
		ReadOptions
	}

	// RepliesRequest asks for a page of the replies to a comment.
	RepliesRequest struct {
		Platform  platform.ID `path:"platform"`
		CommentID string      `param:"comment_id,required" subject:"comment" doc:"The comment: its id or public URL."`
		PostID    string      `param:"post_id" subject:"post" doc:"The post that the comment belongs to; some platforms need it."`
		Page
		ReadOptions
	}

	// TranscriptRequest asks for the transcript of a post.
	TranscriptRequest struct {
		Platform platform.ID `path:"platform"`
		PostID   string      `param:"post_id,required" subject:"post" doc:"The post: its id or public URL."`
		Lang     string      `param:"lang,filter" form:"lang" doc:"BCP 47 code of the wanted language; the original without it."`
		ReadOptions
	}

	// CollectionsRequest asks for a page of an account's collections.
	CollectionsRequest struct {
		Platform platform.ID           `path:"platform"`
		Handle   string                `param:"handle,required" subject:"handle" doc:"The account: its handle or public URL."`
		Kind     schema.CollectionKind `param:"kind,filter" enum:"playlist board highlight album podcast" doc:"Only collections of this kind."`
		Page
		ReadOptions
	}

	// CollectionRequest asks for one collection.
	CollectionRequest struct {
		Platform platform.ID           `path:"platform"`
		ID       string                `param:"id,required" subject:"collection" doc:"The collection: its id or public URL."`
		Kind     schema.CollectionKind `param:"kind,filter" enum:"playlist board highlight album podcast" doc:"The kind of the collection, if the id does not show it."`
		Region   string                `param:"region,filter" form:"country" doc:"ISO 3166-1 alpha-2 code, if the platform has a store for each country; a URL may name it too."`
		ReadOptions
	}

	// CollectionPostsRequest asks for a page of the posts in a collection.
	CollectionPostsRequest struct {
		Platform platform.ID           `path:"platform"`
		ID       string                `param:"id,required" subject:"collection" doc:"The collection: its id or public URL."`
		Kind     schema.CollectionKind `param:"kind,filter" enum:"playlist board highlight album podcast" doc:"The kind of the collection, if the id does not show it."`
		Page
		ReadOptions
	}

	// CollectionTracksRequest asks for a page of the tracks in a collection.
	CollectionTracksRequest struct {
		Platform platform.ID           `path:"platform"`
		ID       string                `param:"id,required" subject:"collection" doc:"The collection: its id or public URL."`
		Kind     schema.CollectionKind `param:"kind,filter" enum:"playlist board highlight album podcast" doc:"The kind of the collection, if the id does not show it."`
		Page
		ReadOptions
	}

	// TrackRequest asks for one track.
	TrackRequest struct {
		Platform platform.ID `path:"platform"`
		ID       string      `param:"id,required" subject:"track" doc:"The track or sound: its id or public URL."`
		Region   string      `param:"region,filter" form:"country" doc:"ISO 3166-1 alpha-2 code, if the platform has a store for each country; a URL may name it too."`
		ReadOptions
	}

	// TrackPostsRequest asks for a page of the posts that use a sound.
	TrackPostsRequest struct {
		Platform platform.ID `path:"platform"`
		ID       string      `param:"id,required" subject:"track" doc:"The track or sound: its id or public URL."`
		Page
		ReadOptions
	}

	// CommunityRequest asks for one community.
	CommunityRequest struct {
		Platform platform.ID `path:"platform"`
		ID       string      `param:"id,required" subject:"community" doc:"The community: its name, id or public URL."`
		ReadOptions
	}

	// CommunityPostsRequest asks for a page of the posts in a community.
	CommunityPostsRequest struct {
		Platform platform.ID `path:"platform"`
		ID       string      `param:"id,required" subject:"community" doc:"The community: its name, id or public URL."`
		Sort     string      `param:"sort,filter" doc:"The order, in a word of the platform; the newest first without it."`
		Page
		ReadOptions
	}

	// ProductsRequest asks for a page of the products of a store or of an account; exactly one is set.
	ProductsRequest struct {
		Platform platform.ID `path:"platform"`
		Store    string      `param:"store,one" subject:"store" doc:"The store: its id or public URL."`
		Handle   string      `param:"handle,one" subject:"handle" doc:"The account: its handle or public URL."`
		Page
		ReadOptions
	}

	// ProductRequest asks for one product.
	ProductRequest struct {
		Platform platform.ID `path:"platform"`
		ID       string      `param:"id,required" subject:"product" doc:"The product: its id or public URL."`
		Region   string      `param:"region,filter" form:"country" doc:"ISO 3166-1 alpha-2 code, where the platform sells by region."`
		ReadOptions
	}

	// ReviewsRequest asks for a page of the reviews of a product.
	ReviewsRequest struct {
		Platform  platform.ID `path:"platform"`
		ProductID string      `param:"product_id,required" subject:"product" doc:"The product: its id or public URL."`
		Region    string      `param:"region,filter" form:"country" doc:"ISO 3166-1 alpha-2 code, if the platform has a store for each country; a URL may name it too."`
		Page
		ReadOptions
	}

	// StoreRequest asks for one store.
	StoreRequest struct {
		Platform    platform.ID `path:"platform"`
		ID          string      `param:"id,required" subject:"store" doc:"The store: its id or public URL."`
		ReadOptions `without:"enrich"`
	}

	// AdsRequest asks for a page of the ads of an advertiser or for a domain; exactly one is set.
	AdsRequest struct {
		Platform     platform.ID `path:"platform"`
		AdvertiserID string      `param:"advertiser_id,one" subject:"advertiser" doc:"The advertiser: its id, name or public URL."`
		Domain       string      `param:"domain,one" doc:"The domain that the ads lead to."`
		Country      string      `param:"country,filter" form:"country" doc:"Only ads that ran in this country: ISO 3166-1 alpha-2."`
		Status       string      `param:"status,filter" enum:"active inactive all" doc:"Only ads that run now, or that have ended."`
		Since        time.Time   `param:"since,filter" doc:"Only ads that ran at this time or later: RFC 3339, or a date."`
		Until        time.Time   `param:"until,filter" doc:"Only ads that ran before this time: RFC 3339, or a date."`
		Page         `without:"pages"`
		ReadOptions
	}

	// AdsSearchRequest asks for a page of the ads that match a text.
	AdsSearchRequest struct {
		Platform platform.ID `path:"platform"`
		Query    string      `param:"query,required" max:"512" doc:"The text to search for, 1 to 512 characters."`
		Country  string      `param:"country,filter" form:"country" doc:"Only ads that ran in this country: ISO 3166-1 alpha-2."`
		Status   string      `param:"status,filter" enum:"active inactive all" doc:"Only ads that run now, or that have ended."`
		Since    time.Time   `param:"since,filter" doc:"Only ads that ran at this time or later: RFC 3339, or a date."`
		Until    time.Time   `param:"until,filter" doc:"Only ads that ran before this time: RFC 3339, or a date."`
		Page     `without:"pages"`
		ReadOptions
	}

	// AdRequest asks for one ad.
	AdRequest struct {
		Platform platform.ID `path:"platform"`
		ID       string      `param:"id,required" subject:"ad" doc:"The ad: its id or public URL."`
		ReadOptions
	}

	// AdvertisersRequest asks for a page of the advertisers that match a text.
	AdvertisersRequest struct {
		Platform platform.ID `path:"platform"`
		Query    string      `param:"query,required" max:"512" doc:"The text to search for, 1 to 512 characters."`
		Country  string      `param:"country,filter" form:"country" doc:"Only advertisers of this country: ISO 3166-1 alpha-2."`
		Page     `without:"pages"`
		ReadOptions
	}

	// EventRequest asks for one event.
	EventRequest struct {
		Platform platform.ID `path:"platform"`
		ID       string      `param:"id,required" subject:"event" doc:"The event: its id or public URL."`
		ReadOptions
	}

	// EventsRequest asks for a page of the events of a host or at a place; exactly one is set.
	EventsRequest struct {
		Platform platform.ID `path:"platform"`
		Handle   string      `param:"handle,one" subject:"handle" doc:"The host: its handle or public URL."`
		Place    string      `param:"place,one" doc:"The place, in words or as the platform's id."`
		Time     string      `param:"time,filter" enum:"upcoming past" doc:"Only what is still to come, or what is over."`
		Page
		ReadOptions
	}

	// EventsSearchRequest asks for a page of the events that match a text.
	EventsSearchRequest struct {
		Platform platform.ID `path:"platform"`
		Query    string      `param:"query,required" max:"512" doc:"The text to search for, 1 to 512 characters."`
		Page     `without:"pages"`
		ReadOptions
	}
)

// Requests of the service's own operations.
type (
	// EstimateRequest asks what another call may cost.
	EstimateRequest struct {
		Of string `param:"of,required" form:"prose" max:"65536" doc:"The path and query of the call, such as /v1/x/posts?handle=jack&fresh=true, escaped as one value."`
	}

	// PlatformsRequest asks what the service can read.
	PlatformsRequest struct{}

	// ResolveRequest asks what a URL names.
	ResolveRequest struct {
		URL string `param:"url,required" form:"address" doc:"A web address, or text that holds one."`
	}

	// ReadRequest asks for what a URL names.
	ReadRequest struct {
		URL string `param:"url,required" form:"address" doc:"A web address, or text that holds one."`
		Newest
		Page
		ReadOptions
	}

	// EnrichRequest asks for the analysis of a text.
	EnrichRequest struct {
		Text           string `param:"text,required" form:"prose" max:"4000" doc:"The text, 1 to 4,000 characters."`
		MaxCredits     int64  `param:"max_credits"`
		IdempotencyKey string `header:"Idempotency-Key"`
	}

	// SearchAcrossRequest asks several platforms for objects that match a text.
	SearchAcrossRequest struct {
		Query     string            `param:"query,required" max:"512" doc:"The text to search for, 1 to 512 characters; a hashtag with its #."`
		Platforms []platform.ID     `param:"platforms" doc:"The platforms to ask, separated by commas; all that can search without it."`
		Kind      schema.ResultKind `param:"kind" enum:"profile post comment product review track collection web" doc:"Only results of this kind."`
		Sort      string            `param:"sort" enum:"relevance recent" doc:"The order of the merged results; relevance without it, where those beyond an author's third come last."`
		Since     time.Time         `param:"since" doc:"Only what is from this time or later: RFC 3339, or a date."`
		Until     time.Time         `param:"until" doc:"Only what is from before this time: RFC 3339, or a date."`
		Lang      string            `param:"lang" form:"lang" doc:"BCP 47 code, for platforms that distinguish languages."`
		Wait      time.Duration     `param:"wait_s,option" min:"1" max:"25" doc:"How long to wait for slow platforms, in seconds; 8 without it. What is late becomes a job."`
		Page      `without:"pages"`
		ReadOptions
	}

	// JobRequest asks for the rest of a search.
	JobRequest struct {
		ID   string        `param:"id,required" doc:"The job_id of the search."`
		Wait time.Duration `param:"wait_s,option" min:"0" max:"25" doc:"How long to wait for more, in seconds; 0 without it."`
	}

	// RawRequest asks a provider for one of its own routes, unchanged.
	RawRequest struct {
		Provider       string              `path:"provider"` // such as "github"
		Path           string              `path:"path"`     // such as "users/octocat"
		Query          map[string][]string `query:"*"`
		Fresh          bool                `param:"fresh"` // the options are those of ReadOptions
		MaxAge         time.Duration       `param:"max_age_s"`
		StaleIfError   time.Duration       `param:"stale_if_error_s"`
		MaxCredits     int64               `param:"max_credits"`
		IdempotencyKey string              `header:"Idempotency-Key"`
	}
)
