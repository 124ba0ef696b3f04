package read_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/socialdata/socialdata"
	"github.com/socialdata/socialdata/cache"
	"github.com/socialdata/socialdata/enrich"
	"github.com/socialdata/socialdata/internal/enginetest"
	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/privacy"
	"github.com/socialdata/socialdata/problem"
	"github.com/socialdata/socialdata/schema"
)

var errStore = errors.New("the store's password is xyz")

// brokenCache fails every call, or panics.
type brokenCache struct{ panics bool }

func (c brokenCache) Get(context.Context, string) (*cache.Entry, error) { return nil, errStore }

func (c brokenCache) Erase(context.Context, privacy.Subject) (map[string]int, error) {
	return nil, errStore
}

func (c brokenCache) Set(context.Context, string, *cache.Entry, time.Duration) error {
	if c.panics {
		panic("cache")
	}
	return errStore
}

func salma() socialdata.ProfileRequest {
	return socialdata.ProfileRequest{Platform: platform.Mock, Handle: "salma"}
}

func TestACacheThatFailsCountsAsAMiss(t *testing.T) {
	t.Parallel()
	e := enginetest.New(t, enginetest.Config{Cache: brokenCache{}})
	for range 2 {
		got, err := e.Client.Profile(t.Context(), salma())
		if err != nil || got.Meta.Cache != schema.Miss {
			t.Errorf("%v, %v", got, err)
		}
	}
}

func TestAPanicOfTheCacheIsAProblem(t *testing.T) {
	t.Parallel()
	e := enginetest.New(t, enginetest.Config{Cache: brokenCache{panics: true}})
	_, err := e.Client.Profile(t.Context(), salma())
	enginetest.WantProblem(t, err, problem.InternalError)
	if e.Balance(t) != 1000 {
		t.Errorf("%d credits are left", e.Balance(t))
	}
}

func TestAFailedEnrichmentIsNullAndNotCharged(t *testing.T) {
	t.Parallel()
	for name, enricher := range map[string]enrich.Func{
		"panics": func(context.Context, string) (schema.Enrichment, error) { panic("model") },
		"breaks the schema": func(context.Context, string) (schema.Enrichment, error) {
			return schema.Enrichment{Dialect: "elvish"}, nil
		},
	} {
		e := enginetest.New(t, enginetest.Config{Options: []socialdata.Option{socialdata.WithEnricher(enricher)}})
		req := salma()
		req.Enrich = socialdata.Arabic
		got, err := e.Client.Profile(t.Context(), req)
		if err != nil || !got.Data.Enrichment.Set || got.Data.Enrichment.Value != nil || got.Meta.CreditsUsed != 1 {
			t.Errorf("%s: %v, %v", name, got, err)
		}
		_, err = e.Client.Enrich(t.Context(), socialdata.EnrichRequest{Text: "hello"})
		enginetest.WantProblem(t, err, problem.PlatformUnavailable, "nothing was charged")
	}
}

func TestAnEnrichedTextIsCached(t *testing.T) {
	t.Parallel()
	var calls enginetest.Counter
	e := enginetest.New(t, enginetest.Config{Options: []socialdata.Option{socialdata.WithEnricher(enrich.Func(
		func(context.Context, string) (schema.Enrichment, error) {
			calls.Add()
			return schema.Enrichment{Dialect: schema.Gulf, Sentiment: schema.Sentiment{Label: schema.Positive, Score: 1}}, nil
		}))}})
	for range 2 {
		got, err := e.Client.Enrich(t.Context(), socialdata.EnrichRequest{Text: " شلونك\n"})
		if err != nil || got.Data.Dialect != schema.Gulf || got.Meta.CreditsUsed != 3 {
			t.Errorf("%v, %v", got, err)
		}
	}
	if calls.Count() != 1 || e.Balance(t) != 994 {
		t.Errorf("%d calls, %d credits left", calls.Count(), e.Balance(t))
	}
}
