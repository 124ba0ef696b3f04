// Package engine makes a call from beginning to end: it finds the operation's handler, answers a repeated call from its
// record, holds the price, reads, enriches, settles, and translates every error into a problem. It also has the
// handlers of the service's own operations, such as the balance or the list of platforms.
//
// [New] makes an [Engine] of a [Config], which lists everything that an engine consists of. A [Session] is the engine
// bound to a caller; all calls are made on a Session.
package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"time"

	"github.com/socialdata/socialdata/bulkjob"
	"github.com/socialdata/socialdata/cache"
	"github.com/socialdata/socialdata/callctx"
	"github.com/socialdata/socialdata/credits"
	"github.com/socialdata/socialdata/enrich"
	"github.com/socialdata/socialdata/internal/account"
	"github.com/socialdata/socialdata/internal/calls"
	"github.com/socialdata/socialdata/internal/cursor"
	"github.com/socialdata/socialdata/internal/erasure"
	"github.com/socialdata/socialdata/internal/read"
	"github.com/socialdata/socialdata/internal/resolve"
	"github.com/socialdata/socialdata/internal/search"
	"github.com/socialdata/socialdata/internal/upstreams"
	"github.com/socialdata/socialdata/internal/webhooks"
	"github.com/socialdata/socialdata/keys"
	"github.com/socialdata/socialdata/observe"
	"github.com/socialdata/socialdata/operation"
	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/privacy"
	"github.com/socialdata/socialdata/problem"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/records"
	"github.com/socialdata/socialdata/requests"
	"github.com/socialdata/socialdata/schema"
	"github.com/socialdata/socialdata/watch"
)

// Config is what an engine consists of. Rows is required; the zero value of every other field is a default.
type Config struct {
	Rows         []*read.Row                 // the operation table, in the order of its description
	Platforms    *platform.Table             // nil means those of the specification
	Providers    []providers.Provider        // those of one platform in the order in which they are tried
	Ledger       credits.Ledger              // nil charges nothing
	Cache        cache.Store                 // nil keeps 64 MiB in memory
	Keys         keys.Store                  // nil accepts no key
	Limiter      keys.Limiter                // nil counts in memory
	Records      records.Store               // nil keeps jobs and idempotent answers in memory
	Requests     requests.Store              // nil keeps the request log and the usage in memory
	LogBounds    requests.Bounds             // limits of Requests
	AnswerLife   time.Duration               // for how long an idempotent answer is stored; 0 means 24 hours
	JobLife      time.Duration               // for how long a job is stored after its end; 0 means 15 minutes
	Enricher     enrich.Enricher             // nil enriches nothing
	Prices       map[platform.ID]int64       // base credits, if they differ from the platform's own
	Rate         keys.Rate                   // for keys without their own; zero means [keys.DefaultRate]
	Timeout      time.Duration               // for one call, including all attempts and providers; 0 means 15 seconds
	AnswerMemory int64                       // bytes of memory for all answers in progress; 0 means 512 MiB
	CursorKeys   [][]byte                    // the first encrypts, all decrypt; the one in Records is added at the end
	Environment  string                      // the name of the deployment; "" means development
	Now          func() time.Time            // nil means [time.Now]
	Log          *slog.Logger                // nil disables logging
	Observer     observe.Observer            // nil functions are not called
	Blocklist    privacy.Blocklist           // nil keeps erasures and blocks in memory
	Erasers      []privacy.Eraser            // stores with personal data besides Cache and Records
	Retention    privacy.Retention           // for how long content is stored; the zero value is the default
	Redact       read.Redact                 // what is redacted in answers; the zero value redacts nothing
	Shares       map[string]providers.Shares // of upstream limits, by provider; the default is [providers.DefaultShares]

	Watches     watch.Store     // nil keeps monitors in memory
	Bulk        bulkjob.Service // nil has no bulk jobs
	MostWatches int             // maximum number of monitors of an account; 0 means 1,000

	PrivateWebhooks bool // endpoints may be http:// and at private addresses

	Dependencies map[string]func() schema.HealthState // the health of what the engine depends on, by name
}

// Engine is what all sessions share. It is safe for concurrent use.
type Engine struct {
	cfg           Config
	made          time.Time     // when the engine was made
	reading       time.Duration // for how long a call may read
	accounts      *account.Accounts
	upstreams     *upstreams.Pool
	reader        *read.Reader
	search        *search.Service
	quotas        quotas
	books         *concealer
	erased        *erasure.Keeper
	erasers       []privacy.Eraser
	resolver      *resolve.Resolver
	rows          map[string]*read.Row // by name
	handlers      map[string]handler   // of the service's own operations, by name
	calls         *calls.Keeper
	planners      map[string]planner // of those that are charged
	routes        operation.Routes   // of the rows
	requests      *recorder
	watching      watching
	bulk          bulk
	accountEvents accountEvents
	monthly       monthly
}

// holdSlack is how much longer than its call a hold lasts: enrichment and settling follow the upstream read.
const holdSlack = time.Minute

// recordsPatience is the time limit for the store of records while the engine is made.
const recordsPatience = 10 * time.Second

// New returns an Engine. It makes the secret of cursors in the store of records if that has none, and fails when the
// store does and there is no cursor key. It also fails when a provider has an unknown platform or the same name as
// another of its platform, when a cursor key is too short, and when a row of the service's own has no handler.
func New(cfg Config) (*Engine, error) {
	shared := cfg.Records != nil
	cfg.fill()
	if err := cfg.check(); err != nil {
		return nil, err
	}
	secrets, err := cursorSecrets(records.Within(cfg.Records, recordsPatience), cfg.CursorKeys)
	if err != nil {
		return nil, err
	}
	sealer, err := cursor.NewSealer(secrets...)
	if err != nil {
		return nil, err
	}
	stores := account.NewStores(cfg.Timeout)
	e := &Engine{
		made: cfg.Now().UTC(), reading: stores.Reading(), books: &concealer{store: stores.Records(cfg.Records)},
		rows: map[string]*read.Row{}, handlers: handlers(), planners: planners(), requests: newRecorder(&cfg),
	}
	if len(secrets) > len(cfg.CursorKeys) { // otherwise the store is unavailable: it starts with the configured keys
		if _, err := e.books.load(context.Background()); err != nil {
			return nil, err
		}
	}
	if err := e.addRows(cfg.Rows); err != nil {
		return nil, err
	}
	watches, err := e.sources(&cfg, secrets)
	if err != nil {
		return nil, err
	}
	e.begin(cfg, stores, sealer, watches, shared)
	return e, nil
}

// sources makes what can fail because of the configuration: the upstreams, and the store of monitors, which it returns,
// with the secret of deliveries.
func (e *Engine) sources(cfg *Config, secrets [][]byte) (watches erasable, err error) {
	e.accountEvents.open(e)
	e.upstreams, err = upstreams.New(upstreams.Config{
		Platforms: cfg.Platforms, Providers: cfg.Providers,
		Observer: e.requests.observer(e.accountEvents.observer(cfg.Observer)), AnswerMemory: cfg.AnswerMemory, Now: cfg.Now, Log: cfg.Log,
		Shares: cfg.Shares, Used: e.quotas.used, Paid: e.requests.paid,
	})
	if err != nil {
		return nil, err
	}
	if e.watching.safe, err = webhooks.NewSafe(secrets...); err != nil {
		return nil, err
	}
	return watchStore(cfg.Watches)
}

// begin makes the parts that do work of their own, which Close ends.
func (e *Engine) begin(cfg Config, stores *account.Stores, sealer *cursor.Sealer, watches erasable, shared bool) {
	e.cfg = cfg
	e.erased = erasure.New(erasure.Config{List: cfg.Blocklist, Forget: e.forget, Log: cfg.Log})
	e.erasers = append([]privacy.Eraser{cfg.Cache, cfg.Records, watches}, cfg.Erasers...)
	if cfg.Bulk != nil {
		e.erasers = append(e.erasers, cfg.Bulk)
	}
	cfg.Records = e.erased.Records(records.Compress(e.books.store))
	e.cfg.Records = cfg.Records
	e.quotas.open(e.upstreams.Limits(), cfg.Records, shared, cfg.Log)
	e.resolver = resolve.New(e.upstreams, operations(cfg.Rows))
	e.accounts = account.New(account.Config{
		Keys: cfg.Keys, Ledger: cfg.Ledger, Limiter: cfg.Limiter, Rate: cfg.Rate, Now: cfg.Now,
		Stores: stores, HoldFor: cfg.Timeout + holdSlack, Lacked: e.accountEvents.lacked,
	})
	e.calls = calls.New(calls.Config{
		Ledger: limitedLedger(stores, cfg.Ledger), Records: cfg.Records, Shared: shared, Now: cfg.Now, Time: cfg.Timeout,
		Left: stores.Left, Charged: e.charged, Log: cfg.Log,
	})
	cursors := cursor.NewKeeper(sealer, cfg.Records)
	e.reader = read.New(read.Config{
		Upstreams: e.upstreams, Cache: cfg.Cache, Enricher: cfg.Enricher, Cursors: cursors,
		Prices: cfg.Prices, Timeout: e.reading, Profile: e.reads(providers.OpProfile), Post: e.reads(providers.OpPost),
		Now: cfg.Now, Log: cfg.Log, Observer: cfg.Observer, Erased: e.erased, Retention: cfg.Retention, Redact: cfg.Redact,
	})
	e.search = search.New(search.Config{
		Reader: e.reader, Upstreams: e.upstreams, Row: e.reads(providers.OpSearch), All: e.streamed(), Records: cfg.Records,
		Cursors: cursors, Calls: e.calls, Explain: e.explain, Marks: e.erased.Marks,
		Timeout: e.reading, JobLife: cfg.JobLife, Now: cfg.Now, Log: cfg.Log,
	})
	e.watching.guard = webhooks.Guard{Private: cfg.PrivateWebhooks}
	e.watching.open(e, watches)
	e.bulk.open(e)
	e.monthly.open(e) // which tells bulk of its grants
}

// limitedLedger returns a ledger with limited calls; nil without one.
func limitedLedger(stores *account.Stores, l credits.Ledger) calls.Ledger {
	if l == nil {
		return nil
	}
	return stores.Ledger(l)
}

// charged reports a charge.
func (e *Engine) charged(who credits.Spender, c credits.Charge, r credits.Receipt) {
	e.accountEvents.spent(who.Account, r.Balance)
	e.cfg.Observer.Charge(observe.Charge{Operation: c.Operation, Platform: c.Platform, Credits: r.Charged})
}

// forget removes names from this process's memory: from the memory of the cache, and all stored upstream answers, since
// it is not known which people they contain.
func (e *Engine) forget(names map[privacy.Name]struct{}) int {
	e.upstreams.Forget()
	if local, ok := e.cfg.Cache.(cache.Local); ok {
		return local.Forget(names)
	}
	return 0
}

// check returns an error for a price or a retention of a platform that does not exist, and fills in the retention.
func (c *Config) check() error {
	if err := checkPrices(c.Prices, c.Platforms); err != nil {
		return err
	}
	if err := c.Retention.Check(c.Platforms); err != nil {
		return fmt.Errorf("socialdata: WithKeep: %w", err)
	}
	c.Retention = c.Retention.Filled()
	return nil
}

// checkPrices returns an error for a price of a platform that does not exist.
func checkPrices(prices map[platform.ID]int64, known *platform.Table) error {
	for _, id := range slices.Sorted(maps.Keys(prices)) {
		if !known.Has(id) {
			return fmt.Errorf("socialdata: WithPrices: there is no platform %q%s", id,
				problem.DidYouMean(known.Meant(string(id)), known.Names()))
		}
	}
	return nil
}

// addRows adds the operation table.
func (e *Engine) addRows(rows []*read.Row) error {
	operations := make([]*operation.Operation, 0, len(rows))
	defer func() { e.routes = operation.NewRoutes(operations) }()
	for _, row := range rows {
		operations = append(operations, row.Operation)
		if row.Service && row.Of == nil && !row.Redirects && e.handlers[row.Name] == nil {
			return fmt.Errorf("socialdata: nothing handles the operation %q", row.Name)
		}
		e.rows[row.Name] = row
	}
	return nil
}

func (c *Config) fill() {
	c.Timeout = cmp.Or(c.Timeout, 15*time.Second)
	c.AnswerLife, c.JobLife = cmp.Or(c.AnswerLife, 24*time.Hour), cmp.Or(c.JobLife, 15*time.Minute)
	c.Platforms = cmp.Or(c.Platforms, platform.Specified())
	c.Environment = cmp.Or(c.Environment, "development")
	c.Observer = c.Observer.Filled()
	c.Rate = cmp.Or(c.Rate, keys.DefaultRate())
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	c.Log = slog.New(callHandler{c.Log.Handler()})
	if c.Cache == nil {
		c.Cache = cache.NewMemory(cache.MemoryConfig{Now: c.Now})
	}
	if c.Limiter == nil {
		c.Limiter = keys.NewMemoryLimiter(keys.MemoryLimiterConfig{Now: c.Now})
	}
	if c.Records == nil {
		c.Records = records.NewMemory(records.MemoryConfig{Now: c.Now})
	}
}

// operations returns the operations of rows.
func operations(rows []*read.Row) []*operation.Operation {
	out := make([]*operation.Operation, len(rows))
	for i, row := range rows {
		out[i] = row.Operation
	}
	return out
}

// reads returns the row of a read through a provider; nil when the table has none.
func (e *Engine) reads(op providers.Op) *read.Row {
	for _, row := range e.cfg.Rows {
		if row.Op == op {
			return row
		}
	}
	return nil
}

// streamed returns the operation that can be streamed: the search of several platforms.
func (e *Engine) streamed() *operation.Operation {
	if row := e.rows["search_across"]; row != nil {
		return row.Operation
	}
	return nil
}

// Session returns the engine for a program that embeds it, bound to no key.
func (e *Engine) Session() Session { return Session{e, e.accounts.Caller(nil), schema.FromGo} }

// KnowsKeys reports whether there is a store of keys.
func (e *Engine) KnowsKeys() bool { return e.accounts.Keys != nil }

// Now returns the time by the engine's clock.
func (e *Engine) Now() time.Time { return e.cfg.Now() }

// Alone reports whether there is at most one account. A second one may be noticed up to a minute late.
func (e *Engine) Alone(ctx context.Context) bool { return e.accounts.Alone(ctx) }

// over returns when the reading time of the call in ctx ends.
func (e *Engine) over(ctx context.Context) time.Time {
	counts := callctx.Of(ctx).Counts
	if counts.IsZero() {
		counts = time.Now()
	}
	return counts.Add(e.reading)
}

// bounded returns ctx with the time limit for a call of a store.
func (e *Engine) bounded(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, e.cfg.Timeout)
}

// Close ends all background work and waits until it has ended. From then on, upstream reads are refused.
func (e *Engine) Close(ctx context.Context) error {
	if err := e.monthly.close(ctx); err != nil {
		return err
	}
	if err := e.bulk.close(ctx); err != nil {
		return err
	}
	if err := e.watching.close(ctx); err != nil { // before the search, because it reads and searches
		return err
	}
	if err := e.search.Close(ctx); err != nil { // then search, because it reads
		return err
	}
	if err := e.reader.Close(ctx); err != nil {
		return err
	}
	if err := e.quotas.close(ctx); err != nil {
		return err
	}
	if err := errors.Join(e.calls.Close(ctx), e.accounts.Close(ctx)); err != nil {
		return err
	}
	return errors.Join(e.requests.close(ctx), e.erased.Close(ctx))
}
