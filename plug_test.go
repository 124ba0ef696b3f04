package socialdata_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net/url"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/socialdata/socialdata"
	"github.com/socialdata/socialdata/cache"
	"github.com/socialdata/socialdata/credits"
	"github.com/socialdata/socialdata/enrich"
	"github.com/socialdata/socialdata/internal/enginetest"
	"github.com/socialdata/socialdata/keys"
	"github.com/socialdata/socialdata/operation"
	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/problem"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/mock"
	"github.com/socialdata/socialdata/schema"
)

var errStore = errors.New("the store's password is xyz")

// brokenCache fails at everything, or panics.
type brokenCache struct{ panics bool }

func (c brokenCache) Get(context.Context, string) (*cache.Entry, error) { return nil, errStore }

func (c brokenCache) Set(context.Context, string, *cache.Entry, time.Duration) error {
	if c.panics {
		panic("cache")
	}
	return errStore
}

// brokenLedger can hold and cannot settle.
type brokenLedger struct{ credits.Ledger }

func (brokenLedger) Settle(context.Context, credits.Hold, credits.Charge) (credits.Receipt, error) {
	return credits.Receipt{}, errStore
}

// brokenKeys is a store of keys that is out of order.
type brokenKeys struct{ keys.Store }

func (brokenKeys) Lookup(context.Context, keys.Hash) (keys.Key, error) { return keys.Key{}, errStore }

// brokenLimiter is a limiter that is out of order.
type brokenLimiter struct{ keys.Limiter }

func (brokenLimiter) Take(context.Context, string, keys.Rate) (keys.Allowance, error) {
	return keys.Allowance{}, errStore
}

func salma() socialdata.ProfileRequest {
	return socialdata.ProfileRequest{Platform: platform.Mock, Handle: "salma"}
}

func TestACacheThatFailsIsACacheThatMisses(t *testing.T) {
	t.Parallel()
	e := enginetest.New(t, enginetest.Config{Cache: brokenCache{}})
	for range 2 {
		got, err := e.Client.Profile(t.Context(), salma())
		if err != nil || got.Meta.Cache != schema.Miss {
			t.Errorf("%v, %v", got, err)
		}
	}
}

func TestAPanicOfWhatIsPluggedInIsAProblem(t *testing.T) {
	t.Parallel()
	e := enginetest.New(t, enginetest.Config{Cache: brokenCache{panics: true}})
	_, err := e.Client.Profile(t.Context(), salma())
	wantProblem(t, err, problem.InternalError)
	if e.Balance(t) != 1000 {
		t.Errorf("%d credits are left", e.Balance(t))
	}
}

func TestAnInternalErrorIsLoggedAndNotShown(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	e := enginetest.New(t, enginetest.Config{})
	client, err := socialdata.New(
		socialdata.WithProviders(mock.New(mock.Config{})), socialdata.WithEnricher(enginetest.Enricher()),
		socialdata.WithLedger(brokenLedger{e.Ledger}), socialdata.WithKeys(brokenKeys{e.Keys}), socialdata.WithLimiter(brokenLimiter{}),
		socialdata.WithLogger(slog.New(slog.NewTextHandler(&log, nil))),
	)
	if err != nil {
		t.Fatal(err)
	}
	_, err = client.As(e.Key).Profile(t.Context(), salma())
	p := wantProblem(t, err, problem.InternalError)
	if strings.Contains(p.Detail, "xyz") || !strings.Contains(log.String(), "xyz") || !strings.Contains(log.String(), p.RequestID) {
		t.Errorf("detail is %q, the log says %q", p.Detail, log.String())
	}
	for _, err := range []error{second(client.Authenticate(t.Context(), e.Secret)), second(client.As(e.Key).Admit(t.Context()))} {
		var p *problem.Error
		if !errors.As(err, &p) || p.Code != problem.InternalError || strings.Contains(p.Detail, "xyz") {
			t.Errorf("came to %v, want an internal error: it is no fault of the key", err)
		}
	}
}

func TestEveryLineOfTheLogNamesItsCall(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	e := enginetest.New(t, enginetest.Config{
		Cache: brokenCache{}, Options: []socialdata.Option{socialdata.WithLogger(slog.New(slog.NewTextHandler(&log, nil)))},
	})
	call := operation.Call{Platform: "mock", Params: url.Values{"handle": {"upstream_error"}}, RequestID: "req_of_this_call"}
	_, err := e.Client.Do(t.Context(), socialdata.Operation("profile"), call)
	wantProblem(t, err, problem.PlatformUnavailable)
	lines := strings.Split(strings.TrimSpace(log.String()), "\n")
	if len(lines) < 2 { // the cache, and the upstream
		t.Errorf("the log says %q", lines)
	}
	for _, line := range lines {
		if strings.Count(line, "request_id=req_of_this_call") != 1 {
			t.Errorf("a line does not name its call once: %s", line)
		}
	}
}

func second[T any](_ T, err error) error { return err }

func TestAnEnricherThatPanicsFails(t *testing.T) {
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
		wantProblem(t, err, problem.PlatformUnavailable, "nothing was charged")
	}
}

func TestAnEnrichedTextIsReadOnceAnHour(t *testing.T) {
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

func TestOneOfTwoWhoAskForAJobIsToldWhatIsNew(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		e, onX, onYouTube := pendingWorld(t, enginetest.Config{})
		id := searchAll(t, e.Client, socialdata.SearchAcrossRequest{WaitS: 1}).Meta.JobID
		var mu sync.Mutex
		var wg sync.WaitGroup
		credited := int64(0)
		for range 5 {
			wg.Go(func() {
				got, err := e.Client.Job(t.Context(), socialdata.JobRequest{ID: id, WaitS: 10})
				if err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				defer mu.Unlock()
				credited += got.Meta.CreditsUsed
			})
		}
		synctest.Wait()
		close(onX)
		close(onYouTube)
		wg.Wait()
		if credited != 2 {
			t.Errorf("the answers sum to %d credits, want 2", credited)
		}
	})
}

func TestCloseWaitsForWhatIsUnderWay(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		e, _, _ := pendingWorld(t, enginetest.Config{})
		searchAll(t, e.Client, socialdata.SearchAcrossRequest{WaitS: 1})
		short, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := e.Client.Close(short); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("closed with %v while a search was under way", err)
		}
		if err := e.Client.Close(t.Context()); err != nil || e.Balance(t) != 999 {
			t.Errorf("%v, %d credits are left", err, e.Balance(t))
		}
	})
}

// people is a platform of the given profiles, by handle.
func people(id platform.ID, ps ...schema.Profile) providers.Provider {
	return profiles(id, string(id), schema.Official, func(_ context.Context, handle string) (schema.Profile, error) {
		for _, p := range ps {
			if strings.EqualFold(p.Handle, handle) {
				return p, nil
			}
		}
		return schema.Profile{}, providers.NotFound("nobody")
	})
}

func person(page, handle, name, bio string, links ...string) schema.Profile {
	return schema.Profile{
		Common: schema.Common{ID: "id-" + handle, URL: page}, Handle: handle, DisplayName: &name, Bio: &bio, Links: links,
	}
}

func TestLinkedProfilesAreDerived(t *testing.T) {
	t.Parallel()
	e := engineOf(t,
		people(platform.GitHub, person("https://github.com/salma", "salma", "Salma", "I write on https://x.com/salma_h. See also t.me/salma",
			"https://linktr.ee/salma", "https://github.com/salma", "https://example.com/blog", "https://www.youtube.com/@gone")),
		people(platform.X, person("https://x.com/salma_h", "salma_h", "Salma H", "My code: https://github.com/Salma")),
		people(platform.Linktree, person("https://linktr.ee/salma", "salma", "Salma", "", "https://bsky.app/profile/salma.dev", "https://x.com/salma_h")),
		people(platform.YouTube),
	)
	got, err := e.Client.Linked(t.Context(), socialdata.LinkedRequest{Platform: platform.GitHub, Handle: "salma"})
	if err != nil {
		t.Fatal(err)
	}
	type link struct {
		Platform   platform.ID
		Handle     string
		Confidence float64
		Evidence   []string
	}
	var links []link
	for _, l := range got.Data {
		links = append(links, link{l.Platform, l.Handle, float64(int(l.Confidence*1000+0.5)) / 1000, l.Evidence})
		if l.Source != schema.Own {
			t.Errorf("%s: source is %s", l.URL, l.Source)
		}
	}
	want := []link{
		{platform.Linktree, "salma", 0.9, []string{"bio_link:https://linktr.ee/salma", "same_handle_and_name"}},
		{platform.YouTube, "gone", 0.8, []string{"bio_link:https://www.youtube.com/@gone"}},
		{platform.X, "salma_h", 0.999, []string{"bio_link:https://x.com/salma_h", "linktree:https://linktr.ee/salma", "back_link"}},
		{platform.Telegram, "salma", 0.86, []string{"bio_link:https://t.me/salma", "same_handle"}},
		{platform.Bluesky, "salma.dev", 0.9, []string{"linktree:https://linktr.ee/salma"}},
	}
	if diff := cmp.Diff(want, links); diff != "" {
		t.Errorf("linked (-want +got):\n%s", diff)
	}
	if got.Meta.CreditsUsed != 1 {
		t.Errorf("it cost %d", got.Meta.CreditsUsed)
	}
	_, err = e.Client.Linked(t.Context(), socialdata.LinkedRequest{Platform: platform.GitHub, Handle: "nobody"})
	wantProblem(t, err, problem.NotFound, "nobody")
}
