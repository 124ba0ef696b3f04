package providers

// Op names an operation: the part of its route behind /v1/{platform}/.
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

// OpRaw stands for a provider's Forward in Missing; it is no operation of its own.
const OpRaw Op = "raw"

const (
	onTikTokAndGitHub = "offered on tiktok and github only"
	inShops           = "only storefronts and shops have it"
	inAdLibraries     = "only the public ad libraries of facebook, google, linkedin and tiktok have it"
	onEventPlatforms  = "only facebook and twitch publish events"
)

// Where says of an operation that few platforms have where it is found; "" of all others.
func (op Op) Where() string {
	switch op {
	case OpFollowers, OpFollowing:
		return onTikTokAndGitHub
	case OpAudience:
		return "only tiktok tells where an audience lives"
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

// Subject says what an identifier names, so that a provider can reduce what people paste to its canonical form.
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

// What an address of a platform may be beside the address of something that can be asked for.
const (
	// SitePage is a page that names nothing readable, such as the log-in page or a list of search results.
	SitePage Subject = "page"
	// ShortLink is a short link: only the site knows where it leads. See [Provider.Open].
	ShortLink Subject = "short link"
)
