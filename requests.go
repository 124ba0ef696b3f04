package socialdata

import (
	"time"

	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/schema"
)

// Enrichment is the value of an Enrich field: [Arabic], or "" for none.
type Enrichment string

// Arabic requests dialect, sentiment, entities and topics.
const Arabic Enrichment = "arabic"

// UsageGroup is what [Client.UsageBy] groups usage by.
type UsageGroup string

// The groups of usage.
const (
	UsageByDay       UsageGroup = "day"
	UsageByKey       UsageGroup = "key"
	UsageByPlatform  UsageGroup = "platform"
	UsageByOperation UsageGroup = "operation"
)

// Each operation has a request type with its name. It has a platform and what is to be read there. Identifiers are
// accepted as people paste them: a handle with or without @, an id, or the public URL. Fields that are zero are not
// sent.
//
// These fields have the same meaning in all requests. Cursor is the Meta.NextCursor of the previous page; "" is the
// first page, and [Walk] sets it. IncludeRaw adds the original upstream object to each object as Raw. Fresh skips the
// cache, at twice the base price. MaxAge is the maximum age of the data, in whole seconds up to the operation's cache
// lifetime: if the cached data is older, the call costs as much as with Fresh. StaleIfError, at most a day, accepts a
// cached answer that is past its lifetime by at most that much when the platform fails, at the price of a hit. Enrich
// adds dialect, sentiment, entities and topics to each object, for 3 more credits, which are refunded when it fails.
// MaxCredits refuses a call that may cost more credits with insufficient_credits, before anything is held; 0 is no
// limit.
//
// IdempotencyKey makes a call safe to repeat: 16 to 128 visible characters, new for each call. The same request with
// the same key gets the same answer for 24 hours and is charged once; another request with that key is an
// invalid_request. Free operations have none. [Walk] and [Pages] derive the keys of further pages from it.
type (
	// ProfileRequest asks for one account.
	ProfileRequest struct {
		Platform       platform.ID   `path:"platform"`
		Handle         string        `param:"handle,required" subject:"handle" doc:"The account: its handle or public URL."`
		IncludeRaw     bool          `param:"include_raw"`
		Fresh          bool          `param:"fresh"`
		MaxAge         time.Duration `param:"max_age_s"`
		StaleIfError   time.Duration `param:"stale_if_error_s"`
		Enrich         Enrichment    `param:"enrich"`
		MaxCredits     int64         `param:"max_credits"`
		IdempotencyKey string        `header:"Idempotency-Key"`
	}

	// FollowersRequest asks for a page of the accounts that follow an account.
	FollowersRequest struct {
		Platform       platform.ID   `path:"platform"`
		Handle         string        `param:"handle,required" subject:"handle" doc:"The account: its handle or public URL."`
		Cursor         string        `param:"cursor"`
		IncludeRaw     bool          `param:"include_raw"`
		Fresh          bool          `param:"fresh"`
		MaxAge         time.Duration `param:"max_age_s"`
		StaleIfError   time.Duration `param:"stale_if_error_s"`
		Enrich         Enrichment    `param:"enrich"`
		MaxCredits     int64         `param:"max_credits"`
		IdempotencyKey string        `header:"Idempotency-Key"`
	}

	// FollowingRequest asks for a page of the accounts that an account follows.
	FollowingRequest struct {
		Platform       platform.ID   `path:"platform"`
		Handle         string        `param:"handle,required" subject:"handle" doc:"The account: its handle or public URL."`
		Cursor         string        `param:"cursor"`
		IncludeRaw     bool          `param:"include_raw"`
		Fresh          bool          `param:"fresh"`
		MaxAge         time.Duration `param:"max_age_s"`
		StaleIfError   time.Duration `param:"stale_if_error_s"`
		Enrich         Enrichment    `param:"enrich"`
		MaxCredits     int64         `param:"max_credits"`
		IdempotencyKey string        `header:"Idempotency-Key"`
	}

	// AudienceRequest asks where the followers of an account live.
	AudienceRequest struct {
		Platform       platform.ID   `path:"platform"`
		Handle         string        `param:"handle,required" subject:"handle" doc:"The account: its handle or public URL."`
		IncludeRaw     bool          `param:"include_raw"`
		Fresh          bool          `param:"fresh"`
		MaxAge         time.Duration `param:"max_age_s"`
		StaleIfError   time.Duration `param:"stale_if_error_s"`
		MaxCredits     int64         `param:"max_credits"`
		IdempotencyKey string        `header:"Idempotency-Key"`
	}

	// LiveRequest asks for an account's broadcast.
	LiveRequest struct {
		Platform       platform.ID   `path:"platform"`
		Handle         string        `param:"handle,required" subject:"handle" doc:"The account: its handle or public URL."`
		IncludeRaw     bool          `param:"include_raw"`
		Fresh          bool          `param:"fresh"`
		MaxAge         time.Duration `param:"max_age_s"`
		StaleIfError   time.Duration `param:"stale_if_error_s"`
		MaxCredits     int64         `param:"max_credits"`
		IdempotencyKey string        `header:"Idempotency-Key"`
	}

	// LinkedRequest asks for accounts on other platforms that seem to belong to the same person.
	LinkedRequest struct {
		Platform platform.ID `path:"platform"`
		Handle   string      `param:"handle,required" subject:"handle" doc:"The account: its handle or public URL."`
		// Platforms are searched for an account with the same handle; each costs its own base credits in addition.
		Platforms      []platform.ID `param:"platforms" doc:"Platforms to look for the same handle on, separated by commas; each costs its own base credits more."`
		IncludeRaw     bool          `param:"include_raw"`
		Fresh          bool          `param:"fresh"`
		MaxAge         time.Duration `param:"max_age_s"`
		StaleIfError   time.Duration `param:"stale_if_error_s"`
		MaxCredits     int64         `param:"max_credits"`
		IdempotencyKey string        `header:"Idempotency-Key"`
	}

	// PostsRequest asks for a page of an account's posts.
	PostsRequest struct {
		Platform       platform.ID   `path:"platform"`
		Handle         string        `param:"handle,required" subject:"handle" doc:"The account: its handle or public URL."`
		Cursor         string        `param:"cursor"`
		IncludeRaw     bool          `param:"include_raw"`
		Fresh          bool          `param:"fresh"`
		MaxAge         time.Duration `param:"max_age_s"`
		StaleIfError   time.Duration `param:"stale_if_error_s"`
		Enrich         Enrichment    `param:"enrich"`
		MaxCredits     int64         `param:"max_credits"`
		IdempotencyKey string        `header:"Idempotency-Key"`
	}

	// ReelsRequest asks for a page of an account's short videos.
	ReelsRequest struct {
		Platform       platform.ID   `path:"platform"`
		Handle         string        `param:"handle,required" subject:"handle" doc:"The account: its handle or public URL."`
		Cursor         string        `param:"cursor"`
		IncludeRaw     bool          `param:"include_raw"`
		Fresh          bool          `param:"fresh"`
		MaxAge         time.Duration `param:"max_age_s"`
		StaleIfError   time.Duration `param:"stale_if_error_s"`
		Enrich         Enrichment    `param:"enrich"`
		MaxCredits     int64         `param:"max_credits"`
		IdempotencyKey string        `header:"Idempotency-Key"`
	}

	// TracksRequest asks for a page of an account's tracks.
	TracksRequest struct {
		Platform       platform.ID   `path:"platform"`
		Handle         string        `param:"handle,required" subject:"handle" doc:"The account: its handle or public URL."`
		Cursor         string        `param:"cursor"`
		IncludeRaw     bool          `param:"include_raw"`
		Fresh          bool          `param:"fresh"`
		MaxAge         time.Duration `param:"max_age_s"`
		StaleIfError   time.Duration `param:"stale_if_error_s"`
		Enrich         Enrichment    `param:"enrich"`
		MaxCredits     int64         `param:"max_credits"`
		IdempotencyKey string        `header:"Idempotency-Key"`
	}

	// PostRequest asks for one post.
	PostRequest struct {
		Platform       platform.ID   `path:"platform"`
		ID             string        `param:"id,required" subject:"post" doc:"The post: its id or public URL."`
		IncludeRaw     bool          `param:"include_raw"`
		Fresh          bool          `param:"fresh"`
		MaxAge         time.Duration `param:"max_age_s"`
		StaleIfError   time.Duration `param:"stale_if_error_s"`
		Enrich         Enrichment    `param:"enrich"`
		MaxCredits     int64         `param:"max_credits"`
		IdempotencyKey string        `header:"Idempotency-Key"`
	}

	// TrendingRequest asks for what is popular now.
	TrendingRequest struct {
		Platform       platform.ID   `path:"platform"`
		Region         string        `param:"region,filter" form:"country" doc:"ISO 3166-1 alpha-2 code, if the platform distinguishes regions."`
		Cursor         string        `param:"cursor"`
		IncludeRaw     bool          `param:"include_raw"`
		Fresh          bool          `param:"fresh"`
		MaxAge         time.Duration `param:"max_age_s"`
		StaleIfError   time.Duration `param:"stale_if_error_s"`
		Enrich         Enrichment    `param:"enrich"`
		MaxCredits     int64         `param:"max_credits"`
		IdempotencyKey string        `header:"Idempotency-Key"`
	}

	// SearchRequest asks one platform for objects that match a text.
	SearchRequest struct {
		Platform       platform.ID       `path:"platform"`
		Query          string            `param:"query,required" max:"512" doc:"The text to search for, 1 to 512 characters."`
		Kind           schema.ResultKind `param:"kind,filter" enum:"profile post comment product review track collection web" doc:"Only results of this kind."`
		Sort           string            `param:"sort,filter" doc:"The order: relevance, recent, or a word of the platform."`
		Since          time.Time         `param:"since,filter" doc:"Only what is from this time or later: RFC 3339, or a date."`
		Until          time.Time         `param:"until,filter" doc:"Only what is from before this time: RFC 3339, or a date."`
		Region         string            `param:"region,filter" form:"country" doc:"ISO 3166-1 alpha-2 code, if the platform distinguishes regions."`
		Lang           string            `param:"lang,filter" form:"lang" doc:"BCP 47 code, if the platform distinguishes languages."`
		Handle         string            `param:"handle,filter" subject:"handle" doc:"Search only inside this account, where the platform can."`
		Cursor         string            `param:"cursor"`
		IncludeRaw     bool              `param:"include_raw"`
		Fresh          bool              `param:"fresh"`
		MaxAge         time.Duration     `param:"max_age_s"`
		StaleIfError   time.Duration     `param:"stale_if_error_s"`
		Enrich         Enrichment        `param:"enrich"`
		MaxCredits     int64             `param:"max_credits"`
		IdempotencyKey string            `header:"Idempotency-Key"`
	}

	// SuggestionsRequest asks for completions of a search text.
	SuggestionsRequest struct {
		Platform       platform.ID   `path:"platform"`
		Query          string        `param:"query,required" max:"512" doc:"What has been typed, 1 to 512 characters."`
		Region         string        `param:"region,filter" form:"country" doc:"ISO 3166-1 alpha-2 code, if the platform distinguishes regions."`
		IncludeRaw     bool          `param:"include_raw"`
		Fresh          bool          `param:"fresh"`
		MaxAge         time.Duration `param:"max_age_s"`
		StaleIfError   time.Duration `param:"stale_if_error_s"`
		MaxCredits     int64         `param:"max_credits"`
		IdempotencyKey string        `header:"Idempotency-Key"`
	}

	// CommentsRequest asks for a page of the comments on a post.
	CommentsRequest struct {
		Platform       platform.ID   `path:"platform"`
		PostID         string        `param:"post_id,required" subject:"post" doc:"The post: its id or public URL."`
		Cursor         string        `param:"cursor"`
		IncludeRaw     bool          `param:"include_raw"`
		Fresh          bool          `param:"fresh"`
		MaxAge         time.Duration `param:"max_age_s"`
		StaleIfError   time.Duration `param:"stale_if_error_s"`
		Enrich         Enrichment    `param:"enrich"`
		MaxCredits     int64         `param:"max_credits"`
		IdempotencyKey string        `header:"Idempotency-Key"`
	}

	// RepliesRequest asks for a page of the replies to a comment.
	RepliesRequest struct {
		Platform       platform.ID   `path:"platform"`
		CommentID      string        `param:"comment_id,required" subject:"comment" doc:"The comment: its id or public URL."`
		PostID         string        `param:"post_id" subject:"post" doc:"The post that the comment belongs to; some platforms need it."`
		Cursor         string        `param:"cursor"`
		IncludeRaw     bool          `param:"include_raw"`
		Fresh          bool          `param:"fresh"`
		MaxAge         time.Duration `param:"max_age_s"`
		StaleIfError   time.Duration `param:"stale_if_error_s"`
		Enrich         Enrichment    `param:"enrich"`
		MaxCredits     int64         `param:"max_credits"`
		IdempotencyKey string        `header:"Idempotency-Key"`
	}

	// TranscriptRequest asks for the transcript of a post.
	TranscriptRequest struct {
		Platform       platform.ID   `path:"platform"`
		PostID         string        `param:"post_id,required" subject:"post" doc:"The post: its id or public URL."`
		Lang           string        `param:"lang,filter" form:"lang" doc:"BCP 47 code of the wanted language; the original without it."`
		IncludeRaw     bool          `param:"include_raw"`
		Fresh          bool          `param:"fresh"`
		MaxAge         time.Duration `param:"max_age_s"`
		StaleIfError   time.Duration `param:"stale_if_error_s"`
		Enrich         Enrichment    `param:"enrich"`
		MaxCredits     int64         `param:"max_credits"`
		IdempotencyKey string        `header:"Idempotency-Key"`
	}

	// CollectionsRequest asks for a page of an account's collections.
	CollectionsRequest struct {
		Platform       platform.ID           `path:"platform"`
		Handle         string                `param:"handle,required" subject:"handle" doc:"The account: its handle or public URL."`
		Kind           schema.CollectionKind `param:"kind,filter" enum:"playlist board highlight album podcast" doc:"Only collections of this kind."`
		Cursor         string                `param:"cursor"`
		IncludeRaw     bool                  `param:"include_raw"`
		Fresh          bool                  `param:"fresh"`
		MaxAge         time.Duration         `param:"max_age_s"`
		StaleIfError   time.Duration         `param:"stale_if_error_s"`
		Enrich         Enrichment            `param:"enrich"`
		MaxCredits     int64                 `param:"max_credits"`
		IdempotencyKey string                `header:"Idempotency-Key"`
	}

	// CollectionRequest asks for one collection.
	CollectionRequest struct {
		Platform       platform.ID           `path:"platform"`
		ID             string                `param:"id,required" subject:"collection" doc:"The collection: its id or public URL."`
		Kind           schema.CollectionKind `param:"kind,filter" enum:"playlist board highlight album podcast" doc:"The kind of the collection, if the id does not show it."`
		IncludeRaw     bool                  `param:"include_raw"`
		Fresh          bool                  `param:"fresh"`
		MaxAge         time.Duration         `param:"max_age_s"`
		StaleIfError   time.Duration         `param:"stale_if_error_s"`
		Enrich         Enrichment            `param:"enrich"`
		MaxCredits     int64                 `param:"max_credits"`
		IdempotencyKey string                `header:"Idempotency-Key"`
	}

	// CollectionPostsRequest asks for a page of the posts in a collection.
	CollectionPostsRequest struct {
		Platform       platform.ID           `path:"platform"`
		ID             string                `param:"id,required" subject:"collection" doc:"The collection: its id or public URL."`
		Kind           schema.CollectionKind `param:"kind,filter" enum:"playlist board highlight album podcast" doc:"The kind of the collection, if the id does not show it."`
		Cursor         string                `param:"cursor"`
		IncludeRaw     bool                  `param:"include_raw"`
		Fresh          bool                  `param:"fresh"`
		MaxAge         time.Duration         `param:"max_age_s"`
		StaleIfError   time.Duration         `param:"stale_if_error_s"`
		Enrich         Enrichment            `param:"enrich"`
		MaxCredits     int64                 `param:"max_credits"`
		IdempotencyKey string                `header:"Idempotency-Key"`
	}

	// CollectionTracksRequest asks for a page of the tracks in a collection.
	CollectionTracksRequest struct {
		Platform       platform.ID           `path:"platform"`
		ID             string                `param:"id,required" subject:"collection" doc:"The collection: its id or public URL."`
		Kind           schema.CollectionKind `param:"kind,filter" enum:"playlist board highlight album podcast" doc:"The kind of the collection, if the id does not show it."`
		Cursor         string                `param:"cursor"`
		IncludeRaw     bool                  `param:"include_raw"`
		Fresh          bool                  `param:"fresh"`
		MaxAge         time.Duration         `param:"max_age_s"`
		StaleIfError   time.Duration         `param:"stale_if_error_s"`
		Enrich         Enrichment            `param:"enrich"`
		MaxCredits     int64                 `param:"max_credits"`
		IdempotencyKey string                `header:"Idempotency-Key"`
	}

	// TrackRequest asks for one track.
	TrackRequest struct {
		Platform       platform.ID   `path:"platform"`
		ID             string        `param:"id,required" subject:"track" doc:"The track or sound: its id or public URL."`
		IncludeRaw     bool          `param:"include_raw"`
		Fresh          bool          `param:"fresh"`
		MaxAge         time.Duration `param:"max_age_s"`
		StaleIfError   time.Duration `param:"stale_if_error_s"`
		Enrich         Enrichment    `param:"enrich"`
		MaxCredits     int64         `param:"max_credits"`
		IdempotencyKey string        `header:"Idempotency-Key"`
	}

	// TrackPostsRequest asks for a page of the posts that use a sound.
	TrackPostsRequest struct {
		Platform       platform.ID   `path:"platform"`
		ID             string        `param:"id,required" subject:"track" doc:"The track or sound: its id or public URL."`
		Cursor         string        `param:"cursor"`
		IncludeRaw     bool          `param:"include_raw"`
		Fresh          bool          `param:"fresh"`
		MaxAge         time.Duration `param:"max_age_s"`
		StaleIfError   time.Duration `param:"stale_if_error_s"`
		Enrich         Enrichment    `param:"enrich"`
		MaxCredits     int64         `param:"max_credits"`
		IdempotencyKey string        `header:"Idempotency-Key"`
	}

	// CommunityRequest asks for one community.
	CommunityRequest struct {
		Platform       platform.ID   `path:"platform"`
		ID             string        `param:"id,required" subject:"community" doc:"The community: its name, id or public URL."`
		IncludeRaw     bool          `param:"include_raw"`
		Fresh          bool          `param:"fresh"`
		MaxAge         time.Duration `param:"max_age_s"`
		StaleIfError   time.Duration `param:"stale_if_error_s"`
		Enrich         Enrichment    `param:"enrich"`
		MaxCredits     int64         `param:"max_credits"`
		IdempotencyKey string        `header:"Idempotency-Key"`
	}

	// CommunityPostsRequest asks for a page of the posts in a community.
	CommunityPostsRequest struct {
		Platform       platform.ID   `path:"platform"`
		ID             string        `param:"id,required" subject:"community" doc:"The community: its name, id or public URL."`
		Sort           string        `param:"sort,filter" doc:"The order, in a word of the platform; the newest first without it."`
		Cursor         string        `param:"cursor"`
		IncludeRaw     bool          `param:"include_raw"`
		Fresh          bool          `param:"fresh"`
		MaxAge         time.Duration `param:"max_age_s"`
		StaleIfError   time.Duration `param:"stale_if_error_s"`
		Enrich         Enrichment    `param:"enrich"`
		MaxCredits     int64         `param:"max_credits"`
		IdempotencyKey string        `header:"Idempotency-Key"`
	}

	// ProductsRequest asks for a page of the products of a store or of an account; exactly one is set.
	ProductsRequest struct {
		Platform       platform.ID   `path:"platform"`
		Store          string        `param:"store,one" subject:"store" doc:"The store: its id or public URL."`
		Handle         string        `param:"handle,one" subject:"handle" doc:"The account: its handle or public URL."`
		Cursor         string        `param:"cursor"`
		IncludeRaw     bool          `param:"include_raw"`
		Fresh          bool          `param:"fresh"`
		MaxAge         time.Duration `param:"max_age_s"`
		StaleIfError   time.Duration `param:"stale_if_error_s"`
		Enrich         Enrichment    `param:"enrich"`
		MaxCredits     int64         `param:"max_credits"`
		IdempotencyKey string        `header:"Idempotency-Key"`
	}

	// ProductRequest asks for one product.
	ProductRequest struct {
		Platform       platform.ID   `path:"platform"`
		ID             string        `param:"id,required" subject:"product" doc:"The product: its id or public URL."`
		Region         string        `param:"region,filter" form:"country" doc:"ISO 3166-1 alpha-2 code, where the platform sells by region."`
		IncludeRaw     bool          `param:"include_raw"`
		Fresh          bool          `param:"fresh"`
		MaxAge         time.Duration `param:"max_age_s"`
		StaleIfError   time.Duration `param:"stale_if_error_s"`
		Enrich         Enrichment    `param:"enrich"`
		MaxCredits     int64         `param:"max_credits"`
		IdempotencyKey string        `header:"Idempotency-Key"`
	}

	// ReviewsRequest asks for a page of the reviews of a product.
	ReviewsRequest struct {
		Platform       platform.ID   `path:"platform"`
		ProductID      string        `param:"product_id,required" subject:"product" doc:"The product: its id or public URL."`
		Cursor         string        `param:"cursor"`
		IncludeRaw     bool          `param:"include_raw"`
		Fresh          bool          `param:"fresh"`
		MaxAge         time.Duration `param:"max_age_s"`
		StaleIfError   time.Duration `param:"stale_if_error_s"`
		Enrich         Enrichment    `param:"enrich"`
		MaxCredits     int64         `param:"max_credits"`
		IdempotencyKey string        `header:"Idempotency-Key"`
	}

	// StoreRequest asks for one store.
	StoreRequest struct {
		Platform       platform.ID   `path:"platform"`
		ID             string        `param:"id,required" subject:"store" doc:"The store: its id or public URL."`
		IncludeRaw     bool          `param:"include_raw"`
		Fresh          bool          `param:"fresh"`
		MaxAge         time.Duration `param:"max_age_s"`
		StaleIfError   time.Duration `param:"stale_if_error_s"`
		MaxCredits     int64         `param:"max_credits"`
		IdempotencyKey string        `header:"Idempotency-Key"`
	}

	// AdsRequest asks for a page of the ads of an advertiser or for a domain; exactly one is set.
	AdsRequest struct {
		Platform       platform.ID   `path:"platform"`
		AdvertiserID   string        `param:"advertiser_id,one" subject:"advertiser" doc:"The advertiser: its id, name or public URL."`
		Domain         string        `param:"domain,one" doc:"The domain that the ads lead to."`
		Country        string        `param:"country,filter" form:"country" doc:"Only ads that ran in this country: ISO 3166-1 alpha-2."`
		Status         string        `param:"status,filter" enum:"active inactive all" doc:"Only ads that run now, or that have ended."`
		Since          time.Time     `param:"since,filter" doc:"Only ads that ran at this time or later: RFC 3339, or a date."`
		Until          time.Time     `param:"until,filter" doc:"Only ads that ran before this time: RFC 3339, or a date."`
		Cursor         string        `param:"cursor"`
		IncludeRaw     bool          `param:"include_raw"`
		Fresh          bool          `param:"fresh"`
		MaxAge         time.Duration `param:"max_age_s"`
		StaleIfError   time.Duration `param:"stale_if_error_s"`
		Enrich         Enrichment    `param:"enrich"`
		MaxCredits     int64         `param:"max_credits"`
		IdempotencyKey string        `header:"Idempotency-Key"`
	}

	// AdsSearchRequest asks for a page of the ads that match a text.
	AdsSearchRequest struct {
		Platform       platform.ID   `path:"platform"`
		Query          string        `param:"query,required" max:"512" doc:"The text to search for, 1 to 512 characters."`
		Country        string        `param:"country,filter" form:"country" doc:"Only ads that ran in this country: ISO 3166-1 alpha-2."`
		Status         string        `param:"status,filter" enum:"active inactive all" doc:"Only ads that run now, or that have ended."`
		Since          time.Time     `param:"since,filter" doc:"Only ads that ran at this time or later: RFC 3339, or a date."`
		Until          time.Time     `param:"until,filter" doc:"Only ads that ran before this time: RFC 3339, or a date."`
		Cursor         string        `param:"cursor"`
		IncludeRaw     bool          `param:"include_raw"`
		Fresh          bool          `param:"fresh"`
		MaxAge         time.Duration `param:"max_age_s"`
		StaleIfError   time.Duration `param:"stale_if_error_s"`
		Enrich         Enrichment    `param:"enrich"`
		MaxCredits     int64         `param:"max_credits"`
		IdempotencyKey string        `header:"Idempotency-Key"`
	}

	// AdRequest asks for one ad.
	AdRequest struct {
		Platform       platform.ID   `path:"platform"`
		ID             string        `param:"id,required" subject:"ad" doc:"The ad: its id or public URL."`
		IncludeRaw     bool          `param:"include_raw"`
		Fresh          bool          `param:"fresh"`
		MaxAge         time.Duration `param:"max_age_s"`
		StaleIfError   time.Duration `param:"stale_if_error_s"`
		Enrich         Enrichment    `param:"enrich"`
		MaxCredits     int64         `param:"max_credits"`
		IdempotencyKey string        `header:"Idempotency-Key"`
	}

	// AdvertisersRequest asks for a page of the advertisers that match a text.
	AdvertisersRequest struct {
		Platform       platform.ID   `path:"platform"`
		Query          string        `param:"query,required" max:"512" doc:"The text to search for, 1 to 512 characters."`
		Country        string        `param:"country,filter" form:"country" doc:"Only advertisers of this country: ISO 3166-1 alpha-2."`
		Cursor         string        `param:"cursor"`
		IncludeRaw     bool          `param:"include_raw"`
		Fresh          bool          `param:"fresh"`
		MaxAge         time.Duration `param:"max_age_s"`
		StaleIfError   time.Duration `param:"stale_if_error_s"`
		Enrich         Enrichment    `param:"enrich"`
		MaxCredits     int64         `param:"max_credits"`
		IdempotencyKey string        `header:"Idempotency-Key"`
	}

	// EventRequest asks for one event.
	EventRequest struct {
		Platform       platform.ID   `path:"platform"`
		ID             string        `param:"id,required" subject:"event" doc:"The event: its id or public URL."`
		IncludeRaw     bool          `param:"include_raw"`
		Fresh          bool          `param:"fresh"`
		MaxAge         time.Duration `param:"max_age_s"`
		StaleIfError   time.Duration `param:"stale_if_error_s"`
		Enrich         Enrichment    `param:"enrich"`
		MaxCredits     int64         `param:"max_credits"`
		IdempotencyKey string        `header:"Idempotency-Key"`
	}

	// EventsRequest asks for a page of the events of a host or at a place; exactly one is set.
	EventsRequest struct {
		Platform       platform.ID   `path:"platform"`
		Handle         string        `param:"handle,one" subject:"handle" doc:"The host: its handle or public URL."`
		Place          string        `param:"place,one" doc:"The place, in words or as the platform's id."`
		Time           string        `param:"time,filter" enum:"upcoming past" doc:"Only what is still to come, or what is over."`
		Cursor         string        `param:"cursor"`
		IncludeRaw     bool          `param:"include_raw"`
		Fresh          bool          `param:"fresh"`
		MaxAge         time.Duration `param:"max_age_s"`
		StaleIfError   time.Duration `param:"stale_if_error_s"`
		Enrich         Enrichment    `param:"enrich"`
		MaxCredits     int64         `param:"max_credits"`
		IdempotencyKey string        `header:"Idempotency-Key"`
	}

	// EventsSearchRequest asks for a page of the events that match a text.
	EventsSearchRequest struct {
		Platform       platform.ID   `path:"platform"`
		Query          string        `param:"query,required" max:"512" doc:"The text to search for, 1 to 512 characters."`
		Cursor         string        `param:"cursor"`
		IncludeRaw     bool          `param:"include_raw"`
		Fresh          bool          `param:"fresh"`
		MaxAge         time.Duration `param:"max_age_s"`
		StaleIfError   time.Duration `param:"stale_if_error_s"`
		Enrich         Enrichment    `param:"enrich"`
		MaxCredits     int64         `param:"max_credits"`
		IdempotencyKey string        `header:"Idempotency-Key"`
	}
)

// Requests of the service's own operations.
type (
	// MeRequest asks for the calling key, the balance and the rate limit.
	MeRequest struct{}

	// UsageRequest asks for a page of the account's ledger entries, newest first.
	UsageRequest struct {
		RequestID string      `param:"request_id" doc:"Only the entries of this call."`
		Since     time.Time   `param:"since" doc:"Only entries from this time or later: RFC 3339, or a date."`
		Until     time.Time   `param:"until" doc:"Only entries from before this time: RFC 3339, or a date."`
		Platform  platform.ID `param:"platform" doc:"Only entries of this platform."`
		Cursor    string      `param:"cursor"`
	}

	// UsageByRequest asks for the account's usage, grouped by Group. RequestID and Cursor select entries, and must be
	// empty.
	UsageByRequest struct {
		UsageRequest
		Group UsageGroup `param:"group" enum:"day key platform operation" doc:"Add the usage up by this, instead of listing entries; since and until then count by UTC days."`
		KeyID string     `param:"key" doc:"With group: only usage of the key with this id."`
	}

	// RequestsRequest asks for a page of the account's last calls, newest first.
	RequestsRequest struct {
		RequestID string      `param:"request_id" doc:"Only this call."`
		KeyID     string      `param:"key" doc:"Only calls of the key with this id."`
		Operation string      `param:"operation" doc:"Only calls of this operation, such as posts."`
		Platform  platform.ID `param:"platform" doc:"Only calls of this platform."`
		Status    int         `param:"status" min:"100" max:"599" doc:"Only calls that were answered with this HTTP status."`
		Cursor    string      `param:"cursor"`
	}

	// KeysRequest asks for a page of the account's keys, oldest first.
	KeysRequest struct {
		Cursor string `param:"cursor"`
	}

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
		URL            string        `param:"url,required" form:"address" doc:"A web address, or text that holds one."`
		Cursor         string        `param:"cursor"`
		IncludeRaw     bool          `param:"include_raw"`
		Fresh          bool          `param:"fresh"`
		MaxAge         time.Duration `param:"max_age_s"`
		StaleIfError   time.Duration `param:"stale_if_error_s"`
		Enrich         Enrichment    `param:"enrich"`
		MaxCredits     int64         `param:"max_credits"`
		IdempotencyKey string        `header:"Idempotency-Key"`
	}

	// MonitorsRequest asks for a page of the account's monitors, by name.
	MonitorsRequest struct {
		Cursor string `param:"cursor"`
	}

	// ChangesRequest asks for a page of what monitors have found, oldest first.
	ChangesRequest struct {
		Monitor string        `param:"monitor" max:"64" doc:"Only of the monitor of this name."`
		Type    string        `param:"type" max:"64" doc:"Only of this type, such as new."`
		Since   time.Time     `param:"since" doc:"Only from this time or later: RFC 3339, or a date."`
		Cursor  string        `param:"cursor"`
		Wait    time.Duration `param:"wait_s,option" min:"0" max:"25" doc:"Seconds to wait for a change when there is none; then there is always a next_cursor."`
	}

	// HistoryRequest asks for a page of the numbers that a monitor has read, oldest first.
	HistoryRequest struct {
		Monitor string    `param:"monitor,required" max:"64" doc:"The name of the monitor."`
		Field   string    `param:"field,required" max:"128" doc:"The number, such as followers or engagement.likes."`
		Since   time.Time `param:"since" doc:"Only numbers from this time or later: RFC 3339, or a date."`
		Until   time.Time `param:"until" doc:"Only from before this time: RFC 3339, or a date."`
		Step    string    `param:"step" enum:"1h 1d 7d" doc:"Sums the numbers up over stretches of this length."`
		Cursor  string    `param:"cursor"`
	}

	// EndpointsRequest asks for a page of the account's endpoints, by name.
	EndpointsRequest struct {
		Cursor string `param:"cursor"`
	}

	// DeliveriesRequest asks for a page of the account's deliveries, those of the latest changes first.
	DeliveriesRequest struct {
		Endpoint string `param:"endpoint" max:"64" doc:"Only to the endpoint of this name."`
		Cursor   string `param:"cursor"`
	}

	// EnrichRequest asks for the analysis of a text.
	EnrichRequest struct {
		Text           string `param:"text,required" form:"prose" max:"4000" doc:"The text, 1 to 4,000 characters."`
		MaxCredits     int64  `param:"max_credits"`
		IdempotencyKey string `header:"Idempotency-Key"`
	}

	// SearchAcrossRequest asks several platforms at once for objects that match a text.
	SearchAcrossRequest struct {
		Query          string            `param:"query,required" max:"512" doc:"The text to search for, 1 to 512 characters; a hashtag with its #."`
		Platforms      []platform.ID     `param:"platforms" doc:"The platforms to ask, separated by commas; all that can search without it."`
		Kind           schema.ResultKind `param:"kind" enum:"profile post comment product review track collection web" doc:"Only results of this kind."`
		Sort           string            `param:"sort" enum:"relevance recent" doc:"The order of the merged results; relevance without it."`
		Since          time.Time         `param:"since" doc:"Only what is from this time or later: RFC 3339, or a date."`
		Until          time.Time         `param:"until" doc:"Only what is from before this time: RFC 3339, or a date."`
		Lang           string            `param:"lang" form:"lang" doc:"BCP 47 code, for platforms that distinguish languages."`
		Wait           time.Duration     `param:"wait_s,option" min:"1" max:"25" doc:"How long to wait for slow platforms, in seconds; 8 without it. What is late becomes a job."`
		Cursor         string            `param:"cursor"`
		IncludeRaw     bool              `param:"include_raw"`
		Fresh          bool              `param:"fresh"`
		MaxAge         time.Duration     `param:"max_age_s"`
		StaleIfError   time.Duration     `param:"stale_if_error_s"`
		Enrich         Enrichment        `param:"enrich"`
		MaxCredits     int64             `param:"max_credits"`
		IdempotencyKey string            `header:"Idempotency-Key"`
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
		Fresh          bool                `param:"fresh" doc:"Skips the cache; costs twice the base. Of the parameters that are not listed here, those that the route takes are forwarded."`
		MaxAge         time.Duration       `param:"max_age_s"`
		StaleIfError   time.Duration       `param:"stale_if_error_s"`
		MaxCredits     int64               `param:"max_credits"`
		IdempotencyKey string              `header:"Idempotency-Key"`
	}
)
