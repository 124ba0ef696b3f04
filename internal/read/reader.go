package read

import (
	"context"
	"log/slog"
	"time"

	"golang.org/x/sync/singleflight"

	"github.com/socialdata/socialdata/cache"
	"github.com/socialdata/socialdata/enrich"
	"github.com/socialdata/socialdata/internal/background"
	"github.com/socialdata/socialdata/internal/batch"
	"github.com/socialdata/socialdata/internal/cursor"
	"github.com/socialdata/socialdata/internal/erasure"
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
	cfg     Config
	shared  cache.Shared // the cache, if other processes make entries too; else nil
	near    cache.Near   // the part of the cache that is in this process; nil for none
	flights singleflight.Group
	flying  flying
	joins   batch.Joiner[outcome] // joins reads of single keys that a provider can make together

	platforms *platform.Table
	validator *schema.Validator
	enricher  enricher
	confirmed *Row
	work      background.Group
	redactor  *redact.Redactor
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
	Now       func() time.Time
	Log       *slog.Logger
}

// New returns a Reader.
func New(cfg Config) *Reader {
	platforms := cfg.Upstreams.Platforms()
	r := &Reader{cfg: cfg, platforms: platforms, validator: schema.NewValidator(platforms), enricher: enricher{cfg.Enricher, cfg.Observer, cfg.Log}}
	r.shared, _ = cfg.Cache.(cache.Shared)
	r.near, _ = cfg.Cache.(cache.Near)
	r.redactor = redact.New(cfg.Redact.Emails, cfg.Redact.Phones)
	r.confirmed = confirmedRow(cfg.Profile.TTL)
	return r
}

// Upstreams returns the sources that are read from.
func (r *Reader) Upstreams() *upstreams.Pool { return r.cfg.Upstreams }

// Sandbox reports whether what is read from a platform is invented.
func (r *Reader) Sandbox(id platform.ID) bool {
	info, _ := r.cfg.Upstreams.Platforms().Lookup(id)
	return info.Sandbox
}

// Close refuses new reads from upstream and returns when those in progress have ended, or ctx has.
func (r *Reader) Close(ctx context.Context) error { return r.work.Close(ctx) }

// now returns the time as it appears in answers.
func (r *Reader) now() time.Time { return r.cfg.Now().Truncate(time.Millisecond) }

// Base returns the price of a plain read from a platform.
func (r *Reader) Base(id platform.ID) int64 {
	if n, ok := r.cfg.Prices[id]; ok {
		return n
	}
	info, _ := r.platforms.Lookup(id)
	return info.BaseCredits
}

// warn logs a failure of something that knows the request.
func (r *Reader) warn(ctx context.Context, what string, q *Query, err error) {
	r.cfg.Log.WarnContext(ctx, what, "operation", q.Row.Name, "platform", q.Platform, "error", providers.Loggable(err))
}
