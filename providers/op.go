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
