package socialdata

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"iter"
	"maps"
	"slices"
	"time"

	"github.com/socialdata/socialdata/internal/engine"
	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/schema"
	"github.com/socialdata/socialdata/watch"
)

// WatchRequest defines the call of a monitor, how often it is made, and what is reported.
type WatchRequest struct {
	// Operation is one that monitors can call, such as "posts": see [operation.Operation.Watched].
	Operation string
	Platform  platform.ID       // "" for search_across, which has none
	Params    map[string]string // of the operation, by their names over HTTP; without options of the answer and the cursor
	// Every is the interval, from the cache lifetime of the operation to 31 days; 0 means the lifetime, or 15 minutes
	// if that is longer.
	Every time.Duration
	// Pages is the maximum number of pages of a list that a poll reads, 1 to 10; 0 means 2. Each is charged.
	Pages int
	// Follow is how many of the newest items of a list are also compared, 0 to 100. Of the others, only new ones are
	// reported.
	Follow int
	Fields []string // the compared ones, such as "bio" or "author.handle"; none means all
	// Alerts are numbers of one object that are reported when they have moved that far since the last report, or cross
	// a bound: "followers:5%", "price.amount:-10%", "viewers:>=10000".
	Alerts []string
	// Name is the name of the monitor, of a-z, 0-9 and -. For [Client.Watch] "" means a name derived from the call.
	Name string
}

func (r *WatchRequest) definition() watch.Definition {
	return watch.Definition{
		Ask:   watch.Ask{Operation: r.Operation, Platform: string(r.Platform), Params: maps.Clone(r.Params)},
		Every: r.Every, Pages: r.Pages, Follow: r.Follow, Fields: slices.Clone(r.Fields), Alerts: slices.Clone(r.Alerts),
	}
}

// DefaultName returns the name that [Client.Watch] gives a monitor without one: the same for the same call.
func (r *WatchRequest) DefaultName() string {
	sum := sha256.New()
	_, _ = fmt.Fprintf(sum, "%q %q", r.Operation, r.Platform)
	for _, name := range slices.Sorted(maps.Keys(r.Params)) {
		_, _ = fmt.Fprintf(sum, " %q=%q", name, r.Params[name])
	}
	return "watch-" + hex.EncodeToString(sum.Sum(nil)[:10])
}

// Watch makes a monitor, unless there is one with its name, and yields its changes as they come. The first has the type
// ready: later ones are compared with its state. Watch begins after the last change that an earlier Watch of the same
// monitor has processed, with [WithWatches] even if that was in another process. A change may come twice, with the same
// id.
//
//	req := socialdata.WatchRequest{Operation: "posts", Platform: platform.YouTube, …}
//	for change, err := range client.Watch(ctx, req) {
//		…
//	}
//
// It ends when the caller breaks, after a change of the type stopped, or with an error, which is then the last pair and
// a *[problem.Error]. The monitor continues to poll, and is charged for it, until it is paused or ended: see
// [Client.Monitors].
func (c *Client) Watch(ctx context.Context, req WatchRequest) iter.Seq2[schema.Change, error] {
	return func(yield func(schema.Change, error) bool) {
		c.session.Monitors().Watch(ctx, cmp.Or(req.Name, req.DefaultName()), req.definition(), yield)
	}
}

// Monitors makes, pauses and ends the monitors of the account that c is bound to. Without accounts, all callers are one
// account.
func (c *Client) Monitors() Monitors { return Monitors{&c.session} }

// Endpoints makes and ends the endpoints of the account that c is bound to: where its changes are sent. An account with
// endpoints also receives events about itself, such as [watch.CreditsLow] or [watch.KeyRevoked].
func (c *Client) Endpoints() Endpoints { return Endpoints{&c.session} }

// Endpoints are those of one account. Every error of its methods is a *[problem.Error]; an endpoint that is not there
// is not_found.
type Endpoints struct{ session *engine.Session }

// EndpointRequest says where changes are sent, and which.
type EndpointRequest struct {
	Name     string   // of a-z, 0-9 and -
	URL      string   // begins with https://, and leads to no private address; see [WithPrivateWebhooks]
	Types    []string // of the changes that are sent, such as "new" or "credits.low"; none means all
	Monitors []string // the names of those whose changes are sent; none means all, and what concerns the account
}

// Make makes an endpoint, or changes the one of its name, and reports whether it is new. A new one gets what is
// reported from then on, and has a secret, which is returned this once and signs what is sent, as Standard Webhooks
// 1.0.0 says. One that was disabled is active again, and goes on where it was.
func (e Endpoints) Make(
	ctx context.Context, req EndpointRequest,
) (made schema.Endpoint, secret string, isNew bool, err error) {
	return e.session.Endpoints().Put(ctx, req.Name, engine.EndpointDefinition{
		URL: req.URL, Types: slices.Clone(req.Types), Monitors: slices.Clone(req.Monitors),
	})
}

// List returns one page of the endpoints, by name. It is [Client.ListEndpoints].
func (e Endpoints) List(ctx context.Context, req EndpointsRequest) (*schema.Envelope[[]schema.Endpoint], error) {
	return (&Client{*e.session}).ListEndpoints(ctx, req)
}

// NewSecret gives an endpoint a new secret and returns it, this once. The one before it signs as well for 24 hours.
func (e Endpoints) NewSecret(ctx context.Context, name string) (of schema.Endpoint, secret string, err error) {
	return e.session.Endpoints().Rekey(ctx, name)
}

// Test sends a change of the type test to an endpoint, now and once, and returns what came of it.
func (e Endpoints) Test(ctx context.Context, name string) (schema.Delivery, error) {
	return e.session.Endpoints().Test(ctx, name)
}

// Again makes a delivery again, whatever came of it. Its id is that of [Client.Deliveries].
func (e Endpoints) Again(ctx context.Context, delivery string) (schema.Delivery, error) {
	return e.session.Endpoints().Again(ctx, delivery)
}

// End ends an endpoint, with the deliveries to it.
func (e Endpoints) End(ctx context.Context, name string) error {
	return e.session.Endpoints().End(ctx, name)
}

// Monitors are the monitors of one account. Every error of its methods is a *[problem.Error]; for an unknown monitor it
// is not_found.
type Monitors struct{ session *engine.Session }

// Make makes a monitor, or changes the one with its name, and reports whether it is new. An equal request changes
// nothing; with another operation, platform or parameters the monitor begins anew, with a change of the type ready. The
// first poll is made immediately, and the key that c is bound to pays.
func (m Monitors) Make(ctx context.Context, req WatchRequest) (made schema.Monitor, isNew bool, err error) {
	return m.session.Monitors().Put(ctx, req.Name, req.definition())
}

// List returns one page of the monitors, by name. It is [Client.ListMonitors].
func (m Monitors) List(ctx context.Context, req MonitorsRequest) (*schema.Envelope[[]schema.Monitor], error) {
	return (&Client{*m.session}).ListMonitors(ctx, req)
}

// Pause pauses the polls of a monitor until it is resumed.
func (m Monitors) Pause(ctx context.Context, name string) (schema.Monitor, error) {
	return m.session.Monitors().Pause(ctx, name, true)
}

// Resume resumes the polls of a paused monitor, immediately if one is due.
func (m Monitors) Resume(ctx context.Context, name string) (schema.Monitor, error) {
	return m.session.Monitors().Pause(ctx, name, false)
}

// End ends a monitor and removes its history. Its changes stay in the feed.
func (m Monitors) End(ctx context.Context, name string) error {
	return m.session.Monitors().End(ctx, name)
}
