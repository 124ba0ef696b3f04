package socialdata

import (
	"time"

	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/schema"
)

// ReadOptions are the options that every read takes.
type ReadOptions struct {
	IncludeRaw bool `param:"include_raw" doc:"Adds the untouched upstream object to each object as raw."`
	Fresh      bool `param:"fresh" doc:"Skips the cache; costs twice the base."`
}

// Enrichment is the value of an enrich parameter: [Arabic], or "" for none.
type Enrichment string

// Arabic asks for dialect, sentiment, entities and topics.
const Arabic Enrichment = "arabic"

// EnrichOptions are the options of reads whose objects carry text.
type EnrichOptions struct {
	ReadOptions
	Enrich Enrichment `param:"enrich" enum:"arabic" doc:"Adds dialect, sentiment, entities and topics to each object; costs 3 credits more, which are refunded when it fails."`
}

// Each request names a platform and what is wanted there. Identifiers are taken as people paste them: a handle with or
// without @, an id, or the public URL. A Cursor is the Meta.NextCursor of the page before; "" is the first page. Zero
// fields are not sent.
type (
	// ProfileRequest asks for one account.
	ProfileRequest struct {
		Platform platform.ID `path:"platform"`
		Handle   string      `param:"handle,required" subject:"handle" doc:"The account: its handle or public URL."`
		EnrichOptions
	}

	// AccountsRequest asks for a page of accounts around one account: its followers, or those that it follows.
	AccountsRequest struct {
		Platform platform.ID `path:"platform"`
		Handle   string      `param:"handle,required" subject:"handle" doc:"The account: its handle or public URL."`
		Cursor   string      `param:"cursor" doc:"The next_cursor of the page before."`
		EnrichOptions
	}

	// HandleRequest asks for something about one account that carries no text.
	HandleRequest struct {
		Platform platform.ID `path:"platform"`
		Handle   string      `param:"handle,required" subject:"handle" doc:"The account: its handle or public URL."`
		ReadOptions
	}

	// PostsRequest asks for a page of what an account published.
	PostsRequest struct {
		Platform platform.ID `path:"platform"`
		Handle   string      `param:"handle,required" subject:"handle" doc:"The account: its handle or public URL."`
		Cursor   string      `param:"cursor" doc:"The next_cursor of the page before."`
		EnrichOptions
	}

	// PostRequest asks for one post.
	PostRequest struct {
		Platform platform.ID `path:"platform"`
		ID       string      `param:"id,required" subject:"post" doc:"The post: its id or public URL."`
		EnrichOptions
	}

	// TrendingRequest asks for what is popular now.
	TrendingRequest struct {
		Platform platform.ID `path:"platform"`
		Region   string      `param:"region,filter" form:"country" doc:"ISO 3166-1 alpha-2 code, where the platform can tell regions apart."`
		Cursor   string      `param:"cursor" doc:"The next_cursor of the page before."`
		EnrichOptions
	}

	// SearchRequest asks one platform for objects that match a text.
	SearchRequest struct {
		Platform platform.ID       `path:"platform"`
		Query    string            `param:"query,required" doc:"The text to search for, 1 to 512 characters."`
		Kind     schema.ResultKind `param:"kind,filter" enum:"profile post comment product review track collection web" doc:"Only results of this kind."`
		Sort     string            `param:"sort,filter" doc:"The order: relevance, recent, or a word of the platform."`
		Since    time.Time         `param:"since,filter" doc:"Only what is from this time or later: RFC 3339, or a date."`
		Until    time.Time         `param:"until,filter" doc:"Only what is from before this time: RFC 3339, or a date."`
		Region   string            `param:"region,filter" form:"country" doc:"ISO 3166-1 alpha-2 code, where the platform can tell regions apart."`
		Lang     string            `param:"lang,filter" form:"lang" doc:"BCP 47 code, where the platform can tell languages apart."`
		Handle   string            `param:"handle,filter" subject:"handle" doc:"Search only inside this account, where the platform can."`
		Cursor   string            `param:"cursor" doc:"The next_cursor of the page before."`
		EnrichOptions
	}

	// SuggestionsRequest asks how a text that somebody begins to type may go on.
	SuggestionsRequest struct {
		Platform platform.ID `path:"platform"`
		Query    string      `param:"query,required" doc:"What has been typed, 1 to 512 characters."`
		Region   string      `param:"region,filter" form:"country" doc:"ISO 3166-1 alpha-2 code, where the platform can tell regions apart."`
		ReadOptions
	}

	// CommentsRequest asks for a page of the comments on a post.
	CommentsRequest struct {
		Platform platform.ID `path:"platform"`
		PostID   string      `param:"post_id,required" subject:"post" doc:"The post: its id or public URL."`
		Cursor   string      `param:"cursor" doc:"The next_cursor of the page before."`
		EnrichOptions
	}

	// RepliesRequest asks for a page of the answers to a comment.
	RepliesRequest struct {
		Platform  platform.ID `path:"platform"`
		CommentID string      `param:"comment_id,required" subject:"comment" doc:"The comment: its id or public URL."`
		PostID    string      `param:"post_id" subject:"post" doc:"The post that the comment stands under; some platforms need it."`
		Cursor    string      `param:"cursor" doc:"The next_cursor of the page before."`
		EnrichOptions
	}

	// TranscriptRequest asks for what is said in a post.
	TranscriptRequest struct {
		Platform platform.ID `path:"platform"`
		PostID   string      `param:"post_id,required" subject:"post" doc:"The post: its id or public URL."`
		Lang     string      `param:"lang,filter" form:"lang" doc:"BCP 47 code of the wanted language; the original without it."`
		EnrichOptions
	}

	// CollectionsRequest asks for a page of an account's collections.
	CollectionsRequest struct {
		Platform platform.ID           `path:"platform"`
		Handle   string                `param:"handle,required" subject:"handle" doc:"The account: its handle or public URL."`
		Kind     schema.CollectionKind `param:"kind,filter" enum:"playlist board highlight album podcast" doc:"Only collections of this kind."`
		Cursor   string                `param:"cursor" doc:"The next_cursor of the page before."`
		EnrichOptions
	}

	// CollectionRequest asks for one collection.
	CollectionRequest struct {
		Platform platform.ID           `path:"platform"`
		ID       string                `param:"id,required" subject:"collection" doc:"The collection: its id or public URL."`
		Kind     schema.CollectionKind `param:"kind,filter" enum:"playlist board highlight album podcast" doc:"What the id names, where it does not tell."`
		EnrichOptions
	}

	// CollectionItemsRequest asks for a page of what is in a collection.
	CollectionItemsRequest struct {
		Platform platform.ID           `path:"platform"`
		ID       string                `param:"id,required" subject:"collection" doc:"The collection: its id or public URL."`
		Kind     schema.CollectionKind `param:"kind,filter" enum:"playlist board highlight album podcast" doc:"What the id names, where it does not tell."`
		Cursor   string                `param:"cursor" doc:"The next_cursor of the page before."`
		EnrichOptions
	}

	// TrackRequest asks for one track.
	TrackRequest struct {
		Platform platform.ID `path:"platform"`
		ID       string      `param:"id,required" subject:"track" doc:"The track or sound: its id or public URL."`
		EnrichOptions
	}

	// TrackPostsRequest asks for a page of the posts that use a sound.
	TrackPostsRequest struct {
		Platform platform.ID `path:"platform"`
		ID       string      `param:"id,required" subject:"track" doc:"The track or sound: its id or public URL."`
		Cursor   string      `param:"cursor" doc:"The next_cursor of the page before."`
		EnrichOptions
	}

	// CommunityRequest asks for one community.
	CommunityRequest struct {
		Platform platform.ID `path:"platform"`
		ID       string      `param:"id,required" subject:"community" doc:"The community: its name, id or public URL."`
		EnrichOptions
	}

	// CommunityPostsRequest asks for a page of what is posted in a community.
	CommunityPostsRequest struct {
		Platform platform.ID `path:"platform"`
		ID       string      `param:"id,required" subject:"community" doc:"The community: its name, id or public URL."`
		Sort     string      `param:"sort,filter" doc:"The order, in a word of the platform; the newest first without it."`
		Cursor   string      `param:"cursor" doc:"The next_cursor of the page before."`
		EnrichOptions
	}

	// ProductsRequest asks for a page of the products of a store or of an account; exactly one is set.
	ProductsRequest struct {
		Platform platform.ID `path:"platform"`
		Store    string      `param:"store,one" subject:"store" doc:"The store: its id or public URL."`
		Handle   string      `param:"handle,one" subject:"handle" doc:"The account: its handle or public URL."`
		Cursor   string      `param:"cursor" doc:"The next_cursor of the page before."`
		EnrichOptions
	}

	// ProductRequest asks for one product.
	ProductRequest struct {
		Platform platform.ID `path:"platform"`
		ID       string      `param:"id,required" subject:"product" doc:"The product: its id or public URL."`
		Region   string      `param:"region,filter" form:"country" doc:"ISO 3166-1 alpha-2 code, where the platform sells by region."`
		EnrichOptions
	}

	// ReviewsRequest asks for a page of the reviews of a product.
	ReviewsRequest struct {
		Platform  platform.ID `path:"platform"`
		ProductID string      `param:"product_id,required" subject:"product" doc:"The product: its id or public URL."`
		Cursor    string      `param:"cursor" doc:"The next_cursor of the page before."`
		EnrichOptions
	}

	// StoreRequest asks for one store.
	StoreRequest struct {
		Platform platform.ID `path:"platform"`
		ID       string      `param:"id,required" subject:"store" doc:"The store: its id or public URL."`
		ReadOptions
	}

	// AdOptions narrow a list of ads.
	AdOptions struct {
		Country string    `param:"country,filter" form:"country" doc:"Only ads that ran in this country: ISO 3166-1 alpha-2."`
		Status  string    `param:"status,filter" enum:"active inactive all" doc:"Only ads that run now, or that have ended."`
		Since   time.Time `param:"since,filter" doc:"Only ads that ran at this time or later: RFC 3339, or a date."`
		Until   time.Time `param:"until,filter" doc:"Only ads that ran before this time: RFC 3339, or a date."`
	}

	// AdsRequest asks for a page of the ads of an advertiser or for a domain; exactly one is set.
	AdsRequest struct {
		Platform     platform.ID `path:"platform"`
		AdvertiserID string      `param:"advertiser_id,one" subject:"advertiser" doc:"The advertiser: its id, name or public URL."`
		Domain       string      `param:"domain,one" doc:"The domain that the ads lead to."`
		AdOptions
		Cursor string `param:"cursor" doc:"The next_cursor of the page before."`
		EnrichOptions
	}

	// AdsSearchRequest asks for a page of the ads that match a text.
	AdsSearchRequest struct {
		Platform platform.ID `path:"platform"`
		Query    string      `param:"query,required" doc:"The text to search for, 1 to 512 characters."`
		AdOptions
		Cursor string `param:"cursor" doc:"The next_cursor of the page before."`
		EnrichOptions
	}

	// AdRequest asks for one ad.
	AdRequest struct {
		Platform platform.ID `path:"platform"`
		ID       string      `param:"id,required" subject:"ad" doc:"The ad: its id or public URL."`
		EnrichOptions
	}

	// AdvertisersRequest asks for a page of the advertisers that match a text.
	AdvertisersRequest struct {
		Platform platform.ID `path:"platform"`
		Query    string      `param:"query,required" doc:"The text to search for, 1 to 512 characters."`
		Country  string      `param:"country,filter" form:"country" doc:"Only advertisers of this country: ISO 3166-1 alpha-2."`
		Cursor   string      `param:"cursor" doc:"The next_cursor of the page before."`
		ReadOptions
	}

	// EventRequest asks for one event.
	EventRequest struct {
		Platform platform.ID `path:"platform"`
		ID       string      `param:"id,required" subject:"event" doc:"The event: its id or public URL."`
		EnrichOptions
	}

	// EventsRequest asks for a page of the events of a host or at a place; exactly one is set.
	EventsRequest struct {
		Platform platform.ID `path:"platform"`
		Handle   string      `param:"handle,one" subject:"handle" doc:"The host: its handle or public URL."`
		Place    string      `param:"place,one" doc:"The place, in words or as the platform's id."`
		Time     string      `param:"time,filter" enum:"upcoming past" doc:"Only what is still to come, or what is over."`
		Cursor   string      `param:"cursor" doc:"The next_cursor of the page before."`
		EnrichOptions
	}

	// EventsSearchRequest asks for a page of the events that match a text.
	EventsSearchRequest struct {
		Platform platform.ID `path:"platform"`
		Query    string      `param:"query,required" doc:"The text to search for, 1 to 512 characters."`
		Cursor   string      `param:"cursor" doc:"The next_cursor of the page before."`
		EnrichOptions
	}
)
