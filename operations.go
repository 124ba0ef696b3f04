package socialdata

import (
	"context"
	"encoding/json"
	"errors"
	"reflect"
	"time"

	"github.com/socialdata/socialdata/internal/linked"
	"github.com/socialdata/socialdata/internal/read"
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
		"Read one account", profileTTL,
		read.One(func(p *providers.Provider) providers.One[schema.Profile] { return p.Profile },
			func(p *providers.Provider) providers.Batch[schema.Profile] { return p.Batches.Profile })).specified().watched()
	opFollowers = readRow[FollowersRequest, []schema.Profile](providers.OpFollowers, "profiles",
		"List the accounts that follow an account", profileTTL,
		read.Many(func(p *providers.Provider) providers.List[schema.Profile] { return p.Followers })).on(followed...)
	opFollowing = readRow[FollowingRequest, []schema.Profile](providers.OpFollowing, "profiles",
		"List the accounts that an account follows", profileTTL,
		read.Many(func(p *providers.Provider) providers.List[schema.Profile] { return p.Following })).on(followed...)
	opAudience = readRow[AudienceRequest, schema.Audience](providers.OpAudience, "profiles",
		"Read where the followers of an account live", profileTTL,
		read.One(func(p *providers.Provider) providers.One[schema.Audience] { return p.Audience },
			func(p *providers.Provider) providers.Batch[schema.Audience] { return p.Batches.Audience }))
	opLive = readRow[LiveRequest, schema.LiveStream](providers.OpLive, "profiles",
		"Read an account's broadcast, on air or not", liveTTL,
		read.One(func(p *providers.Provider) providers.One[schema.LiveStream] { return p.Live },
			func(p *providers.Provider) providers.Batch[schema.LiveStream] { return p.Batches.Live })).watched()
	opLinked = probing(readRow[LinkedRequest, []schema.LinkedProfile](providers.OpLinked, "profiles",
		"List accounts on other platforms that seem to be the same person's", profileTTL,
		read.Source{Derive: linked.Derive}))

	opPosts = readRow[PostsRequest, []schema.Post](providers.OpPosts, "posts",
		"List an account's posts, newest first", postTTL,
		read.Many(func(p *providers.Provider) providers.List[schema.Post] { return p.Posts })).specified().watched()
	opPost = readRow[PostRequest, schema.Post](providers.OpPost, "posts", "Read one post", postTTL,
		read.One(func(p *providers.Provider) providers.One[schema.Post] { return p.Post },
			func(p *providers.Provider) providers.Batch[schema.Post] { return p.Batches.Post })).specified().watched()
	opTrending = readRow[TrendingRequest, []schema.Post](providers.OpTrending, "posts",
		"List what is popular now", searchTTL,
		read.ManyBy(func(p *providers.Provider) providers.ListBy[providers.TrendingQuery, schema.Post] { return p.Trending },
			func(in operation.Args) providers.TrendingQuery {
				return providers.TrendingQuery{Region: in.Get("region")}
			}))

	opSearch = readRow[SearchRequest, []schema.SearchResult](providers.OpSearch, "search",
		"Search one platform", searchTTL,
		searching()).watched()
	opSuggestions = readRow[SuggestionsRequest, []schema.Suggestion](providers.OpSuggestions, "search",
		"Suggest completions of a search", searchTTL,
		read.ManyBy(func(p *providers.Provider) providers.ListBy[providers.SuggestionsQuery, schema.Suggestion] {
			return p.Suggestions
		}, func(in operation.Args) providers.SuggestionsQuery {
			return providers.SuggestionsQuery{Query: in.Get("query"), Region: in.Get("region")}
		}))

	opComments = readRow[CommentsRequest, []schema.Comment](providers.OpComments, "comments",
		"List the comments on a post", commentTTL,
		read.Many(func(p *providers.Provider) providers.List[schema.Comment] { return p.Comments })).specified().watched()
	opReplies = readRow[RepliesRequest, []schema.Comment](providers.OpReplies, "comments",
		"List the replies to a comment", commentTTL,
		read.ManyBy(func(p *providers.Provider) providers.ListBy[providers.RepliesQuery, schema.Comment] { return p.Replies },
			func(in operation.Args) providers.RepliesQuery {
				return providers.RepliesQuery{CommentID: in.Get("comment_id"), PostID: in.Get("post_id")}
			})).watched()

	opTranscript = readRow[TranscriptRequest, schema.Transcript](providers.OpTranscript, "media",
		"Read the transcript of a post", transcriptTTL,
		read.OneBy(func(p *providers.Provider) providers.OneBy[providers.TranscriptQuery, schema.Transcript] {
			return p.Transcript
		},
			func(p *providers.Provider) providers.BatchBy[providers.TranscriptQuery, schema.Transcript] {
				return p.Batches.Transcript
			},
			func(in operation.Args) providers.TranscriptQuery {
				return providers.TranscriptQuery{PostID: in.Get("post_id"), Lang: in.Get("lang")}
			}))
	opReels = readRow[ReelsRequest, []schema.Post](providers.OpReels, "media",
		"List an account's short videos, newest first", postTTL,
		read.Many(func(p *providers.Provider) providers.List[schema.Post] { return p.Reels })).watched()
	opCollections = readRow[CollectionsRequest, []schema.Collection](providers.OpCollections, "media",
		"List an account's playlists, boards, highlights, albums or podcasts", profileTTL,
		read.ManyBy(func(p *providers.Provider) providers.ListBy[providers.CollectionsQuery, schema.Collection] {
			return p.Collections
		},
			func(in operation.Args) providers.CollectionsQuery {
				return providers.CollectionsQuery{Handle: in.Get("handle"), Kind: schema.CollectionKind(in.Get("kind"))}
			}))
	opCollection = readRow[CollectionRequest, schema.Collection](providers.OpCollection, "media",
		"Read one collection", profileTTL,
		read.OneBy(func(p *providers.Provider) providers.OneBy[providers.CollectionQuery, schema.Collection] {
			return p.Collection
		}, func(p *providers.Provider) providers.BatchBy[providers.CollectionQuery, schema.Collection] {
			return p.Batches.Collection
		}, collectionQuery)).watched()
	opCollectionPosts = readRow[CollectionPostsRequest, []schema.Post](providers.OpCollectionPosts, "media",
		"List the posts in a collection", postTTL,
		read.ManyBy(func(p *providers.Provider) providers.ListBy[providers.CollectionQuery, schema.Post] {
			return p.CollectionPosts
		}, collectionQuery)).watched()
	opCollectionTracks = readRow[CollectionTracksRequest, []schema.Track](providers.OpCollectionTracks, "media",
		"List the tracks in a collection", postTTL,
		read.ManyBy(func(p *providers.Provider) providers.ListBy[providers.CollectionQuery, schema.Track] {
			return p.CollectionTracks
		}, collectionQuery))

	opTrack = readRow[TrackRequest, schema.Track](providers.OpTrack, "music", "Read one track or sound", postTTL,
		read.One(func(p *providers.Provider) providers.One[schema.Track] { return p.Track },
			func(p *providers.Provider) providers.Batch[schema.Track] { return p.Batches.Track })).watched()
	opTracks = readRow[TracksRequest, []schema.Track](providers.OpTracks, "music",
		"List an account's tracks", postTTL,
		read.Many(func(p *providers.Provider) providers.List[schema.Track] { return p.Tracks })).watched()
	opTrackPosts = readRow[TrackPostsRequest, []schema.Post](providers.OpTrackPosts, "music",
		"List the posts that use a sound", postTTL,
		read.Many(func(p *providers.Provider) providers.List[schema.Post] { return p.TrackPosts }))

	opCommunity = readRow[CommunityRequest, schema.Profile](providers.OpCommunity, "communities",
		"Read one community, as a profile", profileTTL,
		read.One(func(p *providers.Provider) providers.One[schema.Profile] { return p.Community },
			func(p *providers.Provider) providers.Batch[schema.Profile] { return p.Batches.Community })).watched()
	opCommunityPosts = readRow[CommunityPostsRequest, []schema.Post](providers.OpCommunityPosts, "communities",
		"List the posts in a community", postTTL,
		read.ManyBy(func(p *providers.Provider) providers.ListBy[providers.CommunityPostsQuery, schema.Post] {
			return p.CommunityPosts
		},
			func(in operation.Args) providers.CommunityPostsQuery {
				return providers.CommunityPostsQuery{ID: in.Get("id"), Sort: in.Get("sort")}
			})).watched()

	opProducts = readRow[ProductsRequest, []schema.Product](providers.OpProducts, "shops",
		"List the products of a store or an account", postTTL,
		read.ManyBy(func(p *providers.Provider) providers.ListBy[providers.ProductsQuery, schema.Product] {
			return p.Products
		},
			func(in operation.Args) providers.ProductsQuery {
				return providers.ProductsQuery{Store: in.Get("store"), Handle: in.Get("handle")}
			})).also("commerce").watched()
	opProduct = readRow[ProductRequest, schema.Product](providers.OpProduct, "shops", "Read one product", postTTL,
		read.OneBy(func(p *providers.Provider) providers.OneBy[providers.ProductQuery, schema.Product] { return p.Product },
			func(p *providers.Provider) providers.BatchBy[providers.ProductQuery, schema.Product] {
				return p.Batches.Product
			},
			func(in operation.Args) providers.ProductQuery {
				return providers.ProductQuery{ID: in.Get("id"), Region: in.Get("region")}
			})).also("commerce").watched()
	opReviews = readRow[ReviewsRequest, []schema.Review](providers.OpReviews, "shops",
		"List the reviews of a product", commentTTL,
		read.Many(func(p *providers.Provider) providers.List[schema.Review] { return p.Reviews })).also("commerce").watched()
	opStore = readRow[StoreRequest, schema.StoreSummary](providers.OpStore, "commerce",
		"Read one store", profileTTL, read.Store()).watched()

	opAds = readRow[AdsRequest, []schema.Ad](providers.OpAds, "ads",
		"List the ads of an advertiser or for a domain", postTTL,
		read.ManyBy(func(p *providers.Provider) providers.ListBy[providers.AdsQuery, schema.Ad] { return p.Ads },
			func(in operation.Args) providers.AdsQuery {
				return providers.AdsQuery{AdvertiserID: in.Get("advertiser_id"), Domain: in.Get("domain"), AdFilter: adFilter(in)}
			})).watched()
	opAdsSearch = readRow[AdsSearchRequest, []schema.Ad](providers.OpAdsSearch, "ads",
		"Search an ad library", postTTL,
		read.ManyBy(func(p *providers.Provider) providers.ListBy[providers.AdsSearchQuery, schema.Ad] { return p.AdsSearch },
			func(in operation.Args) providers.AdsSearchQuery {
				return providers.AdsSearchQuery{Query: in.Get("query"), AdFilter: adFilter(in)}
			})).watched()
	opAd = readRow[AdRequest, schema.Ad](providers.OpAd, "ads", "Read one ad", postTTL,
		read.One(func(p *providers.Provider) providers.One[schema.Ad] { return p.Ad },
			func(p *providers.Provider) providers.Batch[schema.Ad] { return p.Batches.Ad })).watched()
	opAdvertisers = readRow[AdvertisersRequest, []schema.Advertiser](providers.OpAdvertisers, "ads",
		"Search for advertisers", postTTL,
		read.ManyBy(func(p *providers.Provider) providers.ListBy[providers.AdvertisersQuery, schema.Advertiser] {
			return p.Advertisers
		},
			func(in operation.Args) providers.AdvertisersQuery {
				return providers.AdvertisersQuery{Query: in.Get("query"), Country: in.Get("country")}
			}))

	opEvent = readRow[EventRequest, schema.Event](providers.OpEvent, "events", "Read one public event", postTTL,
		read.One(func(p *providers.Provider) providers.One[schema.Event] { return p.Event },
			func(p *providers.Provider) providers.Batch[schema.Event] { return p.Batches.Event })).shown("/v1/facebook/event").watched()
	opEvents = readRow[EventsRequest, []schema.Event](providers.OpEvents, "events",
		"List the events of a host or at a place", postTTL,
		read.ManyBy(func(p *providers.Provider) providers.ListBy[providers.EventsQuery, schema.Event] { return p.Events },
			func(in operation.Args) providers.EventsQuery {
				return providers.EventsQuery{Handle: in.Get("handle"), Place: in.Get("place"), Time: in.Get("time")}
			})).watched()
	opEventsSearch = readRow[EventsSearchRequest, []schema.Event](providers.OpEventsSearch, "events",
		"Search for public events", postTTL,
		read.Many(func(p *providers.Provider) providers.List[schema.Event] { return p.EventsSearch }))
)

// The operations of the service itself.
var (
	opMe = serviceRow[MeRequest, schema.Me](operation.Operation{
		Name: "me", Path: "/v1/me", Tag: "account", Price: operation.Free,
		Errors:  []problem.Code{problem.Unauthorized, problem.RateLimited}, // the specification has no other (D62)
		Summary: "Read the calling key, the balance and the rate limit",
	})
	opUsage = serviceRow[UsageByRequest, []schema.Usage](operation.Operation{
		Name: "usage", Path: "/v1/usage", Tag: "account", Price: operation.Free,
		Summary: "List the account's charges, newest first, or add its usage up", Or: reflect.TypeFor[[]schema.Rollup](),
		Errors: []problem.Code{
			problem.InvalidRequest, problem.Unauthorized, problem.RateLimited, problem.InternalError,
			problem.PlatformUnavailable, // when the service is at its limit (D71)
		},
	})
	opRequests = serviceRow[RequestsRequest, []schema.Request](operation.Operation{
		Name: "requests", Path: "/v1/requests", Tag: "account", Price: operation.Free,
		Summary: "List the account's latest calls, newest first",
		Errors: []problem.Code{
			problem.InvalidRequest, problem.Unauthorized, problem.RateLimited, problem.InternalError,
			problem.PlatformUnavailable, // when the service is at its limit (D71)
		},
	})
	opKeys = serviceRow[KeysRequest, []schema.Key](operation.Operation{
		Name: "keys", Func: "ListKeys", Path: "/v1/keys", Tag: "account", Price: operation.Free,
		Summary: "List the account's keys, oldest first", Errors: listErrors,
	})
	opEstimate = serviceRow[EstimateRequest, schema.Estimate](operation.Operation{
		Name: "estimate", Path: "/v1/estimate", Tag: "account", Price: operation.Free,
		Summary: "Estimate what a call may cost, and how fresh its answer would be",
		Errors: []problem.Code{
			problem.InvalidRequest, problem.Unauthorized, problem.NotFound, problem.RateLimited, problem.InternalError,
			problem.PlatformUnavailable,
		},
	})
	opPlatforms = serviceRow[PlatformsRequest, []schema.PlatformInfo](operation.Operation{
		Name: "platforms", Path: "/v1/platforms", Tag: "account", Price: operation.Free, NoKey: true,
		Summary: "List the platforms and what can be read from each",
	})
	opResolve = serviceRow[ResolveRequest, []schema.Resolved](operation.Operation{
		Name: "resolve", Path: "/v1/resolve", Tag: "addresses", Price: operation.Free,
		Summary: "Resolve an address to the reads that it leads to",
		Errors: []problem.Code{
			problem.InvalidRequest, problem.Unauthorized, problem.NotFound, problem.RateLimited, problem.InternalError,
			problem.PlatformUnavailable, // when the service is at its limit (D71)
		},
	})
	opRead = serviceRow[ReadRequest, any](operation.Operation{
		Name: "read", Path: "/v1/read", Tag: "addresses", Errors: readErrors,
		Summary: "Read what an address names", Redirects: true,
	})
	opSearchAcross = serviceRow[SearchAcrossRequest, []schema.SearchResult](operation.Operation{
		Name: "search_across", Path: "/v1/search", Tag: "search", TTL: searchTTL, Price: operation.EachPlatform,
		Summary: "Search several platforms at once", Streams: true,
		Errors: []problem.Code{
			problem.InvalidRequest, problem.Unauthorized, problem.InsufficientCredits, problem.RateLimited,
			problem.InternalError, problem.PlatformUnavailable, problem.UpstreamTimeout,
		},
	}).watched()
	opJob = serviceRow[JobRequest, []schema.SearchResult](operation.Operation{
		Name: "job", Path: "/v1/job", Tag: "search", Price: operation.Free, Summary: "Collect the rest of a search",
		Errors: []problem.Code{
			problem.InvalidRequest, problem.Unauthorized, problem.NotFound, problem.RateLimited, problem.InternalError,
			problem.PlatformUnavailable, // when the service is at its limit (D71)
		},
	})
	opMonitors = serviceRow[MonitorsRequest, []schema.Monitor](operation.Operation{
		Name: "monitors", Func: "ListMonitors", Path: "/v1/monitors", Tag: "monitors", Price: operation.Free,
		Summary: "List the account's monitors", Errors: listErrors,
	})
	opChanges = serviceRow[ChangesRequest, []schema.Change](operation.Operation{
		Name: "changes", Path: "/v1/changes", Tag: "monitors", Price: operation.Free, Streams: true,
		Summary: "List what monitors have found, oldest first", Errors: watchErrors,
	})
	opHistory = serviceRow[HistoryRequest, []schema.HistoryPoint](operation.Operation{
		Name: "history", Path: "/v1/history", Tag: "monitors", Price: operation.Free,
		Summary: "List the numbers that a monitor has read, oldest first", Errors: watchErrors,
	})
	opEndpoints = serviceRow[EndpointsRequest, []schema.Endpoint](operation.Operation{
		Name: "endpoints", Func: "ListEndpoints", Path: "/v1/endpoints", Tag: "monitors", Price: operation.Free,
		Summary: "List the account's webhook endpoints", Errors: listErrors,
	})
	opDeliveries = serviceRow[DeliveriesRequest, []schema.Delivery](operation.Operation{
		Name: "deliveries", Path: "/v1/deliveries", Tag: "monitors", Price: operation.Free,
		Summary: "List the deliveries to webhook endpoints, latest first", Errors: watchErrors,
	})
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
		Summary: "Read one of a provider's own routes, unchanged",
	}).from(read.Source{Fetch: read.Forward})
	opHealth = serviceRow[struct{}, schema.Health](operation.Operation{
		Name: "health", Path: "/health", Tag: "service", Price: operation.Free, NoKey: true, Bare: true,
		Summary: "Read the state of every platform",
	})
)

// table has the rows above, in the order of the description. The package only returns copies of it.
var table = []*read.Row{
	&opMe.Row, &opUsage.Row, &opRequests.Row, &opKeys.Row, &opEstimate.Row, &opPlatforms.Row, &opProfile.Row,
	&opProfileBatch.Row,
	&opFollowers.Row, &opFollowing.Row, &opAudience.Row, &opAudienceBatch.Row, &opLive.Row, &opLiveBatch.Row,
	&opLinked.Row, &opPosts.Row, &opPost.Row, &opPostBatch.Row, &opTrending.Row, &opSearch.Row, &opSuggestions.Row,
	&opComments.Row, &opReplies.Row, &opTranscript.Row, &opTranscriptBatch.Row, &opReels.Row, &opCollections.Row,
	&opCollection.Row, &opCollectionBatch.Row, &opCollectionPosts.Row, &opCollectionTracks.Row, &opTrack.Row,
	&opTrackBatch.Row, &opTracks.Row, &opTrackPosts.Row, &opCommunity.Row, &opCommunityBatch.Row, &opCommunityPosts.Row,
	&opProducts.Row, &opProduct.Row, &opProductBatch.Row, &opReviews.Row, &opStore.Row, &opStoreBatch.Row, &opAds.Row,
	&opAdsSearch.Row, &opAd.Row, &opAdBatch.Row, &opAdvertisers.Row, &opEvent.Row, &opEventBatch.Row, &opEvents.Row,
	&opEventsSearch.Row, &opMonitors.Row, &opChanges.Row, &opHistory.Row, &opEndpoints.Row, &opDeliveries.Row,
	&opResolve.Row, &opRead.Row, &opSearchAcross.Row, &opJob.Row, &opEnrich.Row, &opRaw.Row,
	&opHealth.Row,
}

// searching reads a search from the providers that accept the query.
func searching() read.Source {
	source := read.ManyBy(func(p *providers.Provider) providers.ListBy[providers.SearchQuery, schema.SearchResult] {
		return p.Search
	}, searchQuery)
	source.Reach = func(p *providers.Provider, in operation.Args) error {
		if p.Searches == nil {
			return nil
		}
		return p.Searches(searchQuery(in))
	}
	return source
}

func searchQuery(in operation.Args) providers.SearchQuery {
	return providers.SearchQuery{
		Query: in.Get("query"), Kind: schema.ResultKind(in.Get("kind")), Sort: in.Get("sort"),
		Since: in.Time("since"), Until: in.Time("until"),
		Region: in.Get("region"), Lang: in.Get("lang"), Handle: in.Get("handle"),
	}
}

func collectionQuery(in operation.Args) providers.CollectionQuery {
	return providers.CollectionQuery{ID: in.Get("id"), Kind: schema.CollectionKind(in.Get("kind"))}
}

func adFilter(in operation.Args) providers.AdFilter {
	return providers.AdFilter{
		Country: in.Get("country"), Status: in.Get("status"), Since: in.Time("since"), Until: in.Time("until"),
	}
}

// Operations returns a copy of the operation table, which the caller owns.
func Operations() []*operation.Operation {
	out := make([]*operation.Operation, len(table))
	for i, row := range table {
		out[i] = row.Clone()
	}
	return out
}

// Operation returns a copy of the row of that name, which the caller owns, or nil.
func Operation(name string) *operation.Operation {
	for _, row := range table {
		if row.Name == name {
			return row.Clone()
		}
	}
	return nil
}

// row is a row of the table with the types of its request and its data.
type row[Req, T any] struct {
	read.Row
}

var readErrors = []problem.Code{
	problem.InvalidRequest, problem.Unauthorized, problem.InsufficientCredits, problem.NotFound, problem.RateLimited,
	problem.InternalError, problem.PlatformUnavailable, problem.UpstreamTimeout,
}

// listErrors are the errors of lists of the account's own, watchErrors those of lists for a monitor.
var (
	listErrors = []problem.Code{
		problem.InvalidRequest, problem.Unauthorized, problem.RateLimited, problem.InternalError,
		problem.PlatformUnavailable, // when the service is at its limit (D71)
	}
	watchErrors = []problem.Code{
		problem.InvalidRequest, problem.Unauthorized, problem.NotFound, problem.RateLimited, problem.InternalError,
		problem.PlatformUnavailable, // as above
	}
)

// readRow completes the row of a read through a provider.
func readRow[Req, T any](op providers.Op, tag, summary string, ttl time.Duration, source read.Source) *row[Req, T] {
	o := &operation.Operation{
		Name: string(op), Path: "/v1/{platform}/" + string(op), Tag: tag, Summary: summary, TTL: ttl, Errors: readErrors,
		Data: reflect.TypeFor[T](),
	}
	o.Takes(reflect.TypeFor[Req]())
	return &row[Req, T]{read.Row{Op: op, Source: source, Operation: o}}
}

// serviceRow completes the row of an operation of the service itself.
func serviceRow[Req, T any](o operation.Operation) *row[Req, T] {
	o.Service, o.Data = true, reflect.TypeFor[T]()
	o.Takes(reflect.TypeFor[Req]())
	return &row[Req, T]{read.Row{Operation: &o}}
}

// specified marks r as a path of the specification.
func (r *row[Req, T]) specified() *row[Req, T] {
	r.Specified = true
	return r
}

// also adds r to a second operation group.
func (r *row[Req, T]) also(tag string) *row[Req, T] {
	r.Also = tag
	return r
}

// from makes r read from source.
func (r *row[Req, T]) from(source read.Source) *row[Req, T] {
	r.Source = source
	return r
}

// watched lets monitors call r.
func (r *row[Req, T]) watched() *row[Req, T] {
	r.Watched = true
	return r
}

// on restricts r to some platforms, as the specification does.
func (r *row[Req, T]) on(ids ...platform.ID) *row[Req, T] {
	r.Platforms = ids
	return r
}

// shown sets the path of r in the description, as the specification writes it.
func (r *row[Req, T]) shown(path string) *row[Req, T] {
	r.Shown = path
	return r
}

// probing makes r also cost the base of each platform that it has probed.
func probing[Req, T any](r *row[Req, T]) *row[Req, T] {
	r.Price = operation.PlatformAndProbes
	return r
}

// do makes the call of req.
func (r *row[Req, T]) do(ctx context.Context, c *Client, on platform.ID, req Req) (*schema.Envelope[T], error) {
	if r.Service || r.Of != nil || operation.IdempotencyKey(r.Operation, &req) != "" {
		call := operation.CallOf(r.Operation, &req)
		call.Typed = true
		return decode[T](c.Do(ctx, r.Operation, call))
	}
	var few [8]operation.Pair // they are used only during the call, and so are not on the heap
	a, err := c.session.Read(ctx, &r.Row, on, operation.FromStruct(few[:0], r.Params, &req))
	if err != nil {
		return nil, err
	}
	return decode[T](a, nil)
}

func decode[T any](a *operation.Answer, err error) (*schema.Envelope[T], error) {
	if err != nil {
		return nil, err
	}
	if e, ok := a.Envelope.(*schema.Envelope[T]); ok {
		e.Meta = a.Meta
		return e, nil
	}
	e := &schema.Envelope[T]{Meta: a.Meta}
	if a.Made != nil {
		v, err := a.Made.Value(a.Data)
		data, ok := v.(T)
		if e.Data = data; err != nil || !ok {
			return nil, problem.Wrap(err, problem.InternalError, "the answer cannot be decoded")
		}
		return e, nil
	}
	if results, ok := any(&e.Data).(*[]schema.SearchResult); ok {
		*results, err = decodeResults(a.Data)
	} else {
		err = json.Unmarshal(a.Data, &e.Data)
	}
	if err != nil {
		return nil, problem.Wrap(err, problem.InternalError, "the answer cannot be decoded")
	}
	return e, nil
}

// decodeResults decodes a list of results one by one. encoding/json would read each three more times: to validate the
// list, to find its end and to validate it again.
func decodeResults(data []byte) ([]schema.SearchResult, error) {
	elements, ok := read.Elements(data)
	if !ok {
		return nil, errors.New("not a list")
	}
	results := make([]schema.SearchResult, len(elements))
	for i, b := range elements {
		if err := results[i].UnmarshalJSON(b); err != nil {
			return nil, err
		}
	}
	return results, nil
}
