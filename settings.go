package socialdata

import (
	"context"

	"github.com/socialdata/socialdata/internal/engine"
	"github.com/socialdata/socialdata/schema"
)

// Settings reads and replaces the settings of the account that c is bound to. Without accounts, all callers are one
// account.
func (c *Client) Settings() Settings { return Settings{&c.session} }

// Settings are the settings of one account. Every error of its methods is a *[problem.Error].
type Settings struct{ session *engine.Session }

// Read returns the settings; those that were never put are nil.
func (s Settings) Read(ctx context.Context) (schema.AccountSettings, error) {
	return s.session.Settings().Read(ctx)
}

// Put replaces all settings and returns them. A nil one has its default again. A CreditsLow below 0 or above
// [credits.MaxBalance] is an invalid_request.
func (s Settings) Put(ctx context.Context, want schema.AccountSettings) (schema.AccountSettings, error) {
	return s.session.Settings().Put(ctx, want)
}
