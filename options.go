package socialdata

import (
	"log/slog"
	"maps"
	"slices"
	"time"

	"github.com/socialdata/socialdata/cache"
	"github.com/socialdata/socialdata/credits"
	"github.com/socialdata/socialdata/enrich"
	"github.com/socialdata/socialdata/internal/engine"
	"github.com/socialdata/socialdata/keys"
	"github.com/socialdata/socialdata/observe"
	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/schema"
	"github.com/socialdata/socialdata/store/records"
)

// Option configures a [Client].
type Option func(*engine.Config)

// WithProviders adds upstreams, as the packages below providers return them. Those of one platform are tried in the order
// given.
func WithProviders(chains ...providers.Chain) Option {
	return func(c *engine.Config) { c.Providers = append(c.Providers, slices.Concat(chains...)...) }
}

// WithLedger charges calls to l. Without it nothing is charged, and Meta.CreditsUsed is what the call would have cost.
func WithLedger(l credits.Ledger) Option { return func(c *engine.Config) { c.Ledger = l } }

// WithCache keeps answers in s. The default is a [cache.Memory] of 64 MiB.
func WithCache(s cache.Store) Option { return func(c *engine.Config) { c.Cache = s } }

// WithKeys looks API keys up in s, for [Client.Authenticate].
func WithKeys(s keys.Store) Option { return func(c *engine.Config) { c.Keys = s } }

// WithLimiter bounds how often each key calls. The default is a [keys.MemoryLimiter].
func WithLimiter(l keys.Limiter) Option { return func(c *engine.Config) { c.Limiter = l } }

// WithRecords keeps jobs, idempotent answers and the secret of cursors in s. The default is a [records.Memory].
func WithRecords(s records.Store) Option { return func(c *engine.Config) { c.Records = s } }

// WithEnricher reads meaning with e, such as the embedded model of enrich/arabic. Without it a call that asks for
// enrichment is an invalid_request.
func WithEnricher(e enrich.Enricher) Option { return func(c *engine.Config) { c.Enricher = e } }

// WithClock tells the time with now. The default is [time.Now].
func WithClock(now func() time.Time) Option { return func(c *engine.Config) { c.Now = now } }

// WithLogger logs to l what callers must not see. The default logs nothing.
func WithLogger(l *slog.Logger) Option { return func(c *engine.Config) { c.Log = l } }

// WithObserver tells o what the engine does. The default tells nobody.
func WithObserver(o observe.Observer) Option { return func(c *engine.Config) { c.Observer = o } }

// WithPrices overrides the base credits of platforms.
func WithPrices(base map[platform.ID]int64) Option {
	return func(c *engine.Config) { c.Prices = maps.Clone(base) }
}

// WithRate sets the rate limit of keys that have none of their own. The default is [keys.DefaultRate].
func WithRate(r keys.Rate) Option { return func(c *engine.Config) { c.Rate = r } }

// WithTimeout bounds one call, all attempts and providers together. The default is 15 seconds.
func WithTimeout(d time.Duration) Option { return func(c *engine.Config) { c.Timeout = d } }

// WithCursorKeys signs cursors with the first secret, of at least 16 bytes, and accepts those signed with any of them,
// so that secrets can be rotated. Without it a secret that [New] makes signs, which is kept in the store of [WithRecords]:
// cursors then outlive the process and are good on every replica that shares the store.
func WithCursorKeys(secrets ...[]byte) Option {
	return func(c *engine.Config) { c.CursorKeys = secrets }
}

// WithEnvironment names the deployment in [Client.Health]. The default is "development".
func WithEnvironment(name string) Option { return func(c *engine.Config) { c.Environment = name } }

// WithDependency shows the state of something that the client stands on, such as a cache server, in [Client.Health].
// State is called on each look and returns at once.
func WithDependency(name string, state func() schema.HealthState) Option {
	return func(c *engine.Config) {
		if c.Dependencies == nil {
			c.Dependencies = map[string]func() schema.HealthState{}
		}
		c.Dependencies[name] = state
	}
}
