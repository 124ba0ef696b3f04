// Package accounts has what belongs to the account that pays for calls: its balance and usage, its keys, its monitors and
// what they found, and its endpoints. The method Account of a client returns it. [All] is for the operator of a service.
package accounts

import (
	"context"
	"time"

	"github.com/socialdata/socialdata/internal/engine"
	"github.com/socialdata/socialdata/internal/typed"
	"github.com/socialdata/socialdata/operation"
	"github.com/socialdata/socialdata/problem"
	"github.com/socialdata/socialdata/schema"
)

// Account is what belongs to the account of a client. Without accounts, all callers are one account. Over HTTP the
// account's key must have the mark manage for all that changes something: without it the call is unauthorized.
// Everything is free, and every error is a *[problem.Error].
type Account struct{ caller operation.Caller }

// Of returns the account for which c makes its calls.
func Of(c operation.Caller) Account { return Account{c} }

// Me reads the key that the client is bound to, its account's balance and its rate limit.
func (a Account) Me(ctx context.Context, req MeRequest) (*schema.Envelope[schema.Me], error) {
	return typed.Do(ctx, a.caller, opMe, &req)
}

// Usage returns one page of the account's ledger entries, newest first.
func (a Account) Usage(ctx context.Context, req UsageRequest) (*schema.Envelope[[]schema.Usage], error) {
	return typed.Do(ctx, a.caller, opUsage, &UsageByRequest{UsageRequest: req})
}

// UsageBy returns the account's usage, grouped by req.Group, which is required. What was paid is exactly what is in the
// account's ledger; what was free or failed comes from the request log.
func (a Account) UsageBy(ctx context.Context, req UsageByRequest) (*schema.Envelope[[]schema.Rollup], error) {
	if req.Group == "" {
		return nil, problem.New(problem.InvalidRequest, "group is missing: it must be day, key, platform or operation")
	}
	return typed.Do(ctx, a.caller, typed.Operation[[]schema.Rollup](opUsage), &req)
}

// Requests returns one page of the account's last calls with their results, newest first: of the last 100,000 calls of
// all accounts, those of 7 days, unless socialdata.WithRequests sets other limits. Parameters are not stored.
func (a Account) Requests(ctx context.Context, req RequestsRequest) (*schema.Envelope[[]schema.Request], error) {
	return typed.Do(ctx, a.caller, opRequests, &req)
}

// Changes returns one page of what the account's monitors have found in the last 30 days, oldest first. A change may
// come twice, with the same id. With Wait set, Meta.NextCursor is always set, for reading what comes next.
func (a Account) Changes(ctx context.Context, req ChangesRequest) (*schema.Envelope[[]schema.Change], error) {
	return typed.Do(ctx, a.caller, opChanges, &req)
}

// History returns one page of the numbers that a monitor has read, oldest first: each change of the last 90 days, and
// one a day from before. A number that does not change is recorded once a day.
func (a Account) History(ctx context.Context, req HistoryRequest) (*schema.Envelope[[]schema.HistoryPoint], error) {
	return typed.Do(ctx, a.caller, opHistory, &req)
}

// Deliveries returns one page of what became of sending changes to endpoints, those of the latest changes first. They
// are kept as long as their changes.
func (a Account) Deliveries(ctx context.Context, req DeliveriesRequest) (*schema.Envelope[[]schema.Delivery], error) {
	return typed.Do(ctx, a.caller, opDeliveries, &req)
}

// Settings returns the account's settings; those that were never set are nil.
func (a Account) Settings(ctx context.Context) (schema.AccountSettings, error) {
	out, _, err := engine.ReadSettings.On(ctx, a.caller, "", struct{}{})
	return out, err
}

// ChangeSettings replaces all settings and returns them. A nil one has its default again. A CreditsLow below 0 or above
// [credits.MaxBalance] is an invalid_request.
func (a Account) ChangeSettings(ctx context.Context, want schema.AccountSettings) (schema.AccountSettings, error) {
	out, _, err := engine.PutSettings.On(ctx, a.caller, "", want)
	return out, err
}

// Keys are the account's keys. The limits that an account can set are restricted: see [keys.Key.Most]. The store of
// socialdata.WithKeys must be a [keys.Admin]; with any other store every call is platform_unavailable.
func (a Account) Keys() Keys { return Keys(a) }

// Keys are the keys of one account. For an unknown key, or one of another account, the error is not_found.
type Keys struct{ caller operation.Caller }

// List returns one page of the keys without their secrets, oldest first, including revoked ones.
func (k Keys) List(ctx context.Context, req KeysRequest) (*schema.Envelope[[]schema.Key], error) {
	return typed.Do(ctx, k.caller, opKeys, &req)
}

// Make makes a key, whose secret is only in this answer, or changes the one with its name. The limits of a new key
// cannot exceed those that an operator has set for the key that makes it, and those of another key cannot exceed what
// was set for it. An account has at most 1,000 keys, and makes at most as many in a day. When the answer to the first
// attempt over HTTP is lost, the secret of a new key is nil: [Keys.Rotate] gives it another one.
func (k Keys) Make(ctx context.Context, name string, spec schema.KeySpec) (schema.MadeKey, error) {
	made, isNew, err := engine.MakeKey.On(ctx, k.caller, name, spec)
	made.New = isNew
	return made, err
}

// Change changes the limits and the mark of the key with that id, as [Keys.Make] does.
func (k Keys) Change(ctx context.Context, id string, spec schema.KeySpec) (schema.Key, error) {
	out, _, err := engine.ChangeKey.On(ctx, k.caller, id, spec)
	return out, err
}

// Rotate gives the key with that id a new secret, which is only in this answer. The previous one is accepted for
// overlap, at most 30 days. Everything else of the key stays: its id, its caps and what was spent of them.
func (k Keys) Rotate(ctx context.Context, id string, overlap time.Duration) (schema.MadeKey, error) {
	out, _, err := engine.RotateKey.On(ctx, k.caller, id, schema.KeyRotation{Overlap: overlap.String()})
	return out, err
}

// Revoke revokes the key with that id permanently, from the next call on.
func (k Keys) Revoke(ctx context.Context, id string) (schema.Key, error) {
	out, _, err := engine.RevokeKey.On(ctx, k.caller, id, struct{}{})
	return out, err
}

// Monitors are the account's monitors: reads that are repeated, whose changes [Account.Changes] returns.
func (a Account) Monitors() Monitors { return Monitors(a) }

// Monitors are the monitors of one account. For an unknown one the error is not_found.
type Monitors struct{ caller operation.Caller }

// List returns one page of the monitors, by name.
func (m Monitors) List(ctx context.Context, req MonitorsRequest) (*schema.Envelope[[]schema.Monitor], error) {
	return typed.Do(ctx, m.caller, opMonitors, &req)
}

// Get returns the monitor with a name.
func (m Monitors) Get(ctx context.Context, name string) (schema.Monitor, error) {
	got, err := m.List(ctx, MonitorsRequest{Name: name})
	if err != nil {
		return schema.Monitor{}, err
	}
	if name == "" || len(got.Data) == 0 { // a request without a name lists all
		return schema.Monitor{}, problem.New(problem.NotFound, "the account has no monitor %q", name)
	}
	return got.Data[0], nil
}

// Make makes a monitor, or changes the one with its name. An equal request changes nothing; with another operation,
// platform or parameters the monitor begins anew, with a change of the type ready. The first poll is made immediately,
// and the key that the client is bound to pays.
func (m Monitors) Make(ctx context.Context, req WatchRequest) (schema.MadeMonitor, error) {
	made, isNew, err := engine.MakeMonitor.On(ctx, m.caller, req.Name, req.Spec())
	return schema.MadeMonitor{Monitor: made, New: isNew}, err
}

// Pause pauses the polls of a monitor until it is resumed.
func (m Monitors) Pause(ctx context.Context, name string) (schema.Monitor, error) {
	out, _, err := engine.PauseMonitor.On(ctx, m.caller, name, struct{}{})
	return out, err
}

// Resume resumes the polls of a paused monitor, immediately if one is due.
func (m Monitors) Resume(ctx context.Context, name string) (schema.Monitor, error) {
	out, _, err := engine.ResumeMonitor.On(ctx, m.caller, name, struct{}{})
	return out, err
}

// MakeFeed gives a monitor an Atom and a JSON feed of what is new; its address is returned this once. A monitor that has
// a feed keeps it. A server that serves the changes of accounts serves the feed: see server.WithChanges.
func (m Monitors) MakeFeed(ctx context.Context, name string) (schema.MonitorFeed, error) {
	out, isNew, err := engine.MakeFeed.On(ctx, m.caller, name, struct{}{})
	out.New = isNew
	return out, err
}

// EndFeed ends the feed of a monitor: its address leads nowhere from then on.
func (m Monitors) EndFeed(ctx context.Context, name string) error {
	_, _, err := engine.EndFeed.On(ctx, m.caller, name, struct{}{})
	return err
}

// End ends a monitor and removes its history. Its changes stay in the feed.
func (m Monitors) End(ctx context.Context, name string) error {
	_, _, err := engine.EndMonitor.On(ctx, m.caller, name, struct{}{})
	return err
}

// Endpoints are where the account's changes are sent. An account with endpoints also receives events about itself, such
// as [watch.CreditsLow] or [watch.KeyRevoked].
func (a Account) Endpoints() Endpoints { return Endpoints(a) }

// Endpoints are those of one account. For an unknown one the error is not_found.
type Endpoints struct{ caller operation.Caller }

// List returns one page of the endpoints, by name.
func (e Endpoints) List(ctx context.Context, req EndpointsRequest) (*schema.Envelope[[]schema.Endpoint], error) {
	return typed.Do(ctx, e.caller, opEndpoints, &req)
}

// Get returns the endpoint with a name.
func (e Endpoints) Get(ctx context.Context, name string) (schema.Endpoint, error) {
	got, err := e.List(ctx, EndpointsRequest{Name: name})
	if err != nil {
		return schema.Endpoint{}, err
	}
	if name == "" || len(got.Data) == 0 { // a request without a name lists all
		return schema.Endpoint{}, problem.New(problem.NotFound, "the account has no endpoint %q", name)
	}
	return got.Data[0], nil
}

// Make makes an endpoint, or changes the one of its name. A new one gets what is reported from then on, and has a
// secret, which is returned this once and signs what is sent, as Standard Webhooks 1.0.0 says. One that was disabled is
// active again, and goes on where it was. Its URL leads to no private address: see socialdata.WithPrivateWebhooks.
func (e Endpoints) Make(ctx context.Context, name string, spec schema.EndpointSpec) (schema.MadeEndpoint, error) {
	made, isNew, err := engine.MakeEndpoint.On(ctx, e.caller, name, spec)
	made.New = isNew
	return made, err
}

// NewSecret gives an endpoint a new secret and returns it, this once. The one before it signs as well for 24 hours.
func (e Endpoints) NewSecret(ctx context.Context, name string) (schema.MadeEndpoint, error) {
	out, _, err := engine.RekeyEndpoint.On(ctx, e.caller, name, struct{}{})
	return out, err
}

// Test sends a change of the type test to an endpoint, now and once, and returns what came of it.
func (e Endpoints) Test(ctx context.Context, name string) (schema.Delivery, error) {
	out, _, err := engine.TestEndpoint.On(ctx, e.caller, name, struct{}{})
	return out, err
}

// Again makes a delivery again, whatever came of it. Its id is that of [Account.Deliveries].
func (e Endpoints) Again(ctx context.Context, delivery string) (schema.Delivery, error) {
	out, _, err := engine.DeliverAgain.On(ctx, e.caller, delivery, struct{}{})
	return out, err
}

// End ends an endpoint, with the deliveries to it.
func (e Endpoints) End(ctx context.Context, name string) error {
	_, _, err := engine.EndEndpoint.On(ctx, e.caller, name, struct{}{})
	return err
}
