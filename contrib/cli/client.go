package cli

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"sync"

	"github.com/socialdata/socialdata"
	"github.com/socialdata/socialdata/enrich"
	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/mock"
	"github.com/socialdata/socialdata/providers/replay"
	"github.com/socialdata/socialdata/schema"
)

// platforms returns the platforms of the program, without those that [socialdata.New] would refuse.
func (c Config) platforms() *platform.Table {
	table := platform.Specified()
	for _, info := range c.Platforms {
		if more, err := table.With(info); err == nil {
			table = more
		}
	}
	return table
}

// client returns the engine with the program's providers, configured from the environment.
func (e *env) client(opts ...socialdata.Option) (*socialdata.Client, error) {
	web := &http.Client{Transport: providers.Transport()}
	if e.transport != nil {
		web.Transport = e.transport(web.Transport)
	}
	if e.cli.ReplayURL != "" {
		transport, err := replay.New(e.cli.ReplayURL, web.Transport)
		if err != nil {
			return nil, fmt.Errorf("--replay-url: %w", err)
		}
		web.Transport = transport
	}
	if e.record != nil {
		transport, err := e.record(web.Transport)
		if err != nil {
			return nil, fmt.Errorf("--record: %w", err)
		}
		web.Transport = transport
	}
	chains, err := e.cfg.Providers(Environment{Lookup: e.lookup, HTTP: web})
	if err != nil {
		return nil, err
	}
	shares, err := e.shares(chains)
	if err != nil {
		return nil, err
	}
	retention, err := e.cli.Retention.options()
	if err != nil {
		return nil, err
	}
	opts = append(append(opts, socialdata.WithShares(shares)), retention...)
	e.sandboxed = slices.ContainsFunc(slices.Concat(chains...),
		func(p providers.Provider) bool { return p.Platform == platform.Mock })
	opts = append(append(opts, e.enricher()...), socialdata.WithProviders(chains...))
	for _, info := range e.cfg.Platforms {
		opts = append(opts, socialdata.WithPlatform(info))
	}
	if e.cfg.Now != nil {
		opts = append(opts, socialdata.WithClock(e.cfg.Now))
	}
	client, err := socialdata.New(opts...)
	if err != nil {
		return nil, err
	}
	return socialdata.From(client, schema.FromCommand), nil
}

func (e *env) lookup(name string) (value string, ok bool) {
	value = e.getenv(name)
	return value, value != ""
}

// enricher returns the option for the program's model, if it has one.
func (e *env) enricher() []socialdata.Option {
	if e.cfg.Enricher == nil {
		return nil
	}
	model := sync.OnceValue(e.cfg.Enricher) // when the first text is enriched, and not when the program starts
	enricher := enrich.Enricher(enrich.Func(func(ctx context.Context, text string) (schema.Enrichment, error) {
		return model().Enrich(ctx, text)
	}))
	if e.sandboxed {
		enricher = mock.Enricher(enricher)
	}
	return []socialdata.Option{socialdata.WithEnricher(enricher)}
}
