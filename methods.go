package socialdata

import (
	"context"

	"github.com/socialdata/socialdata/problem"
	"github.com/socialdata/socialdata/schema"
)

// The methods below are the operations of the table. A read costs the base credits of its platform, twice that with
// Fresh, and 3 more with Enrich; one that fails is free. Every error is a *[problem.Error].

// Profile reads one account.
func (c *Client) Profile(ctx context.Context, req ProfileRequest) (*schema.Envelope[schema.Profile], error) {
	return opProfile.do(ctx, c, req.Platform, req)
}

// Followers returns one page of the accounts that follow an account.
func (c *Client) Followers(ctx context.Context, req FollowersRequest) (*schema.Envelope[[]schema.Profile], error) {
	return opFollowers.do(ctx, c, req.Platform, req)
}

// Following returns one page of the accounts that an account follows.
func (c *Client) Following(ctx context.Context, req FollowingRequest) (*schema.Envelope[[]schema.Profile], error) {
	return opFollowing.do(ctx, c, req.Platform, req)
}

// Audience returns where the followers of an account live.
func (c *Client) Audience(ctx context.Context, req AudienceRequest) (*schema.Envelope[schema.Audience], error) {
	return opAudience.do(ctx, c, req.Platform, req)
}

// Live reads an account's broadcast; IsLive is false when it is off air.
func (c *Client) Live(ctx context.Context, req LiveRequest) (*schema.Envelope[schema.LiveStream], error) {
	return opLive.do(ctx, c, req.Platform, req)
}

// Linked returns accounts on other platforms that seem to belong to the same person, with the evidence for each.
func (c *Client) Linked(ctx context.Context, req LinkedRequest) (*schema.Envelope[[]schema.LinkedProfile], error) {
	return opLinked.do(ctx, c, req.Platform, req)
}

// Posts returns one page of an account's posts, newest first.
func (c *Client) Posts(ctx context.Context, req PostsRequest) (*schema.Envelope[[]schema.Post], error) {
	return opPosts.do(ctx, c, req.Platform, req)
}

// Post reads one post.
func (c *Client) Post(ctx context.Context, req PostRequest) (*schema.Envelope[schema.Post], error) {
	return opPost.do(ctx, c, req.Platform, req)
}

// Trending returns one page of what is popular now.
func (c *Client) Trending(ctx context.Context, req TrendingRequest) (*schema.Envelope[[]schema.Post], error) {
	return opTrending.do(ctx, c, req.Platform, req)
}

// Search returns one page of one platform's search results. [Client.SearchAcross] searches several platforms at once.
func (c *Client) Search(ctx context.Context, req SearchRequest) (*schema.Envelope[[]schema.SearchResult], error) {
	return opSearch.do(ctx, c, req.Platform, req)
}

// Suggestions returns completions of a search text.
func (c *Client) Suggestions(
	ctx context.Context, req SuggestionsRequest,
) (*schema.Envelope[[]schema.Suggestion], error) {
	return opSuggestions.do(ctx, c, req.Platform, req)
}

// Comments returns one page of the comments on a post.
func (c *Client) Comments(ctx context.Context, req CommentsRequest) (*schema.Envelope[[]schema.Comment], error) {
	return opComments.do(ctx, c, req.Platform, req)
}

// Replies returns one page of the replies to a comment.
func (c *Client) Replies(ctx context.Context, req RepliesRequest) (*schema.Envelope[[]schema.Comment], error) {
	return opReplies.do(ctx, c, req.Platform, req)
}

// Transcript reads the transcript of a post. A post without one is not found.
func (c *Client) Transcript(ctx context.Context, req TranscriptRequest) (*schema.Envelope[schema.Transcript], error) {
	return opTranscript.do(ctx, c, req.Platform, req)
}

// Reels returns one page of an account's short videos, newest first.
func (c *Client) Reels(ctx context.Context, req ReelsRequest) (*schema.Envelope[[]schema.Post], error) {
	return opReels.do(ctx, c, req.Platform, req)
}

// Collections returns one page of an account's collections.
func (c *Client) Collections(
	ctx context.Context, req CollectionsRequest,
) (*schema.Envelope[[]schema.Collection], error) {
	return opCollections.do(ctx, c, req.Platform, req)
}

// Collection reads one collection.
func (c *Client) Collection(ctx context.Context, req CollectionRequest) (*schema.Envelope[schema.Collection], error) {
	return opCollection.do(ctx, c, req.Platform, req)
}

// CollectionPosts returns one page of the posts in a collection.
func (c *Client) CollectionPosts(
	ctx context.Context, req CollectionPostsRequest,
) (*schema.Envelope[[]schema.Post], error) {
	return opCollectionPosts.do(ctx, c, req.Platform, req)
}

// CollectionTracks returns one page of the tracks in a collection.
func (c *Client) CollectionTracks(
	ctx context.Context, req CollectionTracksRequest,
) (*schema.Envelope[[]schema.Track], error) {
	return opCollectionTracks.do(ctx, c, req.Platform, req)
}

// Track reads one track or sound.
func (c *Client) Track(ctx context.Context, req TrackRequest) (*schema.Envelope[schema.Track], error) {
	return opTrack.do(ctx, c, req.Platform, req)
}

// Tracks returns one page of an account's tracks.
func (c *Client) Tracks(ctx context.Context, req TracksRequest) (*schema.Envelope[[]schema.Track], error) {
	return opTracks.do(ctx, c, req.Platform, req)
}

// TrackPosts returns one page of the posts that use a sound.
func (c *Client) TrackPosts(ctx context.Context, req TrackPostsRequest) (*schema.Envelope[[]schema.Post], error) {
	return opTrackPosts.do(ctx, c, req.Platform, req)
}

// Community reads one community, as a profile.
func (c *Client) Community(ctx context.Context, req CommunityRequest) (*schema.Envelope[schema.Profile], error) {
	return opCommunity.do(ctx, c, req.Platform, req)
}

// CommunityPosts returns one page of the posts in a community.
func (c *Client) CommunityPosts(
	ctx context.Context, req CommunityPostsRequest,
) (*schema.Envelope[[]schema.Post], error) {
	return opCommunityPosts.do(ctx, c, req.Platform, req)
}

// Products returns one page of the products of a store or an account.
func (c *Client) Products(ctx context.Context, req ProductsRequest) (*schema.Envelope[[]schema.Product], error) {
	return opProducts.do(ctx, c, req.Platform, req)
}

// Product reads one product.
func (c *Client) Product(ctx context.Context, req ProductRequest) (*schema.Envelope[schema.Product], error) {
	return opProduct.do(ctx, c, req.Platform, req)
}

// Reviews returns one page of the reviews of a product.
func (c *Client) Reviews(ctx context.Context, req ReviewsRequest) (*schema.Envelope[[]schema.Review], error) {
	return opReviews.do(ctx, c, req.Platform, req)
}

// Store reads one store.
func (c *Client) Store(ctx context.Context, req StoreRequest) (*schema.Envelope[schema.StoreSummary], error) {
	return opStore.do(ctx, c, req.Platform, req)
}

// Ads returns one page of the ads of an advertiser or for a domain.
func (c *Client) Ads(ctx context.Context, req AdsRequest) (*schema.Envelope[[]schema.Ad], error) {
	return opAds.do(ctx, c, req.Platform, req)
}

// AdsSearch returns one page of the ads that match a text.
func (c *Client) AdsSearch(ctx context.Context, req AdsSearchRequest) (*schema.Envelope[[]schema.Ad], error) {
	return opAdsSearch.do(ctx, c, req.Platform, req)
}

// Ad reads one ad.
func (c *Client) Ad(ctx context.Context, req AdRequest) (*schema.Envelope[schema.Ad], error) {
	return opAd.do(ctx, c, req.Platform, req)
}

// Advertisers returns one page of the advertisers that match a text.
func (c *Client) Advertisers(
	ctx context.Context, req AdvertisersRequest,
) (*schema.Envelope[[]schema.Advertiser], error) {
	return opAdvertisers.do(ctx, c, req.Platform, req)
}

// Event reads one public event.
func (c *Client) Event(ctx context.Context, req EventRequest) (*schema.Envelope[schema.Event], error) {
	return opEvent.do(ctx, c, req.Platform, req)
}

// Events returns one page of the events of a host or at a place.
func (c *Client) Events(ctx context.Context, req EventsRequest) (*schema.Envelope[[]schema.Event], error) {
	return opEvents.do(ctx, c, req.Platform, req)
}

// EventsSearch returns one page of the events that match a text.
func (c *Client) EventsSearch(ctx context.Context, req EventsSearchRequest) (*schema.Envelope[[]schema.Event], error) {
	return opEventsSearch.do(ctx, c, req.Platform, req)
}

// Me reads the key that the client is bound to, its account's balance and its rate limit. It is free.
func (c *Client) Me(ctx context.Context, req MeRequest) (*schema.Envelope[schema.Me], error) {
	return opMe.do(ctx, c, "", req)
}

// Usage returns one page of the account's ledger entries, newest first. It is free.
func (c *Client) Usage(ctx context.Context, req UsageRequest) (*schema.Envelope[[]schema.Usage], error) {
	return opUsage.do(ctx, c, "", UsageByRequest{UsageRequest: req})
}

// UsageBy returns the account's usage, grouped by req.Group, which is required. What was paid is exactly what is in the
// account's ledger; what was free or failed comes from the request log. It is free.
func (c *Client) UsageBy(ctx context.Context, req UsageByRequest) (*schema.Envelope[[]schema.Rollup], error) {
	if req.Group == "" {
		return nil, problem.New(problem.InvalidRequest, "group is missing: it must be day, key, platform or operation")
	}
	by := row[UsageByRequest, []schema.Rollup]{opUsage.Row}
	return by.do(ctx, c, "", req)
}

// Requests returns one page of the account's last calls with their results, newest first: of the last 100,000 calls of
// all accounts, those of 7 days, unless [WithRequests] sets other limits. Parameters are not stored. It is free, and its
// own answers are not in the log.
func (c *Client) Requests(ctx context.Context, req RequestsRequest) (*schema.Envelope[[]schema.Request], error) {
	return opRequests.do(ctx, c, "", req)
}

// Estimate returns what a call may cost and what the cache has of its answer, without calling an upstream. It fails if
// the call would, except when the balance is too low. It is free.
func (c *Client) Estimate(ctx context.Context, req EstimateRequest) (*schema.Envelope[schema.Estimate], error) {
	return opEstimate.do(ctx, c, "", req)
}

// Resolve returns what a URL names: first the call that reads it, then other calls for the same thing. No upstream is
// called. It is free.
func (c *Client) Resolve(ctx context.Context, req ResolveRequest) (*schema.Envelope[[]schema.Resolved], error) {
	return opResolve.do(ctx, c, "", req)
}

// Read reads what a URL names: it makes the first call that [Client.Resolve] returns, and is charged, cached and logged
// like that call. The data has the type of that call, such as [schema.Profile] or []schema.Comment. A short link is
// opened first, with one request to its site.
func (c *Client) Read(ctx context.Context, req ReadRequest) (*schema.Envelope[any], error) {
	return opRead.do(ctx, c, "", req)
}

// ListKeys returns one page of the account's keys without their secrets, oldest first, including revoked ones.
// [Client.Keys] makes and changes them. It is free.
func (c *Client) ListKeys(ctx context.Context, req KeysRequest) (*schema.Envelope[[]schema.Key], error) {
	return opKeys.do(ctx, c, "", req)
}

// ListMonitors returns one page of the account's monitors, by name. [Client.Monitors] makes and ends them. It is free.
func (c *Client) ListMonitors(ctx context.Context, req MonitorsRequest) (*schema.Envelope[[]schema.Monitor], error) {
	return opMonitors.do(ctx, c, "", req)
}

// Changes returns one page of what the account's monitors have found in the last 30 days, oldest first. A change may
// come twice, with the same id. With Wait set, Meta.NextCursor is always set, for reading what comes next. It is free.
func (c *Client) Changes(ctx context.Context, req ChangesRequest) (*schema.Envelope[[]schema.Change], error) {
	return opChanges.do(ctx, c, "", req)
}

// History returns one page of the numbers that a monitor has read, oldest first: each change of the last 90 days, and
// one a day from before. A number that does not change is recorded once a day. It is free.
func (c *Client) History(ctx context.Context, req HistoryRequest) (*schema.Envelope[[]schema.HistoryPoint], error) {
	return opHistory.do(ctx, c, "", req)
}

// ListEndpoints returns one page of where the account has changes sent, by name. [Client.Endpoints] makes and ends
// them. It is free.
func (c *Client) ListEndpoints(ctx context.Context, req EndpointsRequest) (*schema.Envelope[[]schema.Endpoint], error) {
	return opEndpoints.do(ctx, c, "", req)
}

// Deliveries returns one page of what became of sending changes to endpoints, those of the latest changes first. They
// are kept as long as their changes. It is free.
func (c *Client) Deliveries(ctx context.Context, req DeliveriesRequest) (*schema.Envelope[[]schema.Delivery], error) {
	return opDeliveries.do(ctx, c, "", req)
}

// Platforms returns what can be read from each platform, and why not if it cannot. It is free.
func (c *Client) Platforms(ctx context.Context, req PlatformsRequest) (*schema.Envelope[[]schema.PlatformInfo], error) {
	return opPlatforms.do(ctx, c, "", req)
}

// Enrich analyses a text: dialect, sentiment, entities and topics. It costs 3 credits.
func (c *Client) Enrich(ctx context.Context, req EnrichRequest) (*schema.Envelope[schema.Enrichment], error) {
	return opEnrich.do(ctx, c, "", req)
}

// SearchAcross searches several platforms at once and merges their results. It costs the base of each platform that
// answers. When Meta.JobID is set, some were late: [Client.Job] collects their results.
func (c *Client) SearchAcross(
	ctx context.Context, req SearchAcrossRequest,
) (*schema.Envelope[[]schema.SearchResult], error) {
	return opSearchAcross.do(ctx, c, "", req)
}

// Job returns what a search has found since the last answer or, once everything has been returned, all results again.
// It is free. Jobs are kept for 15 minutes.
func (c *Client) Job(ctx context.Context, req JobRequest) (*schema.Envelope[[]schema.SearchResult], error) {
	return opJob.do(ctx, c, "", req)
}
