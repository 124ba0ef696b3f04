package socialdata

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"golang.org/x/sync/singleflight"

	"github.com/socialdata/socialdata/cache"
	"github.com/socialdata/socialdata/credits"
	"github.com/socialdata/socialdata/enrich"
	"github.com/socialdata/socialdata/keys"
	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/records"
)

// Client reads public data from every configured platform. It is safe for concurrent use. [Client.As] binds it to the
// account that pays.
type Client struct {
	*engine
	key *keys.Key // who calls; nil when nobody is bound
}

// engine is what all Clients of one New share.
type engine struct {
	links       map[platform.ID][]*link
	ledger      credits.Ledger // nil when nothing is charged
	cache       cache.Store
	keys        keys.Store // nil when there are no keys
	limiter     keys.Limiter
	records     records.Store
	enricher    enrich.Enricher
	now         func() time.Time
	log         *slog.Logger
	prices      map[platform.ID]int64
	rate        keys.Rate
	timeout     time.Duration
	sealer      *sealer
	environment string
	health      health
	flights     singleflight.Group
	jobs        jobs
}

// New returns a Client. It fails when a provider is of an unknown platform or named like another of its platform, and
// when a cursor key is too short.
func New(opts ...Option) (*Client, error) {
	cfg := config{timeout: 15 * time.Second, rate: keys.DefaultRate(), environment: "development", now: time.Now}
	for _, o := range opts {
		o(&cfg)
	}
	sealer, err := newSealer(cfg.cursorKeys...)
	if err != nil {
		return nil, err
	}
	e := &engine{
		links: map[platform.ID][]*link{}, ledger: cfg.ledger, cache: cfg.cache, keys: cfg.keys, limiter: cfg.limiter,
		records: cfg.records, enricher: cfg.enricher, now: cfg.now, log: cfg.log, prices: cfg.prices, rate: cfg.rate,
		timeout: cfg.timeout, sealer: sealer, environment: cfg.environment,
	}
	e.fillDefaults()
	for i := range cfg.providers {
		if err := e.add(&cfg.providers[i]); err != nil {
			return nil, err
		}
	}
	return &Client{engine: e}, nil
}

func (e *engine) fillDefaults() {
	if e.cache == nil {
		e.cache = cache.NewMemory(0, e.now)
	}
	if e.limiter == nil {
		e.limiter = keys.NewLimiter(keys.LimiterConfig{Now: e.now})
	}
	if e.records == nil {
		e.records = records.NewMemory(e.now)
	}
	if e.enricher == nil {
		e.enricher = DefaultEnricher()
	}
	if e.log == nil {
		e.log = slog.New(slog.DiscardHandler)
	}
	e.health.now = e.now
	e.jobs.live = map[string]*job{}
}

func (e *engine) add(p *providers.Provider) error {
	if !p.Platform.Valid() || p.Name == "" {
		return fmt.Errorf("socialdata: provider %q is of no known platform (%q)", p.Name, p.Platform)
	}
	if slices.ContainsFunc(e.links[p.Platform], func(l *link) bool { return l.p.Name == p.Name }) {
		return fmt.Errorf("socialdata: two providers of %s are named %q", p.Platform, p.Name)
	}
	e.links[p.Platform] = append(e.links[p.Platform], newLink(p))
	return nil
}

// As returns a Client that acts for key: its account pays, and its caps hold. The rate limit is the skin's to ask for
// ([Client.Admit]).
func (c *Client) As(key keys.Key) *Client { return &Client{engine: c.engine, key: &key} }

// base returns what a plain call to a platform costs.
func (e *engine) base(id platform.ID) int64 {
	if n, ok := e.prices[id]; ok {
		return n
	}
	info, _ := platform.Lookup(id)
	return info.BaseCredits
}

// errNoAccount says that a Client with a ledger was called without an account.
var errNoAccount = errors.New("socialdata: no account is bound; use Client.As")

// spender says who pays.
func (c *Client) spender() (credits.Spender, error) {
	if c.key == nil {
		return credits.Spender{}, errNoAccount
	}
	return credits.Spender{Account: c.key.Account, Key: c.key.ID, DayCap: c.key.DayCap, TotalCap: c.key.TotalCap}, nil
}

// Close waits until everything that c does in the background has ended. The stores are the caller's to close.
func (c *Client) Close(ctx context.Context) error { return c.jobs.wait(ctx) }
