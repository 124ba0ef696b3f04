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
// [Client.Watch] makes one of these reads again and again and tells what changes. [Client.Monitors] makes, pauses and ends such
// monitors, [Client.ListMonitors] lists them, [Client.Changes] is the feed of what they find, and [Client.History] returns the
// numbers that they have read. [Client.Endpoints] makes those to which changes are sent, [Client.ListEndpoints] lists them, and
// [Client.Deliveries] says what became of each change.
//
// [Client.SearchAcross] searches several platforms at once: [Client.WatchSearch] yields results as they come, and
// [Client.Job] collects what was late. [Client.Enrich] analyses a text. [Client.Me], [Client.Usage], [Client.Requests], [Client.ListKeys],
// [Client.Estimate], [Client.Platforms] and [Client.Health] describe the account and the service.
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

// New returns a Client. It fails when an option cannot be used, and names it: a value that is nil or out of its bounds, a
// price or a provider of an unknown platform, two providers of one platform with the same name. It fails too when there is
// no cursor key and the store of [WithRecords] cannot keep one.
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

// As returns a Client that acts for key: its account pays, and its caps hold. The rate limit is the front end's to ask for
// ([Client.Admit]).
func (c *Client) As(key keys.Key) *Client { return &Client{c.session.Session(&key)} }

// Key returns the key that c acts for, read only; nil when it is bound to nobody.
func (c *Client) Key() *keys.Key { return c.session.Key() }

// KnowsKeys tells whether c has a store of keys, without which [Client.Authenticate] refuses everybody.
func (c *Client) KnowsKeys() bool { return c.session.KnowsKeys() }

// Authenticate returns a Client bound to the key whose secret is given. A missing, malformed, unknown or revoked key
// is one and the same unauthorized problem.
func (c *Client) Authenticate(ctx context.Context, secret string) (*Client, error) {
	s, err := c.session.Authenticate(ctx, secret)
	if err != nil {
		return nil, err
	}
	return &Client{s}, nil
}

// Admit takes one call from the rate limit of the key that c is bound to. The allowance tells the bucket's state in
// any case; when the bucket is empty the error is a rate_limited problem.
func (c *Client) Admit(ctx context.Context) (keys.Allowance, error) { return c.session.Admit(ctx) }

// AdmitMore takes n calls more from that rate limit, for a call that has been admitted and is worth several: what a front end
// gives to [operation.Call] as More. With fewer in the bucket the error is a rate_limited problem, and none is taken.
func (c *Client) AdmitMore(ctx context.Context, n int) (keys.Allowance, error) {
	return c.session.AdmitMore(ctx, n)
}

// PlatformTable returns the platforms that c knows: those of the specification and those of [WithPlatform].
func (c *Client) PlatformTable() *platform.Table { return c.session.PlatformTable() }

// Do makes the call of a row of [Operations] with its parameters as text, as front ends do. The row is found by its name.
// Every error is a *[problem.Error].
func (c *Client) Do(ctx context.Context, o *operation.Operation, call operation.Call) (*operation.Answer, error) {
	return c.session.Do(ctx, o, call)
}

// Stream makes the call of a row of [Operations] that streams, with its parameters as text, and calls yield with each
// event until yield returns false. See [Client.WatchSearch], which is the same with types.
func (c *Client) Stream(
	ctx context.Context, o *operation.Operation, call operation.Call, yield func(operation.Event) bool,
) error {
	return c.session.Stream(ctx, o, call, yield)
}

// SearchEvent is one step of a search over several platforms that is watched as it goes. Exactly one of Result and Meta is
// set, or neither, when a platform has ended.
type SearchEvent struct {
	Platform platform.ID          // that has ended; else ""
	State    schema.PlatformState // how it ended
	Result   *schema.SearchResult // one result
	Meta     *schema.Meta         // the end: what all of it came to
}

// Watch makes [Client.WatchSearch] of anything that streams calls as [Client.Stream] does: a client of another kind has one
// by it.
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
// and at last with the meta, until yield returns false. The charges are those of [Client.SearchAcross]; a caller who
// stops early pays for what was yielded. Wait is ignored; results come in order of arrival. Every error is a
// *[problem.Error], and ends the search.
func (c *Client) WatchSearch(ctx context.Context, req SearchAcrossRequest, yield func(SearchEvent) bool) error {
	return Watch(ctx, c.Stream, req, yield)
}

// Raw reads one of a provider's own routes unchanged, if its allow-list has it. It costs the base of the platform that
// the route belongs to. There is no promise about the shape of the data; nil is null.
func (c *Client) Raw(ctx context.Context, req RawRequest) (*schema.Envelope[any], error) {
	return opRaw.do(ctx, c, "", req)
}

// Health returns the state of every platform. It is free and needs no account.
func (c *Client) Health(context.Context) schema.Health { return c.session.Health() }

// Quotas returns where the limits stand that upstreams set, by platform, provider and name of the limit: how large each is,
// how much is left, and when it starts anew. With a durable store of records what was used outlives a restart and counts
// for all processes; without one each counts for itself.
func (c *Client) Quotas() []observe.Quota { return c.session.Quotas() }

// Drifted returns what of the upstreams' answers has not been as it should be since the client was made, by platform,
// operation and field: where it stood, never what stood there. [Client.Health] calls a platform degraded when much of
// what it answered lately had drifted, and [WithObserver] tells of each drift as it comes.
func (c *Client) Drifted() []observe.Drifted { return c.session.Drifted() }

// LastRequests returns what the last calls of one account came to, or of all for "", newest first, at most limit of them:
// what an operator sees. The cursor of req is ignored. [Client.Requests] is what an account sees. It fails as the store of
// [WithRequests] does.
func (c *Client) LastRequests(ctx context.Context, account string, req RequestsRequest, limit int) ([]schema.Request, error) {
	return c.session.LastRequests(ctx, requests.Query{
		Account: account, Key: req.KeyID, Operation: req.Operation, Platform: string(req.Platform), ID: req.RequestID,
		Status: req.Status, Limit: limit,
	})
}

// Rollups returns the usage that q selects, of one account or, when q names none, of all: what an operator sees. What was paid
// is as in the books when Rollups was called; of all accounts, if the store of [WithKeys] is a [keys.Admin], else as in those that
// this process has charged.
// [Client.UsageBy] is what an account sees. It fails as the ledger and the store of [WithRequests] do.
func (c *Client) Rollups(ctx context.Context, q requests.SumQuery) ([]requests.Rollup, error) {
	return c.session.Rollups(ctx, q)
}

// Close waits until everything that c does in the background has ended. The stores are the caller's to close.
func (c *Client) Close(ctx context.Context) error { return c.session.Close(ctx) }
