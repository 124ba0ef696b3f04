package socialdata

import (
	"context"
	"encoding/json"
	"iter"

	"github.com/socialdata/socialdata/accounts"
	"github.com/socialdata/socialdata/internal/typed"
	"github.com/socialdata/socialdata/operation"
	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/schema"
)

// Reader reads public data: in this process, as a [Client], or over HTTP, as a client of package remote.
//
// A read costs the base credits of its platform, twice that with Fresh, and 3 more with Enrich; one that fails is free.
// A list is one page of it: [Walk] reads the others. Every error is a *[problem.Error].
type Reader interface {
	// Profile reads one account.
	Profile(context.Context, ProfileRequest) (*schema.Envelope[schema.Profile], error)
	// Followers lists the accounts that follow an account.
	Followers(context.Context, FollowersRequest) (*schema.Envelope[[]schema.Profile], error)
	// Following lists the accounts that an account follows.
	Following(context.Context, FollowingRequest) (*schema.Envelope[[]schema.Profile], error)
	// Audience returns where the followers of an account live.
	Audience(context.Context, AudienceRequest) (*schema.Envelope[schema.Audience], error)
	// Live reads an account's broadcast; IsLive is false when it is off air.
	Live(context.Context, LiveRequest) (*schema.Envelope[schema.LiveStream], error)
	// Linked returns accounts on other platforms that seem to belong to the same person, with the evidence for each.
	Linked(context.Context, LinkedRequest) (*schema.Envelope[[]schema.LinkedProfile], error)
	// Posts lists an account's posts, newest first.
	Posts(context.Context, PostsRequest) (*schema.Envelope[[]schema.Post], error)
	// Stats returns numbers of the newest pages of an account's posts, at the price of those pages: medians and rates of
	// engagement, posts a week, best hours, and growth if a monitor of the account has the history of its profile.
	Stats(context.Context, StatsRequest) (*schema.Envelope[schema.Stats], error)
	// Post reads one post.
	Post(context.Context, PostRequest) (*schema.Envelope[schema.Post], error)
	// Trending lists what is popular now.
	Trending(context.Context, TrendingRequest) (*schema.Envelope[[]schema.Post], error)
	// Search lists what one platform finds. SearchAcross searches several platforms at once.
	Search(context.Context, SearchRequest) (*schema.Envelope[[]schema.SearchResult], error)
	// Suggestions returns completions of a search text.
	Suggestions(context.Context, SuggestionsRequest) (*schema.Envelope[[]schema.Suggestion], error)
	// Comments lists the comments on a post.
	Comments(context.Context, CommentsRequest) (*schema.Envelope[[]schema.Comment], error)
	// Replies lists the replies to a comment.
	Replies(context.Context, RepliesRequest) (*schema.Envelope[[]schema.Comment], error)
	// Transcript reads the transcript of a post. A post without one is not found.
	Transcript(context.Context, TranscriptRequest) (*schema.Envelope[schema.Transcript], error)
	// Reels lists an account's short videos, newest first.
	Reels(context.Context, ReelsRequest) (*schema.Envelope[[]schema.Post], error)
	// Collections lists an account's collections.
	Collections(context.Context, CollectionsRequest) (*schema.Envelope[[]schema.Collection], error)
	// Collection reads one collection.
	Collection(context.Context, CollectionRequest) (*schema.Envelope[schema.Collection], error)
	// CollectionPosts lists the posts in a collection.
	CollectionPosts(context.Context, CollectionPostsRequest) (*schema.Envelope[[]schema.Post], error)
	// CollectionTracks lists the tracks in a collection.
	CollectionTracks(context.Context, CollectionTracksRequest) (*schema.Envelope[[]schema.Track], error)
	// Track reads one track or sound.
	Track(context.Context, TrackRequest) (*schema.Envelope[schema.Track], error)
	// Tracks lists an account's tracks.
	Tracks(context.Context, TracksRequest) (*schema.Envelope[[]schema.Track], error)
	// TrackPosts lists the posts that use a sound.
	TrackPosts(context.Context, TrackPostsRequest) (*schema.Envelope[[]schema.Post], error)
	// Community reads one community, as a profile.
	Community(context.Context, CommunityRequest) (*schema.Envelope[schema.Profile], error)
	// CommunityPosts lists the posts in a community.
	CommunityPosts(context.Context, CommunityPostsRequest) (*schema.Envelope[[]schema.Post], error)
	// Products lists the products of a store or an account.
	Products(context.Context, ProductsRequest) (*schema.Envelope[[]schema.Product], error)
	// Product reads one product.
	Product(context.Context, ProductRequest) (*schema.Envelope[schema.Product], error)
	// Reviews lists the reviews of a product.
	Reviews(context.Context, ReviewsRequest) (*schema.Envelope[[]schema.Review], error)
	// Store reads one store.
	Store(context.Context, StoreRequest) (*schema.Envelope[schema.StoreSummary], error)
	// Ads lists the ads of an advertiser or for a domain.
	Ads(context.Context, AdsRequest) (*schema.Envelope[[]schema.Ad], error)
	// AdsSearch lists the ads that match a text.
	AdsSearch(context.Context, AdsSearchRequest) (*schema.Envelope[[]schema.Ad], error)
	// Ad reads one ad.
	Ad(context.Context, AdRequest) (*schema.Envelope[schema.Ad], error)
	// Advertisers lists the advertisers that match a text.
	Advertisers(context.Context, AdvertisersRequest) (*schema.Envelope[[]schema.Advertiser], error)
	// Event reads one public event.
	Event(context.Context, EventRequest) (*schema.Envelope[schema.Event], error)
	// Events lists the events of a host or at a place.
	Events(context.Context, EventsRequest) (*schema.Envelope[[]schema.Event], error)
	// EventsSearch lists the events that match a text.
	EventsSearch(context.Context, EventsSearchRequest) (*schema.Envelope[[]schema.Event], error)
	// Raw reads one of a provider's own routes in its original form, if its allow-list has it. It costs the base of the
	// platform that the route belongs to. The shape of the data may change at any time; nil is null.
	Raw(context.Context, RawRequest) (*schema.Envelope[any], error)

	// Read reads what a URL names: it makes the first call that Resolve returns, and is charged, cached and logged like
	// that call. The data has the type of that call, such as [schema.Profile] or []schema.Comment. A short link is opened
	// first, with one request to its site.
	Read(context.Context, ReadRequest) (*schema.Envelope[any], error)
	// Resolve returns what a URL names: first the call that reads it, then other calls for the same thing. No upstream is
	// called. It is free.
	Resolve(context.Context, ResolveRequest) (*schema.Envelope[[]schema.Resolved], error)
	// Estimate returns what a call may cost and what the cache has of its answer, without calling an upstream. It fails
	// if the call would, except when the balance is too low. It is free.
	Estimate(context.Context, EstimateRequest) (*schema.Envelope[schema.Estimate], error)
	// SearchAcross searches several platforms at once and merges their results. It costs the base of each platform that
	// answers. When Meta.JobID is set, some were late: Job collects their results.
	SearchAcross(context.Context, SearchAcrossRequest) (*schema.Envelope[[]schema.SearchResult], error)
	// WatchSearch is SearchAcross as it goes: it calls yield with each result and each platform's end as they come, and
	// then with the meta, until yield returns false. A caller who stops early pays for what was yielded. Wait is ignored.
	WatchSearch(ctx context.Context, req SearchAcrossRequest, yield func(SearchEvent) bool) error
	// Job returns everything that a search has found so far, merged and ordered; Meta.CreditsUsed is what the search has
	// charged so far. The call itself is free. Jobs are kept for 15 minutes.
	Job(context.Context, JobRequest) (*schema.Envelope[[]schema.SearchResult], error)
	// Enrich analyses a text: dialect, sentiment, entities and topics. It costs 3 credits.
	Enrich(context.Context, EnrichRequest) (*schema.Envelope[schema.Enrichment], error)
	// Watch makes a monitor, unless there is one with its name, and yields its changes as they come. The first has the
	// type ready: later ones are compared with its state. Watch begins after the last change that an earlier Watch of the
	// same monitor has processed; a change may come twice, with the same id.
	// It ends when the caller breaks, after a change of the type stopped, or with an error, which is then the last pair.
	// The monitor continues to poll, and is charged for it, until it is paused or ended: see [accounts.Account].
	Watch(context.Context, accounts.WatchRequest) iter.Seq2[schema.Change, error]

	// Platforms returns what can be read from each platform, and why not if it cannot. It is free.
	Platforms(context.Context, PlatformsRequest) (*schema.Envelope[[]schema.PlatformInfo], error)
	// Health returns the state of every platform. It is free and needs no account.
	Health(context.Context) (schema.Health, error)
	// Account is the account that pays: its usage, keys, monitors and endpoints.
	Account() accounts.Account
	// Close ends what the client does in the background.
	Close(context.Context) error

	over() Transport
}

// Transport carries the calls of a [Reader]: see [Over].
type Transport interface {
	operation.Caller
	Watch(context.Context, accounts.WatchRequest) iter.Seq2[schema.Change, error]
	Close(context.Context) error
}

// Over returns a Reader whose calls t makes, with the rows of [Operations] and [Changes].
func Over(t Transport) Reader { return &reads{t} }

// CallerOf returns what makes the calls of a Reader, for programs that read whatever operation they are told to.
func CallerOf(r Reader) operation.Caller { return r.over() }

// SearchEvent is one step of a search over several platforms: a platform's end, or else either Result or Meta.
type SearchEvent struct {
	Platform platform.ID          // that has ended; otherwise ""
	State    schema.PlatformState // how it ended
	Result   *schema.SearchResult // one result
	Meta     *schema.Meta         // the end of the search: its charges and the platforms
}

// reads implements [Reader].
type reads struct{ Transport }

func (r *reads) over() Transport { return r.Transport }

// Account implements [Reader], like the methods below.
func (r *reads) Account() accounts.Account { return accounts.Of(r) }

func (r *reads) Health(ctx context.Context) (schema.Health, error) {
	e, err := do(ctx, r, opHealth, &struct{}{})
	if err != nil {
		return schema.Health{}, err
	}
	return e.Data, nil
}

func (r *reads) WatchSearch(ctx context.Context, req SearchAcrossRequest, yield func(SearchEvent) bool) error {
	var broken error
	call := operation.CallOf(opSearchAcross.Operation, &req)
	err := r.Stream(ctx, opSearchAcross.Operation, call, func(e operation.Event) bool {
		out := SearchEvent{Platform: e.Platform, State: e.State, Meta: e.Meta}
		if e.Result != nil {
			out.Result = new(schema.SearchResult)
			if broken = json.Unmarshal(e.Result, out.Result); broken != nil {
				return false
			}
		}
		return yield(out)
	})
	if broken != nil {
		return typed.Undecodable(schema.Meta{}, broken)
	}
	return err
}

func (r *reads) Profile(ctx context.Context, req ProfileRequest) (*schema.Envelope[schema.Profile], error) {
	return do(ctx, r, opProfile, &req)
}

func (r *reads) Followers(ctx context.Context, req FollowersRequest) (*schema.Envelope[[]schema.Profile], error) {
	return do(ctx, r, opFollowers, &req)
}

func (r *reads) Following(ctx context.Context, req FollowingRequest) (*schema.Envelope[[]schema.Profile], error) {
	return do(ctx, r, opFollowing, &req)
}

func (r *reads) Audience(ctx context.Context, req AudienceRequest) (*schema.Envelope[schema.Audience], error) {
	return do(ctx, r, opAudience, &req)
}

func (r *reads) Live(ctx context.Context, req LiveRequest) (*schema.Envelope[schema.LiveStream], error) {
	return do(ctx, r, opLive, &req)
}

func (r *reads) Linked(ctx context.Context, req LinkedRequest) (*schema.Envelope[[]schema.LinkedProfile], error) {
	return do(ctx, r, opLinked, &req)
}

func (r *reads) Posts(ctx context.Context, req PostsRequest) (*schema.Envelope[[]schema.Post], error) {
	return do(ctx, r, opPosts, &req)
}

func (r *reads) Stats(ctx context.Context, req StatsRequest) (*schema.Envelope[schema.Stats], error) {
	return do(ctx, r, opStats, &req)
}

func (r *reads) Post(ctx context.Context, req PostRequest) (*schema.Envelope[schema.Post], error) {
	return do(ctx, r, opPost, &req)
}

func (r *reads) Trending(ctx context.Context, req TrendingRequest) (*schema.Envelope[[]schema.Post], error) {
	return do(ctx, r, opTrending, &req)
}

func (r *reads) Search(ctx context.Context, req SearchRequest) (*schema.Envelope[[]schema.SearchResult], error) {
	return do(ctx, r, opSearch, &req)
}

func (r *reads) Suggestions(
	ctx context.Context, req SuggestionsRequest,
) (*schema.Envelope[[]schema.Suggestion], error) {
	return do(ctx, r, opSuggestions, &req)
}

func (r *reads) Comments(ctx context.Context, req CommentsRequest) (*schema.Envelope[[]schema.Comment], error) {
	return do(ctx, r, opComments, &req)
}

func (r *reads) Replies(ctx context.Context, req RepliesRequest) (*schema.Envelope[[]schema.Comment], error) {
	return do(ctx, r, opReplies, &req)
}

func (r *reads) Transcript(ctx context.Context, req TranscriptRequest) (*schema.Envelope[schema.Transcript], error) {
	return do(ctx, r, opTranscript, &req)
}

func (r *reads) Reels(ctx context.Context, req ReelsRequest) (*schema.Envelope[[]schema.Post], error) {
	return do(ctx, r, opReels, &req)
}

func (r *reads) Collections(
	ctx context.Context, req CollectionsRequest,
) (*schema.Envelope[[]schema.Collection], error) {
	return do(ctx, r, opCollections, &req)
}

func (r *reads) Collection(ctx context.Context, req CollectionRequest) (*schema.Envelope[schema.Collection], error) {
	return do(ctx, r, opCollection, &req)
}

func (r *reads) CollectionPosts(
	ctx context.Context, req CollectionPostsRequest,
) (*schema.Envelope[[]schema.Post], error) {
	return do(ctx, r, opCollectionPosts, &req)
}

func (r *reads) CollectionTracks(
	ctx context.Context, req CollectionTracksRequest,
) (*schema.Envelope[[]schema.Track], error) {
	return do(ctx, r, opCollectionTracks, &req)
}

func (r *reads) Track(ctx context.Context, req TrackRequest) (*schema.Envelope[schema.Track], error) {
	return do(ctx, r, opTrack, &req)
}

func (r *reads) Tracks(ctx context.Context, req TracksRequest) (*schema.Envelope[[]schema.Track], error) {
	return do(ctx, r, opTracks, &req)
}

func (r *reads) TrackPosts(ctx context.Context, req TrackPostsRequest) (*schema.Envelope[[]schema.Post], error) {
	return do(ctx, r, opTrackPosts, &req)
}

func (r *reads) Community(ctx context.Context, req CommunityRequest) (*schema.Envelope[schema.Profile], error) {
	return do(ctx, r, opCommunity, &req)
}

func (r *reads) CommunityPosts(
	ctx context.Context, req CommunityPostsRequest,
) (*schema.Envelope[[]schema.Post], error) {
	return do(ctx, r, opCommunityPosts, &req)
}

func (r *reads) Products(ctx context.Context, req ProductsRequest) (*schema.Envelope[[]schema.Product], error) {
	return do(ctx, r, opProducts, &req)
}

func (r *reads) Product(ctx context.Context, req ProductRequest) (*schema.Envelope[schema.Product], error) {
	return do(ctx, r, opProduct, &req)
}

func (r *reads) Reviews(ctx context.Context, req ReviewsRequest) (*schema.Envelope[[]schema.Review], error) {
	return do(ctx, r, opReviews, &req)
}

func (r *reads) Store(ctx context.Context, req StoreRequest) (*schema.Envelope[schema.StoreSummary], error) {
	return do(ctx, r, opStore, &req)
}

func (r *reads) Ads(ctx context.Context, req AdsRequest) (*schema.Envelope[[]schema.Ad], error) {
	return do(ctx, r, opAds, &req)
}

func (r *reads) AdsSearch(ctx context.Context, req AdsSearchRequest) (*schema.Envelope[[]schema.Ad], error) {
	return do(ctx, r, opAdsSearch, &req)
}

func (r *reads) Ad(ctx context.Context, req AdRequest) (*schema.Envelope[schema.Ad], error) {
	return do(ctx, r, opAd, &req)
}

func (r *reads) Advertisers(
	ctx context.Context, req AdvertisersRequest,
) (*schema.Envelope[[]schema.Advertiser], error) {
	return do(ctx, r, opAdvertisers, &req)
}

func (r *reads) Event(ctx context.Context, req EventRequest) (*schema.Envelope[schema.Event], error) {
	return do(ctx, r, opEvent, &req)
}

func (r *reads) Events(ctx context.Context, req EventsRequest) (*schema.Envelope[[]schema.Event], error) {
	return do(ctx, r, opEvents, &req)
}

func (r *reads) EventsSearch(ctx context.Context, req EventsSearchRequest) (*schema.Envelope[[]schema.Event], error) {
	return do(ctx, r, opEventsSearch, &req)
}

func (r *reads) Raw(ctx context.Context, req RawRequest) (*schema.Envelope[any], error) {
	return do(ctx, r, opRaw, &req)
}

func (r *reads) Read(ctx context.Context, req ReadRequest) (*schema.Envelope[any], error) {
	return do(ctx, r, opRead, &req)
}

func (r *reads) Resolve(ctx context.Context, req ResolveRequest) (*schema.Envelope[[]schema.Resolved], error) {
	return do(ctx, r, opResolve, &req)
}

func (r *reads) Estimate(ctx context.Context, req EstimateRequest) (*schema.Envelope[schema.Estimate], error) {
	return do(ctx, r, opEstimate, &req)
}

func (r *reads) SearchAcross(
	ctx context.Context, req SearchAcrossRequest,
) (*schema.Envelope[[]schema.SearchResult], error) {
	return do(ctx, r, opSearchAcross, &req)
}

func (r *reads) Job(ctx context.Context, req JobRequest) (*schema.Envelope[[]schema.SearchResult], error) {
	return do(ctx, r, opJob, &req)
}

func (r *reads) Enrich(ctx context.Context, req EnrichRequest) (*schema.Envelope[schema.Enrichment], error) {
	return do(ctx, r, opEnrich, &req)
}

func (r *reads) Platforms(ctx context.Context, req PlatformsRequest) (*schema.Envelope[[]schema.PlatformInfo], error) {
	return do(ctx, r, opPlatforms, &req)
}

// do makes the call of req.
func do[T, Req any](ctx context.Context, r *reads, w *row[T], req *Req) (*schema.Envelope[T], error) {
	return typed.Do(ctx, r, typed.Operation[T]{Operation: w.Operation}, req)
}
