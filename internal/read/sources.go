package read

import (
	"github.com/socialdata/socialdata/operation"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/schema"
)

// provider is short for the tables below, where it is in each line.
type provider = *providers.Provider

// SourceOf returns how an operation of providers is read; the zero Source for one that is made of other reads.
func SourceOf(op providers.Op) Source {
	switch op {
	case providers.OpProfile:
		return One(func(p provider) providers.One[schema.Profile] { return p.Profile },
			func(p provider) providers.Batch[schema.Profile] { return p.Batches.Profile })
	case providers.OpFollowers:
		return Many(func(p provider) providers.List[schema.Profile] { return p.Followers })
	case providers.OpFollowing:
		return Many(func(p provider) providers.List[schema.Profile] { return p.Following })
	case providers.OpAudience:
		return One(func(p provider) providers.One[schema.Audience] { return p.Audience },
			func(p provider) providers.Batch[schema.Audience] { return p.Batches.Audience })
	case providers.OpLive:
		return One(func(p provider) providers.One[schema.LiveStream] { return p.Live },
			func(p provider) providers.Batch[schema.LiveStream] { return p.Batches.Live })
	case providers.OpPosts:
		return Newest(func(p provider) providers.List[schema.Post] { return p.Posts })
	case providers.OpPost:
		return One(func(p provider) providers.One[schema.Post] { return p.Post },
			func(p provider) providers.Batch[schema.Post] { return p.Batches.Post })
	case providers.OpTrending:
		return ManyBy(func(p provider) providers.ListBy[providers.TrendingQuery, schema.Post] { return p.Trending },
			func(in operation.Args) providers.TrendingQuery {
				return providers.TrendingQuery{Region: in.Get("region")}
			})
	case providers.OpSearch:
		return searching()
	case providers.OpSuggestions:
		return ManyBy(func(p provider) providers.ListBy[providers.SuggestionsQuery, schema.Suggestion] {
			return p.Suggestions
		}, func(in operation.Args) providers.SuggestionsQuery {
			return providers.SuggestionsQuery{Query: in.Get("query"), Region: in.Get("region")}
		})
	case providers.OpComments:
		return Many(func(p provider) providers.List[schema.Comment] { return p.Comments })
	case providers.OpReplies:
		return ManyBy(func(p provider) providers.ListBy[providers.RepliesQuery, schema.Comment] { return p.Replies },
			func(in operation.Args) providers.RepliesQuery {
				return providers.RepliesQuery{CommentID: in.Get("comment_id"), PostID: in.Get("post_id")}
			})
	case providers.OpTranscript:
		return OneBy(func(p provider) providers.OneBy[providers.TranscriptQuery, schema.Transcript] {
			return p.Transcript
		},
			func(p provider) providers.BatchBy[providers.TranscriptQuery, schema.Transcript] {
				return p.Batches.Transcript
			},
			func(in operation.Args) providers.TranscriptQuery {
				return providers.TranscriptQuery{PostID: in.Get("post_id"), Lang: in.Get("lang")}
			})
	case providers.OpReels:
		return Newest(func(p provider) providers.List[schema.Post] { return p.Reels })
	case providers.OpCollections:
		return ManyBy(func(p provider) providers.ListBy[providers.CollectionsQuery, schema.Collection] {
			return p.Collections
		},
			func(in operation.Args) providers.CollectionsQuery {
				return providers.CollectionsQuery{Handle: in.Get("handle"), Kind: schema.CollectionKind(in.Get("kind"))}
			})
	case providers.OpCollection:
		return OneBy(func(p provider) providers.OneBy[providers.CollectionQuery, schema.Collection] {
			return p.Collection
		}, func(p provider) providers.BatchBy[providers.CollectionQuery, schema.Collection] {
			return p.Batches.Collection
		}, collectionQuery)
	case providers.OpCollectionPosts:
		return ManyBy(func(p provider) providers.ListBy[providers.CollectionQuery, schema.Post] {
			return p.CollectionPosts
		}, collectionQuery)
	case providers.OpCollectionTracks:
		return ManyBy(func(p provider) providers.ListBy[providers.CollectionQuery, schema.Track] {
			return p.CollectionTracks
		}, collectionQuery)
	case providers.OpTrack:
		return One(func(p provider) providers.One[schema.Track] { return p.Track },
			func(p provider) providers.Batch[schema.Track] { return p.Batches.Track })
	case providers.OpTracks:
		return Many(func(p provider) providers.List[schema.Track] { return p.Tracks })
	case providers.OpTrackPosts:
		return Many(func(p provider) providers.List[schema.Post] { return p.TrackPosts })
	case providers.OpCommunity:
		return One(func(p provider) providers.One[schema.Profile] { return p.Community },
			func(p provider) providers.Batch[schema.Profile] { return p.Batches.Community })
	case providers.OpCommunityPosts:
		return ManyBy(func(p provider) providers.ListBy[providers.CommunityPostsQuery, schema.Post] {
			return p.CommunityPosts
		},
			func(in operation.Args) providers.CommunityPostsQuery {
				return providers.CommunityPostsQuery{ID: in.Get("id"), Sort: in.Get("sort")}
			})
	case providers.OpProducts:
		return ManyBy(func(p provider) providers.ListBy[providers.ProductsQuery, schema.Product] {
			return p.Products
		},
			func(in operation.Args) providers.ProductsQuery {
				return providers.ProductsQuery{Store: in.Get("store"), Handle: in.Get("handle")}
			})
	case providers.OpProduct:
		return OneBy(func(p provider) providers.OneBy[providers.ProductQuery, schema.Product] { return p.Product },
			func(p provider) providers.BatchBy[providers.ProductQuery, schema.Product] {
				return p.Batches.Product
			},
			func(in operation.Args) providers.ProductQuery {
				return providers.ProductQuery{ID: in.Get("id"), Region: in.Get("region")}
			})
	case providers.OpReviews:
		return Many(func(p provider) providers.List[schema.Review] { return p.Reviews })
	case providers.OpStore:
		return Store()
	case providers.OpAds:
		return ManyBy(func(p provider) providers.ListBy[providers.AdsQuery, schema.Ad] { return p.Ads },
			func(in operation.Args) providers.AdsQuery {
				return providers.AdsQuery{AdvertiserID: in.Get("advertiser_id"), Domain: in.Get("domain"), AdFilter: adFilter(in)}
			})
	case providers.OpAdsSearch:
		return ManyBy(func(p provider) providers.ListBy[providers.AdsSearchQuery, schema.Ad] { return p.AdsSearch },
			func(in operation.Args) providers.AdsSearchQuery {
				return providers.AdsSearchQuery{Query: in.Get("query"), AdFilter: adFilter(in)}
			})
	case providers.OpAd:
		return One(func(p provider) providers.One[schema.Ad] { return p.Ad },
			func(p provider) providers.Batch[schema.Ad] { return p.Batches.Ad })
	case providers.OpAdvertisers:
		return ManyBy(func(p provider) providers.ListBy[providers.AdvertisersQuery, schema.Advertiser] {
			return p.Advertisers
		},
			func(in operation.Args) providers.AdvertisersQuery {
				return providers.AdvertisersQuery{Query: in.Get("query"), Country: in.Get("country")}
			})
	case providers.OpEvent:
		return One(func(p provider) providers.One[schema.Event] { return p.Event },
			func(p provider) providers.Batch[schema.Event] { return p.Batches.Event })
	case providers.OpEvents:
		return ManyBy(func(p provider) providers.ListBy[providers.EventsQuery, schema.Event] { return p.Events },
			func(in operation.Args) providers.EventsQuery {
				return providers.EventsQuery{Handle: in.Get("handle"), Place: in.Get("place"), Time: in.Get("time")}
			})
	case providers.OpEventsSearch:
		return Many(func(p provider) providers.List[schema.Event] { return p.EventsSearch })
	case providers.OpLinked, providers.OpRaw: // made of other reads, and read as it is
	}
	return Source{}
}

// searching reads a search from the providers that accept the query.
func searching() Source {
	source := ManyBy(func(p provider) providers.ListBy[providers.SearchQuery, schema.SearchResult] {
		return p.Search
	}, searchQuery)
	source.Reach = func(p provider, in operation.Args) error {
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
