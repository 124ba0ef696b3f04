package providers

import (
	"time"

	"github.com/socialdata/socialdata/schema"
)

// The queries of the operations with more than one key. A zero field was not given; a field that is not in the
// provider's Filters for the operation is always zero.
type (
	// TrendingQuery asks for what is popular now.
	TrendingQuery struct {
		Region string // ISO 3166-1 alpha-2, upper case
	}

	// SearchQuery asks for objects that match a text.
	SearchQuery struct {
		Query  string
		Kind   schema.ResultKind // "" means all kinds that the platform can search
		Sort   string            // "relevance", "recent" or a value of the platform's Filters; "" means its default
		Since  time.Time         // inclusive
		Until  time.Time         // exclusive
		Region string            // ISO 3166-1 alpha-2, upper case
		Lang   string            // BCP 47
		Handle string            // only search in this account
	}

	// SuggestionsQuery asks for completions of a text.
	SuggestionsQuery struct {
		Query  string
		Region string
	}

	// RepliesQuery asks for the replies to one comment.
	RepliesQuery struct {
		CommentID string
		PostID    string // "" if the caller does not know it
	}

	// TranscriptQuery asks for the transcript of a post.
	TranscriptQuery struct {
		PostID string
		Lang   string // BCP 47; "" means the original language
	}

	// CollectionsQuery asks for the collections of an account.
	CollectionsQuery struct {
		Handle string
		Kind   schema.CollectionKind // "" means any
	}

	// CollectionQuery asks for one collection, or for its contents.
	CollectionQuery struct {
		ID   string
		Kind schema.CollectionKind // "" if the id determines it
	}

	// CommunityPostsQuery asks for the posts in a community.
	CommunityPostsQuery struct {
		ID   string
		Sort string
	}

	// ProductsQuery asks for the products of a store or of an account; exactly one is set.
	ProductsQuery struct {
		Store, Handle string
	}

	// ProductQuery asks for one product.
	ProductQuery struct {
		ID     string
		Region string
	}

	// AdsQuery asks for the ads of an advertiser or a domain; exactly one is set.
	AdsQuery struct {
		AdvertiserID, Domain string
		AdFilter
	}

	// AdsSearchQuery asks for ads that match a text.
	AdsSearchQuery struct {
		Query string
		AdFilter
	}

	// AdFilter narrows a list of ads.
	AdFilter struct {
		Country string // ISO 3166-1 alpha-2, upper case
		Status  string // "active", "inactive" or "all"; "" means the platform's default
		Since   time.Time
		Until   time.Time
	}

	// AdvertisersQuery asks for advertisers that match a text.
	AdvertisersQuery struct {
		Query   string
		Country string
	}

	// EventsQuery asks for the events of a host or at a place; exactly one is set.
	EventsQuery struct {
		Handle, Place string
		Time          string // "upcoming" or "past"; "" means the platform's default
	}
)
