package upstreams

import (
	"cmp"
	"fmt"
	"log/slog"
	"maps"
	"net/url"
	"slices"
	"sync"
	"time"

	"github.com/socialdata/socialdata/callctx"
	"github.com/socialdata/socialdata/internal/weburl"
	"github.com/socialdata/socialdata/observe"
	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/problem"
	"github.com/socialdata/socialdata/providers"
)

// Pool holds the sources of all platforms. It is safe for concurrent use.
type Pool struct {
	cfg            Config
	sources        map[platform.ID][]*Source
	health         health
	recentAccounts recentAccounts
	memoryBudget   memoryBudget
	drifts         drifts
	purgers        sync.Map // of [callctx.Purger]
}

// defaultMemory is how much memory all answers in progress may use.
const defaultMemory = 512 << 20

// Config configures a [Pool]. All fields but Platforms and AnswerMemory are required.
type Config struct {
	Platforms    *platform.Table      // nil means the built-in ones
	Providers    []providers.Provider // those of one platform in the order in which they are tried
	AnswerMemory int64                // bytes of memory for all answers in progress; 0 means 512 MiB
	Observer     observe.Observer     // filled
	// Shares are the shares of limits that the classes of reads may use, by provider name; others use
	// [providers.DefaultShares].
	Shares map[string]providers.Shares
	// Used is called with each provider that was called, after its call; it may be nil.
	Used func(*providers.Provider)
	// Paid is called when a provider was charged for a read, in the upstream's own credits; it may be nil.
	Paid func(id platform.ID, provider, operation string, credits int64)
	Now  func() time.Time
	Log  *slog.Logger
}

// New returns a Pool. It returns an error if a provider is of an unknown platform or has the same name as another of
// its platform.
func New(cfg Config) (*Pool, error) {
	cfg.Platforms = cmp.Or(cfg.Platforms, platform.Specified())
	p := &Pool{cfg: cfg, sources: map[platform.ID][]*Source{}, health: health{now: cfg.Now}}
	p.memoryBudget.most = cmp.Or(cfg.AnswerMemory, defaultMemory)
	for i := range cfg.Providers {
		if err := p.add(&cfg.Providers[i]); err != nil {
			return nil, err
		}
	}
	return p, p.share(cfg.Shares)
}

func (p *Pool) add(provider *providers.Provider) error {
	info, known := p.cfg.Platforms.Lookup(provider.Platform)
	if provider.Name == "" {
		return fmt.Errorf("socialdata: WithProviders: a provider of platform %q has no name: set its Name", provider.Platform)
	}
	if !known {
		return fmt.Errorf("socialdata: WithProviders: the provider %q is of platform %q, which does not exist%s",
			provider.Name, provider.Platform, problem.DidYouMean(p.cfg.Platforms.Meant(string(provider.Platform)), p.cfg.Platforms.Names()))
	}
	named := func(s *Source) bool { return s.Provider.Name == provider.Name }
	if slices.ContainsFunc(p.sources[info.ID], named) {
		return fmt.Errorf("socialdata: WithProviders: two providers of %s are named %q: pass each once", info.ID, provider.Name)
	}
	s := newSource(provider)
	if !info.Sandbox { // callers can make the sandbox fail at will
		s.breaker = newBreaker(s, p.cfg.Observer)
	}
	p.sources[info.ID] = append(p.sources[info.ID], s)
	return nil
}

// share sets for every limit how much of it the classes of reads may use.
func (p *Pool) share(shares map[string]providers.Shares) error {
	names := map[string]bool{}
	for _, s := range p.all() {
		names[s.Provider.Name] = true
		own := providers.DefaultShares()
		if set, ok := shares[s.Provider.Name]; ok {
			own = set
		}
		if own.Dear < 0 || own.Dear > 100 || own.Background < 0 || own.Background > 100 {
			return fmt.Errorf("socialdata: WithShares: the shares of %q must be from 0 to 100 percent", s.Provider.Name)
		}
		for _, l := range s.Provider.Limits {
			l.Share(own)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(shares)) {
		if !names[name] {
			return fmt.Errorf("socialdata: WithShares: there is no provider %q%s",
				name, problem.DidYouMean(name, slices.Sorted(maps.Keys(names))))
		}
	}
	return nil
}

// all returns every source, sorted by platform.
func (p *Pool) all() []*Source {
	var out []*Source
	for _, id := range slices.Sorted(maps.Keys(p.sources)) {
		out = append(out, p.sources[id]...)
	}
	return out
}

// Platforms returns the table of platforms.
func (p *Pool) Platforms() *platform.Table { return p.cfg.Platforms }

// Sources returns the sources of a platform, in the order in which they are tried. The pool owns the slice.
func (p *Pool) Sources(id platform.ID) []*Source { return p.sources[id] }

// PageSizes returns the page size of each list of a platform that has a known one: that of the first provider that
// serves the list, or would with a setting.
func (p *Pool) PageSizes(id platform.ID) map[providers.Op]int {
	out := map[providers.Op]int{}
	for _, op := range providers.Lists() {
		i := slices.IndexFunc(p.sources[id], func(s *Source) bool { return s.Serves(op) })
		if i < 0 {
			i = slices.IndexFunc(p.sources[id], func(s *Source) bool { return len(s.Missing(op)) > 0 })
		}
		if i < 0 {
			continue
		}
		if n := p.sources[id][i].Provider.PageSizes[op]; n > 0 {
			out[op] = n
		}
	}
	return out
}

// Charges returns the maximum price that the operator pays for a call of op on a platform, in the upstreams' own
// credits, by provider.
func (p *Pool) Charges(id platform.ID, op providers.Op) map[string]int64 {
	out := map[string]int64{}
	add := func(sources []*Source) {
		for _, s := range sources {
			if n := s.Provider.Charges[op]; n > 0 && s.Serves(op) {
				out[s.Provider.Name] = max(out[s.Provider.Name], n)
			}
		}
	}
	add(p.sources[id])
	if op == providers.OpLinked { // its accounts are on other platforms
		for _, sources := range p.sources {
			add(sources)
		}
	}
	return out
}

// Serves reports whether a source of the platform serves op.
func (p *Pool) Serves(id platform.ID, op providers.Op) bool {
	return slices.ContainsFunc(p.sources[id], func(s *Source) bool { return s.Serves(op) })
}

// FiltersBy reports whether a source of the platform that serves op can filter by a parameter with that value.
func (p *Pool) FiltersBy(id platform.ID, op providers.Op, name, value string) bool {
	return slices.ContainsFunc(p.sources[id], func(s *Source) bool {
		values, ok := s.Provider.Filters[op][name]
		return s.Serves(op) && ok && (values == nil || slices.Contains(values, value))
	})
}

// Normalize reduces an identifier to its canonical form, using the first source of the platform that can. If there is
// none the value is returned unchanged, and known is false.
func (p *Pool) Normalize(id platform.ID, s providers.Subject, value string) (canonical string, known bool, err error) {
	for _, source := range p.sources[id] {
		if source.Provider.Normalize != nil {
			canonical, err = source.Provider.Normalize(s, weburl.Repair(value))
			return canonical, true, err
		}
	}
	return value, false, nil
}

// Country returns the country that an address or an identifier names, using the first source of the platform that can;
// "" when there is none.
func (p *Pool) Country(id platform.ID, s providers.Subject, value string) string {
	for _, source := range p.sources[id] {
		if source.Provider.Country != nil {
			return source.Provider.Country(s, weburl.Repair(value))
		}
	}
	return ""
}

// InCountry returns an identifier for a thing in a country; ok is false if identifiers of that subject name no country.
func (p *Pool) InCountry(id platform.ID, s providers.Subject, value, country string) (in string, ok bool) {
	for _, source := range p.sources[id] {
		if source.Provider.InCountry != nil {
			return source.Provider.InCountry(s, value, country)
		}
	}
	return value, false
}

// Names returns what an address identifies, and the platform that it belongs to; see [providers.Provider.Names]. The
// platform is "" for an address of none.
func (p *Pool) Names(u *url.URL) (on platform.ID, s providers.Subject, id string, ok bool) {
	for _, info := range p.cfg.Platforms.All() {
		for _, source := range p.sources[info.ID] {
			if source.Provider.Names == nil {
				continue
			}
			if s, id, ok = source.Provider.Names(u); s != "" {
				return info.ID, s, id, ok
			}
			break // all sources of a platform know the same addresses
		}
	}
	return "", "", "", false
}

// Forget discards all that is stored of answers for the upstreams' next 304, so that the next reads are complete.
func (p *Pool) Forget() {
	p.purgers.Range(func(purger, _ any) bool {
		purger.(callctx.Purger).Purge()
		return true
	})
}
