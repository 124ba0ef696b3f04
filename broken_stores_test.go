package socialdata_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/socialdata/socialdata"
	"github.com/socialdata/socialdata/cache"
	"github.com/socialdata/socialdata/credits"
	"github.com/socialdata/socialdata/internal/enginetest"
	"github.com/socialdata/socialdata/keys"
	"github.com/socialdata/socialdata/operation"
	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/privacy"
	"github.com/socialdata/socialdata/problem"
	"github.com/socialdata/socialdata/providers/mock"
)

var errStore = errors.New("the store's password is xyz")

func salma() socialdata.ProfileRequest {
	return socialdata.ProfileRequest{Platform: platform.Mock, Handle: "salma"}
}

// brokenCache fails in every call, or panics.
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

// brokenLedger can hold but not settle.
type brokenLedger struct{ credits.Ledger }

func (brokenLedger) Settle(context.Context, credits.Hold, credits.Charge) (credits.Receipt, error) {
	return credits.Receipt{}, errStore
}

// brokenKeys is a store of keys that always fails.
type brokenKeys struct{ keys.Store }

func (brokenKeys) Lookup(context.Context, keys.Hash) (keys.Key, error) { return keys.Key{}, errStore }

// brokenLimiter is a limiter that always fails.
type brokenLimiter struct{ keys.Limiter }

func (brokenLimiter) Take(context.Context, string, keys.Rate, int) (keys.Allowance, error) {
	return keys.Allowance{}, errStore
}

func TestAnInternalErrorIsLoggedAndNotShown(t *testing.T) {
	t.Parallel()
	synctest.Test(t, wantInternalErrors) // in a bubble, because calls wait for the ledger for all of their time
}

func wantInternalErrors(t *testing.T) {
	var log bytes.Buffer
	e := enginetest.New(t, enginetest.Config{})
	client, err := socialdata.New(
		socialdata.WithProviders(mock.New(mock.Config{})), socialdata.WithEnricher(enginetest.Enricher()),
		socialdata.WithLedger(brokenLedger{e.Ledger}), socialdata.WithKeys(brokenKeys{e.Keys}),
		socialdata.WithLimiter(brokenLimiter{}),
		socialdata.WithLogger(slog.New(slog.NewTextHandler(&log, nil))),
	)
	if err != nil {
		t.Fatal(err)
	}
	_, err = client.As(e.Key).Profile(t.Context(), salma())
	p := enginetest.WantProblem(t, err, problem.PlatformUnavailable) // it is not known whether it was charged
	if strings.Contains(p.Detail, "xyz") || !strings.Contains(log.String(), "xyz") ||
		!strings.Contains(log.String(), p.RequestID) {
		t.Errorf("detail is %q, the log says %q; want the cause and the request in the log alone", p.Detail, log.String())
	}
	for _, err := range []error{
		second(client.Authenticate(t.Context(), e.Secret)), second(socialdata.FrontEnd(client.As(e.Key)).Admit(t.Context())),
	} {
		var p *problem.Error
		if !errors.As(err, &p) || p.Code != problem.InternalError || strings.Contains(p.Detail, "xyz") {
			t.Errorf("got %v, want an internal error without the cause: the key may be valid", err)
		}
	}
}

func TestEveryLineOfTheLogNamesItsCall(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	e := enginetest.New(t, enginetest.Config{
		Cache: brokenCache{}, Options: []socialdata.Option{socialdata.WithLogger(slog.New(slog.NewTextHandler(&log, nil)))},
	})
	call := operation.Call{
		Platform: "mock", Params: url.Values{"handle": {"upstream_error"}}, RequestID: "req_of_this_call",
	}
	_, err := socialdata.FrontEnd(e.Client).Do(t.Context(), socialdata.Operation("profile"), call)
	enginetest.WantProblem(t, err, problem.PlatformUnavailable)
	lines := strings.Split(strings.TrimSpace(log.String()), "\n")
	if len(lines) < 2 { // for the cache, and for the upstream
		t.Errorf("the log says %q; want two lines or more", lines)
	}
	for _, line := range lines {
		if strings.Count(line, "request_id=req_of_this_call") != 1 {
			t.Errorf("a line does not name its call once: %s", line)
		}
	}
}

func second[T any](_ T, err error) error { return err }
