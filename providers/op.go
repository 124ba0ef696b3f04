package providers

// Op is the name of an operation: the part of its route after /v1/{platform}/.
type Op string

// The operations, in the order of the route table.
const (
	OpProfile          Op = "profile"
	OpFollowers        Op = "followers"
	OpFollowing        Op = "following"
	OpAudience         Op = "audience"
	OpLive             Op = "live"
	OpLinked           Op = "linked"
	OpPosts            Op = "posts"
	OpPost             Op = "post"
	OpTrending         Op = "trending"
	OpSearch           Op = "search"
	OpSuggestions      Op = "suggestions"
	OpComments         Op = "comments"
	OpReplies          Op = "replies"
	OpTranscript       Op = "transcript"
	OpReels            Op = "reels"
	OpCollections      Op = "collections"
	OpCollection       Op = "collection"
	OpCollectionPosts  Op = "collection/posts"
	OpCollectionTracks Op = "collection/tracks"
	OpTrack            Op = "track"
	OpTracks           Op = "tracks"
	OpTrackPosts       Op = "track/posts"
	OpCommunity        Op = "community"
	OpCommunityPosts   Op = "community/posts"
	OpProducts         Op = "products"
	OpProduct          Op = "product"
	OpReviews          Op = "reviews"
	OpStore            Op = "store"
	OpAds              Op = "ads"
	OpAdsSearch        Op = "ads/search"
	OpAd               Op = "ad"
	OpAdvertisers      Op = "advertisers"
	OpEvent            Op = "event"
	OpEvents           Op = "events"
	OpEventsSearch     Op = "events/search"
)

// OpRaw is used for a provider's Forward in Missing; it is not an operation.
const OpRaw Op = "raw"

const (
	onTikTokAndGitHub = "only offered on tiktok and github"
	inShops           = "only platforms with stores have it"
	inAdLibraries     = "only the public ad libraries of facebook, google, linkedin and tiktok have it"
	onEventPlatforms  = "only facebook and twitch publish events"
)

// Where describes where an operation that few platforms have is available; "" for all others.
func (op Op) Where() string {
	switch op {
	case OpFollowers, OpFollowing:
		return onTikTokAndGitHub
	case OpAudience:
		return "only tiktok shows the countries of an audience"
	case OpProducts, OpProduct, OpReviews, OpStore:
		return inShops
	case OpAds, OpAdsSearch, OpAd, OpAdvertisers:
		return inAdLibraries
	case OpEvent, OpEvents, OpEventsSearch:
		return onEventPlatforms
	default:
		return ""
	}
}

// Subject is the kind of thing that an identifier identifies. Providers need it to normalize what people paste.
type Subject string

// The subjects of identifiers.
const (
	Handle       Subject = "handle" // an account
	PostID       Subject = "post"
	CommentID    Subject = "comment"
	TrackID      Subject = "track"
	CollectionID Subject = "collection"
	CommunityID  Subject = "community"
	ProductID    Subject = "product"
	StoreID      Subject = "store"
	AdID         Subject = "ad"
	AdvertiserID Subject = "advertiser"
	EventID      Subject = "event"
)

// Owns reports whether things of a subject have parts: an account, a community, a store.
func (s Subject) Owns() bool {
	return s == Handle || s == CommunityID || s == StoreID || s == AdvertiserID
}

// Kinds of addresses of a platform that do not identify a thing.
const (
	// SearchPage is a page of search results, or of a hashtag. In place of an identifier it has the text that is searched
	// for.
	SearchPage Subject = "search"
	// AdSearchPage is a page of search results of an ad library.
	AdSearchPage Subject = "search for ads"
	// SitePage is a page that cannot be read as a thing, such as the login page.
	SitePage Subject = "page"
	// ShortLink is a short link: only the site knows its target. See [Provider.Open].
	ShortLink Subject = "short link"
)
