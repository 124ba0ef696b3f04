package socialdata

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"reflect"
	"slices"
	"time"

	"github.com/socialdata/socialdata/bulkjob"
	"github.com/socialdata/socialdata/cache"
	"github.com/socialdata/socialdata/credits"
	"github.com/socialdata/socialdata/enrich"
	"github.com/socialdata/socialdata/internal/cursor"
	"github.com/socialdata/socialdata/internal/engine"
	"github.com/socialdata/socialdata/keys"
	"github.com/socialdata/socialdata/observe"
	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/privacy"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/records"
	"github.com/socialdata/socialdata/requests"
	"github.com/socialdata/socialdata/schema"
	"github.com/socialdata/socialdata/watch"
)

// Option configures a [Client]. [New] checks its value and fails with an error that names the option.
type Option interface{ apply(*engine.Config) error }

// option is an [Option] whose errors contain its name.
type option struct {
	name string
	set  func(*engine.Config) error
}

func (o option) apply(c *engine.Config) error {
	if err := o.set(c); err != nil {
		return fmt.Errorf("socialdata: %s: %w", o.name, err)
	}
	return nil
}

// configure applies opts to the zero configuration. Its error names every option that is invalid.
func configure(opts []Option) (engine.Config, error) {
	cfg := engine.Config{Rows: table}
	var failed error
	for i, o := range opts {
		err := fmt.Errorf("socialdata: option %d of New is nil: leave it out", i+1)
		if o != nil {
			err = o.apply(&cfg)
		}
		failed = errors.Join(failed, err)
	}
	return cfg, failed
}

// plug returns an option that sets a field to v, which must not be nil.
func plug[T any](name, without string, v T, field func(*engine.Config) *T) Option {
	return option{name, func(c *engine.Config) error {
		if isNil(v) {
			return errors.New("the value is nil: leave the option out, " + without)
		}
		*field(c) = v
		return nil
	}}
}

// positive returns an option that sets a field to v, which must be above 0.
func positive[T int | int64 | time.Duration](name, what string, v T, field func(*engine.Config) *T) Option {
	return option{name, func(c *engine.Config) error {
		if v <= 0 {
			return fmt.Errorf("%s is %v: it must be above 0", what, v)
		}
		*field(c) = v
		return nil
	}}
}

// set is an [Option] that any value can have.
type set func(*engine.Config)

func (s set) apply(c *engine.Config) error {
	s(c)
	return nil
}

// isNil reports whether v is nil, or holds a nil pointer or function.
func isNil(v any) bool {
	of := reflect.ValueOf(v)
	return !of.IsValid() || (of.Kind() == reflect.Pointer || of.Kind() == reflect.Func) && of.IsNil()
}

// WithProviders adds upstreams, as returned by the packages below providers. Those of one platform are tried in the
// order given.
func WithProviders(chains ...providers.Chain) Option {
	return option{"WithProviders", func(c *engine.Config) error {
		for i, chain := range chains {
			if chain == nil {
				return fmt.Errorf("chain %d is nil: pass what New of a provider's package returns", i+1)
			}
			for _, p := range chain {
				c.Providers = append(c.Providers, p.Clone())
			}
		}
		return nil
	}}
}

// WithPlatform adds a platform of the program's own to those of the specification. It is read, priced, described and
// listed like any other. Pass its providers to [WithProviders], with its ID as their Platform.
func WithPlatform(info platform.Info) Option {
	return option{"WithPlatform", func(c *engine.Config) error {
		table, err := cmp.Or(c.Platforms, platform.Specified()).With(info)
		if err == nil {
			c.Platforms = table
		}
		return err
	}}
}

// WithLedger charges calls to l. Without it nothing is charged, and Meta.CreditsUsed is the price that the call would
// have had.
func WithLedger(l credits.Ledger) Option {
	return plug("WithLedger", "and nothing is charged", l, func(c *engine.Config) *credits.Ledger { return &c.Ledger })
}

// WithCache caches answers in s. The default is a [cache.Memory] of 64 MiB.
func WithCache(s cache.Store) Option {
	return plug("WithCache", "and answers are kept in memory", s, func(c *engine.Config) *cache.Store { return &c.Cache })
}

// WithRequests stores the request log and the usage in s, within b; there is no log if b.Most is below 0. The default is
// a [requests.Memory]. Calls never wait for s: requests that it cannot store in time are dropped and counted.
func WithRequests(s requests.Store, b requests.Bounds) Option {
	return option{"WithRequests", func(c *engine.Config) error {
		if isNil(s) {
			return errors.New("the value is nil: leave the option out, and the log is kept in memory")
		}
		if b.Life < 0 || b.Days < 0 {
			return fmt.Errorf("the bounds %+v have a negative Life or Days: leave a field 0 for its default", b)
		}
		c.Requests, c.LogBounds = s, b
		return nil
	}}
}

// WithKeys looks up API keys in s, for [Client.Authenticate].
func WithKeys(s keys.Store) Option {
	return plug("WithKeys", "and no API key is accepted", s, func(c *engine.Config) *keys.Store { return &c.Keys })
}

// WithLimiter limits the calls of each key, by default a [keys.MemoryLimiter].
func WithLimiter(l keys.Limiter) Option {
	return plug("WithLimiter", "and calls are counted in memory", l,
		func(c *engine.Config) *keys.Limiter { return &c.Limiter })
}

// WithRecords stores jobs, idempotent answers and the secret of cursors in s. The default is a [records.Memory].
func WithRecords(s records.Store) Option {
	return plug("WithRecords", "and records are kept in memory", s,
		func(c *engine.Config) *records.Store { return &c.Records })
}

// WithErasures stores what [Operator.Erase] erases and blocks in list, by default in memory; processes with a shared
// cache or records must share it. Erase also erases from stores: those with personal data besides cache and records.
func WithErasures(list privacy.Blocklist, stores ...privacy.Eraser) Option {
	return option{"WithErasures", func(c *engine.Config) error {
		if isNil(list) {
			return errors.New("the list is nil: leave the option out, and what is erased and blocked is noted in memory")
		}
		for i, s := range stores {
			if isNil(s) {
				return fmt.Errorf("store %d is nil", i+1)
			}
		}
		c.Blocklist, c.Erasers = list, append(c.Erasers, stores...)
		return nil
	}}
}

// WithKeep sets how long personal data may be stored after its cache lifetime; what r does not set is as in
// [privacy.DefaultRetention].
func WithKeep(r privacy.Retention) Option {
	r.Content = maps.Clone(r.Content)
	return set(func(c *engine.Config) { c.Retention = r })
}

// WithRedaction replaces email addresses, telephone numbers or both by "[redacted]" in the texts and the raw of what is
// read, before it is stored or shown. It recognises the plain forms in any script; ids, prices, times and web addresses
// are not changed. Platforms reports what is redacted, and observers are notified as for drift.
func WithRedaction(kinds ...privacy.Redaction) Option {
	return option{"WithRedaction", func(c *engine.Config) error {
		for _, kind := range kinds {
			switch kind {
			case privacy.Emails:
				c.Redact.Emails = true
			case privacy.Phones:
				c.Redact.Phones = true
			default:
				return fmt.Errorf("%q cannot be redacted: only emails and phones", kind)
			}
		}
		return nil
	}}
}

// WithWatches stores monitors and their changes in s, and polls them until Close. [Operator.Erase] also erases
// from s, which must be a [privacy.Eraser]. The default keeps them in memory.
func WithWatches(s watch.Store) Option {
	return plug("WithWatches", "and monitors are kept in memory", s,
		func(c *engine.Config) *watch.Store { return &c.Watches })
}

// WithBulk stores and runs bulk jobs in s until Close, as the service of contrib/bulk does on River. Without it every
// call about them is platform_unavailable.
func WithBulk(s bulkjob.Service) Option {
	return plug("WithBulk", "and there are no bulk jobs", s, func(c *engine.Config) *bulkjob.Service { return &c.Bulk })
}

// WithMostMonitors limits the monitors of an account, by default to 1,000.
func WithMostMonitors(n int) Option {
	return positive("WithMostMonitors", "the number of monitors", n, func(c *engine.Config) *int { return &c.MostWatches })
}

// WithPrivateWebhooks lets accounts have changes sent to http:// URLs and to loopback and private addresses, for
// services that run beside their receivers. Link-local addresses, where clouds serve secrets, stay refused.
func WithPrivateWebhooks() Option {
	return set(func(c *engine.Config) { c.PrivateWebhooks = true })
}

// WithEnricher enriches texts with e, such as the model of enrich/arabic. Without it a call that asks for that is an
// invalid_request.
func WithEnricher(e enrich.Enricher) Option {
	return plug("WithEnricher", "and nothing is enriched", e,
		func(c *engine.Config) *enrich.Enricher { return &c.Enricher })
}

// WithClock uses now as the clock. The default is [time.Now].
func WithClock(now func() time.Time) Option {
	return plug("WithClock", "and the clock is time.Now", now, func(c *engine.Config) *func() time.Time { return &c.Now })
}

// WithLogger logs to l what callers must not see; by default nothing is.
func WithLogger(l *slog.Logger) Option {
	return plug("WithLogger", "and nothing is logged", l, func(c *engine.Config) **slog.Logger { return &c.Log })
}

// WithObserver reports what the engine does to o.
func WithObserver(o observe.Observer) Option {
	return set(func(c *engine.Config) { c.Observer = o })
}

// WithPrices overrides the base credits of platforms.
func WithPrices(base map[platform.ID]int64) Option {
	base = maps.Clone(base)
	return option{"WithPrices", func(c *engine.Config) error {
		for _, id := range slices.Sorted(maps.Keys(base)) {
			if n := base[id]; n < 0 || n > keys.MaxCap {
				return fmt.Errorf("the price of %s is %d: it must be 0 to %d credits", id, n, int64(keys.MaxCap))
			}
		}
		c.Prices = base
		return nil
	}}
}

// WithShares sets how much of the limits of upstreams each class of reads may use, in percent, by provider;
// [providers.DefaultShares] without it.
func WithShares(shares map[string]providers.Shares) Option {
	shares = maps.Clone(shares)
	return set(func(c *engine.Config) { c.Shares = shares })
}

// WithAnswerLife sets for how long the answer of a call with an idempotency key is stored, and a job after its end: a
// minute to 24 hours each, 0 for the default of 24 hours and of 15 minutes. A call that is repeated after that is made
// again, but not charged again for 24 hours.
func WithAnswerLife(answers, jobs time.Duration) Option {
	return option{"WithAnswerLife", func(c *engine.Config) error {
		for _, d := range []time.Duration{answers, jobs} {
			if d != 0 && (d < time.Minute || d > credits.IdempotentFor) {
				return fmt.Errorf("%v is not between a minute and %v", d, credits.IdempotentFor)
			}
		}
		c.AnswerLife, c.JobLife = answers, jobs
		return nil
	}}
}

// WithRate is the rate of keys without their own; [keys.DefaultRate] without it.
func WithRate(r keys.Rate) Option {
	return option{"WithRate", func(c *engine.Config) error {
		if err := r.Check(); err != nil {
			return fmt.Errorf("%w: the capacity must be at least 1 and the refill above 0", err)
		}
		c.Rate = r
		return nil
	}}
}

// WithTimeout limits the time of one call. The default is 15 seconds. All attempts with all providers, and enrichment,
// end a fifteenth of it earlier, but at most one second: that is for charging and recording what was found.
func WithTimeout(d time.Duration) Option {
	return positive("WithTimeout", "the timeout", d, func(c *engine.Config) *time.Duration { return &c.Timeout })
}

// WithAnswerMemory limits the memory of all upstream answers in progress, in bytes: of what is read and what is made of
// it. A read for which there is none waits, and then its call is platform_unavailable. The default is 512 MiB; one
// answer can take 48 MiB.
func WithAnswerMemory(bytes int64) Option {
	return positive("WithAnswerMemory", "the memory in bytes", bytes, func(c *engine.Config) *int64 { return &c.AnswerMemory })
}

// WithCursorKeys seals cursors with the first secret, of at least 16 bytes, and accepts those sealed with any of them,
// so that secrets can be rotated. The default is a secret that [New] makes and stores in the store of [WithRecords],
// for all processes that share it.
func WithCursorKeys(secrets ...[]byte) Option {
	return option{"WithCursorKeys", func(c *engine.Config) error {
		if len(secrets) == 0 {
			return errors.New("no secret is given: pass one, or leave the option out")
		}
		c.CursorKeys = nil
		for i, secret := range secrets {
			if len(secret) < cursor.MinSecret {
				return fmt.Errorf("secret %d has %d bytes: it must have at least %d", i+1, len(secret), cursor.MinSecret)
			}
			c.CursorKeys = append(c.CursorKeys, slices.Clone(secret))
		}
		return nil
	}}
}

// WithEnvironment names the deployment in Health, by default "development".
func WithEnvironment(name string) Option {
	return option{"WithEnvironment", func(c *engine.Config) error {
		if name == "" {
			return errors.New("the name is empty: leave the option out")
		}
		c.Environment = name
		return nil
	}}
}

// WithDependency includes the state of something that the client depends on, such as a cache server, in
// Health. state is called for each check and must return at once.
func WithDependency(name string, state func() schema.HealthState) Option {
	return option{"WithDependency", func(c *engine.Config) error {
		switch {
		case name == "":
			return errors.New("the name is empty: name the dependency")
		case state == nil:
			return fmt.Errorf("the state of %q is nil: pass a function", name)
		case c.Dependencies[name] != nil:
			return fmt.Errorf("%q is given twice: use another name", name)
		case c.Dependencies == nil:
			c.Dependencies = map[string]func() schema.HealthState{}
		}
		c.Dependencies[name] = state
		return nil
	}}
}
