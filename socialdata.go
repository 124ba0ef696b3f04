// Package socialdata is the unified social and commerce data engine: typed, normalised, public data from many
// platforms through one [Client].
//
//	client, err := socialdata.New(
//		socialdata.WithProviders(github.New(github.Config{}), mock.New(mock.Config{})),
//	)
//	profile, err := client.Profile(ctx, socialdata.ProfileRequest{Platform: platform.GitHub, Handle: "octocat"})
//	fmt.Println(profile.Data.Handle, profile.Meta.Cache)
//
// These are the reads from a platform:
//
//   - accounts: [Client.Profile], [Client.Followers], [Client.Following], [Client.Audience], [Client.Live], [Client.Linked]
//   - posts: [Client.Posts], [Client.Post], [Client.Trending], [Client.Reels], [Client.Transcript]
//   - search: [Client.Search], [Client.Suggestions]
//   - comments: [Client.Comments], [Client.Replies]
//   - collections: [Client.Collections], [Client.Collection], [Client.CollectionPosts], [Client.CollectionTracks]
//   - music: [Client.Track], [Client.Tracks], [Client.TrackPosts]
//   - communities: [Client.Community], [Client.CommunityPosts]
//   - shops: [Client.Products], [Client.Product], [Client.Reviews], [Client.Store]
//   - ads: [Client.Ads], [Client.AdsSearch], [Client.Ad], [Client.Advertisers]
//   - events: [Client.Event], [Client.Events], [Client.EventsSearch]
//   - many of a kind at once: [Client.ProfileBatch], [Client.AudienceBatch], [Client.LiveBatch], [Client.PostBatch],
//     [Client.TranscriptBatch], [Client.CollectionBatch], [Client.TrackBatch], [Client.CommunityBatch], [Client.ProductBatch],
//     [Client.StoreBatch], [Client.AdBatch], [Client.EventBatch]
//   - a provider's own routes: [Client.Raw]
//   - whatever an address names: [Client.Read], and [Client.Resolve] says beforehand what that is
//
// [Client.Watch] repeats one of these reads and reports what changes. [Client.Monitors] makes, pauses and
// ends such monitors, [Client.ListMonitors] lists them, [Client.Changes] is the feed of what they find, and
// [Client.History] returns the numbers that they have read. [Client.Endpoints] makes those to which changes are sent,
// [Client.ListEndpoints] lists them, and [Client.Deliveries] says what became of each change.
//
// [Client.SearchAcross] searches several platforms at once: [Client.WatchSearch] yields results as they come, and
// [Client.Job] collects what was late. [Client.Enrich] analyses a text. [Client.Me], [Client.Usage], [Client.Requests],
// [Client.ListKeys], [Client.Estimate], [Client.Platforms] and [Client.Health] describe the account and the service.
//
// [Client.Keys] makes, changes, rotates and revokes the keys of an account.
//
// Every read goes the same way: it is checked, priced and its price held; answered from the cache or by the first
// provider that can; completed, enriched if that was asked for, and charged. A read that fails costs nothing. Every
// error is a *[problem.Error]. Lists are read with [Walk] or [Pages], or with the cursor in Meta.NextCursor.
//
// Providers, ledgers, caches, key stores and the rest are passed in as options; without any of them the client keeps
// all in memory and charges nothing. The package server serves a client over HTTP.
package socialdata

import (
	"context"
	"encoding/json"

	"github.com/socialdata/socialdata/internal/engine"
	"github.com/socialdata/socialdata/keys"
	"github.com/socialdata/socialdata/observe"
	"github.com/socialdata/socialdata/operation"
	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/problem"
	"github.com/socialdata/socialdata/requests"
	"github.com/socialdata/socialdata/schema"
)

// Client reads public data from every configured platform. It is safe for concurrent use. [Client.As] binds it to the
// account that pays.
type Client struct{ session engine.Session }

// New returns a Client. It fails when an option is invalid, and names it: its value is nil or out of range, a price or
// a provider has an unknown platform, or two providers of one platform have the same name. It also fails when there is
// no cursor key and the store of [WithRecords] cannot store one.
func New(opts ...Option) (*Client, error) {
	cfg, err := configure(opts)
	if err != nil {
		return nil, err
	}
	e, err := engine.New(cfg)
	if err != nil {
		return nil, err
	}
	return &Client{e.Session(nil)}, nil
}

// As returns a Client that acts for key: its account pays, and its caps apply. Its rate limit does not: a front end
// calls [Client.Admit].
func (c *Client) As(key keys.Key) *Client { return &Client{c.session.Session(&key)} }

// Key returns the key that c acts for, which is read-only; nil when c is not bound to one.
func (c *Client) Key() *keys.Key { return c.session.Key() }

// KnowsKeys reports whether c has a store of keys. Without one, [Client.Authenticate] always fails.
func (c *Client) KnowsKeys() bool { return c.session.KnowsKeys() }

// Authenticate returns a Client bound to the key with that secret. A missing, malformed, unknown or revoked key gives
// the same unauthorized problem.
func (c *Client) Authenticate(ctx context.Context, secret string) (*Client, error) {
	s, err := c.session.Authenticate(ctx, secret)
	if err != nil {
		return nil, err
	}
	return &Client{s}, nil
}

// Admit counts one call in the rate limit of the key that c is bound to. The allowance is the state of the bucket in
// any case; when the bucket is empty the error is a rate_limited problem.
func (c *Client) Admit(ctx context.Context) (keys.Allowance, error) { return c.session.Admit(ctx) }

// AdmitMore counts n more calls in that rate limit, for a call that has been admitted and counts as several; front ends
// pass it to [operation.Call] as More. If the bucket has fewer, the error is a rate_limited problem, and none is taken.
func (c *Client) AdmitMore(ctx context.Context, n int) (keys.Allowance, error) {
	return c.session.AdmitMore(ctx, n)
}

// PlatformTable returns the platforms that c knows: those of the specification and those of [WithPlatform].
func (c *Client) PlatformTable() *platform.Table { return c.session.PlatformTable() }

// PageSizes returns, by operation, the maximum number of items in a page of each list of a platform. Lists whose size
// is decided by the platform are missing.
func (c *Client) PageSizes(id platform.ID) map[string]int { return c.session.PageSizes(id) }

// Do makes a call of a row of [Operations], found by its name, with its parameters as text, for front ends. Every error
// is a *[problem.Error].
func (c *Client) Do(ctx context.Context, o *operation.Operation, call operation.Call) (*operation.Answer, error) {
	return c.session.Do(ctx, o, call)
}

// Stream makes a call of a row of [Operations] that streams, with its parameters as text, and calls yield with each
// event until yield returns false. [Client.WatchSearch] is the typed form.
func (c *Client) Stream(
	ctx context.Context, o *operation.Operation, call operation.Call, yield func(operation.Event) bool,
) error {
	return c.session.Stream(ctx, o, call, yield)
}

// SearchEvent is one step of a search over several platforms. Either Result or Meta is set, or neither when a platform
// has ended.
type SearchEvent struct {
	Platform platform.ID          // that has ended; otherwise ""
	State    schema.PlatformState // how it ended
	Result   *schema.SearchResult // one result
	Meta     *schema.Meta         // the last event: the sums of the search
}

// Watch implements [Client.WatchSearch] for any client, given its method Stream.
func Watch(
	ctx context.Context,
	stream func(context.Context, *operation.Operation, operation.Call, func(operation.Event) bool) error,
	req SearchAcrossRequest, yield func(SearchEvent) bool,
) error {
	var broken error
	err := stream(ctx, Operation(opSearchAcross.Name), operation.CallOf(opSearchAcross.Operation, &req),
		func(e operation.Event) bool {
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
		return problem.Wrap(broken, problem.InternalError, "the answer cannot be decoded")
	}
	return err
}

// WatchSearch searches several platforms at once and calls yield with each result and each platform's end as they come,
// and finally with the meta, until yield returns false. The charges are those of [Client.SearchAcross]; a caller who
// stops early pays for what was yielded. Wait is ignored; results come in order of arrival. Every error is a
// *[problem.Error], and ends the search.
func (c *Client) WatchSearch(ctx context.Context, req SearchAcrossRequest, yield func(SearchEvent) bool) error {
	return Watch(ctx, c.Stream, req, yield)
}

// Raw reads one of a provider's own routes in its original form, if its allow-list has it. It costs the base of the
// platform that the route belongs to. The shape of the data may change at any time; nil is null.
func (c *Client) Raw(ctx context.Context, req RawRequest) (*schema.Envelope[any], error) {
	return opRaw.do(ctx, c, "", req)
}

// Health returns the state of every platform. It is free and needs no account.
func (c *Client) Health(context.Context) schema.Health { return c.session.Health() }

// Quotas returns the state of the limits of upstreams, by platform, provider and name of the limit: the size of each,
// how much is left, and when it resets. With a durable store of records it survives a restart and includes the use of
// all processes; without one each process counts separately.
func (c *Client) Quotas() []observe.Quota { return c.session.Quotas() }

// Drifted returns how upstream answers have deviated from their schema since the client was made, by platform,
// operation and field: where, but never the values. [Client.Health] reports a platform as degraded when many of its
// recent answers have deviated, and [WithObserver] reports each deviation as it comes.
func (c *Client) Drifted() []observe.Drifted { return c.session.Drifted() }

// LastRequests returns up to limit of the last calls of one account, or of all accounts for "", newest first. It is for
// operators; [Client.Requests] is for an account. The cursor of req is ignored. It returns the errors of the store of
// [WithRequests].
func (c *Client) LastRequests(
	ctx context.Context, account string, req RequestsRequest, limit int,
) ([]schema.Request, error) {
	return c.session.LastRequests(ctx, requests.Query{
		Account: account, Key: req.KeyID, Operation: req.Operation, Platform: string(req.Platform), ID: req.RequestID,
		Status: req.Status, Limit: limit,
	})
}

// Jobs returns up to limit of the stored jobs of one account, or of all accounts for "", newest first, and how many
// there are. It is for operators, and has nothing of what was asked or found; [Client.Job] is for an account. Of very
// many jobs only some are read. It returns the errors of the store of [WithRecords].
func (c *Client) Jobs(ctx context.Context, account string, limit int) (jobs []observe.Job, of int, err error) {
	return c.session.Jobs(ctx, account, limit)
}

// Rollups returns the usage that q selects, of one account or, when q names none, of all: what an operator sees. What
// was paid is as in the books when Rollups was called; of all accounts, if the store of [WithKeys] is a [keys.Admin],
// else as in those that this process has charged. [Client.UsageBy] is what an account sees. It fails as the ledger and
// the store of [WithRequests] do.
func (c *Client) Rollups(ctx context.Context, q requests.SumQuery) ([]requests.Rollup, error) {
	return c.session.Rollups(ctx, q)
}

// Close waits until everything that c does in the background has ended. It does not close the stores.
func (c *Client) Close(ctx context.Context) error { return c.session.Close(ctx) }
