package socialdata

import (
	"reflect"
	"time"

	"github.com/socialdata/socialdata/accounts"
	"github.com/socialdata/socialdata/internal/linked"
	"github.com/socialdata/socialdata/internal/read"
	"github.com/socialdata/socialdata/internal/typed"
	"github.com/socialdata/socialdata/operation"
	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/problem"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/schema"
)

// The cache lifetimes of answers.
const (
	profileTTL    = time.Hour
	postTTL       = 15 * time.Minute
	commentTTL    = 10 * time.Minute
	searchTTL     = 5 * time.Minute
	liveTTL       = 30 * time.Second
	transcriptTTL = 24 * time.Hour
)

// followed are the platforms with lists of followers.
var followed = []platform.ID{platform.TikTok, platform.GitHub, platform.Mock}

// The reads from a platform, in the order of the route table.
var (
	opProfile = readRow[ProfileRequest, schema.Profile](providers.OpProfile, "profiles",
		"Read one account", profileTTL).specified().watched().
		batched("Read several accounts", "accounts", "handles")
	opFollowers = readRow[FollowersRequest, []schema.Profile](providers.OpFollowers, "profiles",
		"List the accounts that follow an account", profileTTL).on(followed...)
	opFollowing = readRow[FollowingRequest, []schema.Profile](providers.OpFollowing, "profiles",
		"List the accounts that an account follows", profileTTL).on(followed...)
	opAudience = readRow[AudienceRequest, schema.Audience](providers.OpAudience, "profiles",
		"Read where the followers of an account live", profileTTL).
		batched("Say where the followers of several accounts live", "accounts", "handles")
	opLive = readRow[LiveRequest, schema.LiveStream](providers.OpLive, "profiles",
		"Read an account's broadcast, on air or not", liveTTL).watched().
		batched("Read several accounts' broadcasts, on air or not", "accounts", "handles")
	opLinked = readRow[LinkedRequest, []schema.LinkedProfile](providers.OpLinked, "profiles",
		"List accounts on other platforms that seem to be the same person's", profileTTL).from(read.Source{Derive: linked.Derive}).probing()
	opPosts = readRow[PostsRequest, []schema.Post](providers.OpPosts, "posts",
		"List an account's posts, newest first", postTTL).specified().watched()
	opStats = readRow[StatsRequest, schema.Stats](providers.OpPosts, "posts",
		"Sum up an account's newest posts in numbers", postTTL).made("stats")
	opPost = readRow[PostRequest, schema.Post](providers.OpPost, "posts",
		"Read one post", postTTL).specified().watched().
		batched("Read several posts", "posts", "ids")
	opTrending = readRow[TrendingRequest, []schema.Post](providers.OpTrending, "posts",
		"List what is popular now", searchTTL)
	opSearch = readRow[SearchRequest, []schema.SearchResult](providers.OpSearch, "search",
		"Search one platform", searchTTL).watched()
	opSuggestions = readRow[SuggestionsRequest, []schema.Suggestion](providers.OpSuggestions, "search",
		"Suggest completions of a search", searchTTL)
	opComments = readRow[CommentsRequest, []schema.Comment](providers.OpComments, "comments",
		"List the comments on a post", commentTTL).specified().watched()
	opReplies = readRow[RepliesRequest, []schema.Comment](providers.OpReplies, "comments",
		"List the replies to a comment", commentTTL).watched()
	opTranscript = readRow[TranscriptRequest, schema.Transcript](providers.OpTranscript, "media",
		"Read the transcript of a post", transcriptTTL).
		batched("Read what is said in several posts", "posts", "ids")
	opReels = readRow[ReelsRequest, []schema.Post](providers.OpReels, "media",
		"List an account's short videos, newest first", postTTL).watched()
	opCollections = readRow[CollectionsRequest, []schema.Collection](providers.OpCollections, "media",
		"List an account's playlists, boards, highlights, albums or podcasts", profileTTL)
	opCollection = readRow[CollectionRequest, schema.Collection](providers.OpCollection, "media",
		"Read one collection", profileTTL).watched().
		batched("Read several collections", "collections", "ids")
	opCollectionPosts = readRow[CollectionPostsRequest, []schema.Post](providers.OpCollectionPosts, "media",
		"List the posts in a collection", postTTL).watched()
	opCollectionTracks = readRow[CollectionTracksRequest, []schema.Track](providers.OpCollectionTracks, "media",
		"List the tracks in a collection", postTTL)
	opTrack = readRow[TrackRequest, schema.Track](providers.OpTrack, "music",
		"Read one track or sound", postTTL).watched().
		batched("Read several tracks or sounds", "tracks or sounds", "ids")
	opTracks = readRow[TracksRequest, []schema.Track](providers.OpTracks, "music",
		"List an account's tracks", postTTL).watched()
	opTrackPosts = readRow[TrackPostsRequest, []schema.Post](providers.OpTrackPosts, "music",
		"List the posts that use a sound", postTTL)
	opCommunity = readRow[CommunityRequest, schema.Profile](providers.OpCommunity, "communities",
		"Read one community, as a profile", profileTTL).watched().
		batched("Read several communities, as profiles", "communities", "names, ids")
	opCommunityPosts = readRow[CommunityPostsRequest, []schema.Post](providers.OpCommunityPosts, "communities",
		"List the posts in a community", postTTL).watched()
	opProducts = readRow[ProductsRequest, []schema.Product](providers.OpProducts, "shops",
		"List the products of a store or an account", postTTL).also("commerce").watched()
	opProduct = readRow[ProductRequest, schema.Product](providers.OpProduct, "shops",
		"Read one product", postTTL).also("commerce").watched().
		batched("Read several products", "products", "ids")
	opReviews = readRow[ReviewsRequest, []schema.Review](providers.OpReviews, "shops",
		"List the reviews of a product", commentTTL).also("commerce").watched()
	opStore = readRow[StoreRequest, schema.StoreSummary](providers.OpStore, "commerce",
		"Read one store", profileTTL).watched().
		batched("Read several stores", "stores", "ids")
	opAds = readRow[AdsRequest, []schema.Ad](providers.OpAds, "ads",
		"List the ads of an advertiser or for a domain", postTTL).watched()
	opAdsSearch = readRow[AdsSearchRequest, []schema.Ad](providers.OpAdsSearch, "ads",
		"Search an ad library", postTTL).watched()
	opAd = readRow[AdRequest, schema.Ad](providers.OpAd, "ads", "Read one ad", postTTL).watched().
		batched("Read several ads", "ads", "ids")
	opAdvertisers = readRow[AdvertisersRequest, []schema.Advertiser](providers.OpAdvertisers, "ads",
		"Search for advertisers", postTTL)
	opEvent = readRow[EventRequest, schema.Event](providers.OpEvent, "events",
		"Read one public event", postTTL).shown("/v1/facebook/event").watched().
		batched("Read several public events", "events", "ids")
	opEvents = readRow[EventsRequest, []schema.Event](providers.OpEvents, "events",
		"List the events of a host or at a place", postTTL).watched()
	opEventsSearch = readRow[EventsSearchRequest, []schema.Event](providers.OpEventsSearch, "events",
		"Search for public events", postTTL)
)

// The operations of the service itself.
var (
	opEstimate = serviceRow[EstimateRequest, schema.Estimate](operation.Operation{
		Name: "estimate", Path: "/v1/estimate", Tag: "account", Price: operation.Free,
		Summary: "Estimate what a call may cost, and how fresh its answer would be",
		Errors:  typed.FreeErrors,
	})
	opPlatforms = serviceRow[PlatformsRequest, []schema.PlatformInfo](operation.Operation{
		Name: "platforms", Path: "/v1/platforms", Tag: "account", Price: operation.Free, NoKey: true,
		Summary: "List the platforms and what can be read from each",
	})
	opResolve = serviceRow[ResolveRequest, []schema.Resolved](operation.Operation{
		Name: "resolve", Path: "/v1/resolve", Tag: "addresses", Price: operation.Free,
		Summary: "Resolve an address to the reads that it leads to",
		Errors:  typed.FreeErrors,
	})
	opRead = serviceRow[ReadRequest, any](operation.Operation{
		Name: "read", Path: "/v1/read", Tag: "addresses", Errors: readErrors,
		Summary: "Read what an address names", Redirects: true,
	}).selects().listed("Read what several addresses name", "1 to 100 web addresses, or texts that hold one, each on a line "+
		"of its own.")
	opSearchAcross = serviceRow[SearchAcrossRequest, []schema.SearchResult](operation.Operation{
		Name: "search_across", Path: "/v1/search", Tag: "search", TTL: searchTTL, Price: operation.EachPlatform,
		Summary: "Search several platforms at once", Streams: true,
		Errors: []problem.Code{
			problem.InvalidRequest, problem.Unauthorized, problem.InsufficientCredits, problem.RateLimited,
			problem.InternalError, problem.PlatformUnavailable, problem.UpstreamTimeout,
		},
	}).selects().watched()
	opJob = serviceRow[JobRequest, []schema.SearchResult](operation.Operation{
		Name: "job", Path: "/v1/job", Tag: "search", Price: operation.Free, Summary: "Collect the rest of a search",
		Errors: typed.FreeErrors,
	}).selects()
	opEnrich = serviceRow[EnrichRequest, schema.Enrichment](operation.Operation{
		Name: "enrich", Path: "/v1/enrich", Tag: "enrich", TTL: profileTTL, Price: operation.OneEnrichment,
		Summary: "Analyse a text: Arabic dialect, sentiment, entities and topics",
		Errors: []problem.Code{
			problem.InvalidRequest, problem.Unauthorized, problem.InsufficientCredits, problem.RateLimited,
			problem.InternalError, problem.PlatformUnavailable,
		},
	})
	opRaw = serviceRow[RawRequest, any](operation.Operation{
		Name: "raw", Path: "/v1/raw/{provider}/{path...}", Tag: "raw", TTL: searchTTL, Errors: readErrors,
		Summary: "Read one of a provider's own routes, unchanged, with the parameters that the route takes",
	}).from(read.Source{Fetch: read.Forward})
	opHealth = serviceRow[struct{}, schema.Health](operation.Operation{
		Name: "health", Path: "/health", Tag: "service", Price: operation.Free, NoKey: true, Bare: true,
		Summary: "Read the state of every platform",
	})
)

// table has the rows above, in the order of the description, each before its batch. The package only returns copies of
// it.
var table = rows(
	service("account"), opEstimate, opPlatforms, opProfile, opFollowers, opFollowing, opAudience, opLive,
	opLinked, opPosts, opStats, opPost, opTrending, opSearch, opSuggestions, opComments, opReplies, opTranscript, opReels,
	opCollections, opCollection, opCollectionPosts, opCollectionTracks, opTrack, opTracks, opTrackPosts, opCommunity,
	opCommunityPosts, opProducts, opProduct, opReviews, opStore, opAds, opAdsSearch, opAd, opAdvertisers, opEvent, opEvents,
	opEventsSearch, service("monitors"), service("bulk"), opResolve, opRead, opSearchAcross, opJob,
	opEnrich, opRaw, opHealth,
)

func rows(all ...interface{ both() []*read.Row }) []*read.Row {
	var out []*read.Row
	for _, r := range all {
		out = append(out, r.both()...)
	}
	return out
}

// service are the rows of a group of operations about an account.
type service string

func (group service) both() []*read.Row {
	var out []*read.Row
	for _, o := range accounts.Operations(string(group)) {
		out = append(out, &read.Row{Operation: o})
	}
	return out
}

// Operations returns a copy of the operation table, which the caller owns.
func Operations() []*operation.Operation {
	out := make([]*operation.Operation, len(table))
	for i, row := range table {
		out[i] = row.Clone()
	}
	return out
}

// Operation returns a copy of the row of that name; nil if there is none.
func Operation(name string) *operation.Operation {
	for _, row := range table {
		if row.Name == name {
			return row.Clone()
		}
	}
	return nil
}

// row is a row of the table with the type of its data.
type row[T any] struct {
	read.Row
	batch *read.Row // that reads many; nil if none does
}

func (r *row[T]) both() []*read.Row {
	if r.batch == nil {
		return []*read.Row{&r.Row}
	}
	return []*read.Row{&r.Row, r.batch}
}

var readErrors = []problem.Code{
	problem.InvalidRequest, problem.Unauthorized, problem.InsufficientCredits, problem.NotFound, problem.RateLimited,
	problem.InternalError, problem.PlatformUnavailable, problem.UpstreamTimeout,
}

// readRow completes the row of a read through a provider.
func readRow[Req, T any](op providers.Op, tag, summary string, ttl time.Duration) *row[T] {
	o := &operation.Operation{
		Name: string(op), Path: "/v1/{platform}/" + string(op), Tag: tag, Summary: summary, TTL: ttl, Errors: readErrors,
		Data: reflect.TypeFor[T](),
	}
	o.Takes(reflect.TypeFor[Req]())
	o.Selects()
	return &row[T]{Row: read.Row{Op: op, Source: read.SourceOf(op), Operation: o}}
}

// serviceRow completes the row of an operation of the service itself.
func serviceRow[Req, T any](o operation.Operation) *row[T] {
	return &row[T]{Row: read.Row{Operation: typed.Service[Req, T](o).Operation}}
}

// batched adds a row that reads many objects: what are they, and keys are the forms of what identifies them.
func (r *row[T]) batched(summary, what, keys string) *row[T] {
	return r.listed(summary, "The "+what+": 1 to 100 "+keys+
		" or public URLs, separated by commas, or by line feeds where there is one.")
}

// listed adds a row that reads many objects; doc describes the list of what identifies them.
func (r *row[T]) listed(summary, doc string) *row[T] {
	o := operation.BatchOf(r.Operation, summary, doc)
	o.Data = reflect.TypeFor[[]schema.BatchItem[T]]()
	o.Selects()
	r.batch = &read.Row{Op: r.Op, Of: &r.Row, Operation: o}
	return r
}

// specified marks r as a path of the specification.
func (r *row[T]) specified() *row[T] {
	r.Specified = true
	return r
}

// also adds r to a second operation group.
func (r *row[T]) also(tag string) *row[T] {
	r.Also = tag
	return r
}

// made makes r the operation with a name, which is made of the read of r.
func (r *row[T]) made(name string) *row[T] {
	r.Name, r.Path, r.Source = name, "/v1/{platform}/"+name, read.Source{}
	return r
}

// from makes r read from source.
func (r *row[T]) from(source read.Source) *row[T] {
	r.Source = source
	return r
}

// selects lets callers choose what they see of the answer of r.
func (r *row[T]) selects() *row[T] {
	r.Selects()
	return r
}

// watched lets monitors call r.
func (r *row[T]) watched() *row[T] {
	r.Watched = true
	return r
}

// on restricts r to some platforms, as the specification does.
func (r *row[T]) on(ids ...platform.ID) *row[T] {
	r.Platforms = ids
	return r
}

// shown sets the path of r in the description, as the specification writes it.
func (r *row[T]) shown(path string) *row[T] {
	r.Shown = path
	return r
}

// probing makes r also cost the base of each platform that it has probed.
func (r *row[T]) probing() *row[T] {
	r.Price = operation.PlatformAndProbes
	return r
}
