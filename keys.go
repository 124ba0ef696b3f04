package socialdata

import (
	"context"
	"time"

	"github.com/socialdata/socialdata/internal/engine"
	"github.com/socialdata/socialdata/keys"
	"github.com/socialdata/socialdata/schema"
)

// Keys makes, changes, rotates and revokes the keys of the account that c is bound to. What an account may set is bounded: see
// [keys.Key.Most]. The store of [WithKeys] must be a [keys.Admin]; with another one everything is platform_unavailable.
func (c *Client) Keys() Keys { return Keys{&c.session} }

// Keys are those of one account. Every error of its methods is a *[problem.Error]; a key that is not there, or another
// account's, is not_found.
type Keys struct{ session *engine.Session }

// KeyRequest says what a key is to be.
type KeyRequest struct {
	Name string // what the account calls it, as [keys.CheckName] wants it
	// Environment is what a new key is for, and cannot be changed; "" means live, and for a key that is there its own.
	Environment keys.Environment
	Rate        *keys.Rate // nil means the highest that is allowed
	DayCap      *int64     // credits in one UTC day; nil means the highest that is allowed
	TotalCap    *int64     // credits in total; nil means the highest that is allowed
	Manage      bool       // whether it is to manage the account too
}

// Make makes a key, whose secret is in the answer this once, or changes the one of that name to what req says, and reports
// whether it is new. The limits of a new key are at most those that an operator set for the key that c is bound to; those of
// another key at most what was set for it. An account has 1,000 keys at most, and makes as many in a day.
func (k Keys) Make(ctx context.Context, req KeyRequest) (made schema.MadeKey, isNew bool, err error) {
	return k.session.PutKey(ctx, engine.KeyWish{
		Name: req.Name, Environment: req.Environment, Manage: req.Manage,
		Limits: keys.Limits{Rate: req.Rate, DayCap: req.DayCap, TotalCap: req.TotalCap},
	})
}

// Change changes the limits and the mark of the key with that id to what req says, as [Keys.Make] does. Its name is ignored.
func (k Keys) Change(ctx context.Context, id string, req KeyRequest) (schema.Key, error) {
	return k.session.SetKey(ctx, id, engine.KeyWish{
		Environment: req.Environment, Manage: req.Manage,
		Limits: keys.Limits{Rate: req.Rate, DayCap: req.DayCap, TotalCap: req.TotalCap},
	})
}

// List returns one page of the keys, oldest first. It is [Client.ListKeys].
func (k Keys) List(ctx context.Context, req KeysRequest) (*schema.Envelope[[]schema.Key], error) {
	return (&Client{*k.session}).ListKeys(ctx, req)
}

// Rotate gives the key with that id a new secret, which is in the answer this once. The one before is accepted for that long,
// 30 days at most. All else of the key stays: its id, its caps and what was spent of them.
func (k Keys) Rotate(ctx context.Context, id string, overlap time.Duration) (schema.MadeKey, error) {
	return k.session.RotateKey(ctx, id, overlap)
}

// Revoke revokes the key with that id for good, from the next call on.
func (k Keys) Revoke(ctx context.Context, id string) (schema.Key, error) {
	return k.session.RevokeKey(ctx, id)
}

// Once makes a change of the account that c is bound to once for an idempotency key within a day, as front ends do that take
// such keys: request is what tells one request from another. A call that repeats an earlier one gets the answer that do
// returned then, and replayed is true; one that comes while that is under way waits for it. What do returns is kept: it holds
// no secret. An error of do is returned as it is, and nothing is kept of it; every other one is a *[problem.Error].
func (c *Client) Once(
	ctx context.Context, idempotencyKey, request string, do func(context.Context) (answer []byte, err error),
) (answer []byte, replayed bool, err error) {
	return c.session.Once(ctx, idempotencyKey, request, do)
}
