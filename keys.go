package socialdata

import (
	"context"
	"time"

	"github.com/socialdata/socialdata/internal/engine"
	"github.com/socialdata/socialdata/keys"
	"github.com/socialdata/socialdata/schema"
)

// Keys makes, changes, rotates and revokes the keys of the account that c is bound to. The limits that an account can
// set are restricted: see [keys.Key.Most]. The store of [WithKeys] must be a [keys.Admin]; with any other store every
// call is platform_unavailable.
func (c *Client) Keys() Keys { return Keys{&c.session} }

// Keys are the keys of one account. Every error of its methods is a *[problem.Error]; for an unknown key, or one of
// another account, it is not_found.
type Keys struct{ session *engine.Session }

// KeyRequest defines a key.
type KeyRequest struct {
	Name string // see [keys.CheckName]
	// Environment is what a new key is for, and cannot be changed; "" means live for a new key, and no change for an
	// existing one.
	Environment keys.Environment
	Rate        *keys.Rate // nil means the highest that is allowed
	DayCap      *int64     // credits in one UTC day; nil means the highest that is allowed
	TotalCap    *int64     // credits in total; nil means the highest that is allowed
	Manage      bool       // whether it can also manage the account
}

// Make makes a key, whose secret is only in this answer, or changes the one with its name, and reports whether it is
// new. The limits of a new key cannot exceed those that an operator has set for the key that c is bound to, and those
// of another key cannot exceed what was set for it. An account has at most 1,000 keys, and makes at most as many in a
// day.
func (k Keys) Make(ctx context.Context, req KeyRequest) (made schema.MadeKey, isNew bool, err error) {
	return k.session.Keys().Put(ctx, engine.KeyWish{
		Name: req.Name, Environment: req.Environment, Manage: req.Manage,
		Limits: keys.Limits{Rate: req.Rate, DayCap: req.DayCap, TotalCap: req.TotalCap},
	})
}

// Change changes the limits and the mark of the key with that id to what req says, as [Keys.Make] does. Its name is
// ignored.
func (k Keys) Change(ctx context.Context, id string, req KeyRequest) (schema.Key, error) {
	return k.session.Keys().Set(ctx, id, engine.KeyWish{
		Environment: req.Environment, Manage: req.Manage,
		Limits: keys.Limits{Rate: req.Rate, DayCap: req.DayCap, TotalCap: req.TotalCap},
	})
}

// List returns one page of the keys, oldest first. It is [Client.ListKeys].
func (k Keys) List(ctx context.Context, req KeysRequest) (*schema.Envelope[[]schema.Key], error) {
	return (&Client{*k.session}).ListKeys(ctx, req)
}

// Rotate gives the key with that id a new secret, which is only in this answer. The previous one is accepted for
// overlap, at most 30 days. Everything else of the key stays: its id, its caps and what was spent of them.
func (k Keys) Rotate(ctx context.Context, id string, overlap time.Duration) (schema.MadeKey, error) {
	return k.session.Keys().Rotate(ctx, id, overlap)
}

// Revoke revokes the key with that id permanently, from the next call on.
func (k Keys) Revoke(ctx context.Context, id string) (schema.Key, error) {
	return k.session.Keys().Revoke(ctx, id)
}

// Once makes a change of the account that c is bound to once for an idempotency key within a day. It is for front ends
// that accept such keys; request identifies the request. A call that repeats an earlier one gets the answer of its do,
// with replayed set; one that comes while that is in progress waits for it. The answer is stored, so it must not
// contain a secret. An error of do is returned unchanged, and nothing is stored; every other error is a
// *[problem.Error].
func (c *Client) Once(
	ctx context.Context, idempotencyKey, request string, do func(context.Context) (answer []byte, err error),
) (answer []byte, replayed bool, err error) {
	return c.session.Once(ctx, idempotencyKey, request, do)
}
