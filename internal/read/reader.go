package read

import (
	"context"
	"log/slog"
	"time"

	"golang.org/x/sync/singleflight"

	"github.com/socialdata/socialdata/cache"
	"github.com/socialdata/socialdata/enrich"
	"github.com/socialdata/socialdata/internal/background"
	"github.com/socialdata/socialdata/internal/cursor"
	"github.com/socialdata/socialdata/internal/erasure"
	"github.com/socialdata/socialdata/internal/read/batch"
	"github.com/socialdata/socialdata/internal/redact"
	"github.com/socialdata/socialdata/internal/upstreams"
	"github.com/socialdata/socialdata/observe"
	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/privacy"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/schema"
)

// Reader reads from its sources. It is safe for concurrent use.
type Reader struct {
	Planner

	shared  cache.Shared // the cache, if other processes make entries too; else nil
	near    cache.Near   // the part of the cache that is in this process; nil for none
	flights singleflight.Group
	flying  flying
	joins   batch.Joiner[outcome] // joins reads of single keys that a provider can make together

	validator *schema.Validator
	confirmed *Row
	work      background.Group
	redactor  *redact.Redactor
}

// Planner checks calls and makes queries of them, without reading anything.
type Planner struct {
	cfg       Config
	platforms *platform.Table
	enricher  enricher
}

// Config configures a [Reader]. All fields but Prices and Enricher are required.
type Config struct {
	Upstreams *upstreams.Pool
	Cache     cache.Store
	Enricher  enrich.Enricher // nil when nothing can be enriched
	Cursors   *cursor.Keeper
	Erased    *erasure.Keeper       // what must not be kept or shown
	Retention privacy.Retention     // filled; how long content is kept past its time to live
	Redact    Redact                // what is blanked in answers
	Observer  observe.Observer      // filled
	Prices    map[platform.ID]int64 // base credits that differ from the platform's own
	Timeout   time.Duration         // for one call: cache, providers, completion and enrichment together
	Profile   *Row                  // how a profile is read, for data derived from profiles
	Post      *Row                  // how a post is read, for the author of what belongs to it; nil when none can be
	Now       func() time.Time
	Log       *slog.Logger
}

// New returns a Reader.
func New(cfg Config) *Reader {
	platforms := cfg.Upstreams.Platforms()
	r := &Reader{
		Planner:   Planner{cfg, platforms, enricher{cfg.Enricher, cfg.Observer, cfg.Log}},
		validator: schema.NewValidator(platforms),
	}
	r.shared, _ = cfg.Cache.(cache.Shared)
	r.near, _ = cfg.Cache.(cache.Near)
	r.redactor = redact.New(cfg.Redact.Emails, cfg.Redact.Phones)
	r.confirmed = confirmedRow(cfg.Profile.TTL)
	return r
}

// Upstreams returns the sources that are read from.
func (p *Planner) Upstreams() *upstreams.Pool { return p.cfg.Upstreams }

// Sandbox reports whether what is read from a platform is invented.
func (p *Planner) Sandbox(id platform.ID) bool {
	info, _ := p.cfg.Upstreams.Platforms().Lookup(id)
	return info.Sandbox
}

// Close refuses new reads from upstream and returns when those in progress have ended, or ctx has.
func (r *Reader) Close(ctx context.Context) error { return r.work.Close(ctx) }

// now returns the time as it appears in answers.
func (p *Planner) now() time.Time { return p.cfg.Now().Truncate(time.Millisecond) }

// Base returns the price of a plain read from a platform.
func (p *Planner) Base(id platform.ID) int64 {
	if n, ok := p.cfg.Prices[id]; ok {
		return n
	}
	info, _ := p.platforms.Lookup(id)
	return info.BaseCredits
}

// warn logs a failure. It leaves out the request, which the error may contain.
func (r *Reader) warn(ctx context.Context, what string, q *Query, err error) {
	r.cfg.Log.WarnContext(ctx, what, "operation", q.Row.Name, "platform", q.Platform, "error", providers.Loggable(err))
}
