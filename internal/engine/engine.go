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
	"sync/atomic"
	"time"

	"github.com/socialdata/socialdata/cache"
	"github.com/socialdata/socialdata/credits"
	"github.com/socialdata/socialdata/enrich"
	"github.com/socialdata/socialdata/internal/account"
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
	"github.com/socialdata/socialdata/requests"
	"github.com/socialdata/socialdata/schema"
	"github.com/socialdata/socialdata/store/records"
	"github.com/socialdata/socialdata/watch"
)

// Config is what an engine consists of. Rows is required; the zero value of every other field is a default.
type Config struct {
	Rows        []*read.Row                 // the operation table, in the order of its description
	Platforms   *platform.Table             // nil means those of the specification
	Providers   []providers.Provider        // those of one platform in the order in which they are tried
	Ledger      credits.Ledger              // nil charges nothing
	Cache       cache.Store                 // nil keeps 64 MiB in memory
	Keys        keys.Store                  // nil accepts no key
	Limiter     keys.Limiter                // nil counts in memory
	Records     records.Store               // nil keeps jobs and idempotent answers in memory
	Requests    requests.Store              // nil keeps the request log and the usage in memory
	LogBounds   requests.Bounds             // limits of Requests
	AnswerLife  time.Duration               // for how long an idempotent answer is stored; 0 means 24 hours
	JobLife     time.Duration               // for how long a job is stored after its end; 0 means 15 minutes
	Enricher    enrich.Enricher             // nil enriches nothing
	Prices      map[platform.ID]int64       // base credits, if they differ from the platform's own
	Rate        keys.Rate                   // for keys without their own; zero means [keys.DefaultRate]
	Timeout     time.Duration               // for one call, including all attempts and providers; 0 means 15 seconds
	Room        int64                       // bytes of memory for all answers in progress; 0 means 512 MiB
	CursorKeys  [][]byte                    // the first encrypts, all decrypt; the one in Records is added at the end
	Environment string                      // the name of the deployment; "" means development
	Now         func() time.Time            // nil means [time.Now]
	Log         *slog.Logger                // nil disables logging
	Observer    observe.Observer            // nil functions are not called
	Blocklist   privacy.Blocklist           // nil keeps erasures and blocks in memory
	Erasers     []privacy.Eraser            // stores with personal data besides Cache and Records
	Retention   privacy.Retention           // for how long content is stored; the zero value is the default
	Redact      read.Redact                 // what is redacted in answers; the zero value redacts nothing
	Shares      map[string]providers.Shares // of upstream limits, by provider; the default is [providers.DefaultShares]

	Watches     watch.Store // nil keeps monitors in memory
	MostWatches int         // maximum number of monitors of an account; 0 means 1,000

	PrivateWebhooks bool // endpoints may be http:// and at private addresses

	Dependencies map[string]func() schema.HealthState // the health of what the engine depends on, by name
}

// Engine is what all sessions share. It is safe for concurrent use.
type Engine struct {
	cfg       Config
	reading   time.Duration // for how long a call may read
	accounts  *account.Accounts
	upstreams *upstreams.Pool
	reader    *read.Reader
	search    *search.Service
	quotas    quotas
	books     *concealer
	erased    *erasure.Keeper
	erasers   []privacy.Eraser
	resolver  *resolve.Resolver
	rows      map[string]*read.Row // by name
	handlers  map[string]handler   // of the service's own operations, by name
	turns     turns
	planners  map[string]planner // of those that are charged
	routes    operation.Routes   // of the rows
	requests  *recorder
	watching  watching
	notices   notices
}

// holdSlack is how much longer than its call a hold lasts: enrichment and settling follow the upstream read.
const holdSlack = time.Minute

// recordsPatience is the time limit for the store of records while the engine is made.
const recordsPatience = 10 * time.Second

// New returns an Engine. It makes the secret of cursors in the store of records if that has none, and fails when the
// store does and there is no cursor key. It also fails when a provider has an unknown platform or the same name as
// another of its platform, when a cursor key is too short, and when a row of the service's own has no handler.
func New(cfg Config) (_ *Engine, err error) {
	shared := cfg.Records != nil
	cfg.fill()
	cursorKeys, err := cursorSecrets(records.Within(cfg.Records, recordsPatience), cfg.CursorKeys)
	if err != nil {
		return nil, err
	}
	guard := account.NewGuard(cfg.Timeout)
	books := &concealer{store: guard.Records(cfg.Records)}
	if len(cursorKeys) > len(cfg.CursorKeys) { // otherwise the store is unavailable: it starts with the configured keys
		if _, err := books.load(context.Background()); err != nil {
			return nil, err
		}
	}
	if err := checkPrices(cfg.Prices, cfg.Platforms); err != nil {
		return nil, err
	}
	if err := cfg.Retention.Check(cfg.Platforms); err != nil {
		return nil, fmt.Errorf("socialdata: WithKeep: %w", err)
	}
	cfg.Retention = cfg.Retention.Filled()
	sealer, err := cursor.NewSealer(cursorKeys...)
	if err != nil {
		return nil, err
	}
	var revalidated atomic.Pointer[upstreams.Pool] // set before anything is read
	erased := erasure.New(erasure.Config{List: cfg.Blocklist, Forget: forgetting(cfg.Cache, &revalidated), Log: cfg.Log})
	defer func() {
		if err != nil {
			err = errors.Join(err, erased.Close(context.Background()))
		}
	}()
	watches, err := watchStore(cfg.Watches)
	if err != nil {
		return nil, err
	}
	erasers := append([]privacy.Eraser{cfg.Cache, cfg.Records, watches}, cfg.Erasers...)
	cfg.Records = erased.Records(guard.Records(records.Compress(cfg.Records)))
	e := &Engine{
		erased: erased, erasers: erasers,
		cfg: cfg, books: books, rows: map[string]*read.Row{}, handlers: handlers(), planners: planners(),
		requests: newRecorder(&cfg), reading: guard.Reading(),
	}
	e.notices.open(e)
	if err := e.addRows(cfg.Rows); err != nil {
		return nil, err
	}
	e.upstreams, err = upstreams.New(upstreams.Config{
		Platforms: cfg.Platforms, Providers: cfg.Providers,
		Observer: e.requests.observer(e.notices.observer(cfg.Observer)), Room: cfg.Room, Now: cfg.Now, Log: cfg.Log,
		Shares: cfg.Shares, Used: e.quotas.used, Paid: e.requests.paid,
	})
	if err != nil {
		return nil, err
	}
	revalidated.Store(e.upstreams)
	e.quotas.open(e.upstreams.Limits(), cfg.Records, shared, cfg.Log)
	e.resolver = resolve.New(e.upstreams, operations(cfg.Rows))
	e.accounts = account.New(account.Config{
		Keys: cfg.Keys, Ledger: cfg.Ledger, Records: cfg.Records, Limiter: cfg.Limiter, Rate: cfg.Rate, Now: cfg.Now,
		Guard: guard, HoldFor: cfg.Timeout + holdSlack, Charged: cfg.Observer.Charge, Log: cfg.Log, Shared: shared,
		Spent: e.notices.spent, Lacked: e.notices.lacked,
	})
	e.reader = read.New(read.Config{
		Upstreams: e.upstreams, Cache: cfg.Cache, Enricher: cfg.Enricher, Cursors: cursor.NewKeeper(sealer, cfg.Records),
		Prices: cfg.Prices, Timeout: guard.Reading(), Profile: e.reads(providers.OpProfile), Now: cfg.Now, Log: cfg.Log,
		Observer: cfg.Observer, Erased: erased, Retention: cfg.Retention, Redact: cfg.Redact,
	})
	e.search = search.New(search.Config{
		Reader: e.reader, Upstreams: e.upstreams, Row: e.reads(providers.OpSearch), All: e.streamed(), Records: cfg.Records,
		Cursors: cursor.NewKeeper(sealer, cfg.Records), Accounts: e.accounts, Explain: e.explain, Marks: erased.Marks,
		Timeout: guard.Reading(), JobLife: cfg.JobLife, KeyedLife: max(cfg.JobLife, cfg.AnswerLife), Now: cfg.Now, Log: cfg.Log,
	})
	if e.watching.safe, err = webhooks.NewSafe(cursorKeys...); err != nil {
		return nil, err
	}
	e.watching.guard = webhooks.Guard{Private: cfg.PrivateWebhooks}
	e.watching.open(e, watches)
	return e, nil
}

// forgetting returns a function that removes names from this process's memory: from the memory of the cache, and all
// stored upstream answers, since it is not known which people they contain.
func forgetting(c cache.Store, answers *atomic.Pointer[upstreams.Pool]) func(map[privacy.Name]struct{}) int {
	return func(names map[privacy.Name]struct{}) int {
		if p := answers.Load(); p != nil {
			p.Forget()
		}
		if local, ok := c.(cache.Local); ok {
			return local.Forget(names)
		}
		return 0
	}
}

// checkPrices returns an error for a price of a platform that does not exist.
func checkPrices(prices map[platform.ID]int64, known *platform.Table) error {
	for _, id := range slices.Sorted(maps.Keys(prices)) {
		if !known.Has(id) {
			return fmt.Errorf("socialdata: WithPrices: there is no platform %q%s", id,
				problem.DidYouMean(string(id), known.Names()))
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
		if row.Service && !row.Redirects && e.handlers[row.Name] == nil {
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

// Session returns the engine bound to the caller with key; nil binds it to no key.
func (e *Engine) Session(key *keys.Key) Session { return Session{e, e.accounts.Caller(key)} }

// KnowsKeys reports whether there is a store of keys.
func (e *Engine) KnowsKeys() bool { return e.accounts.Keys != nil }

// over returns when the reading time of the call in ctx ends.
func (e *Engine) over(ctx context.Context) time.Time {
	counts := operation.Counts(ctx)
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
	if err := e.watching.close(ctx); err != nil { // first, because it reads and searches
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
	if err := e.accounts.Close(ctx); err != nil {
		return err
	}
	return errors.Join(e.requests.close(ctx), e.erased.Close(ctx))
}
