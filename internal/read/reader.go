package read

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"golang.org/x/sync/singleflight"

	"github.com/socialdata/socialdata/cache"
	"github.com/socialdata/socialdata/enrich"
	"github.com/socialdata/socialdata/internal/background"
	"github.com/socialdata/socialdata/internal/cursor"
	"github.com/socialdata/socialdata/observe"
	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/providers"
)

// Reader reads from the providers that it was given. It is safe for concurrent use.
type Reader struct {
	cfg     Config
	shared  cache.Shared // the cache, where others make entries too; else nil
	near    cache.Near   // the part of the cache that is in this process; nil for none
	links   map[platform.ID][]*link
	health  health
	drifts  drifts
	flights singleflight.Group

	confirmed *Row
	work      background.Group
}

// Config is what a [Reader] is made of. All of it must be there but Prices and Enricher.
type Config struct {
	Providers []providers.Provider
	Cache     cache.Store
	Enricher  enrich.Enricher // nil when nothing can be enriched
	Cursors   *cursor.Keeper
	Observer  observe.Observer      // filled
	Prices    map[platform.ID]int64 // base credits that differ from the platform's own
	Timeout   time.Duration         // of one call: cache, providers, completion and enrichment together
	Profile   *Row                  // how a profile is read, for what is derived from profiles
	Now       func() time.Time
	Log       *slog.Logger
}

// New returns a Reader. It fails when a provider is of an unknown platform or named like another of its platform.
func New(cfg Config) (*Reader, error) {
	r := &Reader{cfg: cfg, links: map[platform.ID][]*link{}, health: health{now: cfg.Now}}
	r.shared, _ = cfg.Cache.(cache.Shared)
	r.near, _ = cfg.Cache.(cache.Near)
	r.confirmed = confirmedRow(cfg.Profile.TTL)
	for i := range cfg.Providers {
		if err := r.add(&cfg.Providers[i]); err != nil {
			return nil, err
		}
	}
	return r, nil
}

func (r *Reader) add(p *providers.Provider) error {
	if !p.Platform.Valid() || p.Name == "" {
		return fmt.Errorf("socialdata: provider %q is of no known platform (%q)", p.Name, p.Platform)
	}
	if slices.ContainsFunc(r.links[p.Platform], func(l *link) bool { return l.p.Name == p.Name }) {
		return fmt.Errorf("socialdata: two providers of %s are named %q", p.Platform, p.Name)
	}
	r.links[p.Platform] = append(r.links[p.Platform], newLink(p, r.cfg.Observer))
	return nil
}

// Close refuses new reads from upstream and returns when those under way have ended, or with ctx.
func (r *Reader) Close(ctx context.Context) error { return r.work.Close(ctx) }

// now returns the time as it stands in answers.
func (r *Reader) now() time.Time { return r.cfg.Now().Truncate(time.Millisecond) }

// Base returns what a plain read from a platform costs.
func (r *Reader) Base(id platform.ID) int64 {
	if n, ok := r.cfg.Prices[id]; ok {
		return n
	}
	info, _ := platform.Lookup(id)
	return info.BaseCredits
}

// Providers returns the providers of a platform, in the order in which they are tried.
func (r *Reader) Providers(id platform.ID) []*providers.Provider {
	out := make([]*providers.Provider, 0, len(r.links[id]))
	for _, l := range r.links[id] {
		out = append(out, l.p)
	}
	return out
}

// Serves tells whether a provider of the platform serves op.
func (r *Reader) Serves(id platform.ID, op providers.Op) bool {
	return slices.ContainsFunc(r.links[id], func(l *link) bool { return l.serves[op] })
}

// FiltersBy tells whether a provider of the platform that serves op can filter by a parameter with that value.
func (r *Reader) FiltersBy(id platform.ID, op providers.Op, name, value string) bool {
	return slices.ContainsFunc(r.links[id], func(l *link) bool {
		values, ok := l.p.Filters[op][name]
		return l.serves[op] && ok && (values == nil || slices.Contains(values, value))
	})
}

// warn logs what a caller is spared.
func (r *Reader) warn(ctx context.Context, what string, q *Query, err error) {
	r.cfg.Log.WarnContext(ctx, what, "operation", q.Row.Name, "platform", q.Platform, "error", err)
}

// ServedBy tells whether one provider serves op, by itself or by what is derived from it.
func (r *Reader) ServedBy(p *providers.Provider, op providers.Op) bool {
	return slices.ContainsFunc(r.links[p.Platform], func(l *link) bool { return l.p == p && l.serves[op] })
}
